// Package trial makes patches for findings and tries each in a copy of the
// user's module: it must build, pass go vet and the tests, and silence the
// findings when the runs are made again. The user's tree is only read.
package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/patchgen"
)

// Options name the module to patch, and how patches are tried.
type Options struct {
	Plan     planner.Options // as the findings came about
	Settings testrun.Settings
	Flags    testflags.Flags
	Module   *build.Module      // that is patched
	Before   *campaign.Result   // of the runs of the original; nil if there were none
	Findings []*finding.Finding // to be patched: their Fix is set
	Known    []*finding.Finding // all of them, suspected ones too, whether reported or not
	Dir      string             // where the user stands
	Depth    Depth
	// Alone has each patch tried by itself, so that each applies to the original; else one comes on top of those
	// before it.
	Alone bool
	// Drafts takes drafts for patches like others; else they are in no diff but their own.
	Drafts bool
	// Tried is called for each group of findings after its fix has been set; an error ends the work. nil is fine.
	Tried func(group []*finding.Finding) error
	// Budget is the processor time that patches may take for each package with findings; 0 is no limit.
	Budget time.Duration
}

// Depth is how much a patch has to pass besides patchgen's own checks of the source.
type Depth string

const (
	Full  Depth = "full"  // it builds, passes go vet and the tests, and silences the finding in new runs
	Quick Depth = "quick" // it builds, and passes go vet and the tests
	None  Depth = "none"
)

// StandsInSource reports whether a suspected finding is patched without a run that has shown it.
func StandsInSource(f *finding.Finding) bool { return slices.Contains(CodesInSource(), f.Code) }

// MayFailTests reports whether a suspected finding may be why the tests of its package fail in every run: a patch shows
// it if they pass then.
func MayFailTests(f *finding.Finding, r *campaign.Result) bool {
	return f.Status == finding.Suspected && f.Code == finding.TestAndUse &&
		slices.ContainsFunc(r.Packages, func(p campaign.PackageResult) bool {
			return p.Package == f.Variable.Package && AlwaysFail(&p)
		})
}

// CodesInSource lists the codes of such findings.
func CodesInSource() []finding.Code { return patchgen.CodesInSource() }

// Groups puts findings together that one patch corrects.
func Groups(findings []*finding.Finding) [][]*finding.Finding { return patchgen.Groups(findings) }

// Patches are the patches that passed all checks, together.
type Patches struct {
	Before map[string][]byte // contents before any patch, of the files changed, by slash path
	After  map[string][]byte // contents after the last one
}

// Empty reports whether there is no patch.
func (p *Patches) Empty() bool { return len(p.After) == 0 }

// Diff returns all patches as one diff.
func (p *Patches) Diff() (string, error) { return patchgen.Diff(p.Before, p.After) }

// Apply writes all patches, or none, into the files below root.
func (p *Patches) Apply(root string) error { return patchgen.Apply(root, p.Before, p.After) }

// patcher makes patches one after the other, each on top of those before it, in
// a copy of the module.
type patcher struct {
	*Patches
	trial   *trial
	pattern []string           // all packages of the main modules
	known   []*finding.Finding // suspected ones too, whether reported or not
	taken   []string           // ids of the findings patched so far
	doubts  []finding.Doubt    // of the drafts among these patches
	results *results
}

// Patch sets the fix of each finding, and returns all patches together. If there is
// an error, it returns the patches made before it: [ErrBudget] if the budget has ended.
func Patch(ctx context.Context, o Options) (*Patches, error) {
	none := &Patches{map[string][]byte{}, map[string][]byte{}}
	if len(o.Findings) == 0 || ctx.Err() != nil {
		return none, ctx.Err()
	}
	defer o.Plan.Progress.Working("making patches")()
	groups := patchgen.Groups(o.Findings)
	ctx, cancel := withBudget(ctx, o.Budget*time.Duration(packagesOf(groups)))
	defer cancel()
	o.Plan.Progress.Say("copying the module")
	m := o.Module
	c, err := copyModule(ctx, m.Root, m.Work)
	if err != nil {
		return none, err
	}
	defer c.close()
	t, err := newTrial(ctx, o, c)
	if err != nil {
		return none, err
	}
	d := &patcher{Patches: &Patches{map[string][]byte{}, map[string][]byte{}}, trial: t, known: o.Known,
		results: &results{made: none}}
	t.corrects = d.corrects
	for path := range strings.FieldsSeq(m.Path) {
		d.pattern = append(d.pattern, path+"/...")
	}
	// An analysis does not end in the middle of a function, so the work is left behind: the patches so far are the result.
	ended := make(chan error, 1)
	go func() { ended <- d.all(groups, o.Tried) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(endGrace):
			err = context.Cause(ctx)
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), ErrBudget) {
		err = ErrBudget
	}
	return d.results.close(), err
}

// endGrace is how long patches that are interrupted may take to end.
const endGrace = 1500 * time.Millisecond

// packagesOf returns how many packages groups of findings are about.
func packagesOf(groups [][]*finding.Finding) int {
	paths := map[string]bool{}
	for _, group := range groups {
		paths[group[0].Variable.Package] = true
	}
	return len(paths)
}

// results are the patches made so far, and the fixes of findings. The caller reads them while an analysis that was
// interrupted may still be at work.
type results struct {
	mu     sync.Mutex
	made   *Patches // guarded by mu
	closed bool     // guarded by mu
}

// set runs do, which sets results. If the callers are reading them already, it returns an error instead.
func (r *results) set(do func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return context.Canceled
	}
	do()
	return nil
}

// close returns the patches; from then on nothing is set.
func (r *results) close() *Patches {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.made
}

// attempt is how the patch for a group of findings came out.
type attempt struct {
	left []*finding.Finding // races that it leaves to other patches
	none bool               // it changes nothing: an earlier one corrects this too
	// The patches before it.
	before Patches
	taken  []string
	doubts []finding.Doubt
}

// all makes one patch after the other. A patch that leaves a race to another group is accepted once that group has a
// patch. If that group gets none, all retries the group and every later one without the allowance. Such a race is
// always of a later group, so this ends.
func (d *patcher) all(groups [][]*finding.Finding, tried func([]*finding.Finding) error) error {
	attempts := make([]attempt, len(groups))
	isOpen := func(a attempt) bool {
		return slices.ContainsFunc(a.left, func(f *finding.Finding) bool { return !d.trial.hasPatch(f) })
	}
	for from, to := 0, len(groups); from >= 0; from = slices.IndexFunc(attempts, isOpen) {
		// Later patches were made on top of the one that is tried again, except if each is made alone.
		if a := &attempts[from]; len(a.left) > 0 {
			d.trial.hopeless = append(d.trial.hopeless, slices.DeleteFunc(a.left, d.trial.hasPatch)...)
			if err := d.restore(a); err != nil {
				return err
			}
			if d.trial.alone {
				to = from + 1
			}
		}
		if err := d.results.set(func() {
			for _, group := range groups[from:to] {
				share(group, nil)
			}
		}); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			attempts[i] = attempt{before: Patches{maps.Clone(d.Before), maps.Clone(d.After)}, taken: slices.Clone(d.taken),
				doubts: slices.Clone(d.doubts)}
			d.trial.left, d.trial.current = nil, fmt.Sprintf("patch %d of %d", i+1, len(groups))
			none, err := d.group(groups[i])
			if parts := d.partsOf(groups[i]); err == nil && len(parts) > 1 {
				// No lock for all of its fields: each may have a patch of its own.
				groups = slices.Replace(groups, i, i+1, parts...)
				attempts = slices.Insert(attempts, i+1, make([]attempt, len(parts)-1)...)
				to += len(parts) - 1
				i--
				continue
			}
			attempts[i].left, attempts[i].none = d.trial.left, none
			if err == nil {
				err = d.settled(groups[i], tried)
			}
			if err != nil {
				d.results.set(func() { d.doubt(groups, attempts) })
				return err
			}
		}
	}
	// All patches are final now, so each finding gets its fix.
	for i, group := range groups {
		if left := attempts[i].left; len(left) > 0 {
			err := d.results.set(func() {
				d.noteLeft(group[0].Fix, left, func(f *finding.Finding) bool {
					own := slices.IndexFunc(groups, func(g []*finding.Finding) bool { return patchgen.IsOfGroup(g, f) })
					return own >= 0 && attempts[own].none
				})
				d.trial.left = nil
			})
			if err == nil {
				err = d.settled(group, tried)
			}
			if err != nil {
				return err
			}
		}
	}
	return d.noteMended(groups)
}

// partsOf returns the groups that a group falls into where no patch has come out for all of its fields, and makes room
// for their patches.
func (d *patcher) partsOf(group []*finding.Finding) [][]*finding.Finding {
	fix := group[0].Fix
	parts := patchgen.Parts(group)
	if len(parts) > 1 && fix != nil && fix.Withheld != "" && d.share(group, nil) == nil {
		return parts
	}
	return nil
}

// settled hands over a group, if its patch leaves nothing to another one, with all patches made so far.
func (d *patcher) settled(group []*finding.Finding, tried func([]*finding.Finding) error) (err error) {
	closed := d.results.set(func() {
		d.results.made = &Patches{maps.Clone(d.Before), maps.Clone(d.After)}
		if tried != nil && len(d.trial.left) == 0 {
			err = tried(group)
		}
	})
	return cmp.Or(closed, err)
}

// noteLeft notes which patches a fix needs beside it, except for findings that an earlier patch has corrected.
func (d *patcher) noteLeft(fix *finding.Fix, left []*finding.Finding, isCorrected func(*finding.Finding) bool) {
	for _, f := range left {
		note := fmt.Sprintf("%s races beside it: apply the patch for that too", f.Variable)
		if !isCorrected(f) && !slices.Contains(fix.Notes, note) {
			fix.Notes = append(fix.Notes, note)
		}
	}
}

// restore puts the copy back into its state before an attempt.
func (d *patcher) restore(a *attempt) error {
	files := maps.Clone(d.Before)
	maps.Copy(files, a.before.After)
	*d.Patches, d.taken, d.doubts = a.before, a.taken, a.doubts
	return d.trial.copy.write(files)
}

// doubt lowers the verdict of patches that leave a race for which none was tried in time.
func (d *patcher) doubt(groups [][]*finding.Finding, attempts []attempt) {
	for i, group := range groups {
		for _, f := range attempts[i].left {
			if fix := group[0].Fix; fix != nil && !d.trial.isMade(f) {
				fix.Verdict, fix.Notes = finding.Manual, append(fix.Notes, "it leaves the race for "+placesOf(f))
			}
		}
	}
}

// group makes one patch and puts it into the copy. It treats all that is
// known of the cause, suspicions too. None reports that nothing had to be changed.
func (d *patcher) group(group []*finding.Finding) (none bool, err error) {
	// Earlier patches have moved lines, and the copy holds the main modules alone.
	moved, err := d.follow(d.ofCause(group))
	if err == nil {
		err = inside(moved)
	}
	if err != nil {
		return false, d.share(group, &finding.Fix{Verdict: finding.Withheld, Withheld: err.Error()})
	}
	module, near, err := d.load(group)
	if err != nil && d.trial.ctx.Err() == nil {
		return false, d.share(group, &finding.Fix{Verdict: finding.Withheld, Withheld: d.trial.copy.strip(err.Error())})
	}
	if err != nil {
		return false, err
	}
	// The strategies in order, each candidate tried.
	d.trial.group, d.trial.near, d.trial.alsoFail, d.trial.others = group, near, nil, nil
	fix, files, err := patchgen.Fix(d.trial.ctx, patchgen.Input{Module: module, Group: moved, Patched: len(d.taken) > 0,
		Failing: d.trial.provesByTests(), HasPatch: d.trial.leavesTo, Checks: d.trial.checks(), Drafts: true})
	if err != nil {
		return false, err
	}
	if fix.Withheld = d.trial.copy.strip(fix.Withheld); fix.Withheld != "" {
		d.trial.left, d.trial.others = nil, nil
	}
	d.trial.left = append(d.trial.left, d.trial.others...)
	for i, why := range fix.Rejected {
		fix.Rejected[i] = d.trial.copy.strip(why)
	}
	if fix.Withheld == "" && len(d.trial.broken) > 0 {
		fix.Notes = append(fix.Notes, "not tried with it, as it does not compile: "+strings.Join(d.trial.broken, ", "))
	}
	if also := d.trial.alsoFail; fix.Withheld == "" && len(also) > 0 {
		fix.Notes = append(fix.Notes, "fails without the patch too: "+strings.Join(also, ", "))
	}
	switch {
	case fix.Withheld != "" || d.trial.alone:
	case d.trial.isTaken(fix):
		if err := d.take(module, fix, files); err != nil {
			return false, err
		}
		for _, f := range group {
			d.taken = append(d.taken, f.ID)
		}
		if fix.Verdict == finding.Draft {
			d.doubts = withDoubts(d.doubts, fix.Doubts)
		}
	case d.isShared(files):
		fix.Notes = append(fix.Notes, "it comes on top of the patches for "+strings.Join(d.taken, ", "))
	}
	return fix.Withheld == "" && len(files) == 0, d.share(group, fix)
}

// ofCause returns all that is known of the cause of a group.
func (d *patcher) ofCause(group []*finding.Finding) (all []*finding.Finding) {
	for _, g := range d.known {
		if patchgen.IsOfGroup(group, g) {
			all = append(all, g)
		}
	}
	return all
}

// corrects reports whether the source shows that c, a patch for another variable, leaves nothing to change for the
// variable of f.
func (d *patcher) corrects(c patchgen.Candidate, f *finding.Finding) (gone bool, err error) {
	both := &Patches{maps.Clone(d.Before), maps.Clone(d.After)}
	then := &patcher{Patches: both, trial: d.trial, pattern: d.pattern, results: d.results}
	for name := range c.Files {
		if then.Before[name] == nil {
			if then.Before[name], err = os.ReadFile(d.trial.copy.path(name)); err != nil {
				return false, fmt.Errorf("reading what a patch changes: %w", err)
			}
		}
	}
	maps.Copy(then.After, c.Files)
	group := d.ofCause([]*finding.Finding{f})
	moved, err := then.follow(group)
	if err != nil {
		return false, nil // it changes a line that f is about
	}
	err = d.trial.copy.with(c.Files, func() error {
		module, _, err := then.load(group)
		if err != nil {
			return err
		}
		fix, files, err := patchgen.Fix(d.trial.ctx, patchgen.Input{Module: module, Group: moved, Patched: true})
		gone = err == nil && fix.Withheld == "" && len(files) == 0
		return err
	})
	return gone, err
}

// inside returns an error that names a file outside of the tree, if an access of
// the findings is there: the copy has none of it.
func inside(findings []*finding.Finding) error {
	for _, f := range findings {
		for _, pos := range positions(f) {
			if !filepath.IsLocal(filepath.FromSlash(pos.File)) {
				return fmt.Errorf("%s lies outside of the folder of go.work, which patches are tried on a copy of: run "+
					"interlock fix in its own module, with GOWORK=off", pos.File)
			}
		}
	}
	return nil
}

// positions lists the places that strategies look at: those of accesses, of
// cycles and of atomic sections.
func positions(f *finding.Finding) []*finding.Position {
	var all []*finding.Position
	for i := range f.Accesses {
		all = append(all, &f.Accesses[i].Position)
	}
	for i := range f.Cycle {
		all = append(all, &f.Cycle[i].Position)
		if f.Cycle[i].Since != nil {
			all = append(all, f.Cycle[i].Since)
		}
	}
	if f.Section != nil {
		all = append(all, f.Section.Places()...)
	}
	return all
}

// share sets the same fix for all findings of a group, unless nobody waits for it any more.
func (d *patcher) share(group []*finding.Finding, fix *finding.Fix) error {
	return d.results.set(func() { share(group, fix) })
}

// share sets the same fix for all findings of a group.
func share(group []*finding.Finding, fix *finding.Fix) {
	for _, f := range group {
		f.Fix = fix
	}
}

// load reads the copy as it is now. Packages that do not compile are left
// out where nothing that the findings are about is within their reach. Near are the packages that a patch may change,
// and those that import them.
func (d *patcher) load(group []*finding.Finding) (m *patchgen.Module, near []string, err error) {
	d.trial.say("reading the module")
	loaded, err := packages.Load(&packages.Config{
		Mode: patchgen.LoadMode, Context: d.trial.ctx, Dir: d.trial.plan.Dir, Env: d.trial.env(),
		Tests: true, BuildFlags: d.trial.plan.BuildFlags,
	}, d.pattern...)
	if err != nil {
		return nil, nil, fmt.Errorf("loading the packages: %w", err)
	}
	reach, broken := reaching(loaded, group), build.Broken(loaded)
	// A package that cannot name the variable cannot break with its patch, nor break the patch.
	d.trial.broken = nil
	for _, p := range broken {
		switch {
		case !reach[p.PkgPath]:
		case canName(p.PkgPath, group[0].Variable):
			return nil, nil, fmt.Errorf("%s may use %s and does not compile: fix that first", p.PkgPath, group[0].Variable)
		case !slices.Contains(d.trial.broken, p.PkgPath) && !strings.HasSuffix(p.PkgPath, ".test"):
			d.trial.broken = append(d.trial.broken, p.PkgPath)
		}
	}
	sound := slices.DeleteFunc(loaded, func(p *packages.Package) bool { return slices.Contains(broken, p) })
	m, err = patchgen.NewModule(d.trial.copy.root, sound)
	return m, nearby(sound, reach), err
}

// canName reports whether the source of a package may hold the name of a variable.
func canName(pkg string, v finding.Variable) bool {
	name := strings.TrimSuffix(v.Name[strings.LastIndexByte(v.Name, '.')+1:], "[]")
	return name == "" || ast.IsExported(name) || pkg == v.Package
}

// reaching returns the paths of the packages that a group of findings is about,
// and of those that import such a package, directly or not.
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

// isShared reports whether a patch that was made before changes one of the files.
func (d *patcher) isShared(files map[string][]byte) bool {
	for name := range files {
		if _, changed := d.Before[name]; changed {
			return true
		}
	}
	return false
}

// take puts a patch into the copy. If it changes a file that an earlier patch
// changed too, its own diff does not apply to the user's file: the fix then
// shows all patches up to here. So it does if they turn out to fix this
// variable too.
func (d *patcher) take(module *patchgen.Module, fix *finding.Fix, files map[string][]byte) error {
	shared := len(files) == 0 || d.isShared(files)
	for name, old := range module.Old(files) {
		if _, again := d.Before[name]; !again {
			d.Before[name] = old
		}
	}
	maps.Copy(d.After, files)
	if err := d.trial.copy.write(files); err != nil {
		return err
	}
	if !shared {
		return nil
	}
	fix.Includes = slices.Clone(d.taken)
	fix.Notes = append(fix.Notes, "includes the patches for "+strings.Join(d.taken, ", "))
	// With a draft in it, it is one.
	if len(d.doubts) > 0 {
		fix.Verdict, fix.Doubts = finding.Draft, withDoubts(fix.Doubts, d.doubts)
	}
	all, err := d.Diff()
	fix.Diff = all
	return err
}

// follow returns copies of the findings with the positions that their accesses
// have in the copy, behind the patches made so far.
func (d *patcher) follow(group []*finding.Finding) ([]*finding.Finding, error) {
	var out []*finding.Finding
	for _, f := range group {
		f, err := clone(f)
		if err != nil {
			return nil, err
		}
		for _, pos := range positions(f) {
			before, changed := d.Before[pos.File]
			if !changed {
				continue
			}
			if !followPlace(before, d.After[pos.File], pos) {
				return nil, fmt.Errorf("%s:%d is changed by the patch for %s: apply that one, then run interlock fix again",
					pos.File, pos.Line, strings.Join(d.taken, ", "))
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// clone returns a copy that shares nothing with f.
func clone(f *finding.Finding) (*finding.Finding, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("copying a finding: %w", err)
	}
	out := new(finding.Finding)
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("copying a finding: %w", err)
	}
	return out, nil
}
