package build

import (
	"fmt"
	"go/version"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/interlock-go/interlock/dynamic"
)

// goWork composes the go.work that brings the monitor in beside the main
// modules. It keeps to the user's own build:
//
//   - GODEBUG defaults follow the go line of a go.work, so the version that
//     they followed before is written out as `godebug default`;
//   - godebug lines of go.mod files do not count under a go.work, so they are
//     copied, and the user's own go.work is taken over whole;
//   - replace lines of the main modules stay in force by themselves.
//
// Without a monitor it only replaces deps.
func goWork(m *mainModules, monitor string, deps []dependency) ([]byte, error) {
	w := &modfile.WorkFile{Syntax: &modfile.FileSyntax{}}
	// Language version and GODEBUG settings stay those of the plain build.
	if err := w.AddGoStmt(m.highestGo()); err != nil {
		return nil, fmt.Errorf("composing go.work: %w", err)
	}
	for _, g := range m.godebugs() {
		if err := w.AddGodebug(g.Key, g.Value); err != nil {
			return nil, fmt.Errorf("composing go.work: %w", err)
		}
	}
	// The user's modules, and the monitor's own.
	for _, mod := range m.mods {
		w.AddNewUse(mod.dir, "")
	}
	if monitor != "" {
		w.AddNewUse(monitor, "")
	}
	// The user's replacements, with relative paths from his go.work.
	if m.work != nil {
		for _, r := range m.work.Replace {
			path := r.New.Path
			if r.New.Version == "" {
				path = absolute(m.root, path)
			}
			if err := w.AddReplace(r.Old.Path, r.Old.Version, path, r.New.Version); err != nil {
				return nil, fmt.Errorf("composing go.work: %w", err)
			}
		}
	}
	if err := replaceDeps(w, deps); err != nil {
		return nil, err
	}
	w.Cleanup()
	return modfile.Format(w.Syntax), nil
}

// godebugs returns the godebug lines that the user's build obeys, the default
// made explicit.
func (m *mainModules) godebugs() []*modfile.Godebug {
	var lines []*modfile.Godebug
	if m.work != nil {
		lines = m.work.Godebug
	} else {
		lines = m.mods[0].file.Godebug
	}
	for _, g := range lines {
		if g.Key == "default" {
			return lines
		}
	}
	return append([]*modfile.Godebug{{Key: "default", Value: "go" + m.goVersion()}}, lines...)
}

// highestGo is the go line of the go.work: no less than that of any module.
func (m *mainModules) highestGo() string {
	highest := dynamic.MonitorGo
	for _, v := range append(m.goVersions(), m.goVersion()) {
		if compareGo(v, highest) > 0 {
			highest = v
		}
	}
	return highest
}

func (m *mainModules) goVersions() []string {
	var vs []string
	for _, mod := range m.mods {
		vs = append(vs, mod.goVersion())
	}
	return vs
}

// compareGo orders Go versions such as 1.21, 1.21rc2, 1.21.0.
func compareGo(a, b string) int { return version.Compare("go"+a, "go"+b) }

// copyWorkSum takes the user's go.work.sum along; the go command writes sums
// that it misses to ours.
func copyWorkSum(m *mainModules, dir string) error {
	if m.work == nil {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(m.root, "go.work.sum"))
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.work.sum"), data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("taking go.work.sum along: %w", err)
	}
	return nil
}
