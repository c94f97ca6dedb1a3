package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/interlock-go/interlock/dynamic/build/internal/store"
	"github.com/interlock-go/interlock/dynamic/cache"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/scratch"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// dependency is a module that is instrumented though it is no main module.
type dependency struct {
	path string // module path
	dir  string // where its files are: a copy, if it comes from the module cache
	// name begins the places in it instead of dir: path@version. "" for
	// folders outside of the module cache, as their places are like those of others.
	name string
}

// takeDeps makes those modules of pkgs that o.Deps names part of the request.
// The go command refuses to overlay files of the module cache, so modules that
// lie there are copied out of it, once a version, and replaced by a go.work with
// which everything is loaded again: pkgs given back have the copies' folders.
func (m *Module) takeDeps(ctx context.Context, o *Options, modCache string, pkgs []*listed) ([]*listed, error) {
	// A module that several packages come from is taken once.
	matched := make([]bool, len(o.Deps))
	for _, p := range pkgs {
		for i, pattern := range o.Deps {
			if p.Module == nil || p.Module.Main || p.Module.Dir == "" && !inVendor(p) || !matchDep(pattern, p) {
				continue
			}
			matched[i] = true
			if _, known := m.dependencyOf(p); known {
				continue
			}
			d, err := newDependency(p, modCache)
			if err != nil {
				return nil, err
			}
			m.deps = append(m.deps, d)
		}
	}
	// A pattern that matches nothing is most likely misspelt.
	if i := slices.Index(matched, false); i >= 0 {
		return nil, gocmd.Refuse("-deps: "+o.Deps[i]+" is no module that the named packages depend on",
			"`go list -m all` lists modules; the standard library cannot be monitored")
	}
	// Only copies move packages to other folders.
	if !slices.ContainsFunc(m.deps, dependency.copied) {
		return pkgs, nil
	}
	if err := m.loadCopies(); err != nil {
		return nil, err
	}
	return listPackages(ctx, m.goTool, !o.Programs, m.flags, o.Patterns)
}

// matchDep reports whether the pattern names p's module, or p: as the go
// command has it, ... stands for any text, and x/... means x too.
func matchDep(pattern string, p *listed) bool {
	expr := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\.\.\.`, ".*")
	if short, ok := strings.CutSuffix(expr, "/.*"); ok {
		expr = short + "(/.*)?"
	}
	re := regexp.MustCompile("^(" + expr + ")$")
	return re.MatchString(p.Module.Path) || re.MatchString(p.ImportPath)
}

func newDependency(p *listed, modCache string) (dependency, error) {
	d := dependency{path: p.Module.Path, dir: p.Module.Dir}
	name, in := gocmd.Below(modCache, p.Module.Dir)
	if modCache == "" || !in {
		return d, nil
	}
	user := cache.Dir()
	if user == "" {
		return d, gocmd.Refuse("there is no cache folder that can be written, for copies of dependencies",
			"set XDG_CACHE_HOME or HOME")
	}
	d.name = name
	d.dir = filepath.Join(user, "deps", filepath.FromSlash(name))
	return d, copyModule(p.Module.Path, p.Module.Dir, d.dir)
}

func (d dependency) copied() bool { return d.name != "" }

// copyModule copies a module out of the module cache, whole or not at all. A copy
// that is there already is taken if it is the same.
func copyModule(path, from, to string) error {
	original, err := store.ReadFiles(os.DirFS(from), store.AllFiles)
	if err == nil {
		if original["go.mod"] == nil {
			// Without a go line it has the language version that it has without go.mod.
			original["go.mod"] = []byte("module " + path + "\n")
		}
		sound := func(dir string) bool { return store.Holds(dir, original, store.AllFiles) }
		err = cache.Publish(to, sound, func(dir string) error { return tree.Create(dir, original) })
	}
	if err != nil {
		return fmt.Errorf("copying %s: %w", path, err)
	}
	return nil
}

// loadCopies has the go command take the copies while packages are loaded, by a
// go.work in a folder of this process, as the go command may write to its
// go.work.sum.
func (m *Module) loadCopies() error {
	text, err := goWork(m.main, "", m.deps)
	if err != nil {
		return err
	}
	if m.scratch, err = scratch.New(os.TempDir()); err != nil {
		return err
	}
	dir := m.scratch.Dir
	if err := tree.Create(dir, map[string][]byte{"go.work": text}); err != nil {
		return err
	}
	if err := copyWorkSum(m.main, dir); err != nil {
		return err
	}
	m.flags, m.goFlags = gocmd.WithoutMod(m.flags), gocmd.WithoutMod(m.goFlags)
	m.goTool.Env = gocmd.Setenv(m.goTool.Env, "GOWORK="+filepath.Join(dir, "go.work"),
		"GOFLAGS="+gocmd.JoinFlags(m.goFlags))
	return nil
}

// replaceDeps adds the copies to a go.work, in place of replacements that it has.
func replaceDeps(w *modfile.WorkFile, deps []dependency) error {
	for _, d := range deps {
		if !d.copied() {
			continue
		}
		for _, r := range slices.Clone(w.Replace) {
			if r.Old.Path == d.path {
				if err := w.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return fmt.Errorf("composing go.work: %w", err)
				}
			}
		}
		if err := w.AddReplace(d.path, "", d.dir, ""); err != nil {
			return fmt.Errorf("composing go.work: %w", err)
		}
	}
	return nil
}

// dependencyOf finds the dependency that p is of.
func (m *Module) dependencyOf(p *listed) (dependency, bool) {
	i := slices.IndexFunc(m.deps, func(d dependency) bool { return p.Module != nil && p.Module.Path == d.path })
	if i < 0 {
		return dependency{}, false
	}
	return m.deps[i], true
}

// Deps names the dependencies that are instrumented.
func (m *Module) Deps() []string {
	var names []string
	for _, d := range m.deps {
		if d.copied() {
			names = append(names, d.name)
		} else {
			names = append(names, d.path)
		}
	}
	return names
}

// DepPaths returns the module paths of the dependencies that are instrumented.
func (m *Module) DepPaths() []string {
	var paths []string
	for _, d := range m.deps {
		paths = append(paths, d.path)
	}
	return paths
}
