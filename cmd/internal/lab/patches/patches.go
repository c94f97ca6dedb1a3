// Package patches measures patches of real bugs: whether a small test that shows the bug passes ten times of ten
// under the race detector, which of the module's own tests fail with the patch, which findings of a long campaign are
// new, and how much slower the benchmarks of the changed packages are.
//
// `make patches LIST=file` prints a table. The list is JSON, one object a bug (see [bug]):
// folders with the sources at the faulty commit, which most module proxies do not have, and the diffs of
// `interlock fix`. The modules are copied and left as they are.
//
// The command fails where a patch does worse than the original, and where not all was measured in the time that it has.
package patches

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// bug is a module with a patch. Its files are relative to the folder of the list.
type bug struct {
	Name    string `json:"name"`
	Dir     string `json:"dir"`     // the module, unpatched
	Package string `json:"package"` // where the driver belongs, slash-separated, below Dir
	Driver  string `json:"driver"`  // a test file that shows the bug
	Test    string `json:"test"`    // its test
	Patch   string `json:"patch"`   // a diff of the module's files, as interlock fix prints it
}

type options struct {
	interlock, match string
	runs, rounds     int
	limit            time.Duration
}

// Run runs the tool. It reports whether every patch holds and everything was measured.
func Run(ctx context.Context, args []string) (held bool, err error) {
	var o options
	flags := flag.NewFlagSet("lab patches", flag.ExitOnError)
	flags.StringVar(&o.interlock, "interlock", filepath.Join("bin", "interlock"), "the `binary` that makes the campaigns")
	flags.StringVar(&o.match, "match", "", "take bugs whose name contains this `text` only")
	flags.IntVar(&o.runs, "runs", 100, "monitored runs of the tests of the packages that the patch changes")
	flags.IntVar(&o.rounds, "rounds", 7, "paired rounds of the benchmarks")
	flags.DurationVar(&o.limit, "limit", 2*time.Minute,
		"`time` for each of these, in each tree: the tests, the campaign, the benchmarks")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return false, errors.New("name the list of bugs, a JSON file; see the comment of package patches")
	}
	bugs, err := readList(flags.Arg(0))
	if err != nil {
		return false, err
	}
	if o.interlock, err = command.Interlock(o.interlock); err != nil {
		return false, err
	}

	// Each is printed as soon as it is measured, as all take long.
	held = true
	for _, b := range bugs {
		if !strings.Contains(b.Name, o.match) {
			continue
		}
		fmt.Fprintf(os.Stderr, "patches: %s\n", b.Name)
		r, err := measure(ctx, b, o)
		if err != nil {
			return false, fmt.Errorf("%s: %w", b.Name, err)
		}
		held = held && r.isNoWorse()
		if err := page.Write("", r.markdown()); err != nil {
			return false, err
		}
	}
	return held, nil
}

// readList reads a list of bugs.
func readList(file string) ([]bug, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var bugs []bug
	if err := json.Unmarshal(data, &bugs); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	root, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	for i := range bugs {
		b := &bugs[i]
		if b.Name == "" || b.Dir == "" || b.Driver == "" || b.Test == "" || b.Patch == "" {
			return nil, fmt.Errorf("reading %s: bug %d lacks a name, dir, driver, test or patch", file, i+1)
		}
		for _, path := range []*string{&b.Dir, &b.Driver, &b.Patch} {
			if !filepath.IsAbs(*path) {
				*path = filepath.Join(root, *path)
			}
		}
	}
	return bugs, nil
}

// measure copies the module twice, once with the patch, and tries both copies.
func measure(ctx context.Context, b bug, o options) (*result, error) {
	tmp, err := os.MkdirTemp("", "interlock-patches-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	env, err := command.OwnCache(ctx, tmp)
	if err != nil {
		return nil, err
	}
	l := &lab{options: o, bug: b, tmp: tmp, env: append(env, "GOWORK=off", "GOFLAGS=")}
	if err := l.writeModule(ctx); err != nil {
		return nil, err
	}
	r := &result{name: b.Name}
	for _, step := range []func(context.Context, *result) error{l.driveFix, l.runTests, l.campaign, l.runBenchmark} {
		if err := step(ctx, r); err != nil {
			return nil, err
		}
	}
	return r, ctx.Err()
}
