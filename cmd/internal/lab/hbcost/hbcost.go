// Package hbcost measures the cost of the happens-before engine beside the race detector: processor time and peak
// memory of the programs of testdata/hbcost, over those of the plain build. `make hbcost` keeps the
// figures in figures.json.
//
// The bars are the project's: at most half of the race detector's overhead and memory in the median, and never more
// than its overhead. Where one is missed the command fails.
package hbcost

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/exact"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
)

// The ways to build the programs.
const (
	plain  = "plain"
	engine = "engine"
	race   = "race"
)

// measured has the processor time of the programs in nanoseconds, their peak of memory in kB, and the texts about them.
type measured struct {
	time, memory matrix.Figures
	programs     []string // as the binary lists them
	about        map[string]string
}

// Run runs the tool. It reports whether the bars are held.
func Run(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("hbcost")
	rounds := t.Flags.Int("rounds", 5, "paired rounds of the programs")
	return t.Run(args, func(tmp string) (string, bool, error) {
		t.Say("building the programs, and the standard library under the engine")
		binaries, err := buildAll(ctx, tmp)
		if err != nil {
			return "", false, err
		}
		m := &measured{time: matrix.Figures{}, memory: matrix.Figures{}, about: map[string]string{}}
		if err := m.listPrograms(ctx, binaries[plain]); err != nil {
			return "", false, err
		}
		err = matrix.Rounds(ctx, t, *rounds, m.programs, func(_ int, program string) error {
			return m.measure(ctx, program, binaries)
		})
		if err != nil {
			return "", false, err
		}
		s := m.summarise()
		return m.document(s, *rounds), s.barsHeld(), nil
	})
}

// buildAll builds the programs each way. The race detector needs cgo; the others are built without.
func buildAll(ctx context.Context, tmp string) (binaries map[string]string, err error) {
	dir, err := filepath.Abs(filepath.Join("testdata", "hbcost"))
	if err != nil {
		return nil, err
	}
	exactly, err := exact.Flags(ctx, tmp)
	if err != nil {
		return nil, err
	}
	binaries = map[string]string{}
	for build, flags := range map[string][]string{plain: nil, engine: exactly, race: {"-race"}} {
		binaries[build] = filepath.Join(tmp, "hbcost-"+build)
		env := []string{"CGO_ENABLED=0"}
		if build == race {
			env = []string{"CGO_ENABLED=1"}
		}
		args := slices.Concat([]string{"build", "-o", binaries[build]}, flags, []string{"."})
		if _, err := command.Go(ctx, dir, env, args...); err != nil {
			return nil, err
		}
	}
	return binaries, nil
}

// listPrograms fills in the programs of a binary, which lists them where it gets no argument.
func (m *measured) listPrograms(ctx context.Context, binary string) error {
	out, err := exec.CommandContext(ctx, binary).Output()
	if err != nil {
		return fmt.Errorf("listing the programs: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		name, about, _ := strings.Cut(strings.TrimSpace(line), "\t")
		m.programs = append(m.programs, name)
		m.about[name] = about
	}
	return nil
}

// measure runs a program once as each build.
func (m *measured) measure(ctx context.Context, program string, binaries map[string]string) error {
	for _, build := range []string{plain, engine, race} {
		cmd := exec.CommandContext(ctx, binaries[build], program)
		cmd.Env = append(os.Environ(), "INTERLOCK_OUT=")
		out, err := cmd.Output()
		var ns, kB float64
		if err == nil {
			_, err = fmt.Sscan(string(out), &ns, &kB)
		}
		if err != nil {
			return fmt.Errorf("running %s %s: %w", build, program, err)
		}
		m.time.Add(program, build, ns)
		m.memory.Add(program, build, kB)
	}
	return nil
}
