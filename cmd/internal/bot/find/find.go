// Package find is the first step of a review: it checks the base and the head of a request, runs the tests of head that
// the change concerns, and has patches made and tried. It runs the code of strangers, so it needs no token.
package find

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/repo"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// Options say what is compared, and how.
type Options struct {
	Base     string   // revision
	Packages []string // that are looked at; none is ./...
	Flags    []string // of `interlock fix`
	// Interlock runs a command of this program in a folder, and returns its exit code.
	Interlock func(ctx context.Context, dir string, args ...string) (code int, err error)
	Note      func(string) // prints how far the work is
}

// Find compares HEAD of the repository around the folder of a module with the base. If ctx ends once both have been
// checked, the file has what runs had shown until then, and is not complete.
func Find(ctx context.Context, dir string, o Options) (*bot.File, error) {
	dir, err := filepath.EvalSymlinks(dir) // as git and go list name it
	if err != nil {
		return nil, err
	}
	r, err := repo.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	head, err := r.Commit(ctx, "HEAD")
	if err != nil {
		return nil, fmt.Errorf("finding HEAD: %w", err)
	}
	base, err := r.Commit(ctx, o.Base)
	if err != nil {
		return nil, fmt.Errorf("%q is no revision in this repository: fetch it first, in GitHub Actions by fetch-depth: 0",
			o.Base)
	}
	if !r.IsClean(ctx) {
		o.Note("files differ from HEAD: findings in them may stand at other lines")
	}
	if len(o.Packages) == 0 {
		o.Packages = []string{"./..."}
	}
	f := &bot.File{Version: bot.FileVersion, Head: head, Base: r.MergeBase(ctx, base, head), Complete: true}
	if f.Module, err = below(r.Root(), dir); err != nil {
		return nil, err
	}
	// Everything is kept in one folder, which the user's tree knows nothing of.
	tmp, err := os.MkdirTemp("", "interlock-bot")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	w := &work{Options: o, repo: r, file: f, dir: dir, tmp: tmp}
	return f, w.do(ctx)
}

// below returns a folder relative to the root, as a slash path; "" is the root.
func below(root, dir string) (string, error) {
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s does not lie in the repository %s", dir, root)
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// work is one call of Find.
type work struct {
	Options
	repo *repo.Repo
	file *bot.File
	dir  string // of the module
	tmp  string
}

// do fills the file.
func (w *work) do(ctx context.Context) error {
	known, err := w.checkBase(ctx)
	if err != nil {
		return err
	}
	w.file.Known = ids(known)
	w.Note("checking the request")
	// Possible findings and leads tell that a finding is still there, though nobody posts them.
	suspected, whole, err := w.report(ctx, w.dir, "check", append([]string{"-possible", "-leads"}, w.Packages...)...)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	w.file.Complete = whole
	packages, err := w.concerned(ctx)
	if err != nil {
		return err
	}
	var shown []*finding.Finding
	if len(packages) > 0 {
		w.Note(fmt.Sprintf("running the tests of %s", report.Count(len(packages), "package")))
		if shown, whole, err = w.report(ctx, w.dir, "fix", slices.Concat(w.Flags, packages)...); err != nil {
			return err
		}
		w.file.Complete = w.file.Complete && whole
	}
	w.file.Findings = join(shown, suspected)
	return nil
}

// checkBase returns the findings of the base, in a copy of it. A base without the module, or with another one that does
// not compile, has none that are known.
func (w *work) checkBase(ctx context.Context) ([]*finding.Finding, error) {
	w.Note("checking the base")
	dir := filepath.Join(w.tmp, "base")
	if err := w.repo.Export(ctx, w.file.Base, dir); err != nil {
		return nil, fmt.Errorf("copying the base: %w", err)
	}
	dir = filepath.Join(dir, filepath.FromSlash(w.file.Module))
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return nil, nil
	}
	known, _, err := w.report(ctx, dir, "check", append([]string{"-possible", "-leads"}, w.Packages...)...)
	return known, cmp.Or(err, ctx.Err())
}

// report returns the findings of a command, and whether it has done all that it should: a command that could not begin,
// for example where nothing compiles, has no findings. One that ctx has ended has those that it had reported before.
func (w *work) report(ctx context.Context, dir, command string, args ...string) (all []*finding.Finding, whole bool,
	err error) {
	out := filepath.Join(w.tmp, command+".jsonl")
	defer os.Remove(out)
	code, err := w.Interlock(ctx, dir, append([]string{command, "-o=jsonl:" + out}, args...)...)
	if err != nil && ctx.Err() == nil {
		return nil, false, err
	}
	all, interrupted, err := report.ReadFindings(out)
	if ctx.Err() == nil && (code == 0 || code == 1) { // else the report may be missing
		return all, !interrupted, err
	}
	return all, false, nil
}

// ids lists the ids by which findings are known.
func ids(findings []*finding.Finding) (all []string) {
	for _, f := range findings {
		all = append(append(all, f.ID), f.SameAs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// join returns the findings that runs have shown, and those suspected ones that are not among them.
func join(shown, suspected []*finding.Finding) []*finding.Finding {
	known := ids(shown)
	return append(slices.Clone(shown), slices.DeleteFunc(suspected, func(f *finding.Finding) bool {
		_, ok := slices.BinarySearch(known, f.ID)
		return ok
	})...)
}

// concerned returns the packages whose tests may behave otherwise: those with a changed file, and those whose tests
// import them, directly or not. A change of go.mod or go.sum concerns all of them.
func (w *work) concerned(ctx context.Context) ([]string, error) {
	files, err := w.repo.Changed(ctx, w.file.Base, w.file.Head)
	if err != nil {
		return nil, fmt.Errorf("listing the changed files: %w", err)
	}
	changed, all := map[string]bool{}, false
	for _, name := range files {
		path := filepath.Join(w.repo.Root(), filepath.FromSlash(name))
		all = all || path == filepath.Join(w.dir, "go.mod") || path == filepath.Join(w.dir, "go.sum")
		changed[filepath.Dir(path)] = changed[filepath.Dir(path)] || strings.HasSuffix(name, ".go")
	}
	// A line a package, or a test binary: its path, its folder, and its dependencies.
	const format = "{{.ImportPath}}\t{{.Dir}}\t{{.ForTest}}\t{{range .Deps}}{{.}} {{end}}"
	out, msg, err := gocmd.Command{Dir: w.dir, Env: os.Environ()}.Run(ctx,
		append([]string{"list", "-e", "-test", "-f", format}, w.Packages...)...)
	if err != nil {
		return nil, gocmd.Failed("listing the packages", msg, err)
	}
	return chosen(string(out), changed, all), nil
}

// chosen returns the packages of go list's lines that are concerned, by their paths.
func chosen(lines string, changed map[string]bool, all bool) (paths []string) {
	type row struct {
		path, dir string
		deps      []string
	}
	var rows []row
	byPath := map[string]bool{} // whether the package has a changed file
	for line := range strings.Lines(lines) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) != 4 {
			continue
		}
		path := strings.TrimSuffix(parts[0], ".test")
		if parts[2] != "" { // a package as one of its tests has it
			path = parts[2]
		}
		rows = append(rows, row{path, parts[1], strings.Fields(parts[3])})
		byPath[path] = byPath[path] || all || changed[parts[1]]
	}
	for _, r := range rows {
		hit := byPath[r.path] || slices.ContainsFunc(r.deps, func(dep string) bool { return byPath[dep] })
		if hit && !slices.Contains(paths, r.path) {
			paths = append(paths, r.path)
		}
	}
	slices.Sort(paths)
	return paths
}
