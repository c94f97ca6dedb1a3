package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// A goroutine in an atomic section may have others work for it and wait for them.
// What they access is no remote access, and the monitor cannot tell it from one. So
// HandOver stands ahead of each statement that may hand over: it sends, receives,
// closes a channel, starts a goroutine, stores by sync/atomic, or calls what may do
// so. Functions are quiet, that is do none of this, if their text shows it or the
// table at the end of this file has them; all others may.

// HandsOver is why a section cannot be opened whose goroutine may hand over before
// anybody could come in.
const HandsOver plan.Reason = "may hand over to other goroutines directly behind its entry"

// Quiet returns the full names of those functions of pkgs that do not hand over. It
// looks at each body once and then at each call once, from the callee.
func Quiet(pkgs []*sites.Package) map[string]bool {
	callers, loud := map[string][]string{}, map[string]bool{}
	var spread []string
	quiet := map[string]bool{}
	for _, p := range pkgs {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				name := fullName(p.Info.Defs[fn.Name].(*types.Func))
				quiet[name] = true
				hands := scan(p.Info, fn.Body, func(callee string) bool {
					callers[callee] = append(callers[callee], name)
					return false
				})
				if hands && !loud[name] {
					loud[name] = true
					spread = append(spread, name)
				}
			}
		}
	}
	for callee := range callers {
		if !quiet[callee] {
			spread = append(spread, callee)
		}
	}
	for len(spread) > 0 {
		name := spread[len(spread)-1]
		spread = spread[:len(spread)-1]
		delete(quiet, name)
		for _, caller := range callers[name] {
			if !loud[caller] {
				loud[caller] = true
				spread = append(spread, caller)
			}
		}
	}
	return quiet
}

func fullName(f *types.Func) string { return f.Origin().FullName() }

// scan reports whether n may hand over. calls says that of the functions that n
// calls, but for those of the table. The bodies of closures count.
func scan(info *types.Info, n ast.Node, calls func(callee string) bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.RangeStmt:
			found = found || rangesOverOthers(info, n)
		case *ast.CallExpr:
			found = callHandsOver(info, n, calls) || found
		}
		return true
	})
	return found
}

// rangesOverOthers reports whether s receives from a channel or calls a function.
func rangesOverOthers(info *types.Info, s *ast.RangeStmt) bool {
	switch under(info.TypeOf(s.X)).(type) {
	case *types.Chan, *types.Signature, *types.TypeParam, *types.Interface:
		return true
	}
	return false
}

func callHandsOver(info *types.Info, c *ast.CallExpr, calls func(callee string) bool) bool {
	if info.Types[c.Fun].IsType() {
		return false
	}
	if b := sites.Builtin(info, c.Fun); b != "" {
		return b == "close"
	}
	if _, ok := ast.Unparen(c.Fun).(*ast.FuncLit); ok {
		return false // its body counts
	}
	f := calledFunc(info, c)
	switch {
	case f == nil:
		return true
	case slices.Contains(lockNames, f.Name()):
		return false
	case f.Pkg() == nil: // error.Error
		return true
	case isKnownQuiet(f):
		// It may call what it is given.
		return slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
			_, literal := ast.Unparen(arg).(*ast.FuncLit)
			_, function := under(info.TypeOf(arg)).(*types.Signature)
			return function && !literal
		})
	}
	if r := f.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
		return true
	}
	return calls(fullName(f))
}

// calledFunc returns the declared function or method that c calls, or nil.
func calledFunc(info *types.Info, c *ast.CallExpr) *types.Func {
	fun := ast.Unparen(c.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(x.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(x.X)
	}
	var id *ast.Ident
	switch x := fun.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return nil
	}
	f, _ := info.Uses[id].(*types.Func)
	return f
}

// handsOver reports whether n may hand over.
func (r *rewriter) handsOver(n ast.Node) bool {
	return scan(r.info, n, func(callee string) bool { return !r.quiet[callee] })
}

// handsOverAt reports whether what s evaluates itself may hand over while o is open.
// That is not what the statements in it do, nor what it defers, nor the entry or an
// end that is made by sync/atomic.
func (r *rewriter) handsOverAt(o *opening, s ast.Stmt) bool {
	own := func(n ast.Node, at *access) bool {
		return at != nil && s.Pos() <= n.Pos() && n.End() <= s.End() && r.atomicName(at) != ""
	}
	atomic := own(o.entry, o.entryAt) || slices.ContainsFunc(o.ends, func(e ending) bool { return own(e.node, e.at) })
	calls := func(callee string) bool { return !r.quiet[callee] && !(atomic && isAtomic(callee)) }
	return r.receives(s) || slices.ContainsFunc(evaluated(s), func(n ast.Node) bool { return scan(r.info, n, calls) })
}

// receives reports whether s is a loop that receives or calls, or a select.
func (r *rewriter) receives(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return r.receives(s.Stmt)
	case *ast.RangeStmt:
		return rangesOverOthers(r.info, s)
	case *ast.SelectStmt:
		return true
	}
	return false
}

// evaluated returns the parts of s that are evaluated at s itself.
func evaluated(s ast.Stmt) (parts []ast.Node) {
	add := func(nodes ...ast.Node) {
		for _, n := range nodes {
			if n != nil {
				parts = append(parts, n)
			}
		}
	}
	stmt := func(s ast.Stmt) {
		if s != nil {
			parts = append(parts, s)
		}
	}
	expr := func(e ast.Expr) {
		if e != nil {
			parts = append(parts, e)
		}
	}
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return evaluated(s.Stmt)
	case *ast.BlockStmt, *ast.SelectStmt:
	case *ast.IfStmt:
		stmt(s.Init)
		expr(s.Cond)
		if e, ok := s.Else.(*ast.IfStmt); ok {
			add(evaluated(e)...)
		}
	case *ast.SwitchStmt:
		stmt(s.Init)
		expr(s.Tag)
		for _, c := range s.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				expr(e)
			}
		}
	case *ast.TypeSwitchStmt:
		stmt(s.Init)
		stmt(s.Assign)
	case *ast.ForStmt:
		stmt(s.Init)
		expr(s.Cond)
		stmt(s.Post)
	case *ast.RangeStmt:
		expr(s.X)
	case *ast.DeferStmt:
		for _, e := range s.Call.Args {
			expr(e)
		}
	default:
		stmt(s)
	}
	return parts
}

// handsOverAtOnce reports whether the goroutine of o may hand over in the statement
// of the entry, behind that, or at places where nothing can stand: in a function with
// goto.
func (r *rewriter) handsOverAtOnce(o *opening) bool {
	entry := r.statement(o.entry)
	if entry == nil {
		return false
	}
	jumps := false
	r.inspectBody(o, func(n ast.Node) {
		b, ok := n.(*ast.BranchStmt)
		jumps = jumps || ok && b.Tok == token.GOTO
	})
	if jumps && r.handsOver(o.body) {
		return true
	}
	return r.handsOverAt(o, entry)
}

// placeHandOvers puts the call ahead of each statement that may hand over while o is
// open, and where a loop goes back to a clause that may.
func (r *rewriter) placeHandOvers(o *opening, entry ast.Stmt) {
	call := r.callf("HandOver(%d)", o.ID)
	from := r.roundFrom(o, entry)
	r.inspectBody(o, func(n ast.Node) {
		s, ok := n.(ast.Stmt)
		if !ok || s == entry || r.listOf(s) == nil || !r.handsOverAt(o, s) {
			return
		}
		if s.Pos() >= from {
			r.ahead(s, call)
		}
		if body := loopBody(s); body != nil && body.Pos() <= entry.Pos() && entry.End() <= body.End() {
			r.wrap(body.Rbrace, body.Rbrace+1, rankSection, []piece{text("; "), call, text("; ")}, nil)
			ast.Inspect(body, func(n ast.Node) bool {
				if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.CONTINUE {
					r.ahead(b, call)
				}
				_, closure := n.(*ast.FuncLit)
				return !closure
			})
		}
	})
}

// loopBody returns the body of s if it is a loop, or nil.
func loopBody(s ast.Stmt) *ast.BlockStmt {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return loopBody(s.Stmt)
	case *ast.ForStmt:
		return s.Body
	case *ast.RangeStmt:
		return s.Body
	}
	return nil
}

// lockNames are those of methods that lock and unlock, in whichever type.
var lockNames = []string{"Lock", "Unlock", "RLock", "RUnlock", "TryLock", "TryRLock"}

// quietPackages have no function that hands over, but by way of what it is given.
var quietPackages = []string{
	"bytes", "cmp", "container/heap", "container/list", "container/ring", "encoding/base64", "encoding/binary", "encoding/hex", "errors",
	"hash/crc32", "hash/crc64", "hash/fnv", "hash/maphash", "maps", "math", "math/big", "math/bits", "math/cmplx", "math/rand", "math/rand/v2",
	"path", "slices", "sort", "strconv", "strings", "unicode", "unicode/utf16", "unicode/utf8", "unsafe",
}

// quietFunctions are those of other packages that do not, by their full names; of a
// type with a dot and a star behind it, all methods do not.
var quietFunctions = map[string]bool{
	"fmt.Append": true, "fmt.Appendf": true, "fmt.Appendln": true, "fmt.Errorf": true, "fmt.Sprint": true, "fmt.Sprintf": true, "fmt.Sprintln": true,
	"runtime.KeepAlive": true,
	"sync.Map.*":        true,
	"time.Date":         true, "time.Now": true, "time.Parse": true, "time.ParseDuration": true, "time.Since": true, "time.Unix": true,
	"time.UnixMilli": true, "time.Until": true, "time.Time.*": true, "time.Duration.*": true, "time.Month.*": true, "time.Weekday.*": true,
}

// isKnownQuiet reports whether the tables have f, or it loads by sync/atomic.
func isKnownQuiet(f *types.Func) bool {
	path := f.Pkg().Path()
	if slices.Contains(quietPackages, path) || quietFunctions[f.FullName()] {
		return true
	}
	if path == "sync/atomic" {
		return len(f.Name()) >= 4 && f.Name()[:4] == "Load"
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return false
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	return ok && quietFunctions[path+"."+named.Obj().Name()+".*"]
}

// isAtomic reports whether the full name is that of a function of sync/atomic.
func isAtomic(name string) bool {
	const path = "sync/atomic."
	for i := 0; i+len(path) <= len(name) && i <= 2; i++ {
		if name[i:i+len(path)] == path {
			return true
		}
	}
	return false
}
