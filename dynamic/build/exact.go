package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/build/internal/store"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/hb"
	"github.com/interlock-go/interlock/dynamic/scratch"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// PrepareExact lays out a build of m under the happens-before engine: no file of the user's is
// rewritten, and the compiler instruments every package, the standard library included. It proves
// first that such a build finds a race that it should find. An installation of Go that the engine
// does not work with is an *hb.UnsupportedError. With loops, those of the main modules' packages are
// counted: see hb.CountLoops. The caller closes the workspace.
func PrepareExact(ctx context.Context, m *Module, loops bool) (ws *Workspace, err error) {
	s, err := scratch.New(os.TempDir())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	// A module may be built both ways; the changes of this one are its own.
	own := *m
	own.Tests = slices.Clone(m.Tests)
	var counted map[string][]byte
	if loops {
		counted = countLoops(&own)
	}
	if ws, err = prepare(s, &own, counted, dynamic.Monitor(), "exact"); err != nil {
		return nil, err
	}
	if err := ws.addEngine(ctx); err != nil {
		return nil, err
	}
	return ws, ws.tryEngine(ctx)
}

// PrepareScheduled is [PrepareExact] with the monitor in the same build, as [Prepare] has it: it holds goroutines, and
// the engine finds accesses that nothing orders.
func PrepareScheduled(ctx context.Context, m *Module, p *plan.Plan) (ws *Workspace, err error) {
	if ws, err = Prepare(ctx, m, p); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ws.Close())
			ws = nil
		}
	}()
	if err := ws.addEngine(ctx); err != nil {
		return ws, err
	}
	return ws, ws.tryEngine(ctx)
}

// PrepareRace is [PrepareScheduled] with the race detector of the Go distribution in the place of the engine. Without a
// plan no file is rewritten.
func PrepareRace(ctx context.Context, m *Module, p *plan.Plan) (ws *Workspace, err error) {
	if p != nil {
		ws, err = Prepare(ctx, m, p)
	} else if s, failed := scratch.New(os.TempDir()); failed != nil {
		return nil, failed
	} else if ws, err = prepare(s, m, nil, dynamic.Monitor(), "race"); err != nil {
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		return nil, err
	}
	ws.exact, ws.race = true, true
	return ws, nil
}

// countLoops returns the files with loops, with these counted, by their absolute paths. A file with a text that is part
// of a program stays as it is.
func countLoops(m *Module) map[string][]byte {
	counted := map[string][]byte{}
	next := uint32(0)
	for _, p := range m.Packages {
		for _, f := range p.Files {
			name := p.Fset.File(f.FileStart).Name()
			var text []byte
			if m.embedded[name] {
				continue
			}
			if text, next = hb.CountLoops(p.Fset, f, p.Src[name], next); text != nil {
				counted[name] = text
			}
		}
	}
	return counted
}

// addEngine puts the engine into the overlay.
func (ws *Workspace) addEngine(ctx context.Context) error {
	env, err := ws.Module.goTool.Environment(ctx)
	if err != nil {
		return err
	}
	if err := ws.linkToolchain(env); err != nil {
		return err
	}
	dir := filepath.Join(ws.Dir, "hb")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing the engine: %w", err)
	}
	in := hb.Installation{Root: ws.Module.goRoot, Version: env.GOVERSION, OS: env.GOOS, Arch: env.GOARCH}
	files, err := hb.Prepare(in, dir)
	if err != nil {
		return err
	}
	maps.Copy(ws.overlay, files)
	ws.exact = true
	return ws.writeOverlay()
}

// linkToolchain has the go command work in a folder of links where its installation lies in
// the module cache: it lets nobody replace files there.
func (ws *Workspace) linkToolchain(env gocmd.Env) error {
	m := ws.Module
	if _, cached := gocmd.Below(m.modCache, m.goRoot); !cached {
		return nil
	}
	root, err := linkedRoot(ws.Dir, m.goRoot)
	if err != nil {
		return err
	}
	m.goTool.Env = gocmd.Setenv(m.goTool.Env, "GOROOT="+root, "GOTOOLCHAIN=local")
	m.goTool.Name = filepath.Join(root, "bin", "go")
	m.goRoot = root
	return nil
}

// exactFlags returns build flags with those that the engine or the race detector needs added: of flags that may be
// given once only, the last counts.
func (ws *Workspace) exactFlags(flags []string) []string {
	// The monitor's synchronisation orders nothing in the program, so the compiler leaves its atomics alone.
	const unseen = "-gcflags=" + dynamic.MonitorPath + "/...=-race=false -d=checkptr=0"
	switch {
	case ws.race:
		return append(slices.Clip(flags), "-race", unseen)
	case !ws.exact:
		return flags
	}
	var tags []string
	linker := ""
	for _, f := range slices.Concat(ws.Module.goFlags, flags) {
		switch name, value, _ := strings.Cut(strings.TrimLeft(f, "-"), "="); name {
		case "tags":
			tags = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		case "ldflags":
			linker = value
		}
	}
	return append(append(slices.Clip(flags), hb.Flags(tags, linker)...), unseen)
}

// exactRefused returns the error of a build under the engine that failed, by the go command's output.
func exactRefused(output []byte) error {
	var said []string
	for line := range strings.Lines(string(output)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			said = append(said, line)
		}
	}
	return fmt.Errorf("the tests do not build with the build tag race, which this engine sets: %s",
		strings.Join(said, "\n"))
}

// tryEngine builds a program with a race and one without, and runs them; where this engine was seen to find that race
// in the same installation of Go lately, it does nothing.
func (ws *Workspace) tryEngine(ctx context.Context) error {
	proofs := store.OpenProofs(ws.cache)
	tried, err := ws.triedFiles(ctx)
	if err != nil {
		return err
	}
	if proofs.Has(tried) {
		return nil
	}
	dir := filepath.Join(ws.Dir, "selftest")
	if err := tree.Create(dir, hb.SelfTest()); err != nil {
		return fmt.Errorf("writing the engine's self-test: %w", err)
	}
	g := ws.Module.goTool
	g.Dir = dir
	g.Env = gocmd.Setenv(g.Env, "GOFLAGS=-overlay="+ws.overlayFile(), "GOWORK=off")
	program := filepath.Join(dir, "selftest")
	args := slices.Concat([]string{"build", "-o", program}, hb.Flags(nil, ""), []string{"."})
	if _, msg, err := g.Run(ctx, args...); err != nil {
		return gocmd.Failed("building the self-test of the happens-before engine (-engine=watch needs none)", msg, err)
	}
	if err := hb.Try(ctx, program); err != nil {
		return err
	}
	proofs.Add(tried)
	return nil
}

// triedFiles returns all that the result of the self-test depends on, by name: the files that stand for those of the
// installation, the program, and which compiler builds it.
func (ws *Workspace) triedFiles(ctx context.Context) (map[string][]byte, error) {
	files := map[string][]byte{}
	for original, stand := range ws.overlay {
		name, below := gocmd.Below(ws.Module.goRoot, original)
		if !below {
			continue
		}
		if files[name] = nil; stand == "" { // the build leaves the file out
			continue
		}
		data, err := os.ReadFile(stand)
		if err != nil {
			return nil, fmt.Errorf("reading the engine: %w", err)
		}
		files[name] = data
	}
	for name, data := range hb.SelfTest() {
		files["selftest/"+name] = data
	}
	env, err := ws.Module.goTool.Environment(ctx)
	if err != nil {
		return nil, err
	}
	compiler := filepath.Join(ws.Module.goRoot, "pkg", "tool", env.GOOS+"_"+env.GOARCH, "compile")
	built := ""
	if info, err := os.Stat(compiler); err == nil {
		built = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	files["compiler"] = []byte(strings.Join([]string{env.GOVERSION, env.GOOS, env.GOARCH, env.GOEXPERIMENT, built}, " "))
	files["flags"] = []byte(strings.Join(hb.Flags(nil, ""), " "))
	return files, nil
}
