package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// listed is the output of `go list` about a package, as far as it is needed.
type listed struct {
	ImportPath   string
	Name         string
	Dir          string
	ForTest      string
	DepOnly      bool
	Standard     bool
	Match        []string
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	Deps         []string // all that the package is built from
	// The files that //go:embed puts into the package, and into its tests.
	EmbedFiles, TestEmbedFiles, XTestEmbedFiles []string
	Module                                      *struct {
		Path string
		Main bool
		Dir  string
	}
	Error *struct{ Err string }
	// Files that are in the folder and not in the package.
	IgnoredGoFiles []string
	InvalidGoFiles []string
}

const listFields = "-json=ImportPath,Name,Dir,ForTest,DepOnly,Standard,Match,GoFiles,CgoFiles,TestGoFiles," +
	"XTestGoFiles,Imports,Deps,EmbedFiles,TestEmbedFiles,XTestEmbedFiles,Module,Error,IgnoredGoFiles,InvalidGoFiles"

// listPackages returns the packages that patterns name and all that they, or their
// tests too, depend on.
func listPackages(ctx context.Context, g gocmd.Command, tests bool, flags, patterns []string) ([]*listed, error) {
	args := slices.Concat([]string{"list", "-e", "-deps", fmt.Sprintf("-test=%v", tests), listFields}, flags,
		[]string{"--"}, patterns)
	out, msg, err := g.Run(ctx, args...)
	if err != nil {
		return nil, listFailed(g.Dir, msg, err)
	}
	var pkgs []*listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := dec.Decode(p); err == io.EOF {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// listFailed turns the go command's output about a wrong request into one
// line; it fails as a whole only for requests, not for packages (-e).
func listFailed(dir string, msg []byte, err error) error {
	var conf *gocmd.ConfigError
	if errors.As(err, &conf) || errors.Is(err, context.Canceled) {
		return err
	}
	return gocmd.RefuseList(dir, string(msg), "fix the module or the request so that `go list -deps -test` works")
}

// selection is the packages that a request selects.
type selection struct {
	named    []*listed // packages that the patterns name, of main modules
	depends  []*listed // further packages that their tests need, of main modules and of dependencies named
	vendored bool      // a dependency was taken from a vendor folder
	unusable []*listed // named ones without files that are built
}

// choose sorts out the listed packages. Packages outside of the main modules have
// tests that would not run here, so naming one is refused.
func (m *Module) choose(pkgs []*listed, patterns []string) (*selection, error) {
	s := new(selection)
	for _, p := range pkgs {
		_, dep := m.dependencyOf(p)
		switch {
		case p.ForTest != "" || strings.HasSuffix(p.ImportPath, ".test"):
			// Variants of packages that are listed in their own right.
		case !p.DepOnly && p.ImportPath == "command-line-arguments":
			return nil, gocmd.Refuse("the request names files: "+strings.Join(patterns, " "),
				"name packages, such as . or ./...")
		case !p.DepOnly && p.Error != nil && len(p.GoFiles)+len(p.CgoFiles)+len(p.TestGoFiles)+len(p.XTestGoFiles) == 0:
			if len(p.IgnoredGoFiles)+len(p.InvalidGoFiles) == 0 {
				return nil, m.unusable(p)
			}
			s.unusable = append(s.unusable, p)
		case p.DepOnly && (dep || p.Module != nil && p.Module.Main):
			s.depends = append(s.depends, p)
			s.vendored = s.vendored || dep && inVendor(p)
		case p.Module != nil && p.Module.Main:
			s.named = append(s.named, p)
		case !p.DepOnly:
			return nil, gocmd.Refuse("package "+p.ImportPath+" is not of the module worked on",
				"name packages of this module, or start Interlock in a copy of the other")
		case inVendor(p):
			s.vendored = true
		}
	}
	if len(s.named) == 0 && len(s.unusable) > 0 {
		return nil, m.unusable(s.unusable[0])
	}
	if len(s.named) == 0 {
		return nil, gocmd.Refuse("no package matches "+strings.Join(patterns, " "),
			"name packages of this module, or start Interlock in a folder that has Go files in it or below")
	}
	return s, nil
}

func inVendor(p *listed) bool {
	return !p.Standard && strings.Contains(filepath.ToSlash(p.Dir), "/vendor/")
}

// unusable returns why a named package has no files.
func (m *Module) unusable(p *listed) error {
	return gocmd.RefuseList(m.goTool.Dir, p.Error.Err, "name a package of this module, such as . or ./...")
}

// tests returns the named packages as tests.
func (s *selection) tests() []Test {
	var tests []Test
	for _, p := range s.named {
		tests = append(tests, Test{Package: p.ImportPath, Dir: p.Dir, None: !p.hasTests(), internal: len(p.TestGoFiles) > 0})
	}
	return tests
}

func (p *listed) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }
