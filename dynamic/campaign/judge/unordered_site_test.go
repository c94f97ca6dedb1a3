package judge

import (
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/typedfile"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

const lists = `package m

import "container/list"

type Queue struct{ l *list.List }

func (q *Queue) Put(n int) {
	q.l.PushBack(n)
}

func (q *Queue) Len() int { return q.l.Len() }

func Copy(to, from []byte) { copy(to, from) }
`

// A race in a function of another module is named by what the program calls that on; one that the source has no name
// for by its line.
func TestRaceInACallee(t *testing.T) {
	side := func(line int, function string, inner ...string) exactSide {
		s := exactSide{frame: finding.Frame{Function: "m." + function, File: "m.go", Line: line}, mode: finding.Write}
		for _, name := range inner {
			s.goroutine.Stack = append(s.goroutine.Stack, finding.Frame{Function: name, File: "/go/src/x.go", Line: 9})
		}
		s.goroutine.Stack = append(s.goroutine.Stack, s.frame)
		s.at = place{s.frame.File, s.frame.Line}
		return s
	}
	put := side(8, "(*Queue).Put", "container/list.(*List).insert", "container/list.(*List).PushBack")
	length := side(11, "(*Queue).Len", "container/list.(*List).Len")
	copied := side(13, "Copy", "runtime.slicecopy")
	ws := &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}
	cfg := &run.Settings{Program: run.Program{Workspace: ws, Plan: &plan.Plan{}}}
	races := NewUnordered(cfg, NewTally(cfg.Plan, []*sites.Package{typedfile.Parse(t, lists)}), nil, nil)
	for _, tt := range []struct {
		a, b        exactSide
		title, expr string
		column      int
	}{
		{put, length, "data race on m.Queue.l: write and write that nothing orders", "q.l", 36},
		{put, copied, "data race on memory accessed at m.go:13: write and write that nothing orders",
			"memory accessed at m.go:13", 0},
	} {
		f := races.finding(&exactRace{sides: [2]exactSide{tt.a, tt.b}, hits: map[int]bool{1: true}})
		a := f.Accesses[0]
		if f.Title != tt.title || a.Expr != tt.expr || a.Column != tt.column {
			t.Errorf("%s, first %s at column %d, want %+v", f.Title, a.Expr, a.Column, tt)
		}
	}
}

// What a WaitGroup's race is of, its stack says: one line may add and wait.
func TestSynchronisation(t *testing.T) {
	for function, want := range map[string]finding.Mode{
		"runtime.chansend": finding.Send, "runtime.closechan": finding.CloseChan, "sync.(*WaitGroup).Wait": finding.Wait,
		"sync.(*WaitGroup).Add": finding.Add, "sync.(*Mutex).Lock": "",
	} {
		if _, got := synchronisation(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}
