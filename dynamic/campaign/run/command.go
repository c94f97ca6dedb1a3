package run

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// Replay is one run that is to show a finding again: the command line has all that
// it depends on.
type Replay struct {
	Pkg      string // of the tests
	Seed     uint64
	Strength int
	Only     string // places at which noise is made, with windows where a plan had some; "" is everywhere
	Hold     string // places of locks between which goroutines are held
	Pause    string // place at which goroutines are held, with the length; the tests are to fail then
	Quiet    bool   // noise is made at these places alone, as in a run with a plan that takes the budget up
	Exact    bool   // under the happens-before engine, without noise unless the user has chosen a schedule
	Runs     int    // of which the last is the one, where there is such a schedule
	Test     string // that runs alone; "" is all that the user's flags choose
	Hangs    string // tests, with | in between, which such a run makes although they hang without noise too
	Held     bool   // only has where the run held goroutines by its plan, not where those of the finding are
}

// Command is the command line that makes the run.
func (r *Replay) Command(cfg *Settings) string {
	if r.Exact {
		words := []string{"interlock", "test", "-engine=" + cfg.Engine.Name()}
		if cfg.Noise.Where.Text != "" {
			words = append(words, cfg.Noise.Where.Flags()...)
			words = append(words, fmt.Sprintf("-runs=%d", r.Runs), fmt.Sprintf("-seed=%d", r.Seed))
		}
		return CommandLine(append(words, r.Pkg), r.goFlags(cfg))
	}
	words := []string{"interlock", "test", "-runs=1", fmt.Sprintf("-seed=%d", r.Seed)}
	if r.Strength > 0 {
		words = append(words, fmt.Sprintf("-strength=%d", r.Strength))
	}
	if cfg.Noise.Budget > 0 {
		words = append(words, fmt.Sprintf("-budget=%d", cfg.Noise.Budget))
	}
	if r.Quiet || cfg.Noise.Prob != 0 {
		words = append(words, fmt.Sprintf("-prob=%d", r.prob(cfg)))
	}
	// Noise at the finding alone shows it most often; else it is made where the run made it.
	switch {
	case cfg.Replay.OnlyFlag != "" && r.Only != "":
		words = append(words, fmt.Sprintf("%s=%s", cfg.Replay.OnlyFlag, r.Only))
	case cfg.Noise.Where.Text != "":
		words = append(words, cfg.Noise.Where.Flags()...)
	}
	if hold := cmp.Or(r.Hold, r.Pause); cfg.Replay.HoldFlag != "" && hold != "" {
		words = append(words, fmt.Sprintf("%s=%s", cfg.Replay.HoldFlag, hold))
	}
	if deps := cfg.Workspace.Module.DepPaths(); len(deps) > 0 {
		words = append(words, "-deps="+strings.Join(deps, ","))
	}
	return CommandLine(append(append(words, cfg.Replay.Flags...), r.Pkg), r.goFlags(cfg))
}

// prob is how likely noise is at other places than those of the replay, of 1000.
func (r *Replay) prob(cfg *Settings) int {
	if r.Quiet {
		return 0
	}
	return max(cfg.Noise.Prob, 0)
}

// goFlags returns the flags of go test that the run needs.
func (r *Replay) goFlags(cfg *Settings) []string {
	flags := GoFlags(cfg)
	if r.Test != "" {
		flags = append(flags, "-run=^"+r.Test+"$")
	}
	return flags
}

// CommandLine returns words and, behind --, flags of go test as a shell reads them.
func CommandLine(words, flags []string) string {
	if len(flags) > 0 {
		words = append(append(words, "--"), flags...)
	}
	for i, w := range words {
		words[i] = ShellQuote(w)
	}
	return strings.Join(words, " ")
}

// GoFlags returns the flags as `go test` takes them.
func GoFlags(cfg *Settings) []string {
	flags := cfg.Workspace.Module.BuildFlags()
	for _, f := range cfg.Tests.Flags {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), "test."); ok && strings.HasPrefix(f, "-") {
			f = "-" + rest
		}
		flags = append(flags, f)
	}
	return flags
}

var plainWord = regexp.MustCompile(`^[-+=:,./@%_A-Za-z0-9]+$`)

// ShellQuote quotes a word for a POSIX shell where it needs to be.
func ShellQuote(w string) string {
	if plainWord.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
