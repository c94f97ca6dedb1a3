// Package torture generates programs that are correct by construction, and
// racy twins of them, and runs all of them through the whole pipeline with wide
// windows: in the correct ones nothing may be confirmed and nothing may
// change, in the twins the race has to be. `make torture` keeps the figures
// in figures.json.
//
// A program is made from its seed: two to six blocks, each of a shape. Some
// shapes are written out (shapes/*.txtar). The others are products of a shared
// variable (cells.go), a lock (locks.go), a way to start goroutines and to
// wait for them (forks.go), and ways to come to an access (wraps.go). Every
// variable has one discipline, so no two accesses of it are unordered. A racy
// twin is the same program with one synchronisation taken away, or put where
// it does not help, so that accesses which the generator knows race; both are
// made in every run, with little in between.
package torture

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
)

type options struct {
	correct, racy int
	size          int
	seed          uint64
	runs          int
	strength      int
	budget        int
	racyBudget    int
	least         int
	parallel      int
	norace        bool
	shapes        *regexp.Regexp
	interlock     string
	write         string
	keep          string
}

// Run runs the tool. It reports whether all bars are held.
func Run(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("torture")
	o := new(options)
	o.declare(t.Flags)
	return t.Run(args, func(tmp string) (string, bool, error) {
		correct, racy := o.programs()
		if o.write != "" {
			return "", true, layOut(o.write, append(correct, racy...))
		}
		if o.interlock, err = command.Interlock(o.interlock); err != nil {
			return "", false, err
		}
		if o.keep != "" {
			if err := os.MkdirAll(o.keep, 0o755); err != nil {
				return "", false, err
			}
		}
		batches := append(batchesOf(correct, o.size, tmp), batchesOf(racy, o.size, tmp)...)
		if err := measureAll(ctx, batches, *o); err != nil {
			return "", false, err
		}
		text, held := report(batches, *o)
		return text, held, nil
	})
}

// declare declares the flags.
func (o *options) declare(flags *flag.FlagSet) {
	// The programs to generate.
	flags.IntVar(&o.correct, "correct", 3000, "correct programs")
	flags.IntVar(&o.racy, "racy", 1000, "racy twins")
	flags.IntVar(&o.size, "size", 50, "programs in a package")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the first program, each further one adds 1")
	shapes := func(s string) (err error) {
		o.shapes, err = regexp.Compile(s)
		return err
	}
	flags.Func("shapes", "take shapes whose name matches this `pattern` only, or guarded blocks", shapes)
	flags.StringVar(&o.write, "write", "", "write the programs as a module to this `folder`, and run nothing")

	// How it is run.
	flags.IntVar(&o.runs, "runs", 20, "runs of each package under the monitor")
	flags.IntVar(&o.strength, "strength", 2000, "strength of the noise in `microseconds`; with 0 campaigns vary it")
	flags.IntVar(&o.budget, "budget", 2000, "noise budget of correct programs, in `percent` of the plain time")
	flags.IntVar(&o.racyBudget, "racybudget", 10000, "that of racy twins: windows at nearly all accesses")
	flags.IntVar(&o.least, "least", 95, "share of the racy twins, in `percent`, that is to be caught")
	flags.IntVar(&o.parallel, "parallel", 2, "packages at the same time")
	flags.BoolVar(&o.norace, "norace", false, "leave the race detector out")
	flags.StringVar(&o.interlock, "interlock", filepath.Join("bin", "interlock"), "the `binary`")

	// The output.
	flags.StringVar(&o.keep, "keep", "", "keep what interlock printed in this `folder`")
}

// programs generates those that are asked for.
func (o *options) programs() (correct, racy []*program) {
	var chosen func(string) bool
	if o.shapes != nil {
		chosen = o.shapes.MatchString
	}
	for i := range o.correct {
		correct = append(correct, generate(o.seed+uint64(i), false, chosen))
	}
	for seed := o.seed; len(racy) < o.racy && seed < o.seed+uint64(3*o.racy); seed++ {
		if p := generate(seed, true, chosen); p.broken != "" {
			racy = append(racy, p)
		}
	}
	return correct, racy
}

// batchesOf divides programs into batches, each with a module below tmp.
func batchesOf(programs []*program, size int, tmp string) (batches []*batch) {
	for len(programs) > 0 {
		n := min(size, len(programs))
		batches = append(batches, &batch{programs: programs[:n], dir: filepath.Join(tmp, programs[0].name)})
		programs = programs[n:]
	}
	return batches
}

// measureAll measures the batches, o.parallel at a time.
func measureAll(ctx context.Context, batches []*batch, o options) error {
	errs := make([]error, len(batches))
	command.Parallel(o.parallel, len(batches), func(i int) {
		fmt.Fprintf(os.Stderr, "torture: package %d of %d, from seed %d\n", i+1, len(batches), batches[i].programs[0].seed)
		errs[i] = batches[i].measure(ctx, o)
	})
	return errors.Join(append(errs, ctx.Err())...)
}
