package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// module is a real one whose invariants are refined, with its own tests as the
// oracle.
type module struct {
	path, version string
	packages      []string
	oracle        string
}

var everything = []string{"./..."}

// modules have tests that check results and take seconds.
var modules = []module{
	{path: "github.com/jackc/puddle/v2", version: "v2.2.2", packages: everything, oracle: "go test ./..."},
	{path: "github.com/hashicorp/golang-lru/v2", version: "v2.0.7", packages: everything, oracle: "go test ./..."},
	{path: "github.com/allegro/bigcache/v3", version: "v3.1.0", packages: everything, oracle: "go test ./..."},
	{path: "golang.org/x/sync", version: "v0.11.0", packages: everything, oracle: "go test ./..."},
}

// refinement is what `sections refine` said of a module.
type refinement struct {
	module
	lines    int
	runs     int
	correct  int
	plants   int // runs until the oracle rejected a planted violation
	ends     int // of invariants, at first
	dropped  int
	unseen   int
	left     int
	sections int // with an end left
	settled  bool
	elapsed  time.Duration
	refused  string // why there was none
}

func refineAll(ctx context.Context, o options) (all []refinement, err error) {
	for i, m := range modules {
		if !strings.Contains(m.path, o.match) {
			continue
		}
		fmt.Fprintf(os.Stderr, "sections: refining %s, %d of %d\n", m.path, i+1, len(modules))
		r, err := refine(ctx, o, m)
		if err != nil {
			return nil, fmt.Errorf("refining %s: %w", m.path, err)
		}
		all = append(all, r)
	}
	return all, ctx.Err()
}

func refine(ctx context.Context, o options, m module) (refinement, error) {
	r := refinement{module: m}
	dir, err := os.MkdirTemp("", "interlock-refine-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	if err := fetch(ctx, m, dir); err != nil {
		return r, err
	}
	if r.lines, err = countLines(dir); err != nil {
		return r, err
	}
	args := append([]string{"sections", "refine", "-oracle", m.oracle, "-seed", "1", "-w"}, m.packages...)
	cmd := exec.CommandContext(ctx, o.bin, args...)
	cmd.Dir = dir
	began := time.Now()
	out, err := cmd.CombinedOutput()
	r.elapsed = time.Since(began)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		r.refused = strings.TrimPrefix(lines[len(lines)-1], "interlock: ")
		return r, nil
	case err != nil:
		return r, fmt.Errorf("%w: %s", err, out)
	}
	return r, r.read(string(out))
}

var (
	runsLine = regexp.MustCompile(`interlock: (\d+) runs in \S+, (\d+) of them correct; the oracle rejected a planted violation \(try (\d+)\)`)
	endsLine = regexp.MustCompile(`interlock: (\d+) ends of invariants: (\d+) dropped, (\d+) unobserved, (\d+) left, in (\d+) sections`)
)

// read takes the numbers from what the command says.
func (r *refinement) read(out string) error {
	for _, l := range []struct {
		line *regexp.Regexp
		into []*int
	}{
		{runsLine, []*int{&r.runs, &r.correct, &r.plants}},
		{endsLine, []*int{&r.ends, &r.dropped, &r.unseen, &r.left, &r.sections}},
	} {
		m := l.line.FindStringSubmatch(out)
		if m == nil {
			return fmt.Errorf("the command does not say what it did: %s", out)
		}
		for i, n := range l.into {
			*n, _ = strconv.Atoi(m[i+1]) // digits, by the expression
		}
	}
	r.settled = !strings.Contains(out, "not settled")
	return nil
}

// fetch puts a copy of the module that can be written to into dir.
func fetch(ctx context.Context, m module, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.path+"@"+m.version)
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("fetching: %w", err)
	}
	var got struct{ Dir, Error string }
	if err := json.Unmarshal(out, &got); err != nil {
		return fmt.Errorf("reading go mod download: %w", err)
	}
	if got.Error != "" {
		return fmt.Errorf("fetching: %s", got.Error)
	}
	if err := copyTree(got.Dir, dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		return errors.New("the module has no go.mod")
	}
	return nil
}

// copyTree copies the files of the module cache, which are read-only.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
}

// countLines counts those of the Go files that are no tests.
func countLines(dir string) (n int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		n += bytes.Count(data, []byte("\n"))
		return err
	})
	return n, err
}
