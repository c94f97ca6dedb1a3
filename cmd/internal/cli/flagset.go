package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/config"
	"github.com/interlock-go/interlock/cmd/internal/suggest"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
)

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

// flagNames lists the flags of fs.
func flagNames(fs *flag.FlagSet) (names []string) {
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}
