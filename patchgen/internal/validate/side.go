package validate

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// side is one state of the module, before or after the patch, with what the
// obligations work out of it on demand.
type side struct {
	snap  *session.Snapshot
	claim Claim

	bodies  map[string]*body    // functions with a body, by full name
	effects map[string][]effect // see effectsOf
	hazards map[string]string   // see hazardOf
	locals  map[*session.Package]token.Pos
}

// body is a function and the package that it is in.
type body struct {
	pkg *session.Package
	fn  *ssa.Function
}

func newSide(snap *session.Snapshot, claim Claim) *side {
	s := &side{snap: snap, claim: claim, bodies: map[string]*body{}, effects: map[string][]effect{},
		hazards: map[string]string{}, locals: map[*session.Package]token.Pos{}}
	for _, p := range snap.Packages {
		for _, fn := range p.IR.Funcs {
			if name := fullName(fn); name != "" {
				s.bodies[name] = &body{p, fn}
			}
		}
	}
	return s
}

// fullName names a declared function by package, receiver and name; "" for
// literals.
func fullName(fn *ssa.Function) string {
	if obj, ok := ir.Origin(fn).Object().(*types.Func); ok {
		return obj.Origin().FullName()
	}
	return ""
}

// declared names the declared function that fn stands in; what initialises
// package variables is called init.
func declared(p *session.Package, fn *ssa.Function) string {
	if name := fullName(ir.Outermost(fn)); name != "" {
		return name
	}
	return p.Path + ".init"
}

// bodyOf returns the function with its body, perhaps in another package; nil
// if the module does not hold it.
func (s *side) bodyOf(fn *ssa.Function) *body {
	if fn == nil {
		return nil
	}
	if name := fullName(fn); name != "" {
		return s.bodies[name]
	}
	return nil
}

// each visits the instructions of all functions of the package, tests left
// out, with the locks held before each.
func each(p *session.Package, visit func(*ssa.Function, ssa.Instruction, *lockset.State)) {
	for _, fn := range p.IR.Funcs {
		if !p.IR.InTest(fn) {
			p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) { visit(fn, instr, st) })
		}
	}
}

// at returns file:line of an instruction. One without a place of its
// own, such as the load of a range loop, has that of its operands.
func at(p *session.Package, instr ssa.Instruction) string {
	pos := instr.Pos()
	for _, op := range instr.Operands(nil) {
		if !pos.IsValid() && *op != nil {
			pos = (*op).Pos()
		}
	}
	if !pos.IsValid() {
		pos = instr.Parent().Pos()
	}
	where := p.Fset.PositionFor(pos, false)
	return fmt.Sprintf("%s:%d", filepath.Base(where.Filename), where.Line)
}

// short returns a class of locks, or the full name of a function, without the
// path of its package.
func short(name string) string {
	star := ""
	if rest, ok := strings.CutPrefix(name, "(*"); ok {
		star, name = "(*", rest
	}
	return star + name[strings.LastIndexByte(name, '/')+1:]
}
