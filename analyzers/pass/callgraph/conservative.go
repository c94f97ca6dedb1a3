package callgraph

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Conservative is the call graph of several packages for proofs: it leaves out no function of these packages that a
// call may run. A call that is not static stands for every function that it may run by its signature, a call of a
// library for every method that the library may look for in its arguments. So it holds calls that do not exist too.
// Functions of tests are reached by static calls alone.
//
// It is filled on demand, and not safe for concurrent use.
type Conservative struct {
	graphs   map[*ssa.Program]*Graph // each package has a program of its own
	declared map[string]*ssa.Function
	methods  map[string][]*ssa.Function // by name and signature
	values   map[string][]*ssa.Function // functions that are used as values, by signature
	exported []*ssa.Function            // methods of which a template or reflect may call any
	asked    []*ssa.Function            // methods that libraries look for in any value, such as String
	runs     map[ssa.CallInstruction][]*ssa.Function
	back     *back // see CalledBack; made on demand
	// passed holds what calls pass for parameters of a function type; see allPassed, made on demand.
	passed map[parameterOf][]ssa.Value
}

// NewConservative returns the call graph of the packages.
func NewConservative(packages []*Graph) *Conservative {
	c := &Conservative{graphs: map[*ssa.Program]*Graph{}, declared: map[string]*ssa.Function{},
		methods: map[string][]*ssa.Function{}, values: map[string][]*ssa.Function{},
		runs: map[ssa.CallInstruction][]*ssa.Function{}}
	used := usedAsValues(packages)
	for _, g := range packages {
		c.graphs[g.prog.Pkg.Prog] = g
		for _, fn := range g.prog.Funcs {
			name := FullName(fn)
			if name != "" {
				c.declared[name] = fn
			}
			if !g.prog.InTest(fn) {
				c.addCallee(g, fn, used[name] || used[fn.String()])
			}
		}
	}
	return c
}

// FullName names a declared function by package, receiver and name, of its generic origin; "" for literals.
func FullName(fn *ssa.Function) string {
	if obj, ok := ir.Origin(fn).Object().(*types.Func); ok {
		return obj.Origin().FullName()
	}
	return ""
}

// usedAsValues returns the functions that are values where [Graph] does not see it, by full name, literals as
// ssa writes them: methods that are used as (*T).String is, as it knows the function that is made for these;
// and initialisers of package variables.
//
//	var columns = map[string]func(*row) string{"name": (*row).name, "id": plain}
func usedAsValues(packages []*Graph) map[string]bool {
	found := map[string]bool{}
	for _, g := range packages {
		for _, f := range g.prog.Funcs {
			if g.prog.InTest(f) {
				continue
			}
			for instr := range ir.Instructions(f) {
				for _, op := range instr.Operands(nil) {
					if fn, ok := (*op).(*ssa.Function); ok && strings.HasPrefix(fn.Synthetic, "thunk") {
						found[FullName(fn)] = true
					}
				}
			}
		}
		for instr := range ir.Instructions(g.prog.Pkg.Func("init")) {
			call, isCall := instr.(ssa.CallInstruction)
			for i, op := range instr.Operands(nil) {
				if fn, ok := (*op).(*ssa.Function); ok && !(isCall && i == 0 && !call.Common().IsInvoke()) {
					found[cmp.Or(FullName(fn), fn.String())] = true
				}
			}
		}
	}
	return found
}

// addCallee notes fn as a callee of a call that is not static; isValue says that it is one, by usedAsValues.
func (c *Conservative) addCallee(g *Graph, fn *ssa.Function, isValue bool) {
	sig := fn.Signature
	if sig.Recv() != nil {
		for _, key := range signatures(sig) {
			key = fn.Name() + key
			c.methods[key] = append(c.methods[key], fn)
		}
		if m := ir.Declared(fn); knowledge.CallsBack(fn.Name()) && (m == nil || knowledge.HasAskedShape(m)) {
			c.asked = append(c.asked, fn)
		}
		if token.IsExported(fn.Name()) {
			c.exported = append(c.exported, fn)
		}
	}
	// The graph ties the body of a range-over-func loop to the loop, where the iterator's locks are not held.
	if !isValue && !g.Escapes(fn) && !strings.HasPrefix(fn.Synthetic, "range-over-func") {
		return
	}
	keys := signatures(sig)
	if recv := sig.Recv(); recv != nil { // as (*T).String, with the receiver as its first parameter
		params := append([]*types.Var{recv}, slices.Collect(sig.Params().Variables())...)
		expr := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
		keys = append(keys, signatures(expr)...)
	}
	for _, key := range keys {
		c.values[key] = append(c.values[key], fn)
	}
}

// Declared returns the declared function of the packages that fn is, with its body, perhaps in another
// package's program; nil for literals and for functions that the packages do not declare.
func (c *Conservative) Declared(fn *ssa.Function) *ssa.Function {
	if fn == nil {
		return nil
	}
	return c.declared[FullName(fn)]
}

// Body returns the function of the packages that fn is, with its body; nil if they do not hold it.
func (c *Conservative) Body(fn *ssa.Function) *ssa.Function {
	if own := c.Declared(fn); own != nil || fn == nil {
		return own
	}
	if len(fn.Blocks) > 0 {
		return fn
	}
	return nil
}

// Runs lists the functions of the packages that a call may run before it returns, those that it hands to others to
// call included.
func (c *Conservative) Runs(call ssa.CallInstruction) []*ssa.Function {
	list, known := c.runs[call]
	if !known {
		list = c.findCallees(call)
		c.runs[call] = list
	}
	return list
}

func (c *Conservative) findCallees(call ssa.CallInstruction) []*ssa.Function {
	var list []*ssa.Function
	common := call.Common()
	fn, args := Target(common)
	switch {
	case common.IsInvoke():
		list = append(list, lookUp(c.methods, common.Method.Name(), common.Method.Signature())...)
	case fn == nil && c.ofLibrary(common.Value) != nil:
		// cancel() runs none of the module's functions, but may ask a parent context.
		for _, a := range c.ofLibrary(common.Value).Args {
			if iface, ok := a.Type().Underlying().(*types.Interface); ok {
				for m := range iface.Methods() {
					list = append(list, lookUp(c.methods, m.Name(), m.Signature())...)
				}
			}
		}
	case fn == nil:
		if sig, ok := common.Value.Type().Underlying().(*types.Signature); ok {
			list = append(list, lookUp(c.values, "", sig)...)
		}
		for _, passed := range c.passedFor(common.Value) {
			if !slices.Contains(list, passed) {
				list = append(list, passed)
			}
		}
	case c.Body(fn) != nil:
		list = append(list, c.Body(fn))
	default: // heap.Fix(h, i) calls h.Swap, fmt.Sprint(a, b) calls b.String
		obj, _ := fn.Object().(*types.Func)
		for _, a := range Spread(args) {
			// time.AfterFunc(d, f) has another goroutine call f, and waits for nothing.
			if obj == nil || !StartsCallback(obj) || !knowledge.NeverWaits(obj) {
				list = append(list, c.Callbacks(a)...)
			}
			list = append(list, c.reachedMethods(fn, a)...)
		}
	}
	if g := c.graphs[call.Parent().Prog]; g != nil {
		for _, site := range g.At(call) {
			if body := c.Body(site.Callee); body != nil && site.Mode != Go && !slices.Contains(list, body) {
				list = append(list, body)
			}
		}
	}
	return list
}

// IsGuess reports whether a call runs fn by its signature alone, or because a library may find fn in an argument; it
// does not where the call is followed.
func IsGuess(call ssa.CallInstruction, fn *ssa.Function) bool {
	callee, _ := Target(call.Common())
	if callee == nil {
		return !call.Common().IsInvoke()
	}
	return callee != fn && len(callee.Blocks) == 0
}

// CallsAnyMethod reports whether a call is of a library function that calls exported methods by their names.
func CallsAnyMethod(call ssa.CallInstruction) bool {
	fn, _ := Target(call.Common())
	return fn != nil && callsByName(fn)
}

// Spread replaces the list of a variadic call by its elements: f(a, b, c) hands on a slice of an array that is
// made for the call, with elements that a library may write to.
func Spread(args []ssa.Value) []ssa.Value {
	if len(args) == 0 {
		return args
	}
	list, ok := args[len(args)-1].(*ssa.Slice)
	if !ok {
		return args
	}
	array, ok := list.X.(*ssa.Alloc)
	if !ok {
		return args
	}
	args = slices.Clone(args)
	for _, ref := range *array.Referrers() {
		// *&array[i] = element
		if at, ok := ref.(*ssa.IndexAddr); ok {
			for _, use := range *at.Referrers() {
				if store, ok := use.(*ssa.Store); ok && store.Addr == at {
					args = append(args, store.Val)
				}
			}
		}
	}
	return args
}

// Callbacks lists the functions of the packages that a library may call through an argument v of known type.
func (c *Conservative) Callbacks(v ssa.Value) []*ssa.Function {
	switch v := v.(type) {
	case *ssa.MakeClosure:
		return []*ssa.Function{v.Fn.(*ssa.Function)}
	case *ssa.Function:
		if own := c.Declared(v); own != nil {
			return []*ssa.Function{own}
		}
		return []*ssa.Function{v}
	case *ssa.MakeInterface:
		// Those of the interface, and those that a library looks for in any value.
		asked, _ := v.Type().Underlying().(*types.Interface)
		var list []*ssa.Function
		set := types.NewMethodSet(v.X.Type())
		for i := range set.Len() {
			m := set.At(i).Obj().(*types.Func)
			isAsked, _, _ := types.LookupFieldOrMethod(asked, false, m.Pkg(), m.Name())
			if own := c.declared[m.Origin().FullName()]; own != nil && (isAsked != nil || knowledge.CallsBack(m.Name())) {
				list = append(list, own)
			}
		}
		return list
	}
	return nil
}
