package stores

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// resultOf returns the sole result of a return statement without conversions, or nil.
func resultOf(p *sites.Package, s *ast.ReturnStmt) ast.Node {
	if len(s.Results) != 1 {
		return nil
	}
	e := ast.Unparen(s.Results[0])
	for {
		c, ok := e.(*ast.CallExpr)
		if !ok || !p.Info.Types[c.Fun].IsType() || len(c.Args) != 1 {
			return e
		}
		e = ast.Unparen(c.Args[0])
	}
}

// isDropped reports whether the caller of the function in which an access has been made takes no result of it: the
// stack says from which line it was called.
//
//	func (p *Pool) add(n int) int { return int(p.running.Add(int32(n))) }
//
//	p.add(1)
func (src *Source) isDropped(end *evidence.Side) bool {
	site := src.Plan.Site(end.Site)
	file, line, ok := callerOf(end.Stack, site)
	if !ok {
		return false
	}
	name := site.Function[strings.LastIndexByte(site.Function, '.')+1:]
	calls, dropped := 0, 0 // of a function of that name in the line
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if p.Fset.Position(f.Pos()).Filename != file {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ExprStmt:
					if isCall(p, n.X, name, line) {
						dropped++
					}
				case *ast.CallExpr:
					if isCall(p, n, name, line) {
						calls++
					}
				}
				return true
			})
		}
	}
	return calls == 1 && dropped == 1
}

// isCall reports whether e is a call, at the line, of a function or method with the name.
func isCall(p *sites.Package, e ast.Expr, name string, line int) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || p.Fset.Position(c.Pos()).Line != line {
		return false
	}
	switch fun := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		return fun.Name == name
	case *ast.SelectorExpr:
		return fun.Sel.Name == name
	}
	return false
}

// callerOf returns from where the function of a site was called, by the text of a stack: the frame that follows the
// one that is at the site.
func callerOf(stack string, site *plan.Site) (file string, line int, ok bool) {
	here := fmt.Sprintf("%s:%d", site.File, site.Line)
	found := false
	for text := range strings.Lines(stack) {
		place, isPlace := strings.CutPrefix(text, "\t")
		if !isPlace {
			if strings.HasPrefix(text, "created by ") {
				return "", 0, false
			}
			continue
		}
		place, _, _ = strings.Cut(strings.TrimSpace(place), " ")
		if found {
			i := strings.LastIndexByte(place, ':')
			if i < 0 {
				return "", 0, false
			}
			_, err := fmt.Sscanf(place[i+1:], "%d", &line)
			return place[:i], line, err == nil
		}
		found = place == here || strings.HasSuffix(place, "/"+here)
	}
	return "", 0, false
}
