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
	flags    func(*flag.FlagSet, *options) // beyond -C; nil for none
	tests    bool                          // takes `-- go test flags`
	run      func(*call) int
}

func (c *command) takesPackages() bool { return strings.Contains(c.args, "[packages]") }

// commands in the order in which help lists them. A function: help itself
// refers to them.
func commands() []*command {
	return []*command{&checkCommand, &planCommand, &testCommand, &fixCommand, &sectionsCommand, &envCommand, &reportCommand, &explainCommand, &versionCommand, helpCommand()}
}

func find(name string) *command {
	for _, c := range append(commands(), subcommands()...) {
		if c.name == name {
			return c
		}
	}
	return nil
}

// options are the values of all flags; each command declares those that it
// knows.
type options struct {
	dir       string
	tags      string
	verbose   bool
	format    string
	out       outputs
	runs      int
	replays   int
	seed      uint64
	budget    int
	strength  int
	prob      int
	noise     string
	only      string
	sections  string
	suspected bool
	write     bool
	folder    string // of env
	deps      []string
	oracle    string // of sections refine, as quiet and plants
	quiet     int
	plants    int
	whole     bool
	hints     bool

	runsTests bool     // the command does
	packages  []string // or other words that stand on the command line
	testFlags []string // after --
}

// newFlagSet returns the flags of c, writing nothing by itself.
func newFlagSet(c *command, o *options) *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	if c.takesPackages() {
		fs.StringVar(&o.dir, "C", "", "change to the `folder` before anything else")
		fs.StringVar(&o.tags, "tags", "", "build `tags`, with commas between, as go build has them")
		fs.BoolVar(&o.verbose, "v", false, "say on standard error what is being done")
	}
	if c.flags != nil {
		c.flags(fs, o)
	}
	return fs
}

// parse reads the arguments of c. Flags may stand before, between and behind
// the packages, up to --.
func parse(c *command, args []string) (*options, error) {
	o := &options{runsTests: c.tests}
	fs := newFlagSet(c, o)
	if i := slices.Index(args, "--"); i >= 0 {
		if !c.tests {
			return nil, fmt.Errorf("%s takes nothing after --", c.name)
		}
		args, o.testFlags = args[:i], args[i+1:]
	}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return o, nil
		}
		o.packages = append(o.packages, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// buildFlags returns the flags that every go command of this call gets.
func (o *options) buildFlags() []string {
	if o.tags == "" {
		return nil
	}
	return []string{"-tags=" + o.tags}
}

// depsFlag is that of the commands that monitor.
func depsFlag(fs *flag.FlagSet, o *options) {
	fs.Func("deps", "monitor these dependencies too: `patterns` of module or package paths, such as\ngolang.org/x/..., with commas between; may be given several times", func(s string) error {
		o.deps = append(o.deps, strings.Split(s, ",")...)
		return nil
	})
}
