// Package order is the table of the operations by which goroutines order each other: which instruction starts a
// goroutine, sends, closes, counts or waits, on which object, and which event orders it with the operations of others.
// It is a library, not a pass. Passes that ask whether two places may run at the same time share it.
//
// Locks are not in the table, see package lockset: a lock orders two places in either direction.
//
// Missed: operations behind interfaces and function values; of method values, those of atomics and of Once, as users of
// these read the arguments of the call.
//
// Cost: constant for an instruction.
package order

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/excuse"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// Op is an operation that an instruction carries out.
type Op struct {
	Kind Kind
	On   ssa.Value // the channel, or the address of the other object; nil for a start
	With ssa.Value // the number that is added, or the value that is stored; nil for others
	Pos  token.Pos
	// Alone: it blocks until its other side is there; a case of a select with further cases, or with a default, does not.
	Alone bool
	Polls bool // a case of a select with a default
}

// Of lists the operations of an instruction: one, or the cases of a select. A deferred call counts where it is
// deferred.
func Of(instr ssa.Instruction) []Op {
	switch instr := instr.(type) {
	case *ssa.Send:
		return known(Op{Kind: Send, On: instr.Chan, Pos: instr.Pos(), Alone: true})
	case *ssa.UnOp:
		if instr.Op == token.ARROW {
			return known(Op{Kind: Receive, On: instr.X, Pos: instr.Pos(), Alone: true})
		}
	case *ssa.Select:
		// One of the cases is carried out, or none where there is a default.
		var cases []Op
		for _, c := range instr.States {
			o := Op{Receive, c.Chan, nil, c.Pos, instr.Blocking && len(instr.States) == 1, !instr.Blocking}
			if c.Dir == types.SendOnly {
				o.Kind = Send
			}
			cases = append(cases, known(o)...)
		}
		return cases
	case *ssa.Go:
		return known(Op{Kind: Start, Pos: instr.Pos()})
	case ssa.CallInstruction:
		return calls(instr)
	}
	return nil
}

// calls lists the operation of a call.
func calls(instr ssa.CallInstruction) []Op {
	o := opOfCall(instr.Common())
	if o.Kind == 0 {
		return nil
	}
	o.Pos, o.Alone = instr.Pos(), o.Kind == Wait
	return known(o)
}

// Find returns the operation that instr surely carries out, if it is of one of the kinds. That of a select is none:
// package ssa has a select with one case as a send or receive. A go statement closes and counts down as the call that
// it starts does, somewhat later.
func Find(instr ssa.Instruction, kinds Kind) (o Op, ok bool) {
	list := Of(instr)
	switch instr := instr.(type) {
	case *ssa.Select:
		return Op{}, false
	case *ssa.Go:
		if kinds&Start == 0 {
			list, kinds = calls(instr), kinds&(Close|Done)
		}
	}
	if len(list) == 1 && list[0].Kind&kinds != 0 {
		return list[0], true
	}
	return Op{}, false
}

// On returns the object of that operation; nil for others.
func On(instr ssa.Instruction, kinds Kind) ssa.Value {
	o, _ := Find(instr, kinds)
	return o.On
}

// May reports whether instr may carry out an operation of one of the kinds.
func May(instr ssa.Instruction, kinds Kind) bool {
	_, ok := Find(instr, kinds)
	return ok || slices.ContainsFunc(Of(instr), func(o Op) bool { return o.Kind&kinds != 0 })
}

// known returns o as a list; none if its row is switched off.
func known(o Op) []Op {
	if excuse.IsOff(rows[o.Kind].name) {
		return nil
	}
	return []Op{o}
}

// opOfCall returns the operation of a call; without a kind for others.
func opOfCall(call *ssa.CallCommon) (o Op) {
	if b, ok := call.Value.(*ssa.Builtin); ok {
		if b.Name() == "close" {
			return Op{Kind: Close, On: call.Args[0]}
		}
		return Op{}
	}
	fn, args := callgraph.Target(call)
	if fn == nil {
		return Op{}
	}
	if len(args) > 0 {
		o.On = args[0]
	}
	// set := flag.Store; set(true) has its object bound.
	isBound := len(args) > len(call.Args)
	switch ir.PackagePath(fn) {
	case "sync", "golang.org/x/sync/errgroup", "testing/synctest":
		if k := byName[fn.String()]; k != Once || !isBound {
			o.Kind = k
		}
	case "sync/atomic":
		if obj, _ := fn.Object().(*types.Func); o.On != nil && !isBound {
			o.Kind = atomics[syncapi.Atomic(obj)]
		}
	}
	if o.Kind&(Add|Store) != 0 && len(args) > 1 {
		o.With = args[1]
	}
	return o
}

// atomics has the kinds of the operations of package sync/atomic.
var atomics = map[string]Kind{
	"Load": Load, "Store": Store,
	"Add": Update, "Swap": Update, "CompareAndSwap": Update, "And": Update, "Or": Update,
}
