package validate

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// reflected doubts where code that finds the fields of a struct by itself gets the struct of the variable or of the
// lock. It reads them without the lock, and the patch may change the fields that it finds.
//
//	type header struct { mu sync.Mutex; records uint32 }	// mu is new
//	binary.Write(w, binary.LittleEndian, h)	// writes the mutex too
func (j *judge) reflected() {
	claim := j.now.claim
	if claim.Variable.Type == "" || claim.Kind != Guarded && claim.Kind != Once && claim.Kind != Atomic {
		return
	}
	homes := []home{{claim.Variable.Package, claim.Variable.Type}}
	if h := claim.home(); h.name != "" && h != homes[0] {
		homes = append(homes, h)
	}
	for _, h := range homes {
		isNew := keepsStill(j.now.typeOf(h), 0) && !keepsStill(j.old.typeOf(h), 0)
		r := reflection{state: j.now.state, home: h, named: claim.Variable.Name}
		for _, p := range j.now.Packages {
			each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
				if how := r.seenBy(instr); how != "" {
					j.doubt(place{p, instr}, finding.Heavy, "copied",
						"it reads the fields without the lock, and finds those that the patch adds or changes",
						"%s finds the fields of %s itself (%s)", how, h.name, at(p, instr))
				}
			})
			if isNew {
				j.measured(p, h)
			}
		}
	}
}

// measured doubts where package unsafe is asked for the size of a struct that the patch makes larger.
func (j *judge) measured(p *session.Package, h home) {
	for _, f := range p.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if _, isUnsafe := p.Info.Uses[sel.Sel].(*types.Builtin); isUnsafe && h.isIn(p.Info.TypeOf(call.Args[0])) {
				j.doubt(place{}, finding.Heavy, "copied", "what is computed from it changes",
					"unsafe.%s measures %s, which the patch makes larger (%s)", sel.Sel.Name, h.name, p.Fset.Position(n.Pos()))
			}
			return true
		})
	}
}

// reflection finds the code that looks at the fields of a struct by itself.
type reflection struct {
	*state
	home  home
	named string // the variable
}

// seenBy names the code to which an instruction hands the struct, or a pointer to it; "" for other instructions.
func (r reflection) seenBy(instr ssa.Instruction) string {
	switch x := instr.(type) {
	case *ssa.Convert:
		if b, ok := x.Type().Underlying().(*types.Basic); ok && b.Kind() == types.UnsafePointer && r.refers(x.X.Type()) {
			return "a conversion by package unsafe"
		}
		if b, ok := x.X.Type().Underlying().(*types.Basic); ok && b.Kind() == types.UnsafePointer && r.refers(x.Type()) {
			return "a conversion by package unsafe"
		}
	case *ssa.MakeInterface:
		if r.refers(x.X.Type()) {
			return r.follow(x, x.X.Type(), 0)
		}
	}
	return ""
}

// refers reports whether a value of a type is the struct, holds it in place, or leads to one that does by a pointer or
// the elements of a list or map.
func (r reflection) refers(t types.Type) bool {
	for range maxLevel {
		if r.home.isIn(t) {
			return true
		}
		inner, ok := t.Underlying().(interface{ Elem() types.Type })
		if _, isChan := inner.(*types.Chan); !ok || isChan {
			return false
		}
		t = inner.Elem()
	}
	return r.home.isIn(t)
}

// follow names the code outside of the module that gets an interface value, through parameters of functions of the
// module and through variadic calls.
func (r reflection) follow(v ssa.Value, t types.Type, depth int) string {
	if v.Referrers() == nil || depth > maxLevel {
		return ""
	}
	for _, user := range *v.Referrers() {
		how := ""
		switch user := user.(type) {
		case ssa.CallInstruction:
			how = r.call(user, v, t, depth)
		case *ssa.Store: // f(v...)
			if slot, ok := user.Addr.(*ssa.IndexAddr); ok && user.Val == v {
				how = r.follow(slot.X, t, depth+1)
			}
		case *ssa.Slice, *ssa.ChangeInterface, *ssa.Phi:
			how = r.follow(user.(ssa.Value), t, depth+1)
		}
		if how != "" {
			return how
		}
	}
	return ""
}

// call is follow for a call that has the value among its arguments.
func (r reflection) call(call ssa.CallInstruction, v ssa.Value, t types.Type, depth int) string {
	fn := call.Common().StaticCallee()
	if fn == nil {
		return ""
	}
	if body := r.Calls.Body(fn); body != nil {
		for i, arg := range call.Common().Args {
			if arg == v && i < len(body.Params) {
				return r.follow(body.Params[i], t, depth+1)
			}
		}
		return ""
	}
	if fn.Pkg == nil || !r.looks(fn.Pkg.Pkg.Path(), t) {
		return ""
	}
	return fn.Pkg.Pkg.Name() + "." + fn.Name()
}

// looks reports whether functions of a library read the fields of a value of a type that they get as an interface.
func (r reflection) looks(path string, t types.Type) bool {
	switch {
	case path == "reflect", path == "encoding/binary":
		return true
	// These print what a method of the value returns, if it has one of those.
	case path == "fmt", path == "log":
		return !hasMethod(t, "String", "Error", "Format")
	case path == "text/template", path == "html/template":
		return token.IsExported(r.named)
	case strings.HasPrefix(path, "encoding/"):
		return token.IsExported(r.named) &&
			!hasMethod(t, "MarshalJSON", "MarshalText", "MarshalXML", "GobEncode", "MarshalBinary")
	}
	return false
}

// hasMethod reports whether values of a type have one of some methods.
func hasMethod(t types.Type, names ...string) bool {
	methods := types.NewMethodSet(t)
	for _, name := range names {
		if methods.Lookup(nil, name) != nil {
			return true
		}
	}
	return false
}
