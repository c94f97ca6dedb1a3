package sections

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/released"
)

// module is a real one. Its invariants are refined, with its own tests as the
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

// matching returns the modules with match in their path.
func matching(match string) []module {
	return slices.DeleteFunc(slices.Clone(modules), func(m module) bool { return !strings.Contains(m.path, match) })
}

// refinement has the numbers that `sections refine` printed for a module.
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

// refineAll refines the invariants of the modules that -match chooses.
func refineAll(ctx context.Context, o options) (all []refinement, err error) {
	chosen := matching(o.match)
	for i, m := range chosen {
		fmt.Fprintf(os.Stderr, "sections: refining %s, %d of %d\n", m.path, i+1, len(chosen))
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
	// The module, in a copy: refine writes its file there.
	dir, err := os.MkdirTemp("", "interlock-refine-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, "tree")
	if err := released.Fetch(ctx, m.path, m.version, tree); err != nil {
		return r, err
	}
	if r.lines, err = released.Lines(tree, false); err != nil {
		return r, err
	}
	args := append([]string{"sections", "refine", "-oracle", m.oracle, "-seed", "1", "-w"}, m.packages...)
	cmd := exec.CommandContext(ctx, o.bin, args...)
	cmd.Dir = tree
	began := time.Now()
	out, err := cmd.CombinedOutput()
	r.elapsed = time.Since(began)
	var exit *exec.ExitError
	// An oracle that rejects nothing is refused; that is a result too.
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		r.refused = strings.TrimPrefix(lines[len(lines)-1], "interlock: ")
		return r, nil
	case err != nil:
		return r, fmt.Errorf("%w: %s", err, out)
	}
	return r, r.readNumbers(string(out))
}

var (
	runsLine = regexp.MustCompile(
		`interlock: (\d+) runs in \S+, (\d+) of them correct; the oracle rejected a planted violation \(try (\d+)\)`,
	)
	endsLine = regexp.MustCompile(
		`interlock: (\d+) ends of invariants: (\d+) dropped, (\d+) unobserved, (\d+) left, in (\d+) sections`,
	)
)

// readNumbers takes the numbers from the output of the command.
func (r *refinement) readNumbers(out string) error {
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
