package validate

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// facts are what is worked out of one state of the module, before or after a
// patch, whatever the patch claims.
type facts struct {
	snap     *session.Snapshot
	bodies   map[string]*body                // functions with a body, by full name
	effects  map[string][]effect             // see effectsOf; filled on demand
	hazards  map[string]string               // see hazardOf; filled on demand
	around   map[string]bool                 // see heldAround; made on demand
	methods  map[string][]*body              // by name and signature
	exported []*body                         // methods of which a template or reflect may call any
	piles    map[*ssa.Function]*pileUp       // see pilesOf; filled on demand
	runs     map[ssa.CallInstruction][]*body // see targets; filled on demand
	asked    []*body                         // methods that libraries look for in any value, such as String
	values   map[string][]*body              // functions used as values, by signature, see addCallee
	takes    map[*ssa.Function]classSet      // see sumTakes; made on demand
	graph    *lockGraph                      // see lockGraph; made on demand
	// unnamedOps are operations on channels without a name; see unnamed, filled on demand.
	unnamedOps map[*session.Package][]*syncops.Op
	unset      map[string]bool // package variables that are not set once; see isSetOnce, made on demand
}

// side is one state of the module in the light of a claim.
type side struct {
	*facts
	claim Claim

	locals   map[*session.Package]token.Pos              // see local
	mentions map[*session.Package]map[*ssa.Function]bool // see mentioning
}

// body is a function and the package that it is in.
type body struct {
	pkg *session.Package
	fn  *ssa.Function
}

func newFacts(snap *session.Snapshot) *facts {
	f := &facts{snap: snap, bodies: map[string]*body{}, effects: map[string][]effect{}, hazards: map[string]string{},
		methods: map[string][]*body{}, values: map[string][]*body{}, piles: map[*ssa.Function]*pileUp{},
		runs:       map[ssa.CallInstruction][]*body{},
		unnamedOps: map[*session.Package][]*syncops.Op{}}
	values := usedAsValues(snap)
	for _, p := range snap.Packages {
		for _, fn := range p.IR.Funcs {
			b := &body{p, fn}
			if name := fullName(fn); name != "" {
				f.bodies[name] = b
			}
			if !p.IR.InTest(fn) {
				f.addCallee(b, values[fullName(fn)] || values[fn.String()])
			}
		}
	}
	return f
}

// usedAsValues returns the functions that are values where the call graph does not see it, by full name, literals as
// ssa writes them: methods that are used as (*T).String is, as it knows the function that is made for these; and what
// initialises package variables.
//
//	var columns = map[string]func(*row) string{"name": (*row).name, "id": plain}
func usedAsValues(snap *session.Snapshot) map[string]bool {
	found := map[string]bool{}
	for _, p := range snap.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			for _, op := range instr.Operands(nil) {
				if fn, ok := (*op).(*ssa.Function); ok && strings.HasPrefix(fn.Synthetic, "thunk") {
					found[fullName(fn)] = true
				}
			}
		})
		for _, b := range p.IR.Pkg.Func("init").Blocks {
			for _, instr := range b.Instrs {
				call, isCall := instr.(ssa.CallInstruction)
				for i, op := range instr.Operands(nil) {
					fn, ok := (*op).(*ssa.Function)
					if !ok || isCall && i == 0 && !call.Common().IsInvoke() {
						continue
					}
					found[cmp.Or(fullName(fn), fn.String())] = true
				}
			}
		}
	}
	return found
}

func newSide(f *facts, claim Claim) *side {
	return &side{facts: f, claim: claim, locals: map[*session.Package]token.Pos{},
		mentions: map[*session.Package]map[*ssa.Function]bool{}}
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
func (s *facts) bodyOf(fn *ssa.Function) *body {
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
