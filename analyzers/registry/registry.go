// Package registry is the list of checks. A new check is a folder beside this
// one and a line in [Checks].
package registry

import (
	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/aliasescape"
	"github.com/interlock-go/interlock/analyzers/atomicmix"
	"github.com/interlock-go/interlock/analyzers/captured"
	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/closerace"
	"github.com/interlock-go/interlock/analyzers/doublelock"
	"github.com/interlock-go/interlock/analyzers/endlesswait"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/guardedby"
	"github.com/interlock-go/interlock/analyzers/levels"
	"github.com/interlock-go/interlock/analyzers/loadstore"
	"github.com/interlock-go/interlock/analyzers/lockorder"
	"github.com/interlock-go/interlock/analyzers/lostunlock"
	"github.com/interlock-go/interlock/analyzers/mixedlocks"
	"github.com/interlock-go/interlock/analyzers/outlivestest"
	"github.com/interlock-go/interlock/analyzers/readlock"
	"github.com/interlock-go/interlock/analyzers/rlocktwice"
	"github.com/interlock-go/interlock/analyzers/testuse"
	"github.com/interlock-go/interlock/analyzers/underlock"
	"github.com/interlock-go/interlock/analyzers/unordered"
	"github.com/interlock-go/interlock/analyzers/unsafepub"
	"github.com/interlock-go/interlock/analyzers/waitgroupadd"
)

// Check is one pass that reports findings of one code. Its result is a *check.Result.
type Check struct {
	Code     finding.Code
	Analyzer *analysis.Analyzer
}

// Checks lists all checks by code.
func Checks() []Check {
	return []Check{
		{finding.Unguarded, guardedby.Analyzer},
		{finding.UnderReadLock, readlock.Analyzer},
		{finding.MixedAtomic, atomicmix.Analyzer},
		{finding.Captured, captured.Analyzer},
		{finding.UsedAfterLock, aliasescape.Analyzer},
		{finding.DifferentLocks, mixedlocks.Analyzer},
		{finding.WrittenLate, unsafepub.Analyzer},
		{finding.Unordered, unordered.Analyzer},
		{finding.LoadAndStore, loadstore.Analyzer},
		{finding.TestAndUse, testuse.Analyzer},
		{finding.LockCycle, lockorder.Analyzer},
		{finding.DoubleLock, doublelock.Analyzer},
		{finding.ReadLockAgain, rlocktwice.Analyzer},
		{finding.LostUnlock, lostunlock.Analyzer},
		{finding.WaitUnderLock, underlock.Analyzer},
		{finding.AddRacesWait, waitgroupadd.Analyzer},
		{finding.CloseRaces, closerace.Analyzer},
		{finding.EndlessWait, endlesswait.Analyzer},
		{finding.OutlivesTest, outlivestest.Analyzer},
	}
}

// ByCode returns the check that reports the code.
func ByCode(code finding.Code) (Check, bool) {
	for _, c := range Checks() {
		if c.Code == code {
			return c, true
		}
	}
	return Check{}, false
}

// Shown returns the checks with the diagnostics of those findings alone that are shown beside code: of likely ones, and
// with the flag [check.PossibleFlag] of a check of possible ones. Each check keeps its name and help. It requires these passes, and fixes, which may be
// nil, returns the suggested fixes of a finding.
func Shown(requires []*analysis.Analyzer,
	fixes func(*analysis.Pass, *finding.Finding) []analysis.SuggestedFix) []*analysis.Analyzer {
	var all []*analysis.Analyzer
	for _, a := range Analyzers() {
		shown := &analysis.Analyzer{
			Name: a.Name, Doc: a.Doc, URL: a.URL, Flags: a.Flags, Requires: append([]*analysis.Analyzer{a}, requires...),
		}
		shown.Run = func(pass *analysis.Pass) (any, error) {
			for _, r := range pass.ResultOf[a].(*check.Result).Reported {
				f := levels.Graded(r.Finding)
				if f.IsLead() || f.Minor() && a.Flags.Lookup(check.PossibleFlag).Value.String() != "true" {
					continue
				}
				if fixes != nil {
					r.Diagnostic.SuggestedFixes = fixes(pass, r.Finding)
				}
				pass.Report(r.Diagnostic)
			}
			return nil, nil
		}
		all = append(all, shown)
	}
	return all
}

// Analyzers lists the passes of all checks. Their diagnostics are all that they suspect; see [Shown].
func Analyzers() []*analysis.Analyzer {
	var all []*analysis.Analyzer
	for _, c := range Checks() {
		all = append(all, c.Analyzer)
	}
	return all
}
