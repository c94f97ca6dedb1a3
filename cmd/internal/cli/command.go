package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// command is one command of the tool.
type command struct {
	name  string
	args  string // what follows the name in the usage line
	short string // one line
	long  string // what it does, for a stranger
	// examples holds pairs: a command line, and what it is for.
	examples [][2]string
	tests    bool          // takes `-- go test flags`
	options  func() runner // the command's own options, with no flag set
}

// runner holds the values of a command's own flags, and runs it.
type runner interface {
	// declare declares the flags and sets their defaults.
	declare(fs *flag.FlagSet)
	// run runs the command and returns the exit code.
	run(c *call) int
}

// flagless is a command without flags of its own.
type flagless func(*call) int

func (flagless) declare(*flag.FlagSet) {}

func (f flagless) run(c *call) int { return f(c) }

func (c *command) takesPackages() bool { return strings.Contains(c.args, "[packages]") }

// commands in the order in which help lists them. A function: help itself
// refers to them.
func commands() []*command {
	return []*command{&checkCommand, &planCommand, &testCommand, &fixCommand, &baselineCommand,
		&sectionsCommand, &envCommand, &reportCommand, &lspCommand, &explainCommand, &versionCommand, helpCommand()}
}

func find(name string) *command {
	for _, c := range append(commands(), subcommands()...) {
		if c.name == name {
			return c
		}
	}
	return nil
}

// common holds what the command lines of all commands share.
type common struct {
	dir       string
	tags      string
	verbose   bool
	packages  []string // or other words that stand on the command line
	testFlags []string // after --
}

// newFlagSet returns the flags of c, which sets the values of in and own. It
// writes nothing by itself.
func newFlagSet(c *command, in *common, own runner) *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	if c.takesPackages() {
		fs.StringVar(&in.dir, "C", "", "change to the `folder` before anything else")
		fs.StringVar(&in.tags, "tags", "", "build `tags`, with commas between, as go build has them")
		fs.BoolVar(&in.verbose, "v", false, "report on standard error what is being done")
	}
	own.declare(fs)
	return fs
}

// parse reads the arguments of c. Flags may stand before, between and behind
// the packages, up to --.
func parse(c *command, args []string) (*common, runner, error) {
	in, own := new(common), c.options()
	fs := newFlagSet(c, in, own)
	if i := slices.Index(args, "--"); i >= 0 {
		if !c.tests {
			return nil, nil, fmt.Errorf("%s takes nothing after --", c.name)
		}
		args, in.testFlags = args[:i], args[i+1:]
	}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, nil, err
		}
		if fs.NArg() == 0 {
			return in, own, nil
		}
		in.packages = append(in.packages, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// buildFlags returns the flags that every go command of this call gets.
func (in *common) buildFlags() []string {
	if in.tags == "" {
		return nil
	}
	return []string{"-tags=" + in.tags}
}
