package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot/find"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

var botFindCommand = command{
	name: "bot find", args: "[flags] [packages]", short: "find the bugs of a request, and write them to a file",
	long: botLong + `

Find compares HEAD with the commit at which it left the base. It checks both, in a copy of the base in a
temporary folder, and runs "interlock fix" on the packages with changed files and those that import them.
Packages that are named (default ./...) limit that. The exit code is 0 if the file was written, with findings or
without: review posts them.`,
	examples: [][2]string{
		{"interlock bot find -base=origin/main -o=findings.json", "all packages that the request concerns"},
		{"interlock bot find -base=$BASE_SHA -runs=20 -o=findings.json ./cache", "one package, with more runs"},
	},
	own:     []string{"budget", "o"},
	options: func() runner { return new(botFindOptions) },
}

type botFindOptions struct {
	base   string
	out    string
	runs   int
	seed   uint64
	budget time.Duration
}

func (o *botFindOptions) declare(fs *flag.FlagSet) {
	fs.StringVar(&o.base, "base", "", "compare with this `revision`, such as origin/main")
	fs.StringVar(&o.out, "o", "interlock-findings.json", "write the findings to this `file`")
	fs.IntVar(&o.runs, "runs", 0, "make `n` runs of the tests; 0 is as many as \"interlock test\" makes")
	within(fs, "runs", &o.runs, 0, maxStrength, "a number of runs")
	declareSeed(fs, &o.seed)
	fs.DurationVar(&o.budget, "budget", defaultFixTime, "let patches take about this much processor `time` for each "+
		"package with findings")
	refuse(fs, "budget", func() error {
		if o.budget <= 0 {
			return errors.New("want a time above 0, such as 5m")
		}
		return nil
	})
}

func (o *botFindOptions) run(c *call) int {
	if o.base == "" {
		return c.usage("bot find needs the revision to compare with: add -base, such as -base=origin/main")
	}
	self, err := os.Executable()
	if err != nil {
		return c.failed(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return c.failed(err)
	}
	// Both commands that run in between print what tests of strangers print.
	chooseSeed(&o.seed)
	resume := c.stopCommands()
	defer resume()
	flags := []string{fmt.Sprintf("-seed=%d", o.seed), "-budget=" + o.budget.String()}
	if o.runs > 0 {
		flags = append(flags, fmt.Sprintf("-runs=%d", o.runs))
	}
	file, err := find.Find(c.ctx, dir, find.Options{
		Base: o.base, Packages: c.packages, Flags: flags,
		Note: func(s string) { c.warn(s) },
		Interlock: func(ctx context.Context, dir string, args ...string) (int, error) {
			return c.self(ctx, self, dir, args)
		},
	})
	switch {
	case err != nil && c.ctx.Err() != nil:
		return c.interrupted()
	case err != nil:
		return c.failed(err)
	}
	if err := file.Write(o.out); err != nil {
		return c.unwritten(err)
	}
	if c.ctx.Err() != nil {
		c.warn(fmt.Sprintf("interrupted: %s so far in %s", report.Count(len(file.Findings), "finding"), o.out))
		return exitInterrupted
	}
	if !file.Complete {
		c.warn("not all of the request could be analysed and run, so that no comment will be resolved")
	}
	c.warn(fmt.Sprintf("%s in %s", report.Count(len(file.Findings), "finding"), o.out))
	return exitClean
}

// self runs a command of this program in a folder. Its report goes to a file, so only its messages are shown.
func (c *call) self(ctx context.Context, program, dir string, args []string) (int, error) {
	args = append([]string{args[0], "-tags=" + c.tags}, args[1:]...)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stderr = dir, c.stderr
	cmd.Env = append(os.Environ(), "PWD="+dir)
	// An interrupt lets it remove its temporary folders.
	gocmd.OwnGroup(cmd)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if errors.As(err, new(*exec.ExitError)) {
		return cmd.ProcessState.ExitCode(), nil
	}
	return 0, err
}

// stopCommands keeps GitHub Actions, and those of Gitea, from obeying lines of the log that begin with "::": the tests
// of strangers may print such lines. resume ends that; the word is not known before.
func (c *call) stopCommands() (resume func()) {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return func() {}
	}
	word := rand.Text()
	fmt.Fprintf(c.stderr, "::stop-commands::%s\n", word)
	return func() { fmt.Fprintf(c.stderr, "::%s::\n", word) }
}
