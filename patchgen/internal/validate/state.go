package validate

import (
	"fmt"
	"go/token"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// state is what is worked out of one state of the module, before or after a patch, whatever the patch claims.
type state struct {
	*facts.Facts
	effects map[*ssa.Function][]effect              // see effectsOf; filled on demand
	piles   map[*ssa.Function]*pileUp               // see pilesOf; filled on demand
	takes   map[*ssa.Function]classSet              // see sumTakes; made on demand
	graph   *lockGraph                              // see lockGraph; made on demand
	callers map[*ssa.Function][]ssa.CallInstruction // see callersOf; made on demand
	waits   []waitOp                                // see waitOps; made on demand
	backs   *backs                                  // see sumBacks; made on demand
	// unnamedOps are operations on channels without a name; see unnamed, filled on demand.
	unnamedOps map[*session.Package][]*syncops.Op
	unset      map[string]bool // package variables that are not set once; see isSetOnce, made on demand
}

// side is one state of the module in the light of a claim.
type side struct {
	*state
	claim Claim

	locals   map[*session.Package]token.Pos              // see local
	mentions map[*session.Package]map[*ssa.Function]bool // see mentioning
	atomics  map[atomicsIn][]part                        // see atomicParts
	inFields map[atomicsIn][]part                        // see fieldParts
	counts   map[ssa.Instruction]bool                    // see countings; made on demand
}

func newState(f *facts.Facts) *state {
	return &state{Facts: f, effects: map[*ssa.Function][]effect{},
		piles: map[*ssa.Function]*pileUp{}, unnamedOps: map[*session.Package][]*syncops.Op{}}
}

func newSide(s *state, claim Claim) *side {
	return &side{state: s, claim: claim, locals: map[*session.Package]token.Pos{},
		mentions: map[*session.Package]map[*ssa.Function]bool{}, atomics: map[atomicsIn][]part{},
		inFields: map[atomicsIn][]part{}}
}

// declared names the declared function that fn stands in; what initialises
// package variables is called init.
func declared(p *session.Package, fn *ssa.Function) string {
	if name := callgraph.FullName(ir.Outermost(fn)); name != "" {
		return name
	}
	return p.Path + ".init"
}

// guess names the function that a call may run, where that is a guess; "" for calls that are followed.
func (s *state) guess(call ssa.CallInstruction, fn *ssa.Function) string {
	if !callgraph.IsGuess(call, fn) {
		return ""
	}
	return declared(s.Of(fn), fn)
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
func at(p *session.Package, instr ssa.Instruction) string { return placeOf(p, posOf(instr)) }

// placeOf returns file:line of a position. What initializes a package has none.
func placeOf(p *session.Package, pos token.Pos) string {
	if !pos.IsValid() {
		return "the initialization of package " + p.Types.Name()
	}
	where := p.Fset.PositionFor(pos, false)
	return fmt.Sprintf("%s:%d", filepath.Base(where.Filename), where.Line)
}

// posOf returns the position of an instruction, or of its operands, or of its function.
func posOf(instr ssa.Instruction) token.Pos {
	pos := instr.Pos()
	for _, op := range instr.Operands(nil) {
		if !pos.IsValid() && *op != nil {
			pos = (*op).Pos()
		}
	}
	if !pos.IsValid() {
		pos = instr.Parent().Pos()
	}
	return pos
}

// short returns a class of locks, or the full name of a function, without the
// path of its package.
func short(name string) string {
	rest := strings.TrimLeft(name, "(*")
	return name[:len(name)-len(rest)] + rest[strings.LastIndexByte(rest, '/')+1:]
}
