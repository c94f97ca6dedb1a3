package cli

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/config"
)

// leadingFolder returns the folder of a -C that stands before the command, as the go command takes it there, and the
// other arguments.
func leadingFolder(args []string) (dir string, rest []string, ok bool) {
	if len(args) == 0 {
		return "", args, false
	}
	name, value, given := strings.Cut(args[0], "=")
	switch {
	case name != "-C" && name != "--C":
		return "", args, false
	case given:
		return value, args[1:], true
	case len(args) > 1:
		return args[1], args[2:], true
	}
	return "", args, false
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

// configure sets the flags that the file has for the command, and returns their places. Package flag does not count
// them among those that are set: these are the ones of the command line.
func configure(set *flag.FlagSet, c *command, file *config.Config) (map[string]string, error) {
	if file == nil {
		return nil, nil
	}
	places := map[string]string{}
	common := slices.DeleteFunc(flagNames(set), func(name string) bool { return slices.Contains(c.own, name) })
	for _, s := range file.For(c.name, common) {
		places[s.Flag] = fmt.Sprintf("%s:%d:%d", file.File, s.Line, s.Column)
		for _, v := range s.Values {
			if err := set.Lookup(s.Flag).Value.Set(v); err != nil {
				return nil, fmt.Errorf("%s: %s", places[s.Flag], refusal(set, s.Flag, v, err))
			}
		}
	}
	return places, nil
}

// refusal returns the error about a value of the file that a flag does not take. It names a right value, as the error
// of the command line does.
func refusal(set *flag.FlagSet, name, value string, err error) string {
	kind := ""
	if b, ok := set.Lookup(name).Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
		kind = "boolean "
	}
	said := clearer(withHint(set, fmt.Errorf("invalid %svalue %q for flag -%s: %w", kind, value, name, err)))
	return name + ": " + strings.TrimPrefix(said, fmt.Sprintf("-%s %s: ", name, value))
}
