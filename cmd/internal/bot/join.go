package bot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Joint is the patches of several findings as one change of a commit.
type Joint struct {
	Patched []*finding.Finding
	Left    []Left            // that do not fit to the others, or to the commit
	Texts   map[string]string // of the files that change, by their names in the repository
}

// Patches returns the checksums of the patches, sorted.
func (j *Joint) Patches() []string {
	all := []string{}
	for _, f := range j.Patched {
		all = append(all, Patchsum(f))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Join joins the patches of findings: each is taken whole, or nothing of it. text returns the text of a file at the
// commit, and ErrNotFound where there is none.
func Join(file *File, findings []*finding.Finding, text func(path string) (string, error)) (*Joint, error) {
	j := &joiner{file: file, text: text, lines: map[string][]string{}, edits: map[string][]edit{},
		included: map[string]bool{}}
	joint := &Joint{Texts: map[string]string{}}
	// A patch that includes others comes before them.
	order := slices.Clone(findings)
	slices.SortStableFunc(order, func(a, b *finding.Finding) int {
		return cmp.Compare(len(b.Fix.Includes), len(a.Fix.Includes))
	})
	for _, f := range order {
		reason, err := j.add(f)
		switch {
		case err != nil:
			return nil, err
		case reason != "":
			joint.Left = append(joint.Left, Left{f, reason})
		default:
			joint.Patched = append(joint.Patched, f)
		}
	}
	for name, edits := range j.edits {
		if new := rewritten(j.lines[name], edits, 0); new != strings.Join(j.lines[name], "") {
			joint.Texts[name] = new
		}
	}
	return joint, nil
}

// joiner adds one patch after the other.
type joiner struct {
	file     *File
	text     func(path string) (string, error)
	lines    map[string][]string // of each file, at the commit
	edits    map[string][]edit   // of the patches so far
	included map[string]bool     // ids of findings: their patches are part of another one
}

// add adds the patch of f, or returns the reason why it does not fit.
func (j *joiner) add(f *finding.Finding) (reason string, err error) {
	if j.included[f.ID] {
		return "", nil
	}
	if reason := unfit(j.file, f); reason != "" {
		return reason, nil
	}
	// Nothing is added before the last file has turned out to fit.
	merged := map[string][]edit{}
	for _, d := range patchOf(j.file, f) {
		lines, err := j.linesOf(d.NewName)
		if errors.Is(err, ErrNotFound) {
			return "its patch changes a file that is not there", nil
		}
		if err != nil {
			return "", err
		}
		edits, ok := editsOf(d, lines)
		if !ok {
			return "its patch does not apply to this commit", nil
		}
		before, again := merged[d.NewName]
		if !again {
			before = j.edits[d.NewName]
		}
		if merged[d.NewName], ok = merge(before, edits); !ok {
			return "its patch changes lines that another patch changes too", nil
		}
	}
	for name, edits := range merged {
		j.edits[name] = edits
	}
	for _, id := range f.Fix.Includes {
		j.included[id] = true
	}
	return "", nil
}

// linesOf returns the lines of a file at the commit.
func (j *joiner) linesOf(name string) ([]string, error) {
	if lines, ok := j.lines[name]; ok {
		return lines, nil
	}
	text, err := j.text(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	j.lines[name] = splitLines(text)
	return j.lines[name], nil
}

// FailedTrial returns the first check that the patches do not pass together, as the trial in the file says; "" if they
// pass all.
func (f *File) FailedTrial(j *Joint) string {
	if f.Tried == nil || !slices.Equal(f.Tried.Patches, j.Patches()) {
		return "nothing was tried"
	}
	return f.Tried.Failed
}
