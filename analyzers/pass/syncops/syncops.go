// Package syncops is the shared pass that lists the operations of a package on
// channels and WaitGroups, with the locks held at each.
//
// Operations on fields and package variables are distinguished by name, those on
// local variables by the variable. Left out: operations of tests.
//
// Cost: linear in the instructions.
package syncops

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// Analyzer lists the operations of a package on channels and WaitGroups.
var Analyzer = &analysis.Analyzer{
	Name:       "interlocksyncops",
	Doc:        "list the operations on channels and WaitGroups",
	Run:        run,
	Requires:   []*analysis.Analyzer{ir.Analyzer, callgraph.Analyzer, lockset.Analyzer},
	ResultType: reflect.TypeFor[*List](),
}

// Key identifies a channel or WaitGroup: by name, or a local by its path.
type Key struct {
	Name accesspath.Name
	Path accesspath.Path
}

// Op is one operation.
type Op struct {
	Mode  finding.Mode // Send, Receive, CloseChan, Add, Done or Wait
	Key   Key
	Path  accesspath.Path
	Instr ssa.Instruction
	Fn    *ssa.Function
	Locks *lockset.State
	Pos   token.Pos
	// Alone: the operation blocks until its other side is there; a case of a
	// select with further cases, or with a default, does not.
	Alone bool
	// Polls: a case of a select with a default.
	Polls bool
}

// List is the operations of a package. It is read-only once built.
type List struct {
	Prog  *ir.Program
	Graph *callgraph.Graph
	Locks *lockset.Result
	All   []*Op
	ByKey map[Key][]*Op
	// Unbuffered are the channels that are only made without a buffer.
	Unbuffered map[Key]bool
}

func run(pass *analysis.Pass) (any, error) {
	l := &List{
		Prog:       pass.ResultOf[ir.Analyzer].(*ir.Program),
		Graph:      pass.ResultOf[callgraph.Analyzer].(*callgraph.Graph),
		Locks:      pass.ResultOf[lockset.Analyzer].(*lockset.Result),
		ByKey:      map[Key][]*Op{},
		Unbuffered: map[Key]bool{},
	}
	l.Prog.Analyse(pass, func() {
		for _, fn := range l.Prog.Funcs {
			if !l.Prog.InTest(fn) {
				l.function(fn)
			}
		}
	})
	return l, nil
}

// modes are the operations that are listed.
var modes = map[order.Kind]finding.Mode{
	order.Send: finding.Send, order.Receive: finding.Receive, order.Close: finding.CloseChan,
	order.Add: finding.Add, order.Done: finding.Done, order.Wait: finding.Wait,
}

func (l *List) function(fn *ssa.Function) {
	l.Locks.Walk(fn, func(instr ssa.Instruction, s *lockset.State) {
		switch instr := instr.(type) {
		case *ssa.MakeChan: // of a local that is assigned once, traced to here
			l.Unbuffered[Key{Path: accesspath.Of(instr)}] = unbuffered(instr)
		case *ssa.Store:
			l.noteMade(instr)
		}
		for _, o := range order.Of(instr) {
			mode := modes[o.Kind]
			if mode == "" || mode == finding.Add && isNegative(o.With) {
				continue
			}
			if key, ok := KeyOf(o.On); ok {
				op := &Op{mode, key, accesspath.Of(o.On), instr, fn, s, o.Pos, o.Alone, o.Polls}
				l.All = append(l.All, op)
				l.ByKey[key] = append(l.ByKey[key], op)
			}
		}
	})
}

func isNegative(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && constant.Sign(c.Value) < 0
}

// noteMade notes channels that are stored in a variable, by their buffer.
func (l *List) noteMade(st *ssa.Store) {
	if _, isChan := st.Val.Type().Underlying().(*types.Chan); !isChan {
		return
	}
	key, ok := KeyOf(st.Addr)
	if !ok {
		return
	}
	v := ir.Root(st.Val, ir.Retyped)
	mk, ok := v.(*ssa.MakeChan)
	if c, isConst := v.(*ssa.Const); isConst && c.IsNil() {
		return
	}
	before, seen := l.Unbuffered[key]
	l.Unbuffered[key] = ok && unbuffered(mk) && (before || !seen)
}

func unbuffered(mk *ssa.MakeChan) bool {
	size, isConst := mk.Size.(*ssa.Const)
	return isConst && constant.Sign(size.Value) == 0
}

// KeyOf returns the key of the channel or WaitGroup that v is, or points to.
func KeyOf(v ssa.Value) (Key, bool) {
	v = ir.Root(v, ir.Retyped)
	if name, ok := accesspath.NameOf(v); ok {
		return Key{Name: name}, true
	}
	path := accesspath.Of(v)
	switch path.Root.(type) {
	case *ssa.Alloc, *ssa.MakeChan:
		return Key{Path: path}, true
	}
	return Key{}, false
}

// Variable returns the variable of op as findings name it.
func (l *List) Variable(op *Op) finding.Variable {
	v := finding.Variable{Package: l.Prog.Pkg.Pkg.Path(), Kind: "channel"}
	switch op.Mode {
	case finding.Add, finding.Done, finding.Wait:
		v.Kind = "waitgroup"
	}
	if n := op.Key.Name; n.Field != "" {
		v.Package, v.Type, v.Name = n.Package, n.Type, n.Field
		return v
	}
	v.Function, v.Name = l.Prog.FuncName(ir.Outermost(op.Fn)), l.channelText(op)
	return v
}

// channelText returns the local channel of op as the source writes it: its path
// starts where it is made, which has no name.
func (l *List) channelText(op *Op) string {
	text := op.Path.String()
	if _, made := op.Path.Root.(*ssa.MakeChan); !made || op.Fn.Syntax() == nil {
		return text
	}
	ast.Inspect(op.Fn.Syntax(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.OpPos == op.Pos {
				text = ir.Text(n.X)
			}
		case *ast.SendStmt:
			if n.Arrow == op.Pos {
				text = ir.Text(n.Chan)
			}
		case *ast.CallExpr:
			if n.Lparen == op.Pos && op.Mode == finding.CloseChan {
				text = ir.Text(n.Args[0])
			}
		}
		return true
	})
	return text
}

// Started reports whether a go statement starts fn, and returns the starting calls.
func (l *List) Started(fn *ssa.Function) []callgraph.Site {
	var starts []callgraph.Site
	for _, s := range l.Graph.Sites(fn) {
		if s.Mode == callgraph.Go {
			starts = append(starts, s)
		}
	}
	return starts
}

// Reaches reports whether control can come from one instruction of a function
// to another.
func (l *List) Reaches(from, to ssa.Instruction) bool {
	return from == to || l.Prog.Flow(from.Parent()).Leads(from, to)
}
