// Package testsource reads the source of tests: which tests there are, which of them
// count on time, and how much noise they can bear.
package testsource

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"strings"
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

// Bearable returns the strength, in microseconds, that the tests of a package
// can stand that write their times as constants: a test that sleeps for 5 ms
// and counts on another goroutine to be done by then takes faint noise only.
// Without constants it is the strongest noise.
func Bearable(pkgs []*sites.Package, path string, strongest int) int {
	wait := shortest(pkgs, path)
	if wait == 0 {
		return strongest
	}
	return min(max(int(wait.Microseconds()/waitShare), faint), strongest)
}

// TimeWords are those of a test that speaks of time: a duration, a limit.
var TimeWords = regexp.MustCompile(`(?i)\btimed?[ -]?out|deadline|too (slow|long|late)|` +
	`\b[0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m[0-9.]+s|h[0-9]+m)\b`)

// Verdicts are lines of package testing that say how long each test took.
var Verdicts = regexp.MustCompile(`(?m)^( *--- (PASS|FAIL|SKIP): .*|(ok|FAIL)\s.*)$`)

// ClockTests returns the tests of a package that may count on time: those of files that
// ask for the time, sleep or set a limit.
func ClockTests(pkgs []*sites.Package, path string) map[string]bool {
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

// clocks are the functions that return the time, or wait for one.
var clocks = map[string]bool{
	"time.Now": true, "time.Since": true, "time.Until": true,
	"time.Sleep": true, "time.After": true, "time.AfterFunc": true,
	"time.Tick": true, "time.NewTimer": true, "time.NewTicker": true, "testing.Deadline": true,
	"context.WithTimeout": true, "context.WithDeadline": true,
	"context.WithTimeoutCause": true, "context.WithDeadlineCause": true,
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

// TestNames returns the top-level tests of a package.
func TestNames(pkgs []*sites.Package, path string) (names []string) {
	for _, p := range pkgs {
		if p.Path != path && p.Path != path+"_test" {
			continue
		}
		for _, f := range p.Files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") && fn.Name.Name != "TestMain" {
					names = append(names, fn.Name.Name)
				}
			}
		}
	}
	return names
}
