// Package hbcost measures the cost of the happens-before engine beside the race detector: processor time and peak
// memory of the programs of testdata/hbcost, over those of the plain build. `make hbcost` keeps the
// figures in figures.json.
//
// The bars are the project's: at most half of the race detector's overhead and memory in the median, and never more
// than its overhead. Where one is missed the command fails.
package hbcost

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/exact"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// build is one way to build the programs.
type build int

const (
	plain build = iota
	engine
	race
	builds
)

// program has the figures of one, by build, one for each round.
type program struct {
	name, about string
	time        [builds][]float64 // processor time, in nanoseconds
	memory      [builds][]float64 // peak, in kB
}

// Run runs the tool. It reports whether the bars are held.
func Run(ctx context.Context, args []string) (held bool, err error) {
	flags := flag.NewFlagSet("lab hbcost", flag.ExitOnError)
	rounds := flags.Int("rounds", 5, "paired rounds of the programs")
	out := flags.String("o", "", "write the figures to this `file` too, as JSON")
	flags.Parse(args)
	tmp, err := os.MkdirTemp("", "interlock-hbcost-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)

	// Build the programs each way.
	fmt.Fprintln(os.Stderr, "hbcost: building the programs, and the standard library under the engine")
	binaries, err := buildAll(ctx, tmp)
	if err != nil {
		return false, err
	}
	all, err := list(ctx, binaries[plain])
	if err != nil {
		return false, err
	}

	// Run each of them in each way, round by round, so that other work of the machine slows all ways alike.
	for round := 1; round <= *rounds; round++ {
		fmt.Fprintf(os.Stderr, "hbcost: round %d of %d\n", round, *rounds)
		for _, p := range all {
			if err := p.measure(ctx, binaries); err != nil {
				return false, err
			}
		}
	}

	// Compare the medians with the bars.
	s := summarise(all)
	return s.held(), page.Write(*out, document(all, s, *rounds))
}

// buildAll builds the programs each way. The race detector needs cgo; the others are built without.
func buildAll(ctx context.Context, tmp string) (binaries [builds]string, err error) {
	dir, err := filepath.Abs(filepath.Join("testdata", "hbcost"))
	if err != nil {
		return binaries, err
	}
	exactly, err := exact.Flags(ctx, tmp, nil)
	if err != nil {
		return binaries, err
	}
	for b, flags := range [builds][]string{engine: exactly, race: {"-race"}} {
		binaries[b] = filepath.Join(tmp, fmt.Sprint("hbcost", b))
		env := []string{"CGO_ENABLED=0"}
		if build(b) == race {
			env = []string{"CGO_ENABLED=1"}
		}
		args := slices.Concat([]string{"build", "-o", binaries[b]}, flags, []string{"."})
		if _, err := command.Go(ctx, dir, env, args...); err != nil {
			return binaries, err
		}
	}
	return binaries, nil
}

// list returns the programs of a binary, which it lists where it gets no argument.
func list(ctx context.Context, binary string) (all []*program, err error) {
	out, err := exec.CommandContext(ctx, binary).Output()
	if err != nil {
		return nil, fmt.Errorf("listing the programs: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		name, about, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all = append(all, &program{name: name, about: about})
	}
	return all, nil
}

// measure runs a program once as each build.
func (p *program) measure(ctx context.Context, binaries [builds]string) error {
	for b, binary := range binaries {
		cmd := exec.CommandContext(ctx, binary, p.name)
		cmd.Env = append(os.Environ(), "INTERLOCK_OUT=")
		out, err := cmd.Output()
		var ns, kB float64
		if err == nil {
			_, err = fmt.Sscan(string(out), &ns, &kB)
		}
		if err != nil {
			return fmt.Errorf("running %s %s: %w", filepath.Base(binary), p.name, err)
		}
		p.time[b], p.memory[b] = append(p.time[b], ns), append(p.memory[b], kB)
	}
	return nil
}
