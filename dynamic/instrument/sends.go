package instrument

import (
	"go/ast"

	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// The runtime remembers where the value of a waiting send lies, and the collector follows that. If the value lies in an
// object that holds the channel, such as a closure or a struct, the collector reaches the channel by the goroutine
// itself, and does not see that nothing else does. So the value is sent from a copy on the stack:
//
//	go func() { ch <- c }()    go func() { ch <- rt.Sent(c) }()
//	p.out <- p.value           p.out <- rt.Sent(p.value)

// copySent puts the monitor's call around each value that is sent from where it lies. In a select the compiler makes
// the copy.
func (r *rewriter) copySent() {
	ast.Inspect(r.Syntax, func(n ast.Node) bool {
		s, ok := n.(*ast.SendStmt)
		if ok && r.ListOf(s) != nil && r.Info.Types[s.Value].Addressable() {
			r.Wrap(s.Value.Pos(), s.Value.End(), textedit.RankBehind,
				[]textedit.Piece{textedit.Text(r.Prefix + "rt.Sent(")}, []textedit.Piece{textedit.Text(")")})
		}
		return true
	})
}
