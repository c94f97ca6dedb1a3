package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// goWork composes the go.work that brings the monitor in beside the main
// modules. It keeps to the user's own build:
//
//   - GODEBUG defaults follow the go line of a go.work, so the version that
//     they followed before is written out as `godebug default`;
//   - godebug lines of go.mod files do not count under a go.work, so they are
//     copied, and the user's own go.work is taken over whole;
//   - replace lines of the main modules stay in force by themselves.
func goWork(m *mainModules, monitor string) ([]byte, error) {
	w := &modfile.WorkFile{Syntax: &modfile.FileSyntax{}}
	if err := w.AddGoStmt(m.highestGo()); err != nil {
		return nil, fmt.Errorf("composing go.work: %w", err)
	}
	for _, g := range m.godebugs() {
		if err := w.AddGodebug(g.Key, g.Value); err != nil {
			return nil, fmt.Errorf("composing go.work: %w", err)
		}
	}
	for _, mod := range m.mods {
		w.AddNewUse(mod.dir, "")
	}
	w.AddNewUse(monitor, "")
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
	return modfile.Format(w.Syntax), nil
}

// godebugs gives the godebug lines that the user's build obeys, the default
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
	highest := monitorGo
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
func compareGo(a, b string) int { return semver.Compare(goSemver(a), goSemver(b)) }

// goSemver writes a Go version so that semver orders it: 1.21 is the language
// version, before its release candidates, which come before 1.21.0.
func goSemver(v string) string {
	for _, pre := range []string{"rc", "beta"} {
		if base, n, ok := strings.Cut(v, pre); ok {
			return "v" + base + ".0-" + pre + "." + n
		}
	}
	if strings.Count(v, ".") == 1 {
		return "v" + v + ".0-0"
	}
	return "v" + v
}

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
