package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/config"
	"github.com/interlock-go/interlock/cmd/internal/suggest"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
)

// command is one command of the tool.
type command struct {
	name  string
	args  string // the part of the usage line behind the name
	short string // one line
	long  string // the description, for a stranger
	// examples holds pairs: a command line and its purpose.
	examples [][2]string
	fails    string // the reasons for exit code 1; empty if there are none
	tests    bool   // takes `-- go test flags`
	program  bool   // takes one package, and behind it the arguments of a program
	// own names flags that mean something else to other commands: the file of settings sets them below the command
	// alone.
	own     []string
	options func() runner // the command's own options, with no flag set
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

func (c *command) takesPackages() bool { return c.program || strings.Contains(c.args, "[packages]") }

// commands in the order in which help lists them. A function: help itself
// refers to them.
func commands() []*command {
	return []*command{&checkCommand, &planCommand, &testCommand, campaignCommand(), &fixCommand, &auditCommand,
		baselineCommand(), &sectionsCommand, &runCommand, &buildCommand, &envCommand, &reportCommand,
		&lspCommand, initCommand(), configCommand(), completionCommand(), &explainCommand, &versionCommand, helpCommand()}
}

func find(name string) *command {
	for _, c := range append(commands(), subcommands()...) {
		if c.name == name {
			return c
		}
	}
	return nil
}

// common holds the flags and arguments that all commands share.
type common struct {
	dir       string
	tags      string
	verbose   bool
	config    string   // the file of settings; noConfig for none, empty for the one found upward
	packages  []string // or other words that stand on the command line
	testFlags []string // after --
	arguments []string // of a program
	// setAt has the places of the flags that the file of settings has set and the command line has not.
	setAt map[string]string
}

// placed returns err behind the place in the file of settings if it is a fault of a flag that is set there.
func (in *common) placed(err error) error {
	var fault *flagFault
	if errors.As(err, &fault) && in.setAt[fault.flag] != "" {
		return fmt.Errorf("%s: %s", in.setAt[fault.flag], strings.TrimPrefix(fault.Error(), "-"))
	}
	return err
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
		fs.StringVar(&in.config, "config", "", "take flags from this `file`; off for none (default: "+config.Name+
			"\nhere or in a folder above, within the repository)")
	}
	own.declare(fs)
	return fs
}

// parse reads the arguments of c, and the flags that the repository's file of settings has for it, which those
// on the command line override.
func parse(c *command, args []string) (*common, runner, error) {
	in, own, err := parseWith(c, args, nil)
	if err != nil || !c.takesPackages() {
		return in, own, err
	}
	file, err := in.readConfig() // which folder that is looked for in, the arguments say
	if err != nil || file == nil {
		return in, own, err
	}
	return parseWith(c, args, file)
}

// parseWith reads the arguments of c behind the settings of the file, if that is not nil. Flags may stand before,
// between and behind the packages, up to --.
func parseWith(c *command, args []string, file *config.Config) (in *common, own runner, err error) {
	in, own = new(common), c.options()
	fs := newFlagSet(c, in, own)
	if in.setAt, err = configure(fs, c, file); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			return
		}
		fs.Visit(func(f *flag.Flag) { delete(in.setAt, f.Name) })
		if err = wrongKind(fs, in.dir); err == nil {
			err = fits(own)
		}
		err = in.placed(err)
	}()
	// Behind the package of a program all words are the program's, flags and -- too.
	if c.program {
		if err := fs.Parse(args); err != nil {
			return nil, nil, withHint(fs, err)
		}
		if fs.NArg() > 0 {
			in.packages, in.arguments = fs.Args()[:1], fs.Args()[1:]
		}
		return in, own, nil
	}
	if i := slices.Index(args, "--"); i >= 0 {
		if !c.tests {
			return nil, nil, fmt.Errorf("%s takes nothing after --", c.name)
		}
		args, in.testFlags = args[:i], args[i+1:]
	}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, nil, withHint(fs, err)
		}
		if fs.NArg() == 0 {
			return in, own, nil
		}
		in.packages = append(in.packages, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// fits returns an error if some flags exclude each other.
func fits(own runner) error {
	if o, ok := own.(interface{ fit() error }); ok {
		return o.fit()
	}
	return nil
}

// isTime reports whether f takes a duration.
func isTime(f *flag.Flag) bool {
	if f == nil {
		return false
	}
	v, ok := f.Value.(flag.Getter)
	if !ok {
		return false
	}
	_, ok = v.Get().(time.Duration)
	return ok
}

// wrongKind reports a flag that wants a file and names a folder, or the other way round. Names are relative to dir.
func wrongKind(fs *flag.FlagSet, dir string) (err error) {
	fs.VisitAll(func(f *flag.Flag) {
		name := f.Value.String()
		if f.Name != "C" && !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		info, missing := os.Stat(name)
		if missing != nil || f.Value.String() == "" || f.Value.String() == "off" || err != nil {
			return
		}
		switch kind, _ := flag.UnquoteUsage(f); {
		case kind == "file" && info.IsDir():
			err = misfit(f.Name, "%s: this is a folder; name a file", f.Value)
		case kind == "folder" && !info.IsDir():
			err = misfit(f.Name, "%s: this is a file; name a folder", f.Value)
		}
	})
	return err
}

// withHint adds advice to an error: to that of an unknown flag the similar one that exists, to that of a time the form
// of a time. The error about a flag of go test stays as it is: testflags.Advise words it.
func withHint(fs *flag.FlagSet, err error) error {
	if m := badValue.FindStringSubmatch(err.Error()); m != nil && m[3] == "parse error" && isTime(fs.Lookup(m[2])) {
		return fmt.Errorf("invalid value %q for flag -%s: want a time with its unit, such as 30s or 10m", m[1], m[2])
	}
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	ofGoTest := testflags.Advise("", err) != ""
	if n := suggest.Nearest(name, flagNames(fs)); unknown && n != "" && !ofGoTest {
		return fmt.Errorf("%w (did you mean -%s?)", err, n)
	}
	return err
}

// badValue matches the error of package flag about a value.
var badValue = regexp.MustCompile(`^invalid (?:boolean )?value "(.*)" for (?:flag )?-?([^:]+): (.*)$`)

// clearer words an error of package flag as one of ours: the flag first, and then a value that would be right.
func clearer(err error) string {
	text := err.Error()
	if name, unknown := strings.CutPrefix(text, "flag provided but not defined: "); unknown {
		return "unknown flag " + name
	}
	m := badValue.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	why := m[3]
	switch {
	case strings.HasPrefix(text, "invalid boolean"):
		why = "want true or false"
	case why == "parse error":
		why = "want a whole number, such as 20"
	case why == "value out of range":
		why = "the number is too large"
	}
	return fmt.Sprintf("-%s %s: %s", strings.TrimLeft(m[2], "-"), m[1], why)
}

// needsWord reports that a command needs the name of a subcommand, and lists the subcommands.
func (c *call) needsWord(name string) int {
	var below []string
	for _, s := range subcommands() {
		if strings.HasPrefix(s.name, name+" ") {
			below = append(below, fmt.Sprintf("`interlock %s` to %s", s.name, s.short))
		}
	}
	return c.usage("%s needs another word: use %s", name, strings.Join(below, ", or "))
}

// flagNames lists the flags of fs.
func flagNames(fs *flag.FlagSet) (names []string) {
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// commandNames lists the commands.
func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// packagesOf returns the packages that the words name. A Go file stands for the package in its folder.
func packagesOf(words []string) (packages []string, err error) {
	for _, word := range words {
		if strings.HasSuffix(word, ".go") {
			if info, err := os.Stat(word); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s: there is no such file", word)
			} else if err != nil || !info.Mode().IsRegular() {
				return nil, fmt.Errorf("%s is no Go file", word)
			}
			if word = filepath.Dir(word); !filepath.IsAbs(word) {
				word = "." + string(filepath.Separator) + word
			}
		} else if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no Go file", word)
		}
		if !slices.Contains(packages, word) {
			packages = append(packages, word)
		}
	}
	return packages, nil
}

// buildFlags returns the flags that every go command of this call gets.
func (in *common) buildFlags() []string {
	if in.tags == "" {
		return nil
	}
	return []string{"-tags=" + in.tags}
}
