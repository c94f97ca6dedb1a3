// Package registry is the list of checks. A new check is a folder beside this
// one and a line in [Checks].
package registry

import (
	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/aliasescape"
	"github.com/interlock-go/interlock/analyzers/atomicmix"
	"github.com/interlock-go/interlock/analyzers/captured"
	"github.com/interlock-go/interlock/analyzers/closerace"
	"github.com/interlock-go/interlock/analyzers/doublelock"
	"github.com/interlock-go/interlock/analyzers/endlesswait"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/guardedby"
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

// Analyzers lists the passes of all checks. Their diagnostics are all that they suspect; see package levels.
func Analyzers() []*analysis.Analyzer {
	var all []*analysis.Analyzer
	for _, c := range Checks() {
		all = append(all, c.Analyzer)
	}
	return all
}
