package syncfix

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// stopping is what ends a wait: a context, or a channel that is closed.
type stopping struct {
	text      string
	isContext bool
	field     *types.Var // of a channel: the variable that it is
}

// channel writes the channel that is closed when the wait is to end.
func (s stopping) channel() string {
	if s.isContext {
		return s.text + ".Done()"
	}
	return s.text
}

// stopOf returns the context of a function, or the channel by which others stop it, which the wait does not ask yet.
func (p *Problem) stopOf(file *source.File, w *wait, f *source.Function) (*stopping, error) {
	asked := map[string]bool{}
	for _, ch := range w.channels {
		asked[file.Text(ch)] = true
	}
	found := slices.DeleteFunc(visible(file, w.stmt.Pos(), isContextType),
		func(name string) bool { return asked[name+".Done()"] })
	switch len(found) {
	case 0:
	case 1:
		return &stopping{text: found[0], isContext: true}, nil
	default:
		return nil, fmt.Errorf("%s: which of the contexts %s is meant is not known", file.At(w.stmt),
			strings.Join(found, ", "))
	}
	// s.ctx and s.done, of the receiver, and channels that the function can name, which are closed and nothing else
	all := p.stopsOfReceiver(f)
	for _, name := range visible(file, w.stmt.Pos(), isStopType) {
		_, obj := file.Package.Types.Scope().Innermost(w.stmt.Pos()).LookupParent(name, w.stmt.Pos())
		if v, ok := obj.(*types.Var); ok && (p.isOnlyClosed(v) || p.endsFunction(v, f)) {
			all = append(all, &stopping{text: name, field: v})
		}
	}
	all = slices.DeleteFunc(all, func(s *stopping) bool { return asked[s.channel()] })
	// A context comes before a channel, one by which the function ends elsewhere before others, and one by which any
	// function ends before one that is closed as somebody has ended.
	for _, isBetter := range []func(*stopping) bool{
		func(s *stopping) bool { return s.isContext },
		func(s *stopping) bool { return p.endsFunction(s.field, f) },
		func(s *stopping) bool { return p.endsFunction(s.field, nil) },
	} {
		if better := slices.DeleteFunc(slices.Clone(all), func(s *stopping) bool { return !isBetter(s) }); len(better) > 0 {
			all = better
		}
	}
	switch len(all) {
	case 0:
		return nil, fmt.Errorf("%s: %s has no context, and no channel that is closed to stop it", file.At(w.stmt), f.Name())
	case 1:
		return all[0], nil
	}
	var names []string
	for _, s := range all {
		names = append(names, s.text)
	}
	return nil, fmt.Errorf("%s: which of %s stops the function is not known", file.At(w.stmt), strings.Join(names, ", "))
}

// stopsOfReceiver lists the contexts and the channels that are only closed among the fields of a method's receiver.
func (p *Problem) stopsOfReceiver(f *source.Function) (all []*stopping) {
	recv := f.Declaration().Receiver()
	if recv == nil {
		return nil
	}
	st, ok := source.StructOf(recv.Type())
	if !ok {
		return nil
	}
	for field := range st.Fields() {
		text := recv.Name() + "." + field.Name()
		switch {
		case isContextType(field.Type()):
			all = append(all, &stopping{text: text, isContext: true})
		case isStopType(field.Type()) && p.isOnlyClosed(field):
			all = append(all, &stopping{text: text, field: field})
		}
	}
	return all
}

// endsFunction reports whether f, or any function for nil, returns where a select receives from the channel v.
func (p *Problem) endsFunction(v *types.Var, f *source.Function) bool {
	return v != nil && len(p.returnsAt(v, f)) > 0
}

// returnsAt lists the ends of functions, of f alone unless that is nil, where a select receives from the channel v.
func (p *Problem) returnsAt(v *types.Var, f *source.Function) (all []*ast.ReturnStmt) {
	key := source.ObjectKey(p.Module, v)
	for _, file := range p.Module.Files {
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			clause, ok := n.(*ast.CommClause)
			if !ok || len(clause.Body) == 0 || f != nil && file.FunctionOf(clause) != f {
				return true
			}
			receive, ok := clause.Comm.(*ast.ExprStmt)
			ret, returns := clause.Body[len(clause.Body)-1].(*ast.ReturnStmt)
			if !ok || !returns {
				return true
			}
			_, obj := file.VariableOf(ast.Unparen(received(receive.X)))
			if obj != nil && source.ObjectKey(p.Module, obj) == key {
				all = append(all, ret)
			}
			return true
		})
	}
	return all
}

// visible lists the locals and parameters of a type that can be named at a place, those of the innermost function
// that has one.
func visible(file *source.File, pos token.Pos, is func(types.Type) bool) (names []string) {
	for scope := file.Package.Types.Scope().Innermost(pos); scope != nil; scope = scope.Parent() {
		if scope == file.Package.Types.Scope() || scope.Parent() == file.Package.Types.Scope() {
			break // the file's and the package's
		}
		for _, name := range scope.Names() {
			v, ok := scope.Lookup(name).(*types.Var)
			if !ok || !is(v.Type()) || v.Pos() >= pos || name == "_" {
				continue
			}
			if _, found := file.Package.Types.Scope().Innermost(pos).LookupParent(name, pos); found == types.Object(v) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return names
		}
	}
	return names
}

func isContextType(t types.Type) bool { return types.TypeString(t, nil) == "context.Context" }

// isStopType reports whether t is a channel without values.
func isStopType(t types.Type) bool {
	ch, ok := t.Underlying().(*types.Chan)
	if !ok {
		return false
	}
	st, ok := ch.Elem().Underlying().(*types.Struct)
	return ok && st.NumFields() == 0
}

// isOnlyClosed reports whether the module closes a channel and never sends on it.
func (p *Problem) isOnlyClosed(v *types.Var) bool {
	closes, sends := 0, 0
	key := source.ObjectKey(p.Module, v)
	for _, file := range p.Module.Files {
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			var e ast.Expr
			switch n := n.(type) {
			case *ast.SendStmt:
				e = n.Chan
			case *ast.CallExpr:
				if source.IsBuiltin(file, n, "close") {
					e = n.Args[0]
				}
			}
			if e == nil {
				return true
			}
			if _, obj := file.VariableOf(ast.Unparen(e)); obj != nil && source.ObjectKey(p.Module, obj) == key {
				if _, isSend := n.(*ast.SendStmt); isSend {
					sends++
				} else {
					closes++
				}
			}
			return true
		})
	}
	return closes > 0 && sends == 0
}

// leaving writes how the function is left when it is stopped.
func (p *Problem) leaving(edits *edit.Edits, file *source.File, f *source.Function, stop *stopping) (string, error) {
	results := f.Type.Results
	if results == nil || len(results.List) == 0 {
		// go func() { … }(), go w.run()
		if _, err := p.Module.Starts(f); err != nil {
			return "", fmt.Errorf("%s: the callers of %s would not learn that it was stopped", file.At(f.Node), f.Name())
		}
		return "return", nil
	}
	last := results.List[len(results.List)-1].Type
	if types.TypeString(file.TypeOf(last), nil) != "error" {
		return "", fmt.Errorf("%s: %s returns no error that could say that it was stopped", file.At(f.Node), f.Name())
	}
	var values []string
	for _, field := range results.List {
		zero := zeroOf(file.TypeOf(field.Type))
		if zero == "" {
			return "", fmt.Errorf("%s: the results of %s have no zero value in short", file.At(f.Node), f.Name())
		}
		for range max(len(field.Names), 1) {
			values = append(values, zero)
		}
	}
	values[len(values)-1] = p.errorOf(edits, file, stop)
	return "return " + strings.Join(values, ", "), nil
}

// errorOf writes the error of a function that was stopped: that of the context, the one that others return for the
// channel, or a new one.
func (p *Problem) errorOf(edits *edit.Edits, file *source.File, stop *stopping) string {
	if stop.isContext {
		return stop.text + ".Err()"
	}
	for _, leave := range p.returnsAt(stop.field, nil) {
		if len(leave.Results) == 0 {
			continue
		}
		id, ok := ast.Unparen(leave.Results[len(leave.Results)-1]).(*ast.Ident)
		if ok && isErrorVariable(file.Package.Types.Scope().Lookup(id.Name)) {
			return id.Name
		}
	}
	return fmt.Sprintf("%s.New(%q)", edits.AddImport(file, "errors"), file.Package.Types.Name()+": closed")
}

// isErrorVariable reports whether o is a variable for an error, such as ErrClosed.
func isErrorVariable(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && types.TypeString(v.Type(), nil) == "error"
}

// zeroOf writes the zero value of a type; "" where that takes more than a word.
func zeroOf(t types.Type) string {
	switch t := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Interface, *types.Signature:
		return "nil"
	case *types.Basic:
		switch {
		case t.Info()&types.IsNumeric != 0:
			return "0"
		case t.Info()&types.IsString != 0:
			return `""`
		case t.Info()&types.IsBoolean != 0:
			return "false"
		}
	}
	return ""
}
