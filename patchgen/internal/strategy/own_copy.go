package strategy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// copyLocal returns the strategy copy for locals; for other variables there is nothing to say of it.
func copyLocal(p *Problem) []Strategy {
	if p.Variable.Function == nil {
		return nil
	}
	return []Strategy{{Name: "copy", build: ownCopy}}
}

// ownCopy makes a local that a goroutine captures two variables. A goroutine that
// only reads what the header of a loop sets gets the value of its round:
//
//	for i := 0; i < n; i++ {
//		i := i	<- new
//		go func() { use(i) }()
//	}
//
// One that sets the variable before it reads it, and whose values nobody else reads,
// gets a variable of its own:
//
//	go func() {
//		if err = serve(); err != nil {	->	if err := serve(); err != nil {
//			log(err)
//		}
//	}()
//	if err = dial(); err != nil {
//
// Obligation: [validate.Unshared].
func ownCopy(p *Problem) (*Patch, error) {
	v := p.Variable
	var captures []*source.Function // literals that run elsewhere and use the variable, outermost ones
	for _, a := range p.Accesses {
		if f := capturing(v, a); f != nil && !slices.Contains(captures, f) {
			captures = append(captures, f)
		}
	}
	if len(captures) == 0 {
		return nil, NotMeant("no function literal captures %s", v)
	}
	c := &copying{Problem: p, file: captures[0].File, edits: edit.New()}
	build := c.ownVariables
	if c.loop = c.headerLoop(); c.loop != nil {
		build = c.eachRound
	}
	if err := build(captures); err != nil {
		return nil, err
	}
	files, err := c.edits.Files()
	return &Patch{Files: files, Claim: p.claim(validate.Unshared, "", 0)}, err
}

// capturing returns the outermost literal with an access that may run at another time than the function which declares
// the variable; nil if the access is that function's: func() { … }() runs in it.
func capturing(v *source.Variable, a *source.Access) (outermost *source.Function) {
	for f := a.Function; f != nil && f != v.Function; f = f.Outer {
		if f.File.RunsAt(f) == nil {
			outermost = f
		}
	}
	return outermost
}

// copying is the work on one captured variable.
type copying struct {
	*Problem
	file  *source.File
	edits *edit.Edits
	loop  ast.Node // whose header declares the variable; nil if none does
}

// headerLoop returns the loop whose header declares the variable.
func (c *copying) headerLoop() ast.Node {
	_, id := c.declaration()
	if id == nil {
		return nil
	}
	switch parent := c.file.Parents[id].(type) {
	// for i, x := range xs
	case *ast.RangeStmt:
		return parent
	// for i := 0; i < n; i++
	case *ast.AssignStmt:
		if loop, ok := c.file.Parents[parent].(*ast.ForStmt); ok && loop.Init == ast.Stmt(parent) {
			return loop
		}
	}
	return nil
}

// bodyOf returns the body of a loop.
func bodyOf(loop ast.Node) *ast.BlockStmt {
	if r, ok := loop.(*ast.RangeStmt); ok {
		return r.Body
	}
	return loop.(*ast.ForStmt).Body
}

// eachRound copies the variable at the start of each round.
func (c *copying) eachRound(captures []*source.Function) error {
	body := bodyOf(c.loop)
	for _, a := range c.Accesses {
		inBody := body.Pos() <= a.Expr.Pos() && a.Expr.Pos() < body.End()
		if inBody && a.Mode != source.Read {
			return fmt.Errorf("%s: %s is more than read in the loop", a.File.At(a.Expr), c.Variable)
		}
	}
	// The copy goes before the first statement that captures the variable.
	var first ast.Stmt
	for _, f := range captures {
		s := c.statementIn(body.List, f.Node)
		if s == nil {
			return fmt.Errorf("%s: the literal does not stand in the loop's body", c.file.At(f.Node))
		}
		if first == nil || s.Pos() < first.Pos() {
			first = s
		}
	}
	if _, labeled := first.(*ast.LabeledStmt); labeled {
		return fmt.Errorf("%s: the statement has a label", c.file.At(first))
	}
	name := c.Variable.Name
	c.edits.Before(c.file, first, func() string { return name + " := " + name })
	return nil
}

// statementIn returns the statement of the list that holds n; nil if none does.
func (c *copying) statementIn(list []ast.Stmt, n ast.Node) ast.Stmt {
	for _, s := range list {
		if s.Pos() <= n.Pos() && n.End() <= s.End() {
			return s
		}
	}
	return nil
}

// ownVariables declares a variable in each goroutine that sets the captured one.
func (c *copying) ownVariables(captures []*source.Function) error {
	outer := c.Variable.Function
	if isResult(outer, c.Variable.Object) {
		return fmt.Errorf("%s is a result of %s", c.Variable, outer.Name())
	}
	for _, f := range captures {
		if c.file.StartOf(f) == nil {
			return fmt.Errorf("%s: the literal that captures %s is started by no go statement", c.file.At(f.Node), c.Variable)
		}
		if !c.setsFirst(f) {
			return fmt.Errorf("%s: a goroutine reads what %s was before", c.file.At(f.Node), c.Variable)
		}
	}
	for _, f := range captures {
		if err := c.nobodyReads(f); err != nil {
			return err
		}
		c.declareIn(f)
	}
	return c.dropUnused()
}

// dropUnused takes away the declaration of a variable that only goroutines used:
//
//	var err error
func (c *copying) dropUnused() error {
	if len(c.ofStarter(c.Variable.Function.Node)) > 0 {
		return nil
	}
	_, id := c.declaration()
	spec, ok := c.file.Parents[id].(*ast.ValueSpec)
	if !ok || len(spec.Names) > 1 || len(spec.Values) > 0 {
		return fmt.Errorf("%s: only goroutines use %s", c.file.At(id), c.Variable)
	}
	// var err error, and a line of var ( … )
	if decl := c.file.Parents[spec].(*ast.GenDecl); len(decl.Specs) == 1 {
		c.edits.DeleteLine(c.file, c.file.Parents[decl])
	} else {
		c.edits.DeleteLine(c.file, spec)
	}
	return nil
}

// isResult reports whether a variable is a named result of a function.
func isResult(f *source.Function, v *types.Var) bool {
	if f.Type.Results == nil {
		return false
	}
	return f.Type.Results.Pos() <= v.Pos() && v.Pos() < f.Type.Results.End()
}

// accessesIn lists the accesses within n, in the order of the source.
func (c *copying) accessesIn(n ast.Node) (list []*source.Access) {
	for _, a := range c.Accesses {
		if n.Pos() <= a.Expr.Pos() && a.Expr.Pos() < n.End() {
			list = append(list, a)
		}
	}
	return list
}

// setter returns the assignment that sets the variable for all that follows in the list where it stands: x = v, or
// if x = v; …; nil if the access is no such thing. Operands are evaluated before the variable is set.
func (c *copying) setter(a *source.Access, list []ast.Stmt) *ast.AssignStmt {
	s, ok := c.file.Parents[a.Expr].(*ast.AssignStmt)
	if !ok || s.Tok != token.ASSIGN || a.Mode != source.Write || a.Whole != a.Expr {
		return nil
	}
	switch parent := c.file.Parents[s].(type) {
	case *ast.IfStmt:
		if parent.Init == ast.Stmt(s) && slices.Contains(list, ast.Stmt(parent)) {
			return s
		}
	case *ast.SwitchStmt:
		if parent.Init == ast.Stmt(s) && slices.Contains(list, ast.Stmt(parent)) {
			return s
		}
	}
	if slices.Contains(list, ast.Stmt(s)) {
		return s
	}
	return nil
}

// firstSetter returns the setter that comes before every other access of those in the list.
func (c *copying) firstSetter(accesses []*source.Access, list []ast.Stmt) *ast.AssignStmt {
	for _, a := range accesses {
		s := c.setter(a, list)
		if s == nil {
			continue
		}
		for _, other := range accesses {
			before := other.Expr.Pos() < s.Pos() || other.Mode != source.Write && other.Expr.Pos() < s.End()
			if before {
				return nil
			}
		}
		return s
	}
	return nil
}

// setsFirst reports whether a goroutine sets the variable before it reads it.
func (c *copying) setsFirst(f *source.Function) bool {
	return c.firstSetter(c.accessesIn(f.Body), f.Body.List) != nil
}

// nobodyReads refuses goroutines whose values others may read: what follows the go statement has to set
// the variable anew first.
func (c *copying) nobodyReads(f *source.Function) error {
	start := c.file.StartOf(f)
	if err := c.nextRoundSets(start); err != nil {
		return err
	}
	var later []*source.Access
	for _, a := range c.ofStarter(c.Variable.Function.Node) {
		if a.Expr.Pos() > start.End() {
			later = append(later, a)
		}
	}
	if len(later) > 0 && !c.setsBehind(start, later) {
		return fmt.Errorf("%s: what the goroutine sets %s to may be meant for %s", c.file.At(start), c.Variable,
			c.file.At(later[0].Expr))
	}
	if slices.ContainsFunc(c.Accesses, func(a *source.Access) bool { return a.Mode == source.Address }) {
		return errors.New("the address of " + c.Variable.String() + " is taken")
	}
	return nil
}

// setsBehind reports whether the variable is set anew before the later accesses, in one of the lists around the start.
func (c *copying) setsBehind(start ast.Stmt, later []*source.Access) bool {
	for s := start; s != nil && s.Pos() > c.Variable.Function.Body.Pos(); s = c.file.StmtOf(c.file.Parents[s]) {
		if c.firstSetter(later, source.ListOf(c.file, s)) != nil {
			return true
		}
	}
	return false
}

// nextRoundSets refuses goroutines that are started in a loop, the next round of which reads the variable before it
// sets it, unless each round has its own variable:
//
//	for _, t := range tasks {
//		go func() { err = t.run(); … }()
//	}
func (c *copying) nextRoundSets(start ast.Stmt) error {
	for n := c.file.Parents[start]; n != nil && n != c.Variable.Function.Node; n = c.file.Parents[n] {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
		}
		if body == nil || c.Variable.Object.Pos() > n.Pos() {
			continue
		}
		round := c.ofStarter(n)
		if len(round) > 0 && (c.firstSetter(round, body.List) == nil || round[0].Expr.Pos() < body.Pos()) {
			return fmt.Errorf("%s: the goroutine is started in a loop, whose next round may read %s", c.file.At(start),
				c.Variable)
		}
	}
	return nil
}

// ofStarter lists the accesses within n that the function makes which declares the variable, not its literals that run
// at another time.
func (c *copying) ofStarter(n ast.Node) []*source.Access {
	return slices.DeleteFunc(c.accessesIn(n), func(a *source.Access) bool { return capturing(c.Variable, a) != nil })
}

// declareIn declares a variable of its own in a goroutine: by := where that reaches all of its uses and has the same
// type, else by a declaration.
func (c *copying) declareIn(f *source.Function) {
	accesses := c.accessesIn(f.Body)
	s := c.firstSetter(accesses, f.Body.List)
	scope := ast.Node(f.Body)
	if parent, ok := c.file.Parents[s].(ast.Stmt); ok && !slices.Contains(f.Body.List, ast.Stmt(s)) {
		scope = parent
	}
	last := accesses[len(accesses)-1]
	isSame := len(s.Rhs) == 1 && types.Identical(types.Default(c.file.TypeOf(s.Rhs[0])), c.Variable.Object.Type())
	if len(s.Lhs) == 1 && isSame && last.Expr.End() <= scope.End() {
		at := c.file.Offset(s.TokPos)
		c.edits.Add(c.file, at, at+len("="), func() string { return ":=" })
		return
	}
	typ := source.NewNames(f).TypeText(c.Variable.Object.Type())
	c.edits.Before(c.file, f.Body.List[0], func() string { return "var " + c.Variable.Name + " " + typ })
}
