package testbin

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Race is the test binary of one package with the race detector of the Go
// distribution in it.
type Race struct{ file, dir string }

// BuildRace builds the tests of the package in dir into a file in tmp.
func BuildRace(ctx context.Context, dir, tmp string) (*Race, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(tmp, "race-*.test")
	if err != nil {
		return nil, err
	}
	f.Close()
	cmd := exec.CommandContext(ctx, "go", "test", "-race", "-c", "-o", f.Name(), ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building %s with the race detector, which needs cgo and a C compiler: %w\n%s", dir, err, out)
	}
	return &Race{f.Name(), dir}, nil
}

// Failures returns how many of a number of runs fail, for a race or for anything else, and the first of these, from 1.
// function is the only one that runs; "" stands for all.
func (r *Race) Failures(ctx context.Context, function string, runs int, timeout time.Duration) (n, first int) {
	pattern := "."
	if function != "" {
		pattern = "^" + function + "$"
	}
	for run := 1; run <= runs; run++ {
		cmd := exec.CommandContext(ctx, r.file, "-test.run="+pattern, "-test.timeout="+timeout.String())
		cmd.Dir = r.dir
		if cmd.Run() != nil {
			n++
			first = cmp.Or(first, run)
		}
	}
	return n, first
}
