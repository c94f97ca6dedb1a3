package audit

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report"
)

// Compare returns the changes since the audit before, or nil if there was none. It compares by the ids, which survive
// edits elsewhere. accepted are findings of now that are not reported. It is an error if the findings of the audit
// before cannot be read.
//
// That a finding is gone does not mean that somebody has mended it: a race that a run showed may not have shown itself
// this time. It counts as fixed only if a file of it has changed since, or if reading the code had found it.
func (a *Audit) Compare(now, accepted []*finding.Finding) (*report.Comparison, error) {
	if a.head.Before == nil {
		return nil, nil
	}
	before, interrupted, err := report.ReadFindings(a.state(earlierFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("comparing with the audit before: %w", err)
	}
	c := &report.Comparison{New: map[string]bool{}, Unfinished: interrupted || !a.head.Before.Finished}
	if !a.head.Before.Began.IsZero() {
		c.Since = a.head.Before.Began.Format("2006-01-02 15:04 UTC")
	}
	// Each finding of now was there before, or is new. A suspicion that is confirmed now is new, too.
	was := map[string]*finding.Finding{}
	for _, f := range before {
		was[f.ID] = f
	}
	for _, f := range now {
		old := was[f.ID]
		delete(was, f.ID)
		if old == nil || f.Status == finding.Confirmed && old.Status != finding.Confirmed {
			c.New[f.ID] = true
		} else {
			c.Persisting++
		}
	}
	for _, f := range accepted {
		delete(was, f.ID)
	}
	// Each finding of before that is left is gone, for one of several reasons.
	for _, f := range before {
		switch {
		case was[f.ID] == nil:
		case f.Status == finding.Suspected || a.changed(f):
			c.Fixed = append(c.Fixed, f)
		default:
			c.Unseen = append(c.Unseen, f)
		}
	}
	return c, nil
}

// changed reports whether a file of f is another one now than in the audit before.
func (a *Audit) changed(f *finding.Finding) bool {
	for _, p := range f.Places() {
		if a.head.Files[p.File] != a.head.Before.Files[p.File] {
			return true
		}
	}
	return false
}
