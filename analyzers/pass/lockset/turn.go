package lockset

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// A channel with room for one message is a lock where all its users both send and receive:
//
//	l.sem <- struct{}{}              turn := make(chan struct{}, 1)
//	defer func() { <-l.sem }()       turn <- struct{}{} // released at first
//	f()                              go func() { <-turn; f(); turn <- struct{}{} }()
//
// Such a lock is among [State.Turns] and not among those of [State.Held]: it orders the code under it, but no
// guard is inferred from it, and no patch takes it.

// turnPrefix begins the classes of channels.
const turnPrefix = "chan "

func isTurn(class string) bool {
	return strings.HasPrefix(class, turnPrefix) || strings.HasPrefix(class, flagPrefix)
}

// channel is the use that the package makes of a local channel, or of those of a field or package variable.
type channel struct {
	single bool // made with room for one message
	other  bool // made otherwise too, or used otherwise than by sends and receives
	maker  *ssa.Function
	users  map[*ssa.Function]*traffic
}

// traffic is how often a function sends to a channel and receives from it.
type traffic struct{ sends, receives int }

// findTurns finds the channels that are locks, and by which operation they are acquired.
func (r *Result) findTurns() {
	all := map[string]*channel{}
	for _, fn := range r.prog.Funcs {
		for instr := range ir.Instructions(fn) {
			r.noteChannels(all, fn, instr)
		}
	}
	for class, c := range all {
		if !c.single || c.other {
			continue
		}
		// The function that makes a channel which is released at first sends once more than it receives.
		filled := false
		if u := c.users[c.maker]; u != nil && u.sends == u.receives+1 {
			filled = true
			delete(c.users, c.maker)
		}
		both := len(c.users) > 0
		for _, u := range c.users {
			both = both && u.sends > 0 && u.receives > 0
		}
		if both {
			r.turns[class] = turn{bySending: !filled}
		}
	}
}

// turn is a channel that is a lock.
type turn struct{ bySending bool } // it is acquired by a send, and released by a receive; else the other way round

// noteChannels notes how instr uses channels.
func (r *Result) noteChannels(all map[string]*channel, fn *ssa.Function, instr ssa.Instruction) {
	at := func(v ssa.Value) *channel {
		class := channelClass(v)
		if all[class] == nil {
			all[class] = &channel{users: map[*ssa.Function]*traffic{}}
		}
		return all[class]
	}
	use := func(v ssa.Value) *traffic {
		c, user := at(v), activation(fn)
		if c.users[user] == nil {
			c.users[user] = &traffic{}
		}
		return c.users[user]
	}
	var known ssa.Value // the operand of which the use is known
	switch instr := instr.(type) {
	case *ssa.DebugRef, *ssa.MakeClosure:
		return
	case *ssa.MakeChan:
		at(instr).noteMade(instr, fn)
	case *ssa.Send:
		known = instr.Chan
		use(known).sends++
	case *ssa.UnOp:
		known = instr.X
		if instr.Op == token.ARROW {
			use(known).receives++
		}
	case *ssa.Store:
		known = instr.Addr
		mk, isMake := instr.Val.(*ssa.MakeChan)
		if !isMake {
			break
		}
		if name, ok := accesspath.NameOf(known); ok {
			c := at(known)
			c.noteMade(mk, fn)
			c.other = c.other || token.IsExported(name.Field) || countUses(mk) > 1
		}
		return
	}
	for _, operand := range instr.Operands(nil) {
		if *operand != nil && *operand != known && isChannel((*operand).Type()) {
			at(*operand).other = true
		}
	}
	if store, ok := instr.(*ssa.Store); ok && isChannel(store.Val.Type()) {
		at(store.Addr).other = true
	}
}

// noteMade notes that fn makes the channel.
func (c *channel) noteMade(mk *ssa.MakeChan, fn *ssa.Function) {
	size, ok := mk.Size.(*ssa.Const)
	c.single, c.maker = true, activation(fn)
	c.other = c.other || !ok || size.Value == nil || !constant.Compare(size.Value, token.EQL, constant.MakeInt64(1))
}

// countUses counts the instructions that use v.
func countUses(v ssa.Value) (n int) {
	for _, ref := range *v.Referrers() {
		if _, ok := ref.(*ssa.DebugRef); !ok {
			n++
		}
	}
	return n
}

// isChannel reports whether t is a channel or a pointer to one.
func isChannel(t types.Type) bool {
	_, ok := ir.Pointee(t).Underlying().(*types.Chan)
	return ok
}

// channelClass names the local channel v, or the field or package variable that holds it.
func channelClass(v ssa.Value) string {
	if mk, ok := accesspath.Of(v).Root.(*ssa.MakeChan); ok && accesspath.Of(v).Fields == "" {
		return turnPrefix + fmt.Sprint(mk.Pos())
	}
	if name, ok := accesspath.NameOf(v); ok {
		return turnPrefix + name.String()
	}
	return turnPrefix
}

// activation returns the function that fn runs as a part of: a literal that is called or deferred where it
// stands belongs to the function around it.
func activation(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil && calledInPlace(fn) {
		fn = fn.Parent()
	}
	return fn
}

func calledInPlace(fn *ssa.Function) bool {
	return slices.ContainsFunc(*fn.Referrers(), func(ref ssa.Instruction) bool {
		mk, ok := ref.(*ssa.MakeClosure)
		return ok && slices.ContainsFunc(*mk.Referrers(), func(ref ssa.Instruction) bool {
			call, ok := ref.(ssa.CallInstruction)
			_, isGo := ref.(*ssa.Go)
			return ok && !isGo && call.Common().Value == mk
		})
	})
}

// IsTurn reports whether instr acquires or releases a channel that is a lock.
func (r *Result) IsTurn(instr ssa.Instruction) bool {
	_, ok := r.turnOp(instr)
	return ok
}

// turnOp returns the operation on a lock that a send or receive is.
func (r *Result) turnOp(instr ssa.Instruction) (o op, ok bool) {
	var ch ssa.Value
	sends := false
	switch instr := instr.(type) {
	case *ssa.Send:
		ch, sends = instr.Chan, true
	case *ssa.UnOp:
		if instr.Op == token.ARROW {
			ch = instr.X
		}
	}
	if ch == nil {
		return op{}, false
	}
	o = op{kind: unlock, path: accesspath.Of(ch), class: channelClass(ch)}
	t, ok := r.turns[o.class]
	if t.bySending == sends {
		o.kind = lock
	}
	return o, ok
}

// afterTurn returns the state after a send or receive.
func (r *Result) afterTurn(s *State, instr ssa.Instruction) *State {
	o, ok := r.turnOp(instr)
	switch {
	case !ok:
		return s
	case o.kind == lock:
		return s.acquire(o.path, hold{status: held, since: instr, class: o.class})
	}
	return s.release(o.path, o.class)
}
