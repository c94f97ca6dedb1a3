package campaign

import (
	"go/ast"
	"go/constant"
	"go/types"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

const (
	// shortestWait is the least time that tests are taken to wait for; less is
	// arithmetic, or a poll.
	shortestWait = 100 * time.Microsecond
	// waitShare is how many times as long as the strength of the noise the
	// waits of tests have to be: a goroutine meets dozens of windows on its
	// way, some of them ten times as long as the strength.
	waitShare = 100
	// faint, in microseconds, is borne by nearly all tests, and catches nearly
	// as much as gentle noise.
	faint = 50
)

// bearable gives the strength, in microseconds, that the tests of a package
// can stand that write their times as constants: a test that sleeps for 5 ms
// and counts on another goroutine to be done by then takes faint noise only.
// Without constants it is what the strongest rung has.
func bearable(pkgs []*plan.Package, path string) int {
	strongest := 0
	for _, s := range ladder {
		strongest = max(strongest, s)
	}
	wait := shortest(pkgs, path)
	if wait == 0 {
		return strongest
	}
	return min(max(int(wait.Microseconds()/waitShare), faint), strongest)
}

// shortest gives the shortest constant of type time.Duration in a package and
// its tests, or 0.
func shortest(pkgs []*plan.Package, path string) time.Duration {
	var least time.Duration
	for _, p := range pkgs {
		if p.Path != path && p.Path != path+"_test" {
			continue
		}
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				tv := p.Info.Types[e]
				if tv.Value == nil || !isDuration(tv.Type) {
					return true
				}
				ns, _ := constant.Int64Val(constant.ToInt(tv.Value))
				if d := time.Duration(ns); d >= shortestWait && (least == 0 || d < least) {
					least = d
				}
				return false // of 5 * time.Millisecond, the product counts
			})
		}
	}
	return least
}

func isDuration(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == "Duration" && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "time"
}
