package parallel

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// sort is the kind of a signal. Waiting for one is ordered after giving one
// of the same sort and object.
type sort byte

const (
	message    sort = iota + 1 // sent or closed; received
	receipt                    // received; sent, where no buffer takes the message
	done                       // WaitGroup, Once, Cond, errgroup
	unlock                     // a lock released; taken
	stored                     // an atomic stored; loaded
	halted                     // a timer's function has run; or has been kept from it
	polled                     // code of which nothing is known; asked for, not waited for
	unknown                    // code of which nothing is known
	everything                 // more signals than are kept apart
)

// signal is an event that one goroutine signals and another waits for.
type signal struct {
	sort sort
	path accesspath.Path
	name accesspath.Name // of the object, where it is a field or package variable
	seen bool            // a loop, or a helper that polls, has waited until it showed
}

// canceled is the signal of a context that is asked for its error: the goroutine that has canceled it, by
// a function of which nothing is known, has signalled. As with an atomic, a branch has to decide.
var canceled = signal{sort: polled}

// isWeak signals order something only where a branch decides by their state.
func (s signal) isWeak() bool {
	return !s.seen && (s.sort == unlock || s.sort == stored || s.sort == polled)
}

// isLocal reports whether the object is a local variable, which unknown code has
// only where it is handed over; see [handed].
func (s signal) isLocal() bool {
	if s.path.Fields != "" {
		return false
	}
	switch s.path.Root.(type) {
	case *ssa.Alloc, *ssa.MakeChan:
		return true
	}
	return false
}

func signalOf(s sort, v ssa.Value) signal {
	name, _ := accesspath.NameOf(v)
	return signal{sort: s, path: accesspath.Of(v), name: name}
}

// mayMeet reports whether waiting for b may be waiting for a, which was given.
func (a signal) mayMeet(b signal) bool {
	switch {
	case a.sort == everything || b.sort == everything:
		return true
	case a.sort == unknown && (b.sort == unknown || b.sort == polled):
		return true
	case a.sort == unknown:
		return b.sort < unlock && !b.isLocal()
	case b.sort == unknown:
		return a.sort < unlock && !a.isLocal()
	case a.sort != b.sort:
		return false
	}
	return a.path.Root != nil && a.path == b.path || a.name != accesspath.Name{} && a.name == b.name
}

// anyMeet reports whether one of waits may wait for one of given.
func anyMeet(given, waits []signal) bool {
	return slices.ContainsFunc(waits, func(w signal) bool {
		return slices.ContainsFunc(given, func(g signal) bool { return g.mayMeet(w) })
	})
}

// addSignals adds signals that list has not; too many become one that orders everything.
func addSignals(list []signal, more ...signal) []signal {
	for _, s := range more {
		switch {
		case len(list) == 1 && list[0].sort == everything:
			return list
		case slices.Contains(list, s):
		case s.sort == everything || len(list) >= knowledge.SignalsOfFunction:
			return []signal{{sort: everything}}
		default:
			list = append(list, s)
		}
	}
	return list
}

// syncs is the signals that an instruction waits for, and those that it sends.
type syncs struct{ waits, gives []signal }

func (s syncs) isEmpty() bool { return len(s.waits)+len(s.gives) == 0 }

// syncsOf returns the signals of an instruction other than a call.
func syncsOf(instr ssa.Instruction) syncs {
	switch instr := instr.(type) {
	case *ssa.Send:
		return syncsOfSend(instr.Chan)
	case *ssa.UnOp:
		if instr.Op == token.ARROW {
			return receives(instr.X)
		}
	case *ssa.Select:
		// The signal of a case holds in its block; see [chosen].
		var s syncs
		for _, c := range instr.States {
			if c.Dir == types.SendOnly {
				s.gives = append(s.gives, syncsOfSend(c.Chan).gives...)
			} else {
				s.gives = append(s.gives, receives(c.Chan).gives...)
			}
		}
		return s
	}
	return syncs{}
}

func syncsOfSend(ch ssa.Value) syncs {
	s := syncs{gives: []signal{signalOf(message, ch)}}
	if capacity(ch) <= 1 {
		s.waits = []signal{signalOf(receipt, ch)}
	}
	return s
}

func receives(ch ssa.Value) syncs {
	if fromTimer(ch) {
		return syncs{}
	}
	w := signalOf(message, ch)
	if call, ok := w.path.Root.(*ssa.Call); ok && call.Parent() != nil && w.name == (accesspath.Name{}) {
		w = signal{sort: unknown} // such as <-ctx.Done()
	}
	s := syncs{waits: []signal{w}}
	if n := capacity(ch); n == 0 || n == 1 && isSemaphore(ch) {
		s.gives = []signal{signalOf(receipt, ch)}
	}
	return s
}

// capacity returns the buffer of a channel; 0 if it may have none.
func capacity(ch ssa.Value) int64 {
	mk, ok := accesspath.Of(ch).Root.(*ssa.MakeChan)
	if !ok || accesspath.Of(ch).Fields != "" {
		return 0
	}
	if c, ok := mk.Size.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Int {
		return c.Int64()
	}
	return 0
}

// isSemaphore reports whether one function both sends to the channel and
// receives from it, as a function does that takes a token and returns it.
func isSemaphore(ch ssa.Value) bool {
	path := accesspath.Of(ch)
	fn := ch.Parent()
	if fn == nil {
		return false
	}
	found := false
	search := func(f *ssa.Function) {
		for instr := range ir.Instructions(f) {
			if send, ok := instr.(*ssa.Send); ok && accesspath.Of(send.Chan) == path {
				found = true
			}
		}
	}
	search(fn)
	if fn.Parent() != nil && !found { // sem <- x; defer func() { <-sem }()
		for _, ref := range *fn.Referrers() {
			if mk, ok := ref.(*ssa.MakeClosure); ok && !startedBy(mk) {
				search(fn.Parent())
			}
		}
	}
	return found
}

func startedBy(mk *ssa.MakeClosure) bool {
	return slices.ContainsFunc(*mk.Referrers(), func(ref ssa.Instruction) bool {
		_, ok := ref.(*ssa.Go)
		return ok
	})
}

// fromTimer reports whether time alone sends on the channel.
func fromTimer(ch ssa.Value) bool {
	if name, ok := accesspath.NameOf(ch); ok {
		return name.Package == "time"
	}
	call, ok := ch.(*ssa.Call)
	return ok && call.Call.StaticCallee() != nil && ir.PackagePath(call.Call.StaticCallee()) == "time"
}

// caseSyncs returns the signals that were waited for in a case of a select; nil for none.
func caseSyncs(state *ssa.SelectState) []signal {
	switch {
	case state == nil:
		return nil
	case state.Dir == types.SendOnly:
		return syncsOfSend(state.Chan).waits
	}
	return receives(state.Chan).waits
}

// syncsOfCall returns the signals of a call without a known summary: an
// operation of package sync, or anything.
func syncsOfCall(call *ssa.CallCommon) syncs {
	if b, ok := call.Value.(*ssa.Builtin); ok {
		if b.Name() == "close" {
			return syncs{gives: []signal{signalOf(message, call.Args[0])}}
		}
		return syncs{}
	}
	// A method behind an interface or a function value may do anything, except for a lock and a few known methods.
	anything := handed(call)
	if call.IsInvoke() {
		if s, ok := lockSyncs(call.Value, call.Method.Name()); ok {
			return s
		}
		if call.Method.Name() == "Err" && types.TypeString(call.Value.Type(), nil) == "context.Context" {
			return syncs{waits: []signal{canceled}}
		}
		if knowledge.QuietMethod(types.TypeString(call.Value.Type(), nil), call.Method.Name()) {
			return syncs{}
		}
		return anything
	}
	fn := ir.Origin(call.StaticCallee())
	if fn == nil {
		return anything
	}
	// Of other functions those of sync are known, and those that order nothing.
	if recv := fn.Signature.Recv(); recv != nil && len(call.Args) > 0 {
		if s, ok := lockSyncs(call.Args[0], fn.Name()); ok {
			return s
		}
		if s, ok := syncSyncs(fn, call.Args, recv); ok {
			return s
		}
	}
	switch path := ir.PackagePath(fn); {
	case path == "testing/synctest" && fn.Name() == "Wait": // all other goroutines of the bubble wait, or have ended
		return syncs{waits: []signal{{sort: everything}}}
	case path == "sync/atomic" && len(call.Args) > 0:
		return atomicSyncs(fn, call.Args[0])
	case knowledge.OrdersNothing(ir.Declared(fn)):
		return syncs{}
	}
	return anything
}

func lockSyncs(recv ssa.Value, method string) (syncs, bool) {
	switch method {
	case "Lock", "RLock", "TryLock", "TryRLock":
		if lockset.IsLock(recv.Type()) {
			return syncs{waits: []signal{signalOf(unlock, recv)}}, true
		}
	case "Unlock", "RUnlock":
		if lockset.IsLock(recv.Type()) {
			return syncs{gives: []signal{signalOf(unlock, recv)}}, true
		}
	}
	return syncs{}, false
}

func atomicSyncs(fn *ssa.Function, addr ssa.Value) syncs {
	s := []signal{signalOf(stored, addr)}
	switch {
	case strings.HasPrefix(fn.Name(), "Load"):
		return syncs{waits: s}
	case strings.HasPrefix(fn.Name(), "Store"):
		return syncs{gives: s}
	}
	return syncs{s, s}
}

// syncSyncs knows the methods of package sync and of errgroup beside locks.
func syncSyncs(fn *ssa.Function, args []ssa.Value, recv *types.Var) (syncs, bool) {
	s := []signal{signalOf(done, args[0])}
	switch types.TypeString(recv.Type(), nil) + "." + fn.Name() {
	case "*sync.WaitGroup.Wait", "*sync.Cond.Wait", "*golang.org/x/sync/errgroup.Group.Wait":
		return syncs{waits: s}, true
	case "*sync.WaitGroup.Done", "*sync.Cond.Signal", "*sync.Cond.Broadcast":
		return syncs{gives: s}, true
	case "*sync.WaitGroup.Add": // of a negative number it is Done
		if n, ok := args[1].(*ssa.Const); ok && n.Value != nil && constant.Sign(n.Value) > 0 {
			return syncs{}, true
		}
		return syncs{gives: s}, true
	case "*sync.Once.Do":
		return syncs{s, s}, true
	}
	switch ir.PackagePath(fn) {
	case "sync", "golang.org/x/sync/errgroup":
		s[0].sort = stored
		return syncs{s, s}, true
	}
	return syncs{}, false
}

// handed returns the signals that unknown code may wait for and give: by variables that it knows, and by
// the channels and WaitGroups that call hands to it, be it in a closure.
func handed(call *ssa.CallCommon) syncs {
	list := []signal{{sort: unknown}}
	var object func(v ssa.Value)
	object = func(v ssa.Value) {
		if mk, ok := v.(*ssa.MakeClosure); ok {
			for _, b := range mk.Bindings {
				object(b)
			}
			return
		}
		if s := signalOf(message, v); s.isLocal() {
			list = addSignals(list, s, signalOf(receipt, v), signalOf(done, v))
		}
	}
	for _, arg := range call.Args {
		object(arg)
	}
	return syncs{list, list}
}
