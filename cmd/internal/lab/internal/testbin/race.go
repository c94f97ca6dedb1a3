package testbin

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Race is the test binary of one package with the race detector of the Go
// distribution in it.
type Race struct {
	Missing string // why there is none; "" if there is one

	file, dir string
}

// BuildRace builds the tests of the package in dir into a file in tmp. Where the
// race detector cannot be built, the result says so.
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
	r := &Race{file: f.Name(), dir: dir}
	cmd := exec.CommandContext(ctx, "go", "test", "-race", "-c", "-o", r.file, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		os.Stderr.Write(out)
		r.Missing = "the race detector cannot be built here, it needs cgo and a C compiler"
	}
	return r, ctx.Err()
}

// Hits returns how many of a number of runs report a race. function is the only
// one that runs; "" stands for all. It returns 0 where the binary is missing.
func (r *Race) Hits(ctx context.Context, function string, runs int, timeout time.Duration) (hits int) {
	hits, _ = r.countReports(ctx, function, runs, timeout, func(out []byte, err error) bool {
		return bytes.Contains(out, []byte("WARNING: DATA RACE"))
	})
	return hits
}

// Failures returns how many of a number of runs fail, for a race or for anything else, and the first of these, from 1.
func (r *Race) Failures(ctx context.Context, function string, runs int, timeout time.Duration) (n, first int) {
	return r.countReports(ctx, function, runs, timeout, func(_ []byte, err error) bool { return err != nil })
}

func (r *Race) countReports(ctx context.Context, function string, runs int, timeout time.Duration,
	counts func(out []byte, err error) bool) (n, first int) {
	if r.Missing != "" {
		return 0, 0
	}
	pattern := "."
	if function != "" {
		pattern = "^" + function + "$"
	}
	for run := 1; run <= runs; run++ {
		cmd := exec.CommandContext(ctx, r.file, "-test.run="+pattern, "-test.timeout="+timeout.String())
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); counts(out, err) { // fails where there is a race
			n++
			first = cmp.Or(first, run)
		}
	}
	return n, first
}
