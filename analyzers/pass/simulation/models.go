package simulation

import (
	"go/types"
	"path"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// model stands for a function of another package. As machine.startCall does, it reports
// whether the state is still of use.
type model func(m *machine, st *state, g int, d deferred, inLine bool) bool

// models are the functions that the simulation knows. It is filled by init, since they lead back to it.
var models map[string]model

func init() {
	models = map[string]model{
		// Package sync.
		"(*sync.Mutex).Lock":       atLock(opLock),
		"(*sync.Mutex).Unlock":     atOnce(unlock),
		"(*sync.Mutex).TryLock":    tryLock(false),
		"(*sync.RWMutex).Lock":     atLock(opLock),
		"(*sync.RWMutex).Unlock":   atOnce(unlock),
		"(*sync.RWMutex).RLock":    atLock(opRLock),
		"(*sync.RWMutex).RUnlock":  atOnce(runlock),
		"(*sync.RWMutex).TryLock":  tryLock(false),
		"(*sync.RWMutex).TryRLock": tryLock(true),
		"(*sync.WaitGroup).Add":    addToWaitGroup,
		"(*sync.WaitGroup).Done":   atOnce(addDone),
		"(*sync.WaitGroup).Wait":   atLock(opWait),
		"(*sync.WaitGroup).Go":     goCounted,
		"(*sync.Cond).Wait":        atLock(opCondWait),
		"(*sync.Cond).Signal":      atLock(opSignal),
		"(*sync.Cond).Broadcast":   atLock(opBroadcast),
		"(*sync.Once).Do":          atLock(opOnce),
		"sync.NewCond":             newCond,

		// Package errgroup: a group is a WaitGroup, and its context may be done at any time.
		"golang.org/x/sync/errgroup.WithContext":       groupWithContext,
		"(*golang.org/x/sync/errgroup.Group).Go":       goCounted,
		"(*golang.org/x/sync/errgroup.Group).Wait":     atLock(opWait),
		"(*golang.org/x/sync/errgroup.Group).SetLimit": setLimit,

		"errors.New": newError,

		"context.Background":   background,
		"context.TODO":         background,
		"context.WithValue":    sameContext,
		"context.WithCancel":   withCancel(false),
		"context.WithTimeout":  withCancel(true),
		"context.WithDeadline": withCancel(true),

		"time.After":     timerModel(true),
		"time.Tick":      timerModel(false),
		"time.NewTimer":  timerStruct(true),
		"time.NewTicker": timerStruct(false),

		"(*time.Timer).Stop":   resetTimer(false),
		"(*time.Timer).Reset":  resetTimer(true),
		"(*time.Ticker).Stop":  resetTimer(false),
		"(*time.Ticker).Reset": resetTimer(true),

		"time.AfterFunc": afterFunc,

		"(*testing.T).Run":          runSubtest,
		"(*testing.common).Cleanup": cleanup,
		"runtime.Goexit":            exitGoroutine(false),
		"os.Exit":                   endTest,
		"log.Fatal":                 endTest,
		"log.Fatalf":                endTest,
		"log.Fatalln":               endTest,
	}
	for name := range models {
		if typ, method, ok := strings.Cut(name, ")."); ok && strings.HasPrefix(typ, "(*sync.") {
			methodsOfLocks[method] = true
		}
	}
	for name, f := range entries {
		models["(*sync.Map)."+name] = onEntry(f)
	}
	for name, f := range atomics {
		for _, t := range []string{"Int32", "Int64", "Uint32", "Uint64", "Uintptr", "Bool", "Pointer[T]", "Value"} {
			models["(*sync/atomic."+t+")."+name] = atomically(f)
			models["sync/atomic."+name+t] = atomically(f)
		}
	}
}

func modelOf(fn *ssa.Function) model {
	obj, ok := fn.Object().(*types.Func)
	if !ok || obj.Pkg() == nil || fn.Synthetic != "" && len(fn.Blocks) > 0 {
		return nil
	}
	switch ends, atOnce := knowledge.EndsTest(obj); {
	case atOnce:
		return exitGoroutine(true)
	case ends:
		return failTest
	}
	return models[obj.Origin().FullName()]
}

func harmless(fn *ssa.Function) bool { return knowledge.KeepsNothing(ir.Declared(fn)) }

// nextText returns the call by which a function of package fmt and the like asks the next of its arguments for its
// text, and notes that it is made: the call of fn is executed again when it has returned.
func (m *machine) nextText(st *state, g int, fn *ssa.Function, d deferred) (deferred, bool) {
	f := st.topFrame(g)
	args := m.printedArgs(st, fn, d)
	for ; f.printed < len(args); f.printed++ {
		v := args[f.printed]
		if v.kind != boxed {
			continue
		}
		typ := v.ref.at.(types.Type)
		for _, name := range []string{"Error", "String"} {
			sel := types.NewMethodSet(typ).Lookup(nil, name)
			if sel == nil || sel.Obj().(*types.Func).Signature().Params().Len() > 0 {
				continue
			}
			method, recv := m.method(st, v.ref.vals[0], typ, sel.Obj().(*types.Func))
			if method != nil && len(method.Blocks) > 0 {
				f.printed++
				return deferred{d.call, m.in.closure(method, nil), []value{recv}}, true
			}
		}
	}
	f.printed = 0
	return deferred{}, false
}

// printedArgs returns the arguments that fn prints as text, each with its type.
func (m *machine) printedArgs(st *state, fn *ssa.Function, d deferred) []value {
	if fn.Pkg == nil || len(d.args) == 0 {
		return nil
	}
	switch fn.Pkg.Pkg.Path() {
	case "fmt", "log", "testing":
	default:
		return nil
	}
	list := d.args[len(d.args)-1]
	if !fn.Signature.Variadic() || list.kind != slice {
		return nil
	}
	verbs, formatted := "", strings.HasSuffix(fn.Name(), "f")
	if formatted && len(d.args) > 1 && d.args[len(d.args)-2].kind == text {
		format, _ := strconv.Unquote(d.args[len(d.args)-2].ref.name)
		verbs = verbsOf(format)
	}
	var args []value
	from, n := list.bounds()
	for i := range n {
		if !formatted || int(i) < len(verbs) && strings.IndexByte("svq", verbs[i]) >= 0 {
			args = append(args, m.loadPlace(st, list.n, m.in.internPlace(nil, from+i), types.NewInterfaceType(nil, nil)))
		}
	}
	return args
}

// verbsOf returns the verb of each argument of a format without indexes; # stands for those of Go syntax.
func verbsOf(format string) string {
	var verbs []byte
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		start := i + 1
		for i = start; i < len(format) && strings.IndexByte("+-# 0123456789.", format[i]) >= 0; i++ {
		}
		switch {
		case i == len(format) || format[i] == '%':
		case strings.Contains(format[start:i], "#"):
			verbs = append(verbs, '#')
		default:
			verbs = append(verbs, format[i])
		}
	}
	return string(verbs)
}

// asserts reports whether fn checks something for a test and returns whether it
// holds: where it does not, the test has failed.
func asserts(fn *ssa.Function) bool {
	obj := fn.Object()
	if obj == nil || obj.Pkg() == nil || path.Base(obj.Pkg().Path()) != "assert" {
		return false
	}
	res := fn.Signature.Results()
	return res.Len() == 1 && ir.IsBool(res.At(0).Type())
}

// notWorthRunning reports whether fn is long and has nothing to do with waiting.
func (m *machine) notWorthRunning(fn *ssa.Function) bool {
	if !m.isQuiet(fn) {
		return false
	}
	return length(fn) > shortFunction
}

// callSpecial calls a builtin, or a function that a model has made.
func (m *machine) callSpecial(st *state, g int, d deferred, inLine bool) bool {
	name, bound := d.fn.ref.name, d.fn.ref.vals
	switch name {
	case "close":
		return atLock(opClose)(m, st, g, d, inLine)
	case "recover":
		return m.recover(st, g, d, inLine)
	case "cancel":
		d.args = bound
		return atLock(opClose)(m, st, g, d, inLine)
	case "context.Done":
		return m.finish(st, g, d, inLine, m.doneChannel(bound[0]))
	case "context.Err":
		if err := m.contextError(st, bound[0]); err.kind != none {
			return m.finish(st, g, d, inLine, err)
		}
		st.clouded = st.clouded || bound[0].kind == closure
	case "opaque":
		return m.opaque(st, g, d, inLine)
	}
	if strings.HasPrefix(name, "context.") || name == "unknown" {
		st.clouded = st.clouded || name == "unknown" && !quietMethod(d.call.Common())
		return m.finish(st, g, d, inLine, m.freshSymbol(st, g, d.call))
	}
	return m.finish(st, g, d, inLine, m.builtin(st, g, d))
}

// contextError returns the error of a context: nil if nothing can cancel it, and another one once it has been seen to
// be done; no value where neither is known.
func (m *machine) contextError(st *state, ctx value) value {
	ended := false
	switch done := m.doneChannel(ctx); done.kind {
	case null:
		return nilValue
	case address:
		o := st.objs[done.n]
		ended = o.ch != nil && o.ch.closed
	case symbol:
		ended, _ = st.decided(m.in.internTerm("closed", 0, done))
	}
	if !ended {
		return value{}
	}
	return m.in.internBoxed(types.Universe.Lookup("error").Type(), m.in.internTerm("context.Err", 0, ctx))
}

// doneChannel returns the channel of a context.
func (m *machine) doneChannel(ctx value) value {
	if ctx.kind == symbol {
		return m.in.internTerm("done", 0, ctx)
	}
	return ctx.ref.vals[0]
}

// quietMethod reports whether a call through an interface orders nothing.
func quietMethod(call *ssa.CallCommon) bool {
	return call.IsInvoke() && knowledge.QuietMethod(types.TypeString(call.Value.Type(), nil), call.Method.Name())
}

func background(m *machine, st *state, g int, d deferred, inLine bool) bool {
	return m.finish(st, g, d, inLine, m.in.special("context", nilValue))
}

// newError returns an error, which is not nil.
func newError(m *machine, st *state, g int, d deferred, inLine bool) bool {
	return m.finish(st, g, d, inLine, m.madeError(st, g, d))
}

func (m *machine) madeError(st *state, g int, d deferred) value {
	return m.in.internBoxed(types.Universe.Lookup("error").Type(), m.freshSymbol(st, g, d.call))
}

// outcome returns the result of a call of fn, which is not run.
func (m *machine) outcome(st *state, g int, d deferred, fn *ssa.Function) value {
	if fn.String() == "fmt.Errorf" {
		return m.madeError(st, g, d)
	}
	return m.freshSymbol(st, g, d.call)
}

// sameContext returns the context that is handed over, from which others may get the other arguments.
func sameContext(m *machine, st *state, g int, d deferred, inLine bool) bool {
	for _, v := range d.args[1:] {
		m.escape(st, v)
	}
	return m.finish(st, g, d, inLine, d.args[0])
}

// withCancel makes a context, which is done with its parent.
func withCancel(timeout bool) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		done := &channel{size: no, fires: timeout}
		ch := m.makeObject(st, d.call, g, &object{ch: done})
		if ch.kind == none {
			return false
		}
		if p := d.args[0]; p.kind != closure {
			done.fires = true // others may cancel the parent
		} else if parent := p.ref.vals[0]; parent.kind == address {
			o := st.editObject(parent.n)
			c := *o.ch
			c.children = append(c.children[:len(c.children):len(c.children)], ch.n)
			o.ch = &c
			done.fires = done.fires || c.fires
		}
		ctx := m.in.special("context", ch)
		return m.finish(st, g, d, inLine, m.in.internTuple(ctx, m.in.special("cancel", ch)))
	}
}

// groupWithContext makes an errgroup.Group and its context.
func groupWithContext(m *machine, st *state, g int, d deferred, inLine bool) bool {
	group := m.makeObject(st, d.call, g, &object{})
	ch := m.makeObject(st, d.fn.ref.at, g, &object{ch: &channel{size: no, fires: true}})
	if group.kind == none || ch.kind == none {
		return false
	}
	return m.finish(st, g, d, inLine, m.in.internTuple(group, m.in.special("context", ch)))
}

// setLimit lets some goroutines of a group wait for others.
func setLimit(m *machine, st *state, g int, d deferred, inLine bool) bool {
	st.clouded = true
	return m.finish(st, g, d, inLine, nilValue)
}

func timerModel(once bool) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		ch := &channel{size: numberValue(1), fires: true, once: once}
		return m.finish(st, g, d, inLine, m.makeObject(st, d.call, g, &object{ch: ch}))
	}
}

// timerStruct makes a Timer, which fires once, or a Ticker.
func timerStruct(once bool) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		t := m.makeObject(st, d.call, g, &object{})
		ch := m.makeObject(st, d.fn.ref.at, g, &object{ch: &channel{size: numberValue(1), fires: true, once: once}})
		if t.kind == none || ch.kind == none {
			return false
		}
		m.storePlace(st, t.n, m.in.internPlace(nil, 0), ch) // C is the first field
		return m.finish(st, g, d, inLine, t)
	}
}

// resetTimer stops a Timer or Ticker or sets it again, and returns whether it was still to fire; nothing is received
// from it after Stop.
func resetTimer(again bool) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		id, p, ok := m.target(st, d.args[0])
		if !ok {
			return false
		}
		ch := m.loadPlace(st, id, m.in.internPlace(p, 0), types.Typ[types.UntypedNil])
		if ch.kind != address || st.objs[ch.n].ch == nil {
			st.clouded = true
			if ch.kind == null { // the function of one that has one was started at once
				return m.finish(st, g, d, inLine, no)
			}
			return m.finish(st, g, d, inLine, m.freshSymbol(st, g, d.call))
		}
		fires := st.objs[ch.n].ch.fires
		m.editChannel(st, ch, func(c *channel) { c.fires = again })
		return m.finish(st, g, d, inLine, truthValue(fires))
	}
}

// afterFunc starts the function of a Timer at once, and returns the Timer, which has no channel.
func afterFunc(m *machine, st *state, g int, d deferred, inLine bool) bool {
	t := m.makeObject(st, d.call, g, &object{})
	if t.kind == none {
		return false
	}
	m.storePlace(st, t.n, m.in.internPlace(nil, 0), nilValue) // C
	return m.finish(st, g, d, inLine, t) && m.startGoroutine(st, g, d.call, d.args[1], nil, hook{})
}

// exitGoroutine ends the goroutine, after its deferred calls.
func exitGoroutine(fails bool) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		st.failed = st.failed || fails && g == 0
		st.failing = st.failing || fails
		st.topFrame(g).leaving = exiting
		return true
	}
}

func failTest(m *machine, st *state, g int, d deferred, inLine bool) bool {
	st.failed, st.failing = st.failed || g == 0, true
	return m.finish(st, g, d, inLine, nilValue)
}

func endTest(m *machine, st *state, g int, d deferred, inLine bool) bool {
	st.over = true
	return true
}

// runSubtest runs the subtest in place: those that are parallel come later, but do the same.
func runSubtest(m *machine, st *state, g int, d deferred, inLine bool) bool {
	d.fn, d.args = d.args[2], d.args[:1]
	return m.startCall(st, g, d, inLine)
}

// newCond makes a Cond with the argument as its field L, the second one.
func newCond(m *machine, st *state, g int, d deferred, inLine bool) bool {
	c := m.makeObject(st, d.call, g, &object{})
	if c.kind == none {
		return false
	}
	m.storePlace(st, c.n, m.in.internPlace(nil, condL), d.args[0])
	return m.finish(st, g, d, inLine, c)
}

const condL = 1 // the field L of sync.Cond
