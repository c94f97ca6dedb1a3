// Command torture generates programs that are correct by construction, and
// racy twins of them, and runs all of them through the whole pipeline with wide
// windows: in the correct ones nothing may be confirmed and nothing may
// change, in the twins the race has to be. `make torture` keeps the result in
// docs/torture.md.
//
// A program is made from its seed: two to six blocks, each of a shape. Some
// shapes are written out (shapes/*.txtar). The others are products of a shared
// variable (cells.go), a lock (locks.go), a way to start goroutines and to
// wait for them (forks.go), and ways to come to an access (wraps.go). Every
// variable has one discipline, so no two accesses of it are unordered. A racy
// twin is the same program with one synchronisation taken away, or put where
// it does not help, so that accesses which the generator knows race; both are
// made in every run, with little in between.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
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
	keep, out     string
}

func main() {
	var o options
	flag.IntVar(&o.correct, "correct", 3000, "correct programs")
	flag.IntVar(&o.racy, "racy", 1000, "racy twins")
	flag.IntVar(&o.size, "size", 50, "programs in a package")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the first program, each further one adds 1")
	flag.IntVar(&o.runs, "runs", 20, "runs of each package under the monitor")
	flag.IntVar(&o.strength, "strength", 2000, "strength of the noise in `microseconds`; 0 has campaigns vary it")
	flag.IntVar(&o.budget, "budget", 2000, "noise budget of correct programs, in `percent` of the plain time")
	flag.IntVar(&o.racyBudget, "racybudget", 10000, "that of racy twins: windows at nearly all accesses")
	flag.IntVar(&o.least, "least", 95, "share of the racy twins, in `percent`, that is to be caught")
	flag.IntVar(&o.parallel, "parallel", 2, "packages at the same time")
	flag.BoolVar(&o.norace, "norace", false, "leave the race detector out")
	match := flag.String("shapes", "", "take shapes whose name matches this `pattern` only, or guarded blocks")
	flag.StringVar(&o.write, "write", "", "write the programs as a module to this `folder`, and run nothing")
	flag.StringVar(&o.interlock, "interlock", filepath.Join("bin", "interlock"), "the `binary`")
	flag.StringVar(&o.keep, "keep", "", "keep what interlock printed in this `folder`")
	flag.StringVar(&o.out, "o", "", "write the report to this `file` instead of standard output")
	flag.Parse()
	if *match != "" {
		o.shapes = regexp.MustCompile(*match)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(3)
	}
	if !ok {
		os.Exit(1)
	}
}

// run reports whether all bars are held.
func run(ctx context.Context, o options) (ok bool, err error) {
	correct, racy := o.programs()
	if o.write != "" {
		return true, layOut(o.write, append(correct, racy...))
	}
	if o.interlock, err = exec.LookPath(o.interlock); err == nil {
		o.interlock, err = filepath.Abs(o.interlock)
	}
	if err != nil {
		return false, fmt.Errorf("finding interlock: %w; `make build` makes it", err)
	}
	tmp, err := os.MkdirTemp("", "interlock-torture-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	batches := append(batchesOf(correct, o.size, tmp), batchesOf(racy, o.size, tmp)...)
	if err := measureAll(ctx, batches, o); err != nil {
		return false, err
	}
	text, ok := report(batches, o)
	if o.out == "" {
		_, err = os.Stdout.WriteString(text)
	} else {
		err = os.WriteFile(o.out, []byte(text), 0o644)
	}
	return ok, err
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
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(o.parallel, 1) {
		wg.Go(func() {
			for i := range next {
				errs[i] = batches[i].measure(ctx, o)
			}
		})
	}
	for i, b := range batches {
		fmt.Fprintf(os.Stderr, "torture: package %d of %d, from seed %d\n", i+1, len(batches), b.programs[0].seed)
		next <- i
	}
	close(next)
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}
