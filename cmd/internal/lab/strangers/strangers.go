// Package strangers tries the promises of Interlock on code that nobody tuned
// it on: released modules, fetched and not kept, which list.go pins. Each is
// tested plainly, checked, tested under the monitor, and mended where something
// was confirmed. No command may hang or crash, nor change the module's tree,
// and no confirmed finding may be false: verdicts.json has the verdict of a reader
// on each.
//
// `make strangers` compares a run with the last one, which results.json keeps,
// replaces that, and prints a page. The command fails if a promise is broken, or
// if a confirmed finding has not been read.
package strangers

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

type options struct {
	interlock string
	match     string
	missing   bool
	limit     time.Duration
	results   string
	verdicts  string
	keep      string
}

// home is the folder of the tool, seen from the root of the repository.
var home = filepath.Join("cmd", "internal", "lab", "strangers")

// Run runs the tool. It reports whether every promise is kept and every confirmed
// finding has been read.
func Run(ctx context.Context, args []string) (held bool, err error) {
	var o options
	flags := flag.NewFlagSet("lab strangers", flag.ExitOnError)
	flags.StringVar(&o.interlock, "interlock", filepath.Join("bin", "interlock"), "the `binary` to try")
	flags.StringVar(
		&o.match,
		"match",
		"",
		"take modules whose path contains this `text` only,\nand keep the last results of the others",
	)
	flags.BoolVar(&o.missing, "missing", false, "take modules without a result only, to go on where a run was interrupted")
	flags.DurationVar(&o.limit, "limit", 6*time.Minute, "time that one command may take on one module")
	flags.StringVar(&o.results, "results", filepath.Join(home, "results.json"),
		"`file` with the results of the last run, which those of this one replace")
	flags.StringVar(&o.verdicts, "verdicts", filepath.Join(home, "verdicts.json"),
		"`file` with the verdicts on confirmed findings")
	flags.StringVar(&o.keep, "keep", "", "keep what the commands print in this `folder`")
	again := flags.Bool("document", false, "print the page of the last results again, and run nothing")
	flags.Parse(args)
	// A new verdict changes the page, but no result.
	act := tryModules
	if *again {
		act = document
	}
	broken, err := act(ctx, o)
	for _, b := range broken {
		fmt.Fprintln(os.Stderr, "strangers:", b)
	}
	return len(broken) == 0, err
}

// tryModules tries the modules one by one, and prints the page of all results. The results so far are written
// after each module, as all of them take long. It returns the promises that are broken.
func tryModules(ctx context.Context, o options) (broken []string, err error) {
	last, err := loadResults(o.results)
	if err != nil {
		return nil, err
	}
	known, err := readVerdicts(o.verdicts)
	if err != nil {
		return nil, err
	}
	l, err := newLab(ctx, o)
	if err != nil {
		return nil, err
	}
	defer l.close()
	// Results of modules that are not tried now stay.
	now := last.pinned()
	now.Machine = page.Machine()
	for i, m := range strangers {
		if !strings.Contains(m.path, o.match) || o.missing && now.resultOf(m.path) != nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "strangers: %s %s, %d of %d\n", m.path, m.version, i+1, len(strangers))
		r, err := l.tryModule(m)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
		// Written after each module.
		now.putResult(r)
		now.Since = compare(last, now)
		broken = promises(now, known)
		if err := now.saveResults(o.results); err != nil {
			return nil, err
		}
	}
	return broken, page.Write("", render(now, known))
}

// document prints the last results again, for verdicts that were added since.
func document(_ context.Context, o options) (broken []string, err error) {
	last, err := loadResults(o.results)
	if err != nil {
		return nil, err
	}
	known, err := readVerdicts(o.verdicts)
	if err != nil {
		return nil, err
	}
	return promises(last, known), page.Write("", render(last, known))
}
