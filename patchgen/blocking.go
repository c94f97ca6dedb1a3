package patchgen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// blocks returns why n must not be evaluated under a new lock: it may wait, do
// I/O, or call code that is not known here. "" if nothing speaks against it.
// Function literals count only where they are run on the spot; what go and
// defer start counts with its operands alone. Lock operations count too: a
// new region ends where another begins.
func (u *unit) blocks(n ast.Node) string { return u.reason(n, false) }

// reason is blocks; inside a callee deferred calls count, since they run
// before it ends.
func (u *unit) reason(n ast.Node, callee bool) (why string) {
	if n == nil {
		return ""
	}
	ast.Inspect(n, func(x ast.Node) bool {
		if why != "" {
			return false
		}
		switch x := x.(type) {
		case *ast.FuncLit:
			return false // its body counts where it is called
		case *ast.UnaryExpr:
			if x.Op == token.ARROW {
				why = "receives from a channel"
			}
		case *ast.SendStmt:
			why = "sends on a channel"
		case *ast.SelectStmt:
			why = "selects on channels"
		case *ast.RangeStmt:
			if t := u.pkg.info.TypeOf(x.X); t != nil {
				switch t.Underlying().(type) {
				case *types.Chan:
					why = "ranges over a channel"
				case *types.Signature:
					why = "ranges over a function"
				}
			}
		case *ast.ForStmt:
			if x.Cond == nil && !hasJump(x.Body) {
				why = "loops without end"
			}
		case *ast.GoStmt:
			why = u.operands(x.Call, callee)
			return false
		case *ast.DeferStmt:
			if !callee {
				why = u.operands(x.Call, callee)
				return false
			}
		case *ast.CallExpr:
			why = u.callReason(x)
		}
		return why == ""
	})
	return why
}

// hasJump reports whether a loop body has a way out.
func hasJump(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.BREAK || n.Tok == token.GOTO
		}
		return true
	})
	return found
}

// operands of a call that go or defer evaluates on the spot.
func (u *unit) operands(call *ast.CallExpr, callee bool) string {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		if why := u.reason(sel.X, callee); why != "" {
			return why
		}
	}
	for _, arg := range call.Args {
		if why := u.reason(arg, callee); why != "" {
			return why
		}
	}
	return ""
}

// callReason returns why a call may not be made under a new lock, its operands
// apart.
func (u *unit) callReason(call *ast.CallExpr) string {
	info := u.pkg.info
	if tv, ok := info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return ""
	}
	if op, ok := u.lockOp(call); ok {
		return "uses the lock " + short(op.place.class)
	}
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		return u.reason(lit.Body, true)
	}
	f := typeutil.StaticCallee(info, call)
	if f == nil {
		return fmt.Sprintf("calls %s, which may be any code", u.text(call.Fun))
	}
	if own := u.m.decls[f.Origin().FullName()]; own != nil {
		return own.blocking()
	}
	return u.foreign(f, call)
}

// blocking is the reason of the whole body of a declared function, kept.
func (f *fn) blocking() string {
	m := f.unit.m
	if m.mayBlock == nil {
		m.mayBlock = map[*fn]string{}
	}
	if why, known := m.mayBlock[f]; known {
		return why
	}
	m.mayBlock[f] = "" // recursion adds nothing
	why := f.unit.reason(f.body, true)
	if why != "" && !strings.Contains(why, " through ") {
		why += " through " + f.name()
	}
	m.mayBlock[f] = why
	return why
}

// harmless lists packages outside the module whose functions neither wait nor
// do I/O, with the exceptions. Functions that call back are judged by what
// they are given (see foreign).
var harmless = map[string][]string{
	"bytes": nil, "strings": nil, "strconv": nil, "errors": nil, "unsafe": nil, "path": nil,
	"math": nil, "math/bits": nil, "math/cmplx": nil, "math/rand": nil, "math/rand/v2": nil,
	"unicode": nil, "unicode/utf8": nil, "unicode/utf16": nil, "cmp": nil,
	"sort": nil, "slices": nil, "maps": nil, "container/list": nil, "container/ring": nil,
	"sync/atomic": nil, "encoding/binary": {"Read", "Write"}, "encoding/hex": nil, "encoding/base64": nil,
	"hash/fnv": nil, "hash/crc32": nil, "hash/crc64": nil, "hash/adler32": nil, "hash/maphash": nil,
	"crypto/md5": nil, "crypto/sha1": nil, "crypto/sha256": nil, "net/netip": nil,
	"time": {"Sleep", "LoadLocation"},
	"sync": {"Wait", "Do", "Get", "Range", "OnceFunc", "OnceValue", "OnceValues", "Lock", "RLock", "Go"},
	"fmt":  {"Print", "Printf", "Println", "Fprint", "Fprintf", "Fprintln", "Scan", "Scanf", "Scanln", "Fscan", "Fscanf", "Fscanln"},
}

// foreign judges a call of a function outside the module.
func (u *unit) foreign(f *types.Func, call *ast.CallExpr) string {
	if f.Pkg() == nil {
		return ""
	}
	except, ok := harmless[f.Pkg().Path()]
	if !ok || slices.Contains(except, f.Name()) {
		return fmt.Sprintf("calls %s, which may wait or do I/O", u.text(call.Fun))
	}
	for _, arg := range call.Args {
		if why := u.callback(arg, f.Pkg().Path()); why != "" {
			return why
		}
	}
	return ""
}

// callback judges an argument that the callee may call: a function, or an
// object with methods.
func (u *unit) callback(arg ast.Expr, pkg string) string {
	t := u.pkg.info.TypeOf(arg)
	if t == nil {
		return ""
	}
	if lit, ok := ast.Unparen(arg).(*ast.FuncLit); ok {
		return u.reason(lit.Body, true)
	}
	switch t.Underlying().(type) {
	case *types.Signature:
		if f, ok := typeutil.Callee(u.pkg.info, &ast.CallExpr{Fun: arg}).(*types.Func); ok {
			if own := u.m.decls[f.Origin().FullName()]; own != nil {
				return own.blocking()
			}
		}
		return fmt.Sprintf("hands on %s, which may be any code", u.text(arg))
	case *types.Interface:
		if pkg == "fmt" || pkg == "sort" || pkg == "bytes" || pkg == "errors" {
			return fmt.Sprintf("hands on %s, whose methods may be any code", u.text(arg))
		}
		return ""
	}
	if pkg != "fmt" && pkg != "sort" {
		return ""
	}
	set := types.NewMethodSet(t)
	for i := range set.Len() {
		m := set.At(i).Obj().(*types.Func)
		if own := u.m.decls[m.Origin().FullName()]; own != nil && slices.Contains([]string{"Len", "Less", "Swap", "String", "Error", "Format", "GoString"}, m.Name()) {
			if why := own.blocking(); why != "" {
				return why
			}
		}
	}
	return ""
}

// runsAt returns the call that runs a literal before it returns: the literal is
// called on the spot, or handed to a harmless library function. nil if the
// literal may run at another time.
func (u *unit) runsAt(f *fn) *ast.CallExpr {
	var e ast.Node = f.node
	parent := u.parents[e]
	for {
		paren, ok := parent.(*ast.ParenExpr)
		if !ok {
			break
		}
		e, parent = paren, u.parents[paren]
	}
	call, ok := parent.(*ast.CallExpr)
	if !ok {
		return nil
	}
	switch u.parents[call].(type) {
	case *ast.GoStmt, *ast.DeferStmt:
		return nil
	}
	if call.Fun == e {
		return call
	}
	callee := typeutil.StaticCallee(u.pkg.info, call)
	if callee == nil || callee.Pkg() == nil {
		return nil
	}
	switch callee.Pkg().Path() {
	case "sort", "slices", "strings", "bytes":
		return call
	}
	return nil
}
