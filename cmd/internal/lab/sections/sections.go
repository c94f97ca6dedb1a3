// Package sections measures how many atomic sections that other goroutines split
// are found: each pair of testdata/sections has a program that is wrong
// and one that is right. Both are checked statically, the wrong one is run under
// the watch engine, and under the race detector of the Go distribution, the right
// one many more times. It also refines the access-interleaving invariants of real
// modules with their own tests as the oracle. `make sections` keeps the figures in
// figures.json.
//
// A right program in which a split is confirmed makes the command fail, and so
// does a wrong one that is neither reported nor confirmed.
package sections

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

type options struct {
	bin, dir    string
	runs, clean int
	match, out  string
	modules     bool
	race        bool
}

// Run runs the tool. It reports whether all pairs are as they should be.
func Run(ctx context.Context, args []string) (held bool, err error) {
	var o options
	flags := flag.NewFlagSet("lab sections", flag.ExitOnError)
	flags.StringVar(&o.bin, "bin", filepath.Join("bin", "interlock"), "interlock, as `make build` makes it")
	flags.StringVar(&o.dir, "dir", filepath.Join("testdata", "sections"), "module with the pairs")
	flags.IntVar(&o.runs, "runs", 20, "runs of each wrong program, with each detector")
	flags.IntVar(&o.clean, "clean", 200, "runs of each right program")
	flags.StringVar(&o.match, "match", "", "take pairs and modules whose name contains this `text` only")
	flags.StringVar(&o.out, "o", "", "write the figures to this `file` too, as JSON")
	flags.BoolVar(&o.race, "race", true, "run the wrong programs under the race detector of the Go distribution too")
	flags.BoolVar(&o.modules, "modules", true, "refine the invariants of real modules too, which are downloaded")
	flags.Parse(args)
	if o.bin, err = command.Interlock(o.bin); err != nil {
		return false, err
	}

	// Measure the pairs.
	pairs, err := findPairs(o.dir, o.match)
	if err != nil {
		return false, err
	}
	if len(pairs) > 0 {
		err = measure(ctx, o, pairs)
	} else if !o.modules || len(matching(o.match)) == 0 {
		err = fmt.Errorf("no pair or module …%s…", o.match)
	}
	if err != nil {
		return false, err
	}
	held = true
	for i := range pairs {
		if why := pairs[i].isWrong(); why != "" {
			fmt.Fprintf(os.Stderr, "sections: %s: %s\n", pairs[i].name, why)
			held = false
		}
	}

	// Refine the invariants of the modules.
	var refined []refinement
	if o.modules {
		if refined, err = refineAll(ctx, o); err != nil {
			return held, err
		}
	}
	return held, page.Write(o.out, document(o, pairs, refined))
}
