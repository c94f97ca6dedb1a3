package strategy

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// mayOnlyRead reports whether an access under a read lock is a call of another module's code that no run has shown to
// write the object, as one has of another call. Its author took the side that readers take; the judge doubts it.
//
//	c.mu.RLock()
//	return c.channel.Confirm()	// shown to write: becomes a Lock
//	c.mu.RLock()
//	return c.channel.Publish(m)	// not shown to
func (p *Problem) mayOnlyRead(a *source.Access) bool {
	if !p.Bold || !p.Variable.Within || p.Variable.Written[a.Expr] || !a.CallsUnknown() {
		return false
	}
	return slices.ContainsFunc(p.Accesses, func(b *source.Access) bool { return p.Variable.Written[b.Expr] })
}

// isOfOtherSide reports whether an access calls a method of the other side of a connection than those that findings
// name. A connection of another module may be used by one reader and one writer at a time; a lock for both would let
// the writers wait for the next message.
//
//	c.ws.NextWriter(1)	// named, as c.ws.WriteMessage
//	c.ws.ReadMessage()
func (p *Problem) isOfOtherSide(a *source.Access) bool {
	if !p.Variable.Within || a.Call == nil || p.named(a) || !hasTwoSides(p.Variable.Object.Type()) {
		return false
	}
	for _, b := range p.Accesses {
		if p.named(b) && sideOf(methodOf(b)) == sideOf(methodOf(a)) {
			return false
		}
	}
	return true
}

// sides are the words in names of methods that stand for one side of a connection each.
var sides = [][]string{{"Read", "Recv", "Receive"}, {"Write", "Send", "Flush"}}

// sideOf returns the side that a method is for, -1 for one that may be for any.
func sideOf(method string) int {
	return slices.IndexFunc(sides, func(words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(method, word) })
	})
}

// hasTwoSides reports whether values of the type have methods for both sides, and are not of the standard library,
// whose connections take locks and whose buffers have one state.
func hasTwoSides(t types.Type) bool {
	n := source.Named(t)
	if n == nil || n.Obj().Pkg() == nil || !strings.Contains(n.Obj().Pkg().Path(), ".") {
		return false
	}
	methods := types.NewMethodSet(types.NewPointer(n))
	if types.IsInterface(n) {
		methods = types.NewMethodSet(n)
	}
	has := map[int]bool{}
	for m := range methods.Methods() {
		has[sideOf(m.Obj().Name())] = true
	}
	return has[0] && has[1]
}

// methodOf returns the name of the function that an access calls; "" if it calls none by a name.
func methodOf(a *source.Access) string {
	if a.Call == nil {
		return ""
	}
	if obj := typeutil.Callee(a.File.Package.Info, a.Call); obj != nil {
		return obj.Name()
	}
	return ""
}
