package hb

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// CountLoops returns the text of a file with a call of the engine's at the head of each of its loops and behind it,
// which -sample=lis needs, and the number of the next loop; nil where there is nothing to count. The loops are numbered
// from first on. Lines stay as they are:
//
//	for i := range n { f(i) }
//
// becomes
//
//	for i := range n { if loop7++; loop7 > last7 { last7 = engine.InterlockLoop(loop7, 7) }; f(i) }
//	last7 = 0; engine.InterlockLoopEnd(7)
//
// in one line, where loop7 and last7 are variables of the function, so that each activation counts its own. The engine
// is called in the iterations 1, 2, 11, 101 and so on alone, in which the loop's class changes.
func CountLoops(fset *token.FileSet, file *ast.File, text []byte, first uint32) (counted []byte, next uint32) {
	if slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"C"` }) {
		return nil, first // cgo makes other files of it
	}
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	c := &loopCounter{next: first, inserted: map[int]string{}, offset: offset}
	ast.Inspect(file, c.visit)
	if c.next == first {
		return nil, first
	}
	c.insert(file.Name.End(), "; import "+engineName+` "runtime"`)
	return c.apply(text), c.next
}

// engineName is the name that a file with counted loops has for package runtime.
const engineName = "interlockengine"

type loopCounter struct {
	next     uint32
	inserted map[int]string // by where in the file
	offset   func(token.Pos) int
}

func (c *loopCounter) insert(at token.Pos, text string) { c.inserted[c.offset(at)] += text }

// visit counts the loops of each function, literals included.
func (c *loopCounter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Doc != nil && slices.ContainsFunc(n.Doc.List, isNosplit) {
			return false // there may be no room on its stack
		}
		c.function(n.Body)
	case *ast.FuncLit:
		c.function(n.Body)
	}
	return true
}

func isNosplit(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:nosplit") }

// function counts the loops of a function's own.
func (c *loopCounter) function(body *ast.BlockStmt) {
	if body == nil {
		return
	}
	first := c.next
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			c.list(n.List)
		case *ast.CaseClause:
			c.list(n.Body)
		case *ast.CommClause:
			c.list(n.Body)
		}
		return true
	})
	if c.next == first {
		return
	}
	names := make([]string, 0, 2*(c.next-first))
	for id := first; id < c.next; id++ {
		names = append(names, loopName(id), lastName(id))
	}
	c.insert(body.Lbrace+1, " var "+strings.Join(names, ", ")+" uint32; ")
}

// loopName and lastName are those of a loop's variables: its iterations, and the last one of their class.
func loopName(id uint32) string { return fmt.Sprintf("interlockloop%d", id) }
func lastName(id uint32) string { return fmt.Sprintf("interlocklast%d", id) }

// list counts the loops among statements. Behind a loop without a condition that comes last nothing is inserted: it may
// make a return unnecessary.
func (c *loopCounter) list(statements []ast.Stmt) {
	for i, s := range statements {
		for {
			labeled, ok := s.(*ast.LabeledStmt)
			if !ok {
				break
			}
			s = labeled.Stmt
		}
		var body *ast.BlockStmt
		ends := true
		switch s := s.(type) {
		case *ast.ForStmt:
			body, ends = s.Body, s.Cond != nil || i < len(statements)-1
		case *ast.RangeStmt:
			body = s.Body
		default:
			continue
		}
		id := c.next
		c.next++
		c.insert(body.Lbrace+1, fmt.Sprintf(" if %[1]s++; %[1]s > %[2]s { %[2]s = %[3]s.InterlockLoop(%[1]s, %[4]d) }; ",
			loopName(id), lastName(id), engineName, id))
		if ends {
			c.insert(body.Rbrace+1, fmt.Sprintf("; %s = 0; %s.InterlockLoopEnd(%d)", lastName(id), engineName, id))
		}
	}
}

// apply returns the text with the insertions.
func (c *loopCounter) apply(text []byte) []byte {
	var b strings.Builder
	at := 0
	for _, offset := range slices.Sorted(maps.Keys(c.inserted)) {
		b.Write(text[at:offset])
		b.WriteString(c.inserted[offset])
		at = offset
	}
	b.Write(text[at:])
	return []byte(b.String())
}
