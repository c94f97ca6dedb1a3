package lsp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/resident"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/dynamic/build"
)

// worker analyses packages, one at a time, in the goroutine of run.
type worker struct {
	server *server
	wake   chan struct{}

	// These are run's alone.
	modules      map[string]*resident.Module // by root
	asked        map[string]map[string]bool  // by root: the packages with findings that are shown
	roots        map[string]string           // by folder: its module's root
	stills       map[string]*build.Still     // by root
	said         map[string]string           // by root: why it cannot be analysed, as the user was told
	stores       map[string]*store           // by root: findings from elsewhere
	repositories map[string]Repository       // by root
	untested     map[string]bool             // by root: packages that are shown may need their tests analysed
	since        time.Time                   // when the current job began

	mu      sync.Mutex
	kept    []found  // findings of runs; guarded by mu
	reload  bool     // the settings are others; guarded by mu
	pending []string // files to look into, the most urgent first; guarded by mu
	cancel  func()   // ends the current job; guarded by mu
	testing bool     // the current job is about tests, for which nobody waits; guarded by mu
}

func newWorker(s *server) *worker {
	return &worker{
		server: s, wake: make(chan struct{}, 1), modules: map[string]*resident.Module{}, asked: map[string]map[string]bool{},
		roots: map[string]string{}, stills: map[string]*build.Still{}, said: map[string]string{}, stores: map[string]*store{},
		repositories: map[string]Repository{}, untested: map[string]bool{},
		cancel: func() {},
	}
}

// ask has the packages of files analysed. An urgent request ends the current job,
// which is taken up again afterwards; any request ends one about tests.
func (w *worker) ask(urgent bool, files ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = slices.DeleteFunc(w.pending, func(f string) bool { return slices.Contains(files, f) })
	if urgent {
		w.pending = slices.Concat(files, w.pending)
	} else {
		w.pending = append(w.pending, files...)
	}
	if urgent || w.testing {
		w.cancel()
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next starts a job that ask may end. The job is for one file or, when no file is left, for tests, with "" as the file.
// The context is nil if there is nothing to do.
func (w *worker) next(ctx context.Context) (context.Context, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.testing = len(w.pending) == 0
	if w.testing && len(w.untested) == 0 {
		return nil, ""
	}
	if w.reload {
		w.reload, w.modules = false, map[string]*resident.Module{}
	}
	ctx, w.cancel = context.WithCancel(ctx)
	if w.testing {
		return ctx, ""
	}
	file := w.pending[0]
	w.pending = w.pending[1:]
	return ctx, file
}

// heapLimit is the size that the heap of the server should stay below, in bytes, by more frequent collections. The live
// heap within a save of 110,000 lines in one package is well below.
const heapLimit = 585 << 20

// run works until ctx ends.
func (w *worker) run(ctx context.Context) {
	defer w.close()
	if os.Getenv("GOMEMLIMIT") == "" { // else the user has chosen
		before := debug.SetMemoryLimit(heapLimit)
		defer debug.SetMemoryLimit(before)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		for job, file := w.next(ctx); job != nil && ctx.Err() == nil; job, file = w.next(ctx) {
			if file == "" {
				w.analyseTests(job)
				continue
			}
			w.analyse(job, file)
			if job.Err() != nil && ctx.Err() == nil {
				w.ask(false, file)
			}
		}
		// An analysis leaves several times as much garbage as is kept.
		debug.FreeOSMemory()
	}
}

func (w *worker) close() {
	for _, still := range w.stills {
		if err := still.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "interlock: %v\n", err)
		}
	}
}

// analyse brings the package of a file up to date, then those with shown findings
// that this concerns, and shows the findings.
func (w *worker) analyse(ctx context.Context, file string) {
	w.since = time.Now()
	root, err := w.root(ctx, file)
	if err != nil || root == "" {
		w.problem(ctx, root, err)
		w.outside(ctx, filepath.Dir(file), err)
		return // a file outside of any module is in nobody's package
	}
	p := w.server.newProgress()
	defer p.end()
	m, err := w.module(ctx, root, file, p)
	if err != nil {
		w.problem(ctx, root, err)
		return
	}
	w.loads(root)
	m.Spent() // by a job that was ended: it is not this one's
	// The package itself comes first, as somebody waits for it, and those that a run has
	// shown something in.
	for _, name := range append([]string{file}, w.takeKept(root)...) {
		path := packageOf(m, name)
		if path == "" {
			w.show(ctx, m, "", nil) // the findings of a file that has left its package go
			continue
		}
		w.asked[root][path] = true
		w.show(ctx, m, "", m.Analyse(ctx, path, p.checking))
	}
	for _, path := range slices.Sorted(maps.Keys(w.asked[root])) {
		if m.IsStale(path) && ctx.Err() == nil {
			w.show(ctx, m, "", m.Analyse(ctx, path, p.checking))
		}
	}
	w.untested[root] = true
}

// analyseTests brings the packages of one module that are shown up to date together with their tests, and shows the
// findings. It is a step of its own, as tests are often more than their package, and change few of the findings.
func (w *worker) analyseTests(ctx context.Context) {
	w.since = time.Now()
	root := slices.Sorted(maps.Keys(w.untested))[0]
	delete(w.untested, root)
	m := w.modules[root]
	if m == nil {
		return // it is loaded anew when a file of it is asked for
	}
	p := w.server.newProgress()
	defer p.end()
	for _, path := range slices.Sorted(maps.Keys(w.asked[root])) {
		isNew, err := m.AnalyseTests(ctx, path, p.checking)
		if ctx.Err() != nil {
			w.untested[root] = true
			return
		}
		if isNew || err != nil {
			w.show(ctx, m, "tests: ", err)
		}
	}
}

// packageOf returns the package that a file is part of, itself or as one of its tests; "" if there is none.
func packageOf(m *resident.Module, file string) string {
	return cmp.Or(m.PackageOf(file), m.TestedBy(file))
}

// root returns the folder that the module or workspace of a file is loaded from; "" if
// it is in none.
func (w *worker) root(ctx context.Context, file string) (string, error) {
	dir := filepath.Dir(file)
	if root, known := w.roots[dir]; known {
		return root, nil
	}
	root, err := resident.Root(ctx, dir, nil)
	if err != nil {
		return "", err
	}
	if root != "" { // a module may be made there yet
		w.roots[dir] = root
	}
	return root, nil
}

// module returns the module at root, with its packages as the go command lists them now.
func (w *worker) module(ctx context.Context, root, file string, p *progress) (*resident.Module, error) {
	if err := w.readRepository(root); err != nil {
		return nil, err
	}
	if m := w.modules[root]; m != nil {
		return m, m.Refresh(ctx, file)
	}
	p.say("loading " + root)
	still := w.stills[root]
	if still == nil {
		var err error
		if still, err = build.KeepStill(ctx, root, os.Environ()); err != nil {
			return nil, err
		}
		w.stills[root], w.asked[root], w.stores[root] = still, map[string]bool{}, newStore()
	}
	m, err := resident.Load(ctx, resident.Options{
		Root: root, BuildFlags: w.server.set().in(w.repositories[root]).buildFlags(), Env: still.Env(os.Environ()),
		Read: w.server.docs.read, Buffers: w.server.docs.buffers,
	})
	if err == nil {
		w.modules[root] = m
	}
	return m, err
}

// readRepository reads the settings of a module's repository. With other settings the
// module is another one.
func (w *worker) readRepository(root string) error {
	if w.server.options.Repository == nil {
		return nil
	}
	r, err := w.server.options.Repository(root)
	if err == nil && r != w.repositories[root] {
		w.repositories[root] = r
		delete(w.modules, root)
	}
	return err
}

// show shows the findings of the packages that were asked for, and says why one of
// them was not analysed, if err is not nil. The times of the steps go to the log, behind of.
func (w *worker) show(ctx context.Context, m *resident.Module, of string, err error) {
	if ctx.Err() != nil {
		return
	}
	ctx = context.WithoutCancel(ctx) // the known findings are shown, whole
	if err != nil {
		w.server.log(ctx, protocol.MessageTypeInfo, of+"not analysed: "+err.Error())
	}
	summaries, err := m.Summaries()
	if err != nil {
		w.server.log(ctx, protocol.MessageTypeError, err.Error())
		return
	}
	for _, problem := range w.stores[m.Root()].read(w.server.set().files(m.Root())) {
		w.server.log(ctx, protocol.MessageTypeWarning, problem)
	}
	w.server.publish(ctx, w.gather(m, driver.Join(m.Root(), summaries)))
	if spent := m.Spent(); spent.Passes > 0 {
		w.server.log(ctx, protocol.MessageTypeLog, of+timesOf(spent, time.Since(w.since)))
	}
}

// timesOf lists where the time of an analysis went, with each pass that took a hundredth of all passes' time, the
// longest first.
func timesOf(spent resident.Spent, all time.Duration) string {
	text := fmt.Sprintf("types %.2f, passes %.2f, all %.2f s", spent.Typing.Seconds(), spent.Passes.Seconds(),
		all.Seconds())
	longest := slices.SortedFunc(maps.Keys(spent.ByPass), func(a, b *analysis.Analyzer) int {
		return cmp.Or(cmp.Compare(spent.ByPass[b], spent.ByPass[a]), cmp.Compare(a.Name, b.Name))
	})
	for i, pass := range longest {
		took := spent.ByPass[pass]
		if took < spent.Passes/100 {
			break
		}
		separator := ", "
		if i == 0 {
			separator = "; "
		}
		text += fmt.Sprintf("%s%s %.3f", separator, strings.TrimPrefix(pass.Name, "interlock"), took.Seconds())
	}
	return text
}

// found is the findings of a run in the package of a file.
type found struct {
	file     string
	findings []*finding.Finding
}

// keep has the findings of a run in the package of a file shown.
func (w *worker) keep(file string, findings []*finding.Finding) {
	w.mu.Lock()
	w.kept = append(w.kept, found{file, findings})
	w.mu.Unlock()
	w.ask(false, file)
}

// takeKept takes up the findings of runs in a module, and returns their files.
func (w *worker) takeKept(root string) (files []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = slices.DeleteFunc(w.kept, func(k found) bool {
		if w.roots[filepath.Dir(k.file)] != root {
			return false
		}
		for _, f := range k.findings {
			w.stores[root].runs[f.ID] = &seen{finding: f}
			if at, ok := primary(f); ok {
				files = append(files, absolute(root, at.File))
			}
		}
		return true
	})
	return files
}

// problem shows the user, once, why nothing is analysed in a module.
func (w *worker) problem(ctx context.Context, root string, err error) {
	if err == nil || ctx.Err() != nil || w.said[root] == err.Error() {
		return
	}
	w.said[root] = err.Error()
	w.server.message(ctx, "Interlock analyses nothing in "+root+": "+err.Error())
}

// outside notes in the log, once, that a folder is in no module. It is no message: editors show files of others too.
func (w *worker) outside(ctx context.Context, dir string, err error) {
	if err != nil || w.said[dir] != "" {
		return
	}
	w.said[dir] = "nothing is analysed in " + dir + ": it is in no module; `go mod init` makes one"
	w.server.log(ctx, protocol.MessageTypeWarning, w.said[dir])
}

// loads notes that the module can be analysed.
func (w *worker) loads(root string) { delete(w.said, root) }

// again has every open file's package analysed anew, in modules loaded anew.
func (w *worker) again() {
	w.mu.Lock()
	w.reload = true
	w.mu.Unlock()
	w.ask(false, w.server.docs.names()...)
}
