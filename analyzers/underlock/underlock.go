package underlock

import (
	_ "embed"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports waiting under a lock for a goroutine that needs it.
var Analyzer = check.New("underlock", finding.WaitUnderLock, doc, run, syncops.Analyzer, waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	c := &checker{pass.ResultOf[syncops.Analyzer].(*syncops.List), r}
	// Waits under a lock that their function has taken, or the function that calls it.
	left := map[*ssa.Function][]*syncops.Op{}
	for _, op := range c.list.All {
		if op.Alone && !c.waiting(op) {
			left[op.Fn] = append(left[op.Fn], op)
		}
	}
	c.underCallers(left)
	c.callbacks()
	c.reportOutside()
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}

type checker struct {
	list     *syncops.List
	reporter *check.Reporter
}

// otherSide is the operation that an operation waits for.
var otherSide = map[finding.Mode]finding.Mode{
	finding.Send: finding.Receive, finding.Receive: finding.Send, finding.Wait: finding.Done,
}

// waiting judges an operation that blocks: it is wrong if a lock is held that all goroutines that could end the
// wait need first. It reports whether it is.
func (c *checker) waiting(op *syncops.Op) bool {
	for _, h := range op.Locks.Held() {
		if h.Class == "" || !together(op.Path, h) {
			continue
		}
		if other, need := c.needing(op, h); need != noNeed {
			c.report(op, op.Fn, h, other, need)
			return true
		}
	}
	return false
}

// together reports whether the lock and the operation belong to one object,
// or the operation to a local variable or a package variable.
func together(p accesspath.Path, h lockset.Held) bool {
	if p.Root != h.Path.Root {
		_, local := p.Root.(*ssa.Alloc)
		_, made := p.Root.(*ssa.MakeChan)
		return local || made
	}
	if _, global := p.Global(); global {
		return true
	}
	return p.Owner() == h.Path.Owner()
}

// need is how far a goroutine has to take a lock on its way to an operation.
type need int

const (
	noNeed need = iota
	mayNeed
	surelyNeeds
)

// needing returns one of the other sides if all of them take a lock of h's class first; closes of the channel
// are other sides of a receive.
func (c *checker) needing(op *syncops.Op, h lockset.Held) (first *syncops.Op, all need) {
	if op.Mode != finding.Wait && !c.list.Unbuffered[op.Key] {
		return nil, noNeed
	}
	for _, o := range c.list.ByKey[op.Key] {
		if o.Mode != otherSide[op.Mode] && !(op.Mode == finding.Receive && o.Mode == finding.CloseChan) {
			continue
		}
		if o.Mode == finding.Done && c.countsUnder(o, h.Class) {
			continue
		}
		one := noNeed
		if o.Fn != op.Fn {
			one = c.needsLock(o, h.Class, op.Mode == finding.Wait)
		}
		switch {
		case one == noNeed:
			return nil, noNeed
		case first == nil:
			first, all = o, one
		}
		all = min(all, one)
	}
	return first, all
}

// countsUnder reports whether the function of done adds to the WaitGroup itself, under a lock of the class: where it
// waits for the lock, nobody waits for it.
//
//	t.mu.RLock(); defer t.mu.RUnlock(); t.wg.Add(1); defer t.wg.Done()
func (c *checker) countsUnder(done *syncops.Op, class string) bool {
	return slices.ContainsFunc(c.list.ByKey[done.Key], func(add *syncops.Op) bool {
		return add.Mode == finding.Add && add.Fn == done.Fn && c.list.Reaches(add.Instr, done.Instr) &&
			slices.ContainsFunc(add.Locks.Held(), func(h lockset.Held) bool { return h.Class == class && h.Since != nil })
	})
}

// needsLock returns whether a lock of the class is held at o, or taken on the way there; anywhere in the function
// if o may be deferred. The maker of the object takes its lock before others know of it, and counts only if it
// comes back for the lock:
//
//	a := newConn()
//	a.start()      // under a.mu, starts the sender
//	err := <-a.up
func (c *checker) needsLock(o *syncops.Op, class string, anywhere bool) need {
	for _, h := range o.Locks.Held() {
		if h.Class == class && h.Since != nil {
			return surelyNeeds
		}
	}
	found := noNeed
	_, deferred := o.Instr.(*ssa.Defer)
	c.list.Locks.Walk(o.Fn, func(instr ssa.Instruction, s *lockset.State) {
		call, ok := instr.(*ssa.Call)
		if !ok || s.MayHoldClass(class) {
			return
		}
		comesThere := c.list.Reaches(call, o.Instr) && (!comesFromCall(o) || c.list.Reaches(o.Instr, call))
		if anywhere && deferred || comesThere {
			found = max(found, c.takes(o.Fn, call, class, anywhere))
		}
	})
	return found
}

// takes returns whether a call takes a lock of the class; with perhaps, one that it takes on some ways counts.
func (c *checker) takes(fn *ssa.Function, call *ssa.Call, class string, perhaps bool) need {
	callee := call.Call.StaticCallee()
	switch {
	case c.list.Locks.Blocks(fn, call, class):
		return surelyNeeds
	case perhaps && callee != nil && slices.Contains(c.list.Locks.Takes(callee), class):
		return mayNeed
	}
	return noNeed
}

// comesFromCall reports whether the object that o is on comes from a call in its function.
func comesFromCall(o *syncops.Op) bool {
	_, called := o.Path.Root.(*ssa.Call)
	return called
}

// report reports an operation that waits under a lock that holder has taken. Where the other side may come without the
// lock, it is a lead.
func (c *checker) report(op *syncops.Op, holder *ssa.Function, h lockset.Held, other *syncops.Op, all need) {
	prog := c.list.Prog
	v := c.list.Variable(op)
	lock := check.ShortName(check.Lock(prog, holder, h.Class, h.Path.String()))
	side := check.SideAt(prog, op.Fn, op.Pos, op.Mode, op.Path.String())
	side.Locks = []string{h.String()}
	f := &finding.Finding{
		Title: fmt.Sprintf("%s of %s under %s, which the other side needs", op.Mode, check.ShortName(v), lock),
		Message: fmt.Sprintf("%s holds %s and waits for %s, which waits for %s: neither goes on.",
			prog.FuncName(holder), h.Path, prog.FuncName(other.Fn), lock),
		Variable: v,
		Accesses: []finding.Access{side, check.SideAt(prog, other.Fn, other.Pos, other.Mode, other.Path.String())},
	}
	if all == mayNeed {
		f.Status = finding.Lead
	}
	if holder != op.Fn {
		note := fmt.Sprintf("%s takes the lock, and calls %s", prog.FuncName(holder), prog.FuncName(op.Fn))
		f.Notes = append(f.Notes, note)
	}
	c.reporter.ReportAt(f, op.Pos, check.Note{Pos: other.Pos, Text: "the other side"})
}

// callbacks judges calls of functions that users have put into fields.
func (c *checker) callbacks() {
	for _, fn := range c.list.Prog.Funcs {
		if c.list.Prog.InTest(fn) {
			continue
		}
		c.list.Locks.WalkOwn(fn, func(instr ssa.Instruction, s *lockset.State) {
			call, ok := instr.(*ssa.Call)
			if !ok {
				return
			}
			field, ok := userField(call)
			if !ok {
				return
			}
			path := accesspath.Of(field)
			for _, h := range s.Held() {
				if h.Read || h.Class == "" || h.Since == nil || path.Root != h.Path.Root ||
					path.Owner() != h.Path.Owner() {
					continue
				}
				if taker := c.findTaker(h.Class, fn); taker != nil {
					c.reportCallback(fn, call, field, h, taker)
					return
				}
			}
		})
	}
}

// userField returns the exported field that holds the function called, if it
// returns nothing and does not just cancel a context.
func userField(call *ssa.Call) (*ssa.FieldAddr, bool) {
	field, ok := ir.Back(call.Call.Value, ir.Loaded).(*ssa.FieldAddr)
	sig := call.Call.Signature()
	cancels := strings.HasPrefix(types.TypeString(call.Call.Value.Type(), nil), "context.Cancel")
	if !ok || call.Call.IsInvoke() || cancels || sig.Results().Len() > 0 || sig.Variadic() ||
		!accesspath.FieldOf(field).Exported() {
		return nil, false
	}
	return field, true
}

// findTaker returns an exported function other than fn that takes locks of the class.
func (c *checker) findTaker(class string, fn *ssa.Function) *ssa.Function {
	for _, f := range c.list.Prog.Funcs {
		if f == fn || !c.list.Graph.Open(f) || f.Signature.Recv() == nil {
			continue
		}
		for _, taken := range c.list.Locks.Takes(f) {
			if taken == class {
				return f
			}
		}
	}
	return nil
}

func (c *checker) reportCallback(fn *ssa.Function, call *ssa.Call, field *ssa.FieldAddr, h lockset.Held,
	taker *ssa.Function) {
	prog := c.list.Prog
	name, _ := accesspath.NameOf(field)
	lock := check.Lock(prog, fn, h.Class, h.Path.String())
	side := check.Side(prog, fn, call, finding.Call, accesspath.Of(field).String())
	side.Locks = []string{h.String()}
	f := &finding.Finding{
		Title: fmt.Sprintf("callback %s.%s is called under %s", name.Type, name.Field, check.ShortName(lock)),
		Message: fmt.Sprintf("If the callback calls %s, it waits for the lock that its caller holds, forever.",
			prog.FuncName(taker)),
		Variable: finding.Variable{Package: name.Package, Type: name.Type, Name: name.Field, Kind: "callback"},
		Accesses: []finding.Access{side, check.SideAt(prog, fn, h.Since.Pos(), check.LockMode(h.Read), h.Path.String())},
	}
	c.reporter.ReportAt(f, call.Pos(), check.Note{Pos: h.Since.Pos(), Text: h.Path.String() + " is locked here"})
}
