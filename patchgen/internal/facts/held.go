package facts

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// IsHeldAround reports whether a function of the module is called under the write side of a lock of the class: its
// author has decided that it may be.
func (f *Facts) IsHeldAround(callee *source.Function, class string) bool {
	code := f.codeOf(callee.File)
	return code != nil && f.HeldAround()[heldName(code.functions[callee.Node.Pos()], class)]
}

// HeldAround lists the calls under the write side of a lock, by HeldCall.
func (f *Facts) HeldAround() map[string]bool {
	if f.around != nil {
		return f.around
	}
	f.around = map[string]bool{}
	for _, p := range f.Packages {
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) {
				continue
			}
			p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
				for _, h := range st.Held() {
					for _, call := range CallsRunAt(p, instr) {
						if name := f.HeldCall(call, h.Class); !h.Read && name != "" && !Released(p, call, instr, h.Class) {
							f.around[name] = true
						}
					}
				}
			})
		}
	}
	return f.around
}

// HeldCall names a call of a function of the module under a lock of a class; "" for other calls, and for locks without
// a class.
func (f *Facts) HeldCall(call ssa.CallInstruction, class string) string {
	fn, _ := callgraph.Target(call.Common())
	if fn == nil || f.Calls.Declared(fn) == nil {
		return ""
	}
	return heldName(fn, class)
}

func heldName(fn *ssa.Function, class string) string {
	if fn == nil || class == "" || callgraph.FullName(fn) == "" {
		return ""
	}
	return class + " " + callgraph.FullName(fn)
}

// CallsRunAt lists the calls that an instruction runs: itself, or where the function returns all that it has deferred.
func CallsRunAt(p *session.Package, instr ssa.Instruction) []ssa.CallInstruction {
	switch instr := instr.(type) {
	case *ssa.Call:
		return []ssa.CallInstruction{instr}
	case *ssa.RunDefers:
		var list []ssa.CallInstruction
		for d := range ir.Instructions(instr.Parent()) {
			if d, ok := d.(*ssa.Defer); ok && p.IR.Flow(instr.Parent()).Leads(d, instr) {
				list = append(list, d)
			}
		}
		return list
	}
	return nil
}

// Released reports whether a lock of the class is released before the deferred call runs: by one that was deferred
// after it.
func Released(p *session.Package, call ssa.CallInstruction, at ssa.Instruction, class string) bool {
	d, ok := call.(*ssa.Defer)
	if !ok {
		return false
	}
	for _, later := range CallsRunAt(p, at) {
		if later != call && Releases(p, later, class) && p.IR.Flow(d.Parent()).Leads(d, later) {
			return true
		}
	}
	return false
}

// Releases reports whether a call releases a lock of the class.
func Releases(p *session.Package, call ssa.CallInstruction, class string) bool {
	return Acquired(p, call) == "" && ClassOf(p, call) == class
}

// ClassOf returns the class of the lock that a call takes or releases; "" if it does neither or the lock has no class.
func ClassOf(p *session.Package, call ssa.CallInstruction) string {
	if lock := p.Locks.Receiver(call); lock != nil {
		if name, ok := accesspath.NameOf(ir.Root(lock, ir.Boxed)); ok {
			return name.String()
		}
	}
	return ""
}

// Acquired returns the class of the lock that a call itself waits for.
func Acquired(p *session.Package, call ssa.CallInstruction) string {
	if name := MethodName(call); name == "Lock" || name == "RLock" {
		return ClassOf(p, call)
	}
	return ""
}

// MethodName returns the name of the function that is called; "" if it is not known.
func MethodName(call ssa.CallInstruction) string {
	if common := call.Common(); common.IsInvoke() {
		return common.Method.Name()
	} else if fn, _ := callgraph.Target(common); fn != nil {
		return fn.Name()
	}
	return ""
}
