package validate

import (
	"go/ast"
	"regexp"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// saysOtherwise doubts a patched function that takes a lock now, where its comment says that its callers hold one, or
// that it takes none.
//
//	// size returns the number of terms. The caller holds the lock.
//	func (x *Index) size() int { x.mu.RLock(); …	// is new
func (j *judge) saysOtherwise() {
	for _, p := range j.now.Packages {
		before := j.old.Package(p.Path)
		for _, fn := range p.IR.Funcs {
			decl, ok := fn.Syntax().(*ast.FuncDecl)
			name := callgraph.FullName(fn)
			if !ok || p.IR.InTest(fn) || !j.touched[name] || !ofLocks.MatchString(decl.Doc.Text()) {
				continue
			}
			locks := 0
			if before != nil {
				for _, old := range before.IR.Funcs {
					if callgraph.FullName(old) == name && old.Parent() == nil {
						locks = j.old.locksIn(old)
					}
				}
			}
			if j.now.locksIn(fn) > locks {
				line := firstOfLocks(decl.Doc)
				j.doubt(place{p, fn.Blocks[0].Instrs[0]}, finding.Heavy, "comment", "if its callers hold it, this deadlocks",
					"%s takes a lock, and its comment says: %s", short(name), line)
			}
		}
	}
}

// ofLocks matches comments by which callers hold a lock, or the function takes none.
var ofLocks = regexp.MustCompile(`(?i)\bcallers?\b[^.]*\b(holds?|locks?|locked)\b|\btakes? no lock` +
	`|\bmust be (held|locked)\b|\bwith [^.]*(\bmu|[lL]ock|[mM]utex) held\b`)

// firstOfLocks returns the first line of a comment that speaks of locks.
func firstOfLocks(doc *ast.CommentGroup) string {
	for _, c := range doc.List {
		if ofLocks.MatchString(c.Text) {
			return strings.TrimSpace(strings.TrimLeft(c.Text, "/*"))
		}
	}
	return ""
}

// locksIn counts the calls of fn that lock something.
func (s *state) locksIn(fn *ssa.Function) (n int) {
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(*ssa.Call)
		if !ok || s.Of(fn).Locks.Receiver(call) == nil {
			continue
		}
		if name := callee(call); strings.HasSuffix(name, "Lock") && !strings.HasSuffix(name, "TryLock") {
			n++
		}
	}
	return n
}
