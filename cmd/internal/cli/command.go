package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/build"
)

// call is one run of a command.
type call struct {
	ctx            context.Context
	stdout, stderr io.Writer
	progress       *progress.Reporter
	*common
	table   table        // of all commands
	closers []io.Closer  // when the command has ended
	kept    *build.Still // see still
}

// sink is standard output. It keeps the first error: a text that was cut off
// must not pass for a whole one.
type sink struct {
	w   io.Writer
	mu  sync.Mutex
	err error // guarded by mu
}

// Write writes to standard output. Several goroutines may call it.
func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.w.Write(b)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// close removes the temporary folders of the command.
func (c *call) close() {
	for _, closer := range slices.Backward(c.closers) {
		c.closeLater(closer)
	}
}

// closeLater closes closer when the command ends, and reports an error.
func (c *call) closeLater(closer io.Closer) {
	if err := closer.Close(); err != nil {
		c.warn(err.Error())
	}
}

// makePlan makes a plan. Its module is closed when the command has ended.
func (c *call) makePlan(o planner.Options) (*planner.Planned, error) {
	pl, err := planner.Make(c.ctx, o)
	if pl != nil {
		c.closers = append(c.closers, pl.Module)
	}
	return pl, err
}

// still returns the settings that keep the go commands of this call from writing
// into the user's tree.
func (c *call) still() (*build.Still, error) {
	if c.kept != nil {
		return c.kept, nil
	}
	still, err := build.KeepStill(c.ctx, ".", os.Environ())
	if err != nil {
		return nil, err
	}
	c.kept, c.closers = still, append(c.closers, still)
	return still, nil
}

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

// table has all commands, in the order in which help lists them. The name of a subcommand has two words, such as
// "sections refresh".
type table []*command

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

// buildFlags returns the flags that every go command of this call gets.
func (in *common) buildFlags() []string {
	if in.tags == "" {
		return nil
	}
	return []string{"-tags=" + in.tags}
}

// warn writes sentences to standard error, without the control characters that names of files may hold.
func (c *call) warn(sentences ...string) {
	for _, s := range sentences {
		fmt.Fprintf(c.stderr, "interlock: %s\n", harmless(s))
	}
}

// harmless returns the lines of s without control characters, and without a newline at the end.
func harmless(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = report.Clean(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

// flagFault is the error about a flag that others exclude.
type flagFault struct {
	flag string
	why  string // ends a sentence that begins with the flag
}

func misfit(flag, why string, args ...any) error { return &flagFault{flag, fmt.Sprintf(why, args...)} }

// Error names the flag and the reason.
func (f *flagFault) Error() string { return "-" + f.flag + " " + f.why }
