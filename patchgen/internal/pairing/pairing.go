// Package pairing judges by the syntax alone whether every Lock of a function
// meets its Unlock on all paths. A lock is the text before the dot, and the
// paths are those of the control-flow graph of the syntax: nothing is taken from
// the shared passes, so that an error of theirs does not hide one of a patch.
//
// Missed: locks that two texts name, TryLock, and what callees do. Reported
// falsely: functions that are meant to return locked, which is why only what a
// patch adds counts.
//
// Cost: nine times the blocks of a function, for each lock that it names.
package pairing

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// Problems lists what is wrong in a body and in the literals within it, each
// path's end and each operation on a lock in words.
func Problems(info *types.Info, body *ast.BlockStmt) []string {
	var problems []string
	for _, text := range lockTexts(info, body) {
		problems = append(problems, pairing{info, text}.problems(body)...)
	}
	ast.Inspect(body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		problems = append(problems, Problems(info, lit.Body)...)
		return false
	})
	return problems
}

// lockTexts lists the locks that a body names, literals apart, in order.
func lockTexts(info *types.Info, body *ast.BlockStmt) []string {
	var texts []string
	seen := map[string]bool{}
	inOrder(body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		if text, op := syncOp(info, call); op != "" && !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	})
	return texts
}

// inOrder visits the nodes of a body, literals apart.
func inOrder(body ast.Node, visit func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if _, isLit := n.(*ast.FuncLit); isLit {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// syncOp returns the text of the lock and the method of a call such as
// x.mu.RLock(); no method for anything else.
func syncOp(info *types.Info, call *ast.CallExpr) (text, op string) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) > 0 {
		return "", ""
	}
	if s := info.Selections[sel]; s == nil || s.Kind() != types.MethodVal {
		return "", ""
	}
	switch sel.Sel.Name {
	case "Lock", "Unlock", "RLock", "RUnlock":
		return types.ExprString(sel.X), sel.Sel.Name
	}
	return "", ""
}

// pairing follows one lock through one body.
type pairing struct {
	info *types.Info
	lock string
}

// phase is what one path has done to the lock: 0 nothing, else the method that
// took it, or that is deferred to release it.
type phase struct{ held, deferred string }

// problems runs all paths of body over the phases: there are nine at most for
// each block.
func (c pairing) problems(body *ast.BlockStmt) []string {
	g := cfg.New(body, func(call *ast.CallExpr) bool {
		id, ok := call.Fun.(*ast.Ident)
		return !ok || id.Name != "panic"
	})
	found := map[string]bool{}
	// A block is gone through once for each phase in which a path comes to it.
	seen := map[*cfg.Block]map[phase]bool{}
	var visit func(b *cfg.Block, at phase)
	visit = func(b *cfg.Block, at phase) {
		if seen[b][at] {
			return
		}
		if seen[b] == nil {
			seen[b] = map[phase]bool{}
		}
		seen[b][at] = true
		for _, n := range b.Nodes {
			at = c.step(n, at, found)
		}
		if len(b.Succs) == 0 {
			c.leave(at, found)
		}
		for _, next := range b.Succs {
			visit(next, at)
		}
	}
	visit(g.Blocks[0], phase{})
	var list []string
	for what := range found {
		list = append(list, what)
	}
	return list
}

// step returns the phase after node n of the graph.
func (c pairing) step(n ast.Node, at phase, found map[string]bool) phase {
	_, isDefer := n.(*ast.DeferStmt)
	inOrder(n, func(x ast.Node) {
		call, ok := x.(*ast.CallExpr)
		if !ok {
			return
		}
		text, op := syncOp(c.info, call)
		switch {
		case op == "" || text != c.lock:
		case isDefer:
			at = c.deferred(op, at, found)
		default:
			at = c.called(op, at, found)
		}
	})
	return at
}

func (c pairing) called(op string, at phase, found map[string]bool) phase {
	switch op {
	case "Lock", "RLock":
		if at.held != "" {
			found[fmt.Sprintf("%s.%s where it is held already", c.lock, op)] = true
		}
		at.held = op
	case releases[at.held]:
		at.held = ""
	default:
		found[fmt.Sprintf("%s.%s where it is not held so", c.lock, op)] = true
		at.held = ""
	}
	return at
}

// releases maps each method that takes a lock to the one that releases it.
var releases = map[string]string{"Lock": "Unlock", "RLock": "RUnlock"}

func (c pairing) deferred(op string, at phase, found map[string]bool) phase {
	if at.deferred != "" {
		found[fmt.Sprintf("%s.%s is deferred twice", c.lock, op)] = true
	}
	at.deferred = op
	return at
}

// leave judges the end of a path.
func (c pairing) leave(at phase, found map[string]bool) {
	switch {
	case at.held != "" && at.deferred == "":
		found[fmt.Sprintf("a path ends with %s held by %s", c.lock, at.held)] = true
	case at.deferred != "" && releases[at.held] != at.deferred:
		found[fmt.Sprintf("the deferred %s.%s has nothing to release", c.lock, at.deferred)] = true
	}
}
