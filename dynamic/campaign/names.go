package campaign

import (
	"time"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// LockUse is a use of a lock in the source.
type LockUse = deadlock.Use

// LockUses returns the uses of locks in packages with their syntax, by the ids that the monitor knows them by.
func LockUses(pkgs []*sites.Package) map[uint64]LockUse { return deadlock.UsesIn(pkgs) }

// The groups of settings, see package run.
type (
	Program = run.Program
	Tests   = run.Tests
	Noise   = run.Noise
	Engine  = run.Engine
	Replays = run.Replays
)

// How tests went, and what runs have reached, see packages run and judge.
type (
	Outcome        = run.Outcome
	PackageResult  = run.Package
	WithoutNoise   = run.WithoutNoise
	UnderNoiseOnly = run.UnderNoiseOnly
	UnderExact     = run.UnderExact
	EndedEarly     = run.EndedEarly
	NotIn          = run.NotIn
	Failure        = run.Failure
	Unexplained    = run.Unexplained
	Coverage       = judge.Coverage
)

// The outcomes, see package testproc.
const (
	Passed   = run.Passed
	Failed   = run.Failed
	Panicked = run.Panicked
	TimedOut = run.TimedOut
	Crashed  = run.Crashed
	Hung     = run.Hung
	CutShort = run.CutShort
)

// PlainTimeout returns the deadline that `go test` makes of a Tests.Timeout; 0
// is none.
func PlainTimeout(timeout time.Duration) time.Duration { return run.PlainTimeout(timeout) }

// ShellQuote quotes a word for a POSIX shell where it needs to be.
func ShellQuote(w string) string { return run.ShellQuote(w) }
