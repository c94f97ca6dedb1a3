// Package instrument puts the monitor's calls before the accesses of a typed
// package. It is pure: source and plan in, source out.
//
//	x.f           (*rt.R(&x.f, id))          read
//	x.f = v       (*rt.W(&x.f, id)) = v      write
//	m[k]          rt.MR(m, id)[k]            read of a map
//	delete(m, k)  delete(rt.MW(m, id), k)    write of a map
//	s[i]          (*rt.R(&s[i], id))         read of an element
//	copy(s, t)    copy(rt.WN(s, len(t), id), rt.RN(t, len(s), id))
//	x.n.Load()    (*rt.AR(&x.n, id)).Load()  atomic read
//	ch <- v       rt.CR(ch, id) <- v         send
//	m.Load(k)     (*rt.SMRK(&m, k, id)).Load(k)  a sync.Map is read; SMWK where it may change
//	ch <- v       rt.CR(ch, id) <- rt.Sent(v)    send
//	close(ch)     close(rt.CW(ch, id))       close
//	wg.Add(1)     (*rt.GAW(&wg, id)).Add(1)  Add and Go of a WaitGroup; Wait by rt.GR
//	go f()        go f(); rt.Forked(id)      a goroutine is started
//	v := <-ch     rt.Awaiting(id); v := <-ch a receive, a loop over a channel, a select without a default, Cond.Wait
//
// # The rule
//
// Nothing that calls or receives may run between the monitor's call and the
// access, or the moment that the monitor reports is not the moment of the
// access; and the program must evaluate in the order that it had. gc hoists
// calls, receives, conditional operands and more into temporaries, from left
// to right, and loads everything else when the innermost hoisted expression
// around it, or the statement, runs (cmd/compile/internal/walk/order.go). The
// monitor's call is itself hoisted. So it may stand in place exactly if
// nothing that calls or receives is hoisted after it inside the same hoisted
// expression. Otherwise the later operands move to temporaries before the
// statement, with everything that gc hoists before them:
//
//	x.f = g()          { _il1 := g(); (*rt.W(&x.f, 1)) = _il1 }
//	h(x.f, g())        { _il1 := g(); h((*rt.R(&x.f, 1)), _il1) }
//	for x.f < g() {    for { _il1 := g(); if !((*rt.R(&x.f, 1)) < _il1) { break };
//
// Where that is not possible the access stays unmonitored, with a reason.
//
//	internal/evalorder     which expressions gc hoists, and which must therefore move
//	stmt.go, assign.go …   where the temporaries of each kind of statement go
//	internal/sectionplace  where the calls for atomic sections go
//	internal/predicate     the test of such a section, so that the monitor can repeat it
//	internal/handover      which code may hand work over to other goroutines
//	internal/source        the file: its syntax, its accesses, its edits
//	internal/textedit      nested edits of a text
//
// Two calls come just after the access, at the start of a loop's body: that
// for the element which an iteration has read, and that for a loop variable
// which the clause has assigned. Nothing synchronises between them and the
// access either, so that other accesses are as unordered then as before it.
//
// # Two copies
//
// An iteration of a loop, or the body of a function, that calls nothing asks
// once whether any window is open, and runs its original text if there is none
// (idle_copy.go).
//
// # The text
//
// The original text is edited, never printed from syntax: comments,
// directives and lines stay. Text that moves to another line is put between
// /*line*/ comments, so that panics and stack traces show the original lines.
//
// # Missed, and different
//
// [Result.Left] lists the accesses that stay unmonitored. The
// address of a read is computed at the monitor's call. Where two operands of
// one expression would both panic (a nil pointer and an index out of range)
// the other of the two may come first, as the language allows; if the
// expression of an access panics, the access was announced and not made.
package instrument
