// Command sections measures what is found of atomic sections that other
// goroutines split: each pair of testdata/sections has a program that is wrong
// and one that is right. Both are checked statically, the wrong one is run under
// the watch engine, and under the race detector of the Go distribution, the right
// one many more times. It also refines the access-interleaving invariants of real
// modules with their own tests as the oracle. `make sections` keeps the tables in
// docs/sections.md.
//
// A right program in which a split is confirmed makes the command fail, and so
// does a wrong one that is neither reported nor confirmed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

type options struct {
	bin, dir    string
	runs, clean int
	match, out  string
	modules     bool
	race        bool
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", filepath.Join("bin", "interlock"), "interlock, as `make build` makes it")
	flag.StringVar(&o.dir, "dir", filepath.Join("testdata", "sections"), "module with the pairs")
	flag.IntVar(&o.runs, "runs", 20, "runs of each wrong program, with each detector")
	flag.IntVar(&o.clean, "clean", 200, "runs of each right program")
	flag.StringVar(&o.match, "match", "", "take pairs and modules whose name contains this `text` only")
	flag.StringVar(&o.out, "o", "", "write the document to this `file` instead of standard output")
	flag.BoolVar(&o.race, "race", true, "run the wrong programs under the race detector of the Go distribution too")
	flag.BoolVar(&o.modules, "modules", true, "refine the invariants of real modules too, which are downloaded")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	wrong, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sections:", err)
		os.Exit(3)
	}
	if wrong > 0 {
		fmt.Fprintf(os.Stderr, "sections: %d pairs are not as they should be\n", wrong)
		os.Exit(1)
	}
}

// run returns how many pairs are not as they should be.
func run(ctx context.Context, o options) (wrong int, err error) {
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return 0, err
	}
	pairs, err := findPairs(o.dir, o.match)
	if err != nil {
		return 0, err
	}
	if len(pairs) > 0 {
		err = measure(ctx, o, pairs)
	} else if !o.modules || !slices.ContainsFunc(modules, func(m module) bool { return strings.Contains(m.path, o.match) }) {
		err = fmt.Errorf("no pair or module …%s…", o.match)
	}
	if err != nil {
		return 0, err
	}
	for i := range pairs {
		if why := pairs[i].wrong(); why != "" {
			fmt.Fprintf(os.Stderr, "sections: %s: %s\n", pairs[i].name, why)
			wrong++
		}
	}
	var refined []refinement
	if o.modules {
		if refined, err = refineAll(ctx, o); err != nil {
			return wrong, err
		}
	}
	text := document(o, pairs, refined)
	if o.out == "" {
		_, err = os.Stdout.WriteString(text)
	} else {
		err = os.WriteFile(o.out, []byte(text), 0o644)
	}
	return wrong, err
}
