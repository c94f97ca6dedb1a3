package parallel

import (
	"go/constant"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// signal is an event that one goroutine signals and another waits for.
type signal struct {
	sort order.Event
	path accesspath.Path
	name accesspath.Name // of the object, where it is a field or package variable
	seen bool            // a loop, or a helper that polls, has waited until it showed
}

// canceled is the signal of a context that is asked for its error: the goroutine that has canceled it, by
// a function of which nothing is known, has signalled. As with an atomic, a branch has to decide.
var canceled = signal{sort: order.Polled}

// isWeak signals order something only where a branch decides by their state.
func (s signal) isWeak() bool {
	return !s.seen && (s.sort == order.Unlock || s.sort == order.Stored || s.sort == order.Polled)
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

func signalOf(s order.Event, v ssa.Value) signal {
	name, _ := accesspath.NameOf(v)
	return signal{sort: s, path: accesspath.Of(v), name: name}
}

// mayMeet reports whether waiting for b may be waiting for a, which was given.
func (a signal) mayMeet(b signal) bool {
	switch {
	case a.sort == order.Everything || b.sort == order.Everything:
		return true
	case a.sort == order.Unknown && (b.sort == order.Unknown || b.sort == order.Polled):
		return true
	case a.sort == order.Unknown:
		return b.sort < order.Unlock && !b.isLocal()
	case b.sort == order.Unknown:
		return a.sort < order.Unlock && !a.isLocal()
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
		case len(list) == 1 && list[0].sort == order.Everything:
			return list
		case slices.Contains(list, s):
		case s.sort == order.Everything || len(list) >= knowledge.SignalsOfFunction:
			return []signal{{sort: order.Everything}}
		default:
			list = append(list, s)
		}
	}
	return list
}

// syncs is the signals that an instruction waits for, and those that it sends.
type syncs struct{ waits, gives []signal }

func (s syncs) isEmpty() bool { return len(s.waits)+len(s.gives) == 0 }

// syncsOf returns the signals of an instruction other than a call. The case of a select waits in its block; see
// [ir.Selected].
func syncsOf(instr ssa.Instruction) (s syncs) {
	for _, o := range order.Of(instr) {
		of := syncsOfOp(o)
		s.gives = append(s.gives, of.gives...)
		if _, isSelect := instr.(*ssa.Select); !isSelect {
			s.waits = append(s.waits, of.waits...)
		}
	}
	return s
}

// syncsOfOp returns the signals of an operation.
func syncsOfOp(o order.Op) (s syncs) {
	switch o.Kind {
	case order.Send:
		return syncsOfSend(o.On)
	case order.Receive:
		return receives(o.On)
	}
	gives, waits := o.Kind.Events()
	if gives != 0 {
		s.gives = []signal{signalOf(gives, o.On)}
	}
	if waits != 0 && o.On == nil {
		s.waits = []signal{{sort: waits}}
	} else if waits != 0 {
		s.waits = []signal{signalOf(waits, o.On)}
	}
	return s
}

func syncsOfSend(ch ssa.Value) syncs {
	s := syncs{gives: []signal{signalOf(order.Message, ch)}}
	if capacity(ch) <= 1 {
		s.waits = []signal{signalOf(order.Receipt, ch)}
	}
	return s
}

func receives(ch ssa.Value) syncs {
	if fromTimer(ch) {
		return syncs{}
	}
	w := signalOf(order.Message, ch)
	if call, ok := w.path.Root.(*ssa.Call); ok && call.Parent() != nil && w.name == (accesspath.Name{}) {
		w = signal{sort: order.Unknown} // such as <-ctx.Done()
	}
	s := syncs{waits: []signal{w}}
	if n := capacity(ch); n == 0 || n == 1 && isSemaphore(ch) {
		s.gives = []signal{signalOf(order.Receipt, ch)}
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
			if sent := order.On(instr, order.Send); sent != nil && accesspath.Of(sent) == path {
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

// syncsOfCall returns the signals of a call without a known summary: those of an operation, or of anything.
func syncsOfCall(instr ssa.CallInstruction) syncs {
	call := instr.Common()
	if ops := order.Of(instr); len(ops) > 0 {
		if ops[0].Kind == order.Add && isPositive(ops[0].With) {
			return syncs{}
		}
		return syncsOfOp(ops[0])
	}
	if _, ok := call.Value.(*ssa.Builtin); ok {
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
	// Of other functions locks are known, the rest of sync, and those that order nothing.
	if recv := fn.Signature.Recv(); recv != nil && len(call.Args) > 0 {
		if s, ok := lockSyncs(call.Args[0], fn.Name()); ok {
			return s
		}
		if path := ir.PackagePath(fn); path == "sync" || path == "golang.org/x/sync/errgroup" {
			s := []signal{signalOf(order.Stored, call.Args[0])}
			return syncs{s, s}
		}
	}
	if ir.OrdersNothing(fn, call.Args) {
		return syncs{}
	}
	return anything
}

func lockSyncs(recv ssa.Value, method string) (syncs, bool) {
	switch method {
	case "Lock", "RLock", "TryLock", "TryRLock":
		if lockset.IsLock(recv.Type()) {
			return syncs{waits: []signal{signalOf(order.Unlock, recv)}}, true
		}
	case "Unlock", "RUnlock":
		if lockset.IsLock(recv.Type()) {
			return syncs{gives: []signal{signalOf(order.Unlock, recv)}}, true
		}
	}
	return syncs{}, false
}

func isPositive(v ssa.Value) bool {
	n, ok := v.(*ssa.Const)
	return ok && n.Value != nil && constant.Sign(n.Value) > 0
}

// handed returns the signals that unknown code may wait for and give: by variables that it knows, and by
// the channels and WaitGroups that call hands to it, be it in a closure.
func handed(call *ssa.CallCommon) syncs {
	list := []signal{{sort: order.Unknown}}
	var object func(v ssa.Value)
	object = func(v ssa.Value) {
		if mk, ok := v.(*ssa.MakeClosure); ok {
			for _, b := range mk.Bindings {
				object(b)
			}
			return
		}
		if s := signalOf(order.Message, v); s.isLocal() {
			list = addSignals(list, s, signalOf(order.Receipt, v), signalOf(order.Ended, v))
		}
	}
	for _, arg := range call.Args {
		object(arg)
	}
	return syncs{list, list}
}
