package resident

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/inprocess"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/lockgraph"
)

// Note is a remark on an identifier for people: of a variable its guard, of a lock the variables that it guards
// and where it stands among the locks.
type Note struct {
	finding.Position
	Text     string // Markdown
	Short    string // the same of a variable in a few words; "" for locks
	Declares bool   // the identifier declares it
}

// Notes returns the notes on the identifiers of a file, as it was last analysed.
func (m *Module) Notes(file string) []Note {
	if n := m.analysed(file); n != nil {
		return n.notes[file]
	}
	return nil
}

// annotator collects the notes of one package.
type annotator struct {
	pkg    *types.Package
	texts  map[types.Object]Note
	guards map[string][]guards.Guard // by the class of the lock
	orders map[string][]finding.Edge // by the class of either lock
}

// notesByFile returns the notes of a package by file.
func (m *Module) notesByFile(s *syntax, results inprocess.Results) map[string][]Note {
	list := results[accesses.Analyzer].(*accesses.List)
	a := &annotator{s.types, map[types.Object]Note{}, map[string][]guards.Guard{}, map[string][]finding.Edge{}}
	// The guard of each variable, and which locks are taken under which.
	if list.Prog.Usable() {
		for _, g := range guards.All(list, results[guards.Annotations].(guards.Annotated)) {
			a.variable(g)
		}
	}
	for _, o := range results[lockgraph.Analyzer].(*lockgraph.Result).Orders {
		a.orders[o.From] = append(a.orders[o.From], o.Edge)
		if o.To != o.From {
			a.orders[o.To] = append(a.orders[o.To], o.Edge)
		}
	}
	a.noteLocks()
	// The identifiers that mean one of these.
	byFile := map[string][]Note{}
	add := func(id *ast.Ident, obj types.Object, declares bool) {
		note, ok := a.texts[obj]
		if !ok {
			return
		}
		note.Position, note.Declares = accesses.Position(m.fset, id.Pos(), id.End()), declares
		byFile[note.File] = append(byFile[note.File], note)
	}
	for id, obj := range s.info.Uses {
		if v, ok := obj.(*types.Var); ok {
			add(id, v.Origin(), false)
		}
	}
	for id, obj := range s.info.Defs {
		add(id, obj, true)
	}
	return byFile
}

// variable notes the guard of a variable.
func (a *annotator) variable(g guards.Guard) {
	if g.Class != "" {
		a.guards[g.Class] = append(a.guards[g.Class], g)
	}
	if _, known := a.texts[g.Variable.Accesses[0].Obj]; known {
		return // the variable itself comes before its elements
	}
	why := ""
	if g.Named {
		why = ", which a comment names"
	}
	a.texts[g.Variable.Accesses[0].Obj] = Note{
		Text: fmt.Sprintf("Interlock: `%s` is guarded by `%s`%s, held in %d of %d accesses.", g.Variable.Name.Short(),
			g.Lock, why, g.With, g.Of),
		Short: fmt.Sprintf("guarded by %s (%d of %d)", g.Lock[strings.LastIndexByte(g.Lock, '.')+1:], g.With, g.Of),
	}
}

// noteLocks notes for each lock of the package its variables and its orders.
func (a *annotator) noteLocks() {
	note := func(class string, obj types.Object) {
		var lines []string
		if list := a.guards[class]; len(list) > 0 {
			lines = append(lines, fmt.Sprintf("Interlock: `%s` guards %s.", finding.ShortLock(class), guarded(list)))
		}
		for _, e := range a.orders[class] {
			lines = append(lines, fmt.Sprintf("`%s` is taken with `%s` held, in `%s`.", finding.ShortLock(e.To),
				finding.ShortLock(e.From), e.Function))
		}
		if len(lines) > 0 {
			slices.Sort(lines[min(1, len(lines)-1):])
			a.texts[obj] = Note{Text: strings.Join(slices.Compact(lines), "\n\n")}
		}
	}
	// The class of a lock is the path of its variable, or of its field in a type.
	scope := a.pkg.Scope()
	for _, name := range scope.Names() {
		class := a.pkg.Path() + "." + name
		switch obj := scope.Lookup(name).(type) {
		case *types.Var:
			note(class, obj)
		case *types.TypeName:
			if st, ok := obj.Type().Underlying().(*types.Struct); ok && !obj.IsAlias() {
				for f := range st.Fields() {
					note(class+"."+f.Name(), f)
				}
			}
		}
	}
}

// guarded lists the variables that a lock guards, the first few by name.
func guarded(list []guards.Guard) string {
	const most = 8
	var names []string
	for _, g := range list {
		if text := fmt.Sprintf("`%s` (%d of %d accesses)", g.Variable.Name.Short(), g.With, g.Of); len(names) < most {
			names = append(names, text)
		}
	}
	text := strings.Join(slices.Compact(names), ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
