package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sourcegraph/go-diff/diff"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/trial"
)

// Patch tries a patch for each cause of the findings, the best proven first, and sets their fixes. It does not try the
// patches of a resumed audit again. The sentences returned name the causes that were not tried, since ctx has ended.
func (a *Audit) Patch(ctx context.Context, o trial.Options, p *progress.Reporter) (cut []string, err error) {
	all := o.Findings
	var open []*finding.Finding
	groups := trial.Groups(patchable(o.Findings))
	for _, group := range groups {
		if !a.recall(group, o.Depth) {
			open = append(open, group...)
		}
	}
	n := len(groups) - len(trial.Groups(open))
	var kept error
	o.Findings, o.Alone = open, true
	o.Tried = func(group []*finding.Finding) error {
		n++
		fix := group[0].Fix
		result := string(fix.Verdict)
		if fix.Strategy != "" {
			result += " by " + fix.Strategy
		}
		a.fixes[groupKey(group, o.Depth)] = fix
		kept = a.write(fixesFile, a.fixes) // before it is said: a kill after the line repeats nothing
		p.Line("patch %d of %d: %s %s: %s", n, max(n, len(groups)), group[0].Code, group[0].Title, result)
		return kept
	}
	_, err = trial.Patch(ctx, o)
	if kept != nil {
		return nil, kept
	}
	// A patch treats all that is known of its cause: suspicions too, for which none would be made alone.
	for _, group := range trial.Parts(all) {
		i := slices.IndexFunc(group, func(f *finding.Finding) bool { return f.Fix != nil && f.Fix.Diff != "" })
		if i < 0 {
			continue
		}
		for _, f := range group {
			if f.Fix == nil {
				f.Fix = group[i].Fix
			}
		}
	}
	// A group without a fix was not tried.
	for _, group := range trial.Groups(open) {
		if group[0].Fix == nil {
			cut = append(cut, fmt.Sprintf("no patch was tried for %s %s (%s)", group[0].Code, group[0].Title, group[0].ID))
		}
	}
	if ctx.Err() != nil {
		err = nil
	}
	return cut, err
}

// recall sets the fixes of a group that are known: one for all of it, or one for each of its parts. It reports whether
// there are such.
func (a *Audit) recall(group []*finding.Finding, depth trial.Depth) bool {
	parts := [][]*finding.Finding{group}
	if a.fixes[groupKey(group, depth)] == nil {
		parts = trial.Parts(group)
	}
	if slices.ContainsFunc(parts, func(p []*finding.Finding) bool { return a.fixes[groupKey(p, depth)] == nil }) {
		return false
	}
	for _, part := range parts {
		for _, f := range part {
			f.Fix = a.fixes[groupKey(part, depth)]
		}
	}
	return true
}

// patchable returns the findings that patches are made for, those that are proven best first.
func patchable(findings []*finding.Finding) (all []*finding.Finding) {
	for _, status := range []finding.Status{finding.Confirmed, finding.Predicted, finding.Suspected} {
		for _, f := range findings {
			if f.Status == status && (status != finding.Suspected || trial.StandsInSource(f)) {
				all = append(all, f)
			}
		}
	}
	return all
}

// groupKey names the findings of a group, as far as they are proven: with more proof, or other checks, a patch is tried
// again.
func groupKey(group []*finding.Finding, depth trial.Depth) string {
	ids := []string{string(depth)}
	for _, f := range group {
		ids = append(ids, f.ID+" "+string(f.Status))
	}
	slices.Sort(ids[1:])
	return strings.Join(ids, ",")
}

// Patch is a file of the folder.
type Patch struct {
	Name      string // below Patches
	Findings  []*finding.Finding
	Fix       *finding.Fix
	Conflicts []string // names of patches that do not apply together with it
}

// patchesOf lists the patches of the findings. Findings that one patch mends share it.
func patchesOf(findings []*finding.Finding) (all []*Patch, err error) {
	at := map[string]*Patch{}
	for _, f := range findings {
		if f.Fix == nil || f.Fix.Diff == "" {
			continue
		}
		p := at[f.Fix.Diff]
		if p == nil {
			p = &Patch{Name: f.ID + ".diff", Fix: f.Fix}
			if f.Fix.Verdict == finding.Draft {
				p.Name = f.ID + ".draft" // `git apply *.diff` is to leave it out
			}
			at[f.Fix.Diff], all = p, append(all, p)
		}
		p.Findings = append(p.Findings, f)
	}
	for i, p := range all {
		for _, q := range all[:i] {
			both, err := conflict(p.Fix.Diff, q.Fix.Diff)
			if err != nil {
				return nil, fmt.Errorf("comparing %s and %s: %w", p.Name, q.Name, err)
			}
			if both {
				p.Conflicts, q.Conflicts = append(p.Conflicts, q.Name), append(q.Conflicts, p.Name)
			}
		}
	}
	return all, nil
}

// lines are lines of a file as it was, the last exclusive.
type lines struct{ from, to int32 }

func (a lines) meets(b lines) bool { return a.from < b.to && b.from < a.to }

// conflict reports whether one of two diffs of the same source does not apply any more once the other is applied:
// a hunk of one, its context included, has lines in common with a hunk of the other.
func conflict(a, b string) (bool, error) {
	in, err := hunks(a)
	if err != nil {
		return false, err
	}
	of, err := hunks(b)
	if err != nil {
		return false, err
	}
	for file, all := range in {
		for _, h := range all {
			if slices.ContainsFunc(of[file], h.meets) {
				return true, nil
			}
		}
	}
	return false, nil
}

// hunks returns the lines of each file that a diff is about.
func hunks(text string) (map[string][]lines, error) {
	files, err := diff.ParseMultiFileDiff([]byte(text))
	if err != nil {
		return nil, err
	}
	all := map[string][]lines{}
	for _, f := range files {
		for _, h := range f.Hunks {
			l := lines{h.OrigStartLine, h.OrigStartLine + max(h.OrigLines, 1)}
			all[f.OrigName] = append(all[f.OrigName], l)
		}
	}
	return all, nil
}

// writePatches replaces the patches in the folder.
func (a *Audit) writePatches(all []*Patch) error {
	dir := filepath.Join(a.Dir, Patches)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var old []string
	var err error
	for _, pattern := range []string{"il-*.diff", "il-*.draft"} {
		more, failed := filepath.Glob(filepath.Join(dir, pattern))
		old, err = append(old, more...), errors.Join(err, failed)
	}
	for _, p := range all {
		name := filepath.Join(dir, p.Name)
		err = errors.Join(err, report.WriteFile(name, []byte(p.Fix.Diff)))
		old = slices.DeleteFunc(old, func(s string) bool { return s == name })
	}
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}
