package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sourcegraph/go-diff/diff"
	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/patchgen"
)

// mender makes patches one after the other, each on top of those before it,
// in a copy of the module.
type mender struct {
	trial   *trial
	root    string             // of the copy
	pattern []string           // all packages of the main modules
	all     []*finding.Finding // suspected ones too, whether reported or not
	first   map[string][]byte  // contents before any patch, of the files changed
	last    map[string][]byte  // contents now
	taken   []string           // ids of the findings patched so far
}

// mend sets the fix of each finding of the report, and gives all patches
// together.
func (c *call) mend(p *progress, m *monitored, flags testFlags, r *report.Report) (*mender, error) {
	if len(r.Findings) == 0 || c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	p.say("copying the module")
	t, err := c.enterCopy(m.plan.module)
	if err != nil {
		return nil, err
	}
	defer t.close()
	d := &mender{
		trial: &trial{
			c: c, p: p, tree: t, dir: t.at(r.Dir), flags: flags, before: m.result,
			tests: m.plan.module.Tests, uncompiled: m.plan.uncompiled() != "",
		},
		root: t.root, all: m.joined, first: map[string][]byte{}, last: map[string][]byte{},
	}
	for path := range strings.FieldsSeq(m.plan.module.Path) {
		d.pattern = append(d.pattern, path+"/...")
	}
	for _, group := range groups(r.Findings) {
		if err := d.group(group); err != nil {
			return d, err
		}
	}
	return d, nil
}

// enterCopy copies the user's tree. From here on the go commands of the call run
// in the copy, and name packages by what they are, not by where the user stands.
func (c *call) enterCopy(m *build.Module) (*copied, error) {
	t, err := copyTree(c.ctx, m.Root, m.Work)
	if err != nil {
		return nil, err
	}
	still, err := build.KeepStillIn(c.ctx, t.root, t.work, os.Environ())
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	original := c.kept
	c.kept = still
	if err := original.Close(); err != nil {
		return nil, errors.Join(err, t.close())
	}
	c.packages = nil
	for _, p := range m.Tests {
		c.packages = append(c.packages, p.Package)
	}
	return t, nil
}

// groups puts findings on one variable together, in the order of the findings.
func groups(findings []*finding.Finding) [][]*finding.Finding {
	var out [][]*finding.Finding
	for _, f := range findings {
		i := slices.IndexFunc(out, func(g []*finding.Finding) bool { return sameVariable(g[0].Variable, f.Variable) })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

// group makes one patch and puts it into the copy. It treats all that is
// known of the variable, suspicions too.
func (d *mender) group(group []*finding.Finding) error {
	var known []*finding.Finding
	for _, f := range d.all {
		if sameVariable(f.Variable, group[0].Variable) {
			known = append(known, f)
		}
	}
	moved, err := d.follow(known)
	if err == nil {
		err = inside(known)
	}
	if err != nil {
		share(group, &finding.Fix{Withheld: err.Error()})
		return nil
	}
	module, err := d.load(group)
	if err != nil && d.trial.c.ctx.Err() == nil {
		share(group, &finding.Fix{Withheld: d.trial.tree.strip(err.Error())})
		return nil
	}
	if err != nil {
		return err
	}
	d.trial.group = group
	fix, files, err := patchgen.Fix(d.trial.c.ctx, patchgen.Input{Module: module, Group: moved, Patched: len(d.taken) > 0, Checks: d.trial.checks()})
	if err != nil {
		return err
	}
	fix.Withheld = d.trial.tree.strip(fix.Withheld)
	if fix.Withheld == "" {
		if err := d.take(module, fix, files); err != nil {
			return err
		}
		for _, f := range group {
			d.taken = append(d.taken, f.ID)
		}
	}
	share(group, fix)
	return nil
}

// inside returns an error that names a file outside of the tree, if an access of
// the findings is there: the copy has none of it.
func inside(findings []*finding.Finding) error {
	for _, f := range findings {
		for _, a := range f.Accesses {
			if !filepath.IsLocal(filepath.FromSlash(a.Position.File)) {
				return fmt.Errorf("%s lies outside of the folder of go.work, which patches are tried on a copy of: run interlock fix in its own module, with GOWORK=off", a.Position.File)
			}
		}
	}
	return nil
}

// share returns all findings of a group the same fix.
func share(group []*finding.Finding, fix *finding.Fix) {
	for _, f := range group {
		f.Fix = fix
	}
}

// load reads the copy as it is now. Packages that do not compile are passed by
// where none of what the findings are about is within their reach.
func (d *mender) load(group []*finding.Finding) (*patchgen.Module, error) {
	d.trial.p.say("reading the module for a patch")
	loaded, err := packages.Load(&packages.Config{
		Mode: patchgen.LoadMode, Context: d.trial.c.ctx, Dir: d.trial.dir, Env: d.trial.c.kept.Env(os.Environ()),
		Tests: true, BuildFlags: d.trial.buildFlags(),
	}, d.pattern...)
	if err != nil {
		return nil, fmt.Errorf("loading the packages: %w", err)
	}
	near, broken := reaching(loaded, group), build.Broken(loaded)
	for _, p := range broken {
		if near[p.PkgPath] {
			return nil, fmt.Errorf("%s may use %s and does not compile: mend that first", p.PkgPath, group[0].Variable)
		}
	}
	sound := slices.DeleteFunc(loaded, func(p *packages.Package) bool { return slices.Contains(broken, p) })
	return patchgen.NewModule(d.root, sound)
}

// reaching returns the paths of the packages that a group of findings is about,
// and of those that import such a one by whatever way.
func reaching(loaded []*packages.Package, group []*finding.Finding) map[string]bool {
	near := map[string]bool{}
	for _, f := range group {
		near[f.Variable.Package] = true
		for i := range f.Accesses {
			near[strings.TrimSuffix(f.Accesses[i].Package, "_test")] = true
		}
	}
	for n := -1; n != len(near); {
		n = len(near)
		for _, p := range loaded {
			for _, imported := range p.Imports {
				if near[imported.PkgPath] {
					near[p.PkgPath] = true
				}
			}
		}
	}
	return near
}

// take puts a patch into the copy. If it changes a file that an earlier patch
// changed too, its own diff does not apply to the user's file: the fix then
// shows all patches up to here. So it does if they turn out to mend this
// variable too.
func (d *mender) take(module *patchgen.Module, fix *finding.Fix, files map[string][]byte) error {
	shared := len(files) == 0
	for name, old := range module.Old(files) {
		if _, again := d.first[name]; again {
			shared = true
		} else {
			d.first[name] = old
		}
	}
	maps.Copy(d.last, files)
	if err := d.trial.tree.write(files); err != nil {
		return err
	}
	if !shared {
		return nil
	}
	fix.Notes = append(fix.Notes, "includes the patches for "+strings.Join(d.taken, ", "))
	all, err := d.diff()
	fix.Diff = all
	return err
}

// diff returns all patches together.
func (d *mender) diff() (string, error) { return patchgen.Diff(d.first, d.last) }

// follow gives copies of the findings with the positions that their accesses
// have in the copy, behind the patches made so far.
func (d *mender) follow(group []*finding.Finding) ([]*finding.Finding, error) {
	var out []*finding.Finding
	for _, f := range group {
		f := *f
		f.Accesses = slices.Clone(f.Accesses)
		for i := range f.Accesses {
			pos := &f.Accesses[i].Position
			before, changed := d.first[pos.File]
			if !changed {
				continue
			}
			shift, ok := lineShift(before, d.last[pos.File], pos.Line)
			if !ok {
				return nil, fmt.Errorf("%s:%d is changed by the patch for %s: apply that one, then run interlock fix again", pos.File, pos.Line, strings.Join(d.taken, ", "))
			}
			pos.Line += shift
			if pos.EndLine > 0 {
				pos.EndLine += shift
			}
		}
		out = append(out, &f)
	}
	return out, nil
}

// lineShift reports how far a line of the old contents has moved in the new
// ones; not ok if it is not there any more.
func lineShift(before, after []byte, line int) (shift int, ok bool) {
	text, err := patchgen.Diff(map[string][]byte{"f": before}, map[string][]byte{"f": after})
	if err != nil {
		return 0, false
	}
	fd, err := diff.ParseFileDiff([]byte(text))
	if err != nil {
		return 0, text == ""
	}
	for _, h := range fd.Hunks {
		at := int(h.OrigStartLine)
		if h.OrigLines == 0 {
			at++ // such a hunk names the line before it
		}
		for _, l := range strings.SplitAfter(string(h.Body), "\n") {
			switch {
			case at > line || l == "":
				continue
			case l[0] == '+':
				shift++
			case l[0] == '-' && at == line:
				return 0, false
			case l[0] == '-':
				shift--
				at++
			case l[0] == ' ' || l[0] == '\n':
				at++
			}
		}
	}
	return shift, true
}
