package aliasescape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
)

// Memory is the elements of a slice or map that a field holds, reached from a
// parameter of a function (receiver first).
type Memory struct {
	Param int
	Field accesspath.Name
}

// Behaviour is the fact of the uses that a function makes of elements of fields that it reaches from its
// parameters.
type Behaviour struct {
	// Results has the memory that a result is an alias of.
	Results map[int]Memory
	// Changes lists memory that it changes in place, callees included.
	Changes []Memory
}

// AFact marks Behaviour as a fact.
func (*Behaviour) AFact() {}

func (b *Behaviour) String() string {
	var parts []string
	for i := range 8 {
		if m, ok := b.Results[i]; ok {
			parts = append(parts, fmt.Sprintf("result %d aliases %s", i, m.Field.Short()))
		}
	}
	for _, m := range b.Changes {
		parts = append(parts, "changes "+m.Field.Short())
	}
	return strings.Join(parts, "; ")
}

func (b *Behaviour) changes(m Memory) bool {
	if slices.Contains(b.Changes, m) {
		return false
	}
	b.Changes = append(b.Changes, m)
	return true
}
