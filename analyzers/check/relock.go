package check

import (
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// ReportRelock reports that a goroutine takes a lock that it holds; wrong names the fault, and hangs the wait.
func (r *Reporter) ReportRelock(prog *ir.Program, a lockset.Relock, status finding.Status, wrong, hangs string) {
	path := a.First.Path.String()
	lock := Lock(prog, a.Fn, a.First.Class, path)
	second := Side(prog, a.Fn, a.Call, LockMode(a.To.Read), path)
	second.Locks = []string{a.First.String()}
	f := &finding.Finding{
		Status:   status,
		Title:    ShortName(lock) + " " + wrong,
		Message:  hangs,
		Variable: lock,
		Accesses: []finding.Access{second, Side(prog, a.Fn, a.First.Since, LockMode(a.First.Read), path)},
	}
	if a.To.Where != "" {
		f.Message = second.Expr + " leads to " + a.To.Where + ", which waits for " + path + ". " + hangs
	}
	r.ReportAt(f, a.Call.Pos(), Note{a.First.Since.Pos(), path + " is locked here"})
}
