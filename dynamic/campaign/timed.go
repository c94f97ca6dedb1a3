package campaign

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"time"

	"github.com/interlock-go/interlock/atomicsets/sites"
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

// bearable returns the strength, in microseconds, that the tests of a package
// can stand that write their times as constants: a test that sleeps for 5 ms
// and counts on another goroutine to be done by then takes faint noise only.
// Without constants it is what the strongest rung has.
func bearable(pkgs []*sites.Package, path string) int {
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

// timeWords are those of a test that speaks of time: a duration, a limit.
var timeWords = regexp.MustCompile(`(?i)\btimed?[ -]?out|deadline|too (slow|long|late)|\b[0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m[0-9.]+s|h[0-9]+m)\b`)

// verdicts are lines of package testing that say how long each test took.
var verdicts = regexp.MustCompile(`(?m)^( *--- (PASS|FAIL|SKIP): .*|(ok|FAIL)\s.*)$`)

// clockTests returns the tests of a package that may count on time: those of files that
// ask for the time, sleep or set a limit.
func clockTests(pkgs []*sites.Package, path string) map[string]bool {
	tests := map[string]bool{}
	for _, p := range pkgs {
		if p.Path != path && p.Path != path+"_test" {
			continue
		}
		for _, f := range p.Files {
			if !asksForTime(p, f) {
				continue
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
					tests[fn.Name.Name] = true
				}
			}
		}
	}
	return tests
}

// clocks are the functions that say what time it is, or wait for one.
var clocks = map[string]bool{
	"time.Now": true, "time.Since": true, "time.Until": true, "time.Sleep": true, "time.After": true, "time.AfterFunc": true,
	"time.Tick": true, "time.NewTimer": true, "time.NewTicker": true, "testing.Deadline": true,
	"context.WithTimeout": true, "context.WithDeadline": true, "context.WithTimeoutCause": true, "context.WithDeadlineCause": true,
	"net.SetDeadline": true, "net.SetReadDeadline": true, "net.SetWriteDeadline": true,
}

func asksForTime(p *sites.Package, f *ast.File) (asks bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			fn, isFunc := p.Info.Uses[id].(*types.Func)
			asks = asks || isFunc && fn.Pkg() != nil && clocks[fn.Pkg().Name()+"."+fn.Name()]
		}
		return !asks
	})
	return asks
}

// countsOnTime reports whether one of the tests may, or any where none is named.
func (pkg *PackageResult) countsOnTime(tests []string) bool {
	if len(tests) == 0 {
		return len(pkg.clockTests) > 0
	}
	return slices.ContainsFunc(tests, func(t string) bool { return pkg.clockTests[t] })
}

// shortest returns the shortest constant of type time.Duration in a package and
// its tests, or 0.
func shortest(pkgs []*sites.Package, path string) time.Duration {
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
