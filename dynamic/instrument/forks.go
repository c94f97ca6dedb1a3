package instrument

import (
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// Which of two goroutines goes on first, the one that starts the other or that, is left to the scheduler, and on most
// machines it is always the same one. The monitor may hold either:
//
//	go f(x)                go f(x); rt.Forked(1)
//	go func() { g() }()    go func() { rt.Started(1); g() }(); rt.Forked(1)

// watchWaits puts the monitor's calls before the statements in which a goroutine may wait for a message or a signal,
// which it may miss if it comes late:
//
//	v := <-ch      rt.Awaiting(1); v := <-ch
func (r *rewriter) watchWaits() {
	for _, wait := range r.waits {
		s := wait.Stmt
		r.Wrap(s.Pos(), s.End(), textedit.RankEvent,
			[]textedit.Piece{textedit.Textf("%srt.Awaiting(%d); ", r.Prefix, wait.ID)}, nil)
	}
}

// watchForks puts the monitor's calls behind statements that start goroutines, and into the functions that these run.
func (r *rewriter) watchForks() {
	for _, fork := range r.forks {
		s := fork.Stmt
		r.Wrap(s.Pos(), s.End(), textedit.RankStmt, nil,
			[]textedit.Piece{textedit.Textf("; %srt.Forked(%d)", r.Prefix, fork.ID)})
		if body := fork.Body; body != nil {
			r.Wrap(body.Lbrace, body.Lbrace+1, textedit.RankStmt, nil,
				[]textedit.Piece{textedit.Textf(" %srt.Started(%d);", r.Prefix, fork.ID)})
		}
	}
}
