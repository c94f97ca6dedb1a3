package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/build/covertool"
	"github.com/interlock-go/interlock/dynamic/build/internal/store"
	"github.com/interlock-go/interlock/dynamic/cache"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/scratch"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// Workspace is a prepared build: rewritten files, overlay and go.work in one
// temporary folder, the monitor in the cache. It is not safe for concurrent
// use.
type Workspace struct {
	// Dir is the temporary folder. It is gone after Close.
	Dir string
	// Module has the loaded packages.
	Module *Module

	scratch *scratch.Folder
	bin     store.Binaries
	cache   string
	monitor string
	goWork  string
	overlay map[string]string // original -> the file that stands in for it
	sources map[string]string // rewritten file -> original; a subset of overlay, reversed
	left    []LeftAlone
	plan    *plan.Plan // nil where files are rewritten without one
	exact   bool       // built under the happens-before engine, or with race
	race    bool       // under the race detector of the Go distribution
}

// LeftAlone is a file of a main module that is built as it stands, so that
// none of its sites is monitored.
type LeftAlone struct {
	File string // relative to the module's root
	Why  string
}

// prepare lays out the workspace in s for the rewritten files, named by the
// absolute paths of their originals. Test binaries of builds of another kind have a folder of their own, as two kinds
// are built side by side.
func prepare(
	s *scratch.Folder, m *Module, rewritten, monitor map[string][]byte, kind string,
) (ws *Workspace, err error) {
	ws = &Workspace{
		Dir: s.Dir, Module: m, scratch: s, cache: cache.Dir(),
		overlay: map[string]string{}, sources: map[string]string{},
	}
	for _, file := range m.Cgo {
		ws.left = append(ws.left, LeftAlone{file, "cgo translates it"})
	}
	if ws.monitor, err = store.ExtractMonitor(monitor, ws.cache, s.Dir); err != nil {
		return nil, err
	}
	if err := ws.writeSources(rewritten); err != nil {
		return nil, err
	}
	if err := ws.writeGoWork(); err != nil {
		return nil, err
	}
	if err := ws.addLeakProfile(); err != nil {
		return nil, err
	}
	ws.bin = store.OpenBinaries(ws.cache, s.Dir, append([]string{kind, m.Root, runtime.GOOS}, m.flags...)...)
	return ws, ws.writeOverlay()
}

// writeSources writes the rewritten files. Their paths do not matter to the
// go command's cache, which knows them by their contents, nor do they show in
// stacks and panics, where the compiler puts the originals'.
func (ws *Workspace) writeSources(rewritten map[string][]byte) error {
	for i, original := range store.SortedKeys(rewritten) {
		dir := filepath.Join(ws.Dir, "src", fmt.Sprint(i))
		file := filepath.Join(dir, filepath.Base(original))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("writing rewritten files: %w", err)
		}
		if err := os.WriteFile(file, rewritten[original], 0o644); err != nil {
			return fmt.Errorf("writing rewritten files: %w", err)
		}
		ws.overlay[original] = file
		ws.sources[file] = original
	}
	return nil
}

func (ws *Workspace) writeGoWork() error {
	text, err := goWork(ws.Module.main, ws.monitor, ws.Module.deps)
	if err != nil {
		return err
	}
	if ws.Module.vendored {
		if text, err = vendoring(ws.Module.main, ws.Dir, text, ws.overlay); err != nil {
			return err
		}
	}
	ws.goWork = filepath.Join(ws.Dir, "go.work")
	if err := os.WriteFile(ws.goWork, text, 0o644); err != nil {
		return fmt.Errorf("writing go.work: %w", err)
	}
	return copyWorkSum(ws.Module.main, ws.Dir)
}

// overlayGoMod brings the monitor in by an overlay of the module's go.mod in
// place of a go.work, and reports whether it may. Under a go.work the go
// command looks at more of the module graph: packages that two modules have,
// one of which the main module does not need, are ambiguous then. (It is the
// second choice because a go command with -mod=mod, which is nobody's here but
// the user's, writes the text that it has read back to the go.mod in the tree.)
func (ws *Workspace) overlayGoMod() (bool, error) {
	m := ws.Module
	if ws.goWork == "off" || m.main.work != nil || m.vendored || slices.ContainsFunc(m.deps, dependency.copied) {
		return false, nil
	}
	path := filepath.Join(m.main.mods[0].dir, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("reading go.mod: %w", err)
	}
	f, err := modfile.Parse(path, data, nil)
	if err != nil {
		return false, fmt.Errorf("reading go.mod: %w", err)
	}
	err = errors.Join(f.AddRequire(dynamic.MonitorPath, "v0.0.0"), f.AddReplace(dynamic.MonitorPath, "", ws.monitor, ""))
	if err == nil {
		data, err = f.Format()
	}
	if err != nil {
		return false, fmt.Errorf("composing go.mod: %w", err)
	}
	stand := filepath.Join(ws.Dir, "mod")
	if err := tree.Create(stand, map[string][]byte{"go.mod": data}); err != nil {
		return false, err
	}
	ws.overlay[path] = filepath.Join(stand, "go.mod")
	ws.goWork = "off"
	return true, ws.writeOverlay()
}

func (ws *Workspace) overlayFile() string { return filepath.Join(ws.Dir, "overlay.json") }

func (ws *Workspace) writeOverlay() error {
	data, err := json.Marshal(map[string]any{"Replace": ws.overlay})
	if err == nil {
		err = os.WriteFile(ws.overlayFile(), data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing the overlay: %w", err)
	}
	return nil
}

// LeftAlone lists the files that are built as they stand, and why. Building
// may add to it.
func (ws *Workspace) LeftAlone() []LeftAlone { return slices.Clone(ws.left) }

// Rewritten is the number of files that the build takes in rewritten form.
func (ws *Workspace) Rewritten() int {
	n := 0
	for _, original := range ws.sources {
		if filepath.Base(original) != EndName {
			n++
		}
	}
	return n
}

// Original returns the user's file for the path of a rewritten one, and any
// other path as it is.
func (ws *Workspace) Original(path string) string {
	if original, ok := ws.sources[path]; ok {
		return original
	}
	return path
}

// Env returns the two variables, GOFLAGS and GOWORK, that make any go command
// in the user's tree build the instrumented code, as long as the workspace is
// open.
func (ws *Workspace) Env() []string {
	flags := append(gocmd.WithoutMod(ws.Module.goFlags), "-overlay="+ws.overlayFile())
	return []string{"GOFLAGS=" + gocmd.JoinFlags(flags), "GOWORK=" + ws.goWork}
}

// CoverEnv is Env for go commands that the user runs, perhaps with -cover: the
// program that calls it must serve as [covertool.Word]. ok is false where the user's own
// -toolexec stands in the way; covered packages are not monitored then.
func (ws *Workspace) CoverEnv() (env []string, ok bool) {
	tool := covertool.Toolexec(ws.overlayFile())
	own := slices.ContainsFunc(ws.Module.goFlags, func(f string) bool { return gocmd.FlagName(f) == "toolexec" })
	if tool == "" || own {
		return ws.Env(), false
	}
	flags := append(gocmd.WithoutMod(ws.Module.goFlags), "-overlay="+ws.overlayFile(), tool)
	return []string{"GOFLAGS=" + gocmd.JoinFlags(flags), "GOWORK=" + ws.goWork}, true
}

// GoRoot is the folder of the Go distribution that builds.
func (ws *Workspace) GoRoot() string { return ws.Module.goRoot }

// UserEnv is the environment that the request came with.
func (ws *Workspace) UserEnv() []string { return slices.Clone(ws.Module.userEnv) }

// Close removes the temporary folder. Closing twice does nothing.
func (ws *Workspace) Close() error {
	ws.bin.Close()
	return ws.scratch.Close()
}

// leave has the original of a rewritten file built.
func (ws *Workspace) leave(rewritten, why string) {
	original := ws.sources[rewritten]
	delete(ws.sources, rewritten)
	delete(ws.overlay, original)
	ws.left = append(ws.left, LeftAlone{ws.Module.Rel(original), why})
	skipFile(ws.plan, ws.Module.Rel(original), NotCompiled)
}

// Rel returns a path as plans and findings have it: with slashes, relative to
// the root, through .. where a workspace's module lies outside; in a copied
// dependency it begins with path@version.
func (m *Module) Rel(path string) string {
	for _, d := range m.deps {
		if in, ok := gocmd.Below(d.dir, path); ok && d.copied() {
			return d.name + "/" + in
		}
	}
	rel, err := filepath.Rel(m.Root, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return strings.TrimPrefix(filepath.ToSlash(rel), "./")
}

// BuildFlags are the build flags of the request.
func (m *Module) BuildFlags() []string { return slices.Clone(m.flags) }

// writeMarked puts the marked texts beside the rewritten files.
func (ws *Workspace) writeMarked(marked map[string][]byte) error {
	for original, text := range marked {
		file, rewritten := ws.overlay[original]
		if !rewritten {
			continue
		}
		if err := os.WriteFile(file+covertool.MarkedSuffix, text, 0o644); err != nil {
			return fmt.Errorf("writing rewritten files: %w", err)
		}
	}
	return nil
}
