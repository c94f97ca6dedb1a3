package guards

import (
	"strings"

	"github.com/interlock-go/interlock/analyzers/pass/accesses"
)

// Guard is the lock that guards a variable, and how far its accesses agree.
type Guard struct {
	Variable *accesses.Variable
	Lock     string // as the source writes it: "c.mu"
	Class    string // of the lock: pkg.Type.field, pkg.var; "" if it has no such name
	With     int    // accesses that hold it
	Of       int    // accesses that hold it, and those that do not and should
	Named    bool   // an annotation names it
}

// All lists the variables of a package that a lock guards. It judges as [Analyzer] does.
func All(list *accesses.List, annotated Annotated) (all []Guard) {
	c := &checker{list: list, annotations: annotated}
	for _, v := range variables(list) {
		g := c.guardOf(v)
		if g == nil {
			continue
		}
		_, named := annotated[v.Accesses[0].Obj]
		all = append(all, Guard{v, g.text, g.lockClass(), len(g.with), len(g.with) + len(g.without), named})
	}
	return all
}

// lockClass returns the class of the lock, by the first access that holds it under its name.
func (g *guard) lockClass() string {
	for _, a := range g.with {
		for _, h := range a.Locks.Held() {
			path := h.Path.String()
			if path == g.text || strings.HasSuffix(path, "."+g.text) || strings.HasSuffix(h.Class, "/"+g.text) {
				return h.Class
			}
		}
	}
	return ""
}
