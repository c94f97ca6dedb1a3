package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/production"
)

// Production is what a go command needs to build programs with the race watch for production. No file of the user's is
// rewritten.
type Production struct {
	Flags []string // for go build
	Env   []string // of the go command
	// Uncounted are packages with releases that no clock counts: races of programs with these are predicted.
	Uncounted []string
	// Signalled are packages that name the signal which switches the watch: they do not get it any more.
	Signalled []string
}

// linked is a package of a program as go list prints it.
type linked struct {
	ImportPath, Name, Dir string
	Standard              bool
	SFiles, GoFiles, Deps []string
	Module                *struct {
		Path, Dir string
		Main      bool
	}
}

// PrepareProduction lays out in dir what programs among the packages need, which the go command finds in the folder
// from. The files are needed as long as something is built with them. What cannot be built so is a
// *[gocmd.ConfigError] or a *[production.UnsupportedError].
func PrepareProduction(ctx context.Context, dir, from string, by production.Switches, env, flags, packages []string) (
	*Production, error) {
	g := gocmd.Command{Dir: from, Env: env}
	e, err := g.Environment(ctx)
	if err != nil {
		return nil, err
	}
	if err := refuseForProduction(e, flags); err != nil {
		return nil, err
	}
	p, err := productionProgram(ctx, g, by, flags, packages)
	if err != nil {
		return nil, err
	}
	out := new(Production)
	if err := out.inspect(ctx, g, by.Signal.Name, slices.Concat(flags, []string{"--"}, packages)); err != nil {
		return nil, err
	}
	p.Uncounted = out.Uncounted
	// A toolchain of the module cache cannot be replaced in part, but links to it can.
	root := e.GOROOT
	if _, cached := gocmd.Below(e.GOMODCACHE, root); cached {
		if root, err = linkedRoot(dir, e.GOROOT); err != nil {
			return nil, err
		}
		out.Env = []string{"GOROOT=" + root, "GOTOOLCHAIN=local", "PATH=" + filepath.Join(root, "bin") +
			string(os.PathListSeparator) + os.Getenv("PATH")}
	}
	in := production.Installation{Root: root, Version: e.GOVERSION, OS: e.GOOS, Arch: e.GOARCH}
	overlay, err := production.Prepare(in, *p, dir)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": overlay})
	name := filepath.Join(dir, "overlay.json")
	if err = errors.Join(err, os.WriteFile(name, data, 0o644)); err != nil {
		return nil, fmt.Errorf("writing the overlay: %w", err)
	}
	toolexec, err := production.Toolexec()
	if err != nil {
		return nil, err
	}
	out.Flags = []string{"-overlay=" + name, toolexec}
	return out, nil
}

// refuseForProduction refuses flags of the go command that a production build cannot obey.
func refuseForProduction(e gocmd.Env, flags []string) error {
	set, err := gocmd.SplitFlags(e.GOFLAGS)
	if err != nil {
		return err
	}
	for _, f := range slices.Concat(set, flags) {
		switch name := gocmd.FlagName(f); name {
		case "overlay", "toolexec", "race", "msan", "asan", "cover", "compiler":
			return gocmd.Refuse("-"+name+" cannot be combined with -production", "leave it out")
		}
	}
	return nil
}

// productionProgram finds the main module and the programs among the packages.
func productionProgram(ctx context.Context, g gocmd.Command, by production.Switches, flags, packages []string) (
	*production.Program, error) {
	named, err := listProduction(ctx, g, "Deps", slices.Concat(flags, []string{"--"}, packages))
	if err != nil {
		return nil, err
	}
	// Programs are built with one agent, in one main module.
	p := &production.Program{Switches: by}
	for _, l := range named {
		if l.Name != "main" {
			continue
		}
		if l.Module == nil || !l.Module.Main {
			return nil, gocmd.Refuse(l.ImportPath+" is not a program of a main module", "build it in its own module")
		}
		if p.Dir != "" && p.Dir != l.Module.Dir {
			return nil, gocmd.Refuse("the programs are of several modules", "build those of one module at a time")
		}
		if by.Agent == production.OnMux && !slices.Contains(l.Deps, "net/http") {
			return nil, gocmd.Refuse(l.ImportPath+" does not use net/http, so that it has no mux for the pages of an agent",
				"give these an address of their own: -agent=127.0.0.1:6061")
		}
		p.Module, p.Dir = l.Module.Path, l.Module.Dir
		p.Mains = append(p.Mains, production.Main{Dir: l.Dir, Expvar: slices.Contains(l.Deps, "expvar")})
	}
	if len(p.Mains) == 0 {
		return nil, gocmd.Refuse("no package is a program", "name one package main, such as ./cmd/server")
	}
	return p, nil
}

// inspect finds the packages of the programs that somebody needs to know of. signal is the name of a signal, or "".
func (p *Production) inspect(ctx context.Context, g gocmd.Command, signal string, named []string) error {
	all, err := listProduction(ctx, g, "SFiles,GoFiles", append([]string{"-deps"}, named...))
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.Standard {
			continue
		}
		if l.matches(l.SFiles, fences) {
			p.Uncounted = append(p.Uncounted, l.ImportPath)
		}
		if signal != "" && l.matches(l.GoFiles, regexp.MustCompile(`\.`+signal+`\b`)) {
			p.Signalled = append(p.Signalled, l.ImportPath)
		}
	}
	return nil
}

// listProduction lists packages with their common fields and some more.
func listProduction(ctx context.Context, g gocmd.Command, fields string, args []string) (all []linked, err error) {
	args = append([]string{"list", "-json=ImportPath,Name,Dir,Standard,Module," + fields}, args...)
	out, msg, err := g.Run(ctx, args...)
	if err != nil {
		return nil, gocmd.Failed("listing the packages", msg, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l linked
		if err := d.Decode(&l); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the list of packages: %w", err)
		}
		all = append(all, l)
	}
}

// fences are the instructions of assembly that order memory: what a package with one releases may not be counted.
var fences = regexp.MustCompile(`(?m)^[^/\n]*\b(LOCK\b|XCHG[BWLQ]\b|MFENCE|SFENCE)`)

// matches reports whether one of the files of a package has a match, or cannot be read.
func (l *linked) matches(files []string, what *regexp.Regexp) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		text, err := os.ReadFile(filepath.Join(l.Dir, name))
		return err != nil || what.Match(text)
	})
}

// linkedRoot makes, in dir, a folder of links that stands for an installation of Go.
func linkedRoot(dir, installation string) (root string, err error) {
	root = filepath.Join(dir, "goroot")
	if err := os.Mkdir(root, 0o755); err != nil {
		return "", fmt.Errorf("linking the toolchain: %w", err)
	}
	entries, err := os.ReadDir(installation)
	for _, e := range entries {
		err = errors.Join(err, os.Symlink(filepath.Join(installation, e.Name()), filepath.Join(root, e.Name())))
	}
	if err != nil {
		return "", fmt.Errorf("linking the toolchain: %w", err)
	}
	return root, nil
}
