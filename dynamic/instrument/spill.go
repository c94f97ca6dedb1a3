package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// settle decides which nodes of the tree must be evaluated before their
// statement, and gives the statements that do so, each with its semicolon.
// Where that cannot be done (never, unless may is set) it leaves the accesses
// that ask for it alone.
func (r *rewriter) settle(tree *node, may bool) []piece {
	r.just = tree.leaveRepeated(r.just)
	demanding := r.demands(tree, may)
	if len(demanding) == 0 && !tree.anyRequired() {
		return nil
	}
	tree.spread()
	if reason := r.unfit(tree); reason != "" {
		for _, h := range demanding {
			h.left = reason
		}
		tree.walk(func(n *node) { n.required, n.spilled = false, false })
		return nil
	}
	return r.emit(tree)
}

// demands marks what must move, and gives the accesses that ask for it.
func (r *rewriter) demands(tree *node, may bool) []*hook {
	var demanding []*hook
	tree.walk(func(n *node) {
		for _, h := range n.hooks {
			movers := h.blockers()
			switch {
			case h.left != "", len(movers) == 0:
			case !may || n.within(entry):
				h.left = Conditional
			default:
				demanding = append(demanding, h)
				for _, m := range movers {
					m.require()
				}
			}
		}
	})
	return demanding
}

// blockers returns the nodes that must not be evaluated between the monitor's
// call and the access.
func (h *hook) blockers() []*node {
	list := h.needs
	for n, after := h.in, h.after; ; {
		for _, k := range n.kids[after:] {
			list = k.blockers(list)
		}
		if n.kind != maybe {
			return list
		}
		// The access may be made when the node around is evaluated.
		up := n.up
		for after = 0; up.kids[after] != n; after++ {
		}
		n, after = up, after+1
	}
}

// require marks n, and the conditional expressions that have it in their
// right operand: they become if statements.
func (n *node) require() {
	n.required = true
	for ; n.up != nil; n = n.up {
		if n.kind == cond {
			n.up.required = true
		}
	}
}

// within reports whether n or a node around it is of kind k.
func (n *node) within(k kind) bool {
	for ; n != nil; n = n.up {
		if n.kind == k {
			return true
		}
	}
	return false
}

// spread marks what goes to temporaries: what is required, and what gc
// evaluates before that. It reports whether there is any below n.
func (n *node) spread() bool {
	last := -1
	for i, k := range n.kids {
		if k.spread() || k.required {
			last = i
		}
	}
	for i, k := range n.kids[:last+1] {
		k.spilled = k.required || i < last && k.kind != left && k.kind != cond
	}
	return last >= 0
}

// unfit returns the reason why the marked nodes cannot move, or "".
func (r *rewriter) unfit(tree *node) plan.Reason {
	reason := plan.Reason("")
	tree.walk(func(n *node) {
		switch {
		case !n.spilled:
		case n.kind == maybe, n.within(entry):
			reason = Order
		default:
			for i, e := range n.exprs {
				if n.keeps(r.info, i) {
					continue
				}
				if _, ok := r.conversionOf(e); !ok {
					reason = NoName
				}
			}
		}
	})
	return reason
}

// keeps reports whether the i-th right-hand side stays where it is: constants
// have the type of their target only there.
func (n *node) keeps(info *types.Info, i int) bool {
	if n.kind != values || n.declared != nil && n.declared[i] {
		return false
	}
	e := ast.Unparen(n.exprs[i])
	tv := info.Types[e]
	if tv.Value != nil || tv.IsNil() {
		return true
	}
	if n.declared != nil {
		return false
	}
	switch e := e.(type) {
	case *ast.FuncLit:
		return true
	case *ast.Ident:
		_, ok := info.Uses[e].(*types.Func)
		return ok
	case *ast.SelectorExpr:
		_, ok := info.Uses[e.Sel].(*types.Func)
		return ok && info.Selections[e] == nil
	}
	return false
}

// emit returns the statements that evaluate the marked nodes below n, in gc's
// order, and puts the names of the temporaries in their place.
func (r *rewriter) emit(n *node) []piece {
	if !n.spilled {
		return r.emitKids(n)
	}
	if n.kind == logic && n.kids[1].anySpilled() {
		return r.emitIf(n)
	}
	edits := make([]*edit, len(n.exprs))
	for i, e := range n.exprs {
		if !n.keeps(r.info, i) {
			edits[i] = r.cut(e)
		}
	}
	out := r.emitKids(n)
	return append(out, r.define(n, edits)...)
}

func (r *rewriter) emitKids(n *node) []piece {
	var out []piece
	for _, k := range n.kids {
		out = append(out, r.emit(k)...)
	}
	return out
}

// anyRequired reports whether a node below n is moved even though no access asks
// for it.
func (n *node) anyRequired() bool {
	found := false
	n.walk(func(k *node) { found = found || k.required })
	return found
}

func (n *node) anySpilled() bool {
	found := false
	n.walk(func(k *node) { found = found || k.spilled })
	return found
}

// define names the values of n's expressions, whose texts are cut.
func (r *rewriter) define(n *node, edits []*edit) []piece {
	if len(edits) == 1 && edits[0] != nil {
		count := max(n.results, 1)
		if t, ok := r.info.TypeOf(n.exprs[0]).(*types.Tuple); ok {
			count = t.Len()
		}
		for i := range count {
			n.temps = append(n.temps, r.resultName(n, i))
		}
		names := strings.Join(n.temps, ", ")
		edits[0].pre = []piece{text(names)}
		return append(append([]piece{text(names + " := ")}, r.asTyped(n.exprs[0], edits[0])...), text("; "))
	}
	n.temps = make([]string, len(n.exprs))
	var names []string
	var bodies []piece
	for i, e := range edits {
		if e == nil {
			continue
		}
		n.temps[i] = r.resultName(n, i)
		e.pre = []piece{text(n.temps[i])}
		names = append(names, n.temps[i])
		if len(bodies) > 0 {
			bodies = append(bodies, text(", "))
		}
		bodies = append(bodies, r.asTyped(n.exprs[i], e)...)
	}
	if names == nil {
		return nil
	}
	return append(append([]piece{text(strings.Join(names, ", ") + " := ")}, bodies...), text("; "))
}

// resultName names the i-th value of n: blank for the blank variable of a
// declaration, which nobody would use.
func (r *rewriter) resultName(n *node, i int) string {
	if n.blank != nil && n.blank[i] {
		return "_"
	}
	return r.newTemp()
}

// emitIf makes an if statement of a && or || in whose right operand something
// moves.
func (r *rewriter) emitIf(n *node) []piece {
	e := ast.Unparen(n.exprs[0]).(*ast.BinaryExpr)
	name, not := r.newTemp(), ""
	if e.Op == token.LOR {
		not = "!"
	}
	r.cut(n.exprs[0], text(name))
	lhs, rhs := r.cut(e.X), r.cut(e.Y)
	conv, _ := r.conversionOf(n.exprs[0])
	out := r.emit(n.kids[0])
	out = append(out, text(name+" := "+conv+"("), bodyOf(lhs), text("); if "+not+name+" { "))
	out = append(out, r.emit(n.kids[1])...)
	return append(out, text(name+" = "), bodyOf(rhs), text(" }; "))
}

// asTyped returns the text of the cut expression x as a value of its type.
func (r *rewriter) asTyped(x ast.Expr, cut *edit) []piece {
	if conv, _ := r.conversionOf(x); conv != "" {
		return []piece{text(conv + "("), bodyOf(cut), text(")")}
	}
	return []piece{bodyOf(cut)}
}

// conversionOf returns the type that x must be converted to so that a variable
// defined by it has the type that x has where it stands; empty if it has it
// without. It reports false if that type cannot be written there.
func (r *rewriter) conversionOf(x ast.Expr) (string, bool) {
	t := r.info.TypeOf(x)
	switch {
	case t == nil:
		return "", false
	case !r.takesType(x), t == types.Typ[types.Bool], t == types.Typ[types.UntypedBool], t == types.Typ[types.Int]:
		return "", true
	}
	return r.typeName(t, x.Pos())
}

// takesType reports whether the type of x depends on where x stands:
// comparisons, and shifts of untyped constants, and what is made of them.
func (r *rewriter) takesType(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return r.takesType(x.X)
	case *ast.UnaryExpr:
		return x.Op != token.AND && x.Op != token.ARROW && r.takesType(x.X)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return true
		case token.SHL, token.SHR:
			return r.info.Types[x.X].Value != nil || r.takesType(x.X)
		}
		return r.takesType(x.X) || r.takesType(x.Y)
	}
	return false
}

// means reports whether name denotes obj at pos.
func (o *orderer) means(name string, obj types.Object, pos token.Pos) bool {
	scope := o.scope.Innermost(pos)
	if scope == nil {
		return false
	}
	_, found := scope.LookupParent(name, pos)
	return found == obj
}

// typeName writes t as source at pos, if it has a name that means t there.
func (r *rewriter) typeName(t types.Type, pos token.Pos) (string, bool) {
	means := func(name string, obj types.Object) bool { return r.means(name, obj, pos) }
	var obj *types.TypeName
	switch t := t.(type) {
	case *types.Basic:
		return t.Name(), t.Info()&types.IsUntyped == 0 && means(t.Name(), types.Universe.Lookup(t.Name()))
	case *types.Named:
		if t.TypeArgs().Len() > 0 {
			return "", false
		}
		obj = t.Obj()
	case *types.Alias:
		if t.TypeArgs().Len() > 0 {
			return "", false
		}
		obj = t.Obj()
	case *types.TypeParam:
		obj = t.Obj()
	default:
		return "", false
	}
	if obj.Pkg() == r.pkg.Types {
		return obj.Name(), means(obj.Name(), obj)
	}
	for _, spec := range r.file.Imports {
		imported, _ := r.info.Implicits[spec].(*types.PkgName)
		if spec.Name != nil {
			imported, _ = r.info.Defs[spec.Name].(*types.PkgName)
		}
		if imported != nil && imported.Imported() == obj.Pkg() && means(imported.Name(), imported) {
			return imported.Name() + "." + obj.Name(), true
		}
	}
	return "", false
}
