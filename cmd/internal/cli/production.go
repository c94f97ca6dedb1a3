package cli

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/scratch"
)

// buildProduction builds programs with the race watch for production.
func buildProduction(c *call, output string) int {
	s, err := scratch.New(os.TempDir())
	if err != nil {
		return c.failed(err)
	}
	c.closers = append(c.closers, s)
	still, err := c.still()
	if err != nil {
		return c.failed(err)
	}
	env := still.Env(os.Environ())
	p, err := build.PrepareProduction(c.ctx, s.Dir, ".", env, c.buildFlags(), c.packages)
	if err != nil {
		return c.failed(err)
	}
	done := c.progress.Working("building the program")
	cmd := exec.CommandContext(c.ctx, "go", slices.Concat([]string{"build", "-o", output}, p.Flags, c.buildFlags(),
		[]string{"--"}, c.packages)...)
	cmd.Env = append(slices.Clip(env), p.Env...)
	out, err := cmd.CombinedOutput()
	done()
	c.progress.Clear()
	if err != nil {
		return c.failed(fmt.Errorf("building the program: %w: %s", err, strings.TrimRight(string(out), "\n")))
	}
	if len(p.Uncounted) > 0 {
		c.warn("races will be predicted, not confirmed, as assembly of these packages may release what no clock counts: " +
			strings.Join(p.Uncounted, ", "))
	}
	fmt.Fprintf(c.stderr, "interlock: %s watches for data races where INTERLOCK_SAMPLE is set, such as "+
		"INTERLOCK_SAMPLE=budget=2%%; `interlock report FILE` prints what it has written\n", output)
	return exitClean
}
