package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// mainModules are the modules that the user works on: one, or those of a
// go.work.
type mainModules struct {
	root string            // folder that paths in plans and findings are relative to
	work *modfile.WorkFile // the user's own go.work, or nil
	mods []mainModule
}

type mainModule struct {
	dir  string
	file *modfile.File
}

func (m mainModule) path() string { return m.file.Module.Mod.Path }

// goVersion is the module's language version; a go.mod without a go line
// means 1.16 to the go command.
func (m mainModule) goVersion() string {
	if m.file.Go == nil {
		return "1.16"
	}
	return m.file.Go.Version
}

// readMainModules finds the modules that e names.
func readMainModules(dir string, e gocmd.Env) (*mainModules, error) {
	if e.GOWORK != "" && e.GOWORK != "off" {
		return readWorkspace(e.GOWORK)
	}
	if e.GOMOD == "" || e.GOMOD == os.DevNull {
		return nil, gocmd.Refuse("no go.mod found in "+dir+" or above",
			"run `go mod init <module path>` there, or start Interlock in a module")
	}
	if _, in := gocmd.Below(e.GOMODCACHE, e.GOMOD); in && e.GOMODCACHE != "" {
		return nil, gocmd.Refuse(dir+" lies in the module cache, whose files the go command refuses to overlay",
			"copy the module out of it and make the copy writable")
	}
	mod, err := readModule(filepath.Dir(e.GOMOD))
	if err != nil {
		return nil, err
	}
	return &mainModules{root: mod.dir, mods: []mainModule{mod}}, nil
}

func readWorkspace(path string) (*mainModules, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, gocmd.Refuse("reading the workspace: "+err.Error(), "fix GOWORK, or set GOWORK=off")
	}
	work, err := modfile.ParseWork(path, data, nil)
	if err != nil {
		return nil, gocmd.Refuse(err.Error(), "fix go.work, or set GOWORK=off")
	}
	m := &mainModules{root: filepath.Dir(path), work: work}
	for _, use := range work.Use {
		mod, err := readModule(absolute(m.root, use.Path))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, gocmd.Refuse("cannot load module "+use.Path+" listed in go.work file: "+err.Error(),
				"fix go.work, or set GOWORK=off")
		}
		if err != nil {
			return nil, err
		}
		m.mods = append(m.mods, mod)
	}
	return m, nil
}

func readModule(dir string) (mainModule, error) {
	path := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return mainModule{}, fmt.Errorf("reading a main module: %w", err)
	}
	file, err := modfile.Parse(path, data, nil)
	if err != nil {
		return mainModule{}, gocmd.Refuse(err.Error(), "fix go.mod")
	}
	if file.Module == nil {
		return mainModule{}, gocmd.Refuse(path+" has no module line", "add one")
	}
	return mainModule{dir: dir, file: file}, nil
}

// absolute resolves a path of a go.work or go.mod, written with slashes.
func absolute(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// title names the module or workspace in plans and messages.
func (m *mainModules) title() string {
	paths := make([]string, len(m.mods))
	for i, mod := range m.mods {
		paths[i] = mod.path()
	}
	return strings.Join(paths, " ")
}
