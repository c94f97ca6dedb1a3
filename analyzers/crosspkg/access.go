package crosspkg

import (
	"fmt"
	"path"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Access is one access to a field or package variable that others may reach, with the facts that a judgement
// needs.
type Access struct {
	finding.Access
	// Alike counts further accesses of the same function that say the same.
	Alike  int  `json:"alike,omitempty"`
	Map    bool `json:"map,omitempty"`    // the map itself, not the variable that holds it
	Update bool `json:"update,omitempty"` // x++, x += f, m[k]++

	// Place is the type of the object accessed, and the fields selected in it
	// without following a pointer.
	Place []string `json:"place,omitempty"`
	Held  []Held   `json:"held,omitempty"` // locks that are surely held
	// May lists the classes of locks that may be held, those that surely are included.
	May     []string `json:"may,omitempty"`
	Unknown bool     `json:"unknown,omitempty"` // a caller may hold others
	// Ordered: a lock of Held stays locked when the function that took it returns, so that unseen code may run
	// under it.
	Ordered bool `json:"ordered,omitempty"`

	// Exempt: it says nothing against a guard, as it may come before the object
	// is shared, or a comment says that it needs no lock.
	Exempt bool `json:"exempt,omitempty"`
	// SetUp: it belongs to the making of the object, or the object may have been made for this function alone.
	SetUp bool `json:"set_up,omitempty"`
	// Others: more than one goroutine may come there.
	Others bool `json:"others,omitempty"`
	// Lone: it is all that an exported function does under its lock, or takes the object down there.
	Lone bool `json:"lone,omitempty"`
	// Ignored are the codes that a directive suppresses there.
	Ignored []finding.Code `json:"ignored,omitempty"`
}

// Held is a lock that is held at an [Access].
type Held struct {
	Class string `json:"class"`
	Read  bool   `json:"read,omitempty"` // the read side only
	// Near: it lies in an object that the variable lies in too, or is a
	// package variable.
	Near bool   `json:"near,omitempty"`
	Name string `json:"name,omitempty"` // as the source writes it; empty if it has no name there
}

// Variable is a field or package variable and its accesses in one package.
type Variable struct {
	finding.Variable
	// Annotated is the lock that an annotation names as its guard, relative to
	// the struct that holds the field.
	Annotated string    `json:"annotated,omitempty"`
	Accesses  []*Access `json:"accesses"`
}

// Pack leaves out of the accesses the parts that Unpack puts back: the package, which is that of the summary,
// and values that most of them share.
func (v *Variable) Pack() {
	for _, a := range v.Accesses {
		a.Package = ""
		if slices.Equal(a.Place, v.usualPlace()) {
			a.Place = nil
		}
		a.May = slices.DeleteFunc(a.May, func(class string) bool { return holdsClass(a, class) })
	}
}

// Unpack is the inverse of Pack, for accesses made by the package with the path.
func (v *Variable) Unpack(path string) {
	for _, a := range v.Accesses {
		a.Package = path
		if a.Place == nil {
			a.Place = v.usualPlace()
		}
		for _, h := range a.Held {
			if h.Class != "" && !slices.Contains(a.May, h.Class) {
				a.May = append(a.May, h.Class)
			}
		}
	}
}

// usualPlace is where nearly all accesses to v go: the field of an object of its type.
func (v *Variable) usualPlace() []string { return []string{v.Type, v.Name} }

func holdsClass(a *Access, class string) bool {
	return slices.ContainsFunc(a.Held, func(h Held) bool { return h.Class == class })
}

// Writes reports whether a changes the variable, by whatever means.
func (a *Access) Writes() bool { return a.Mode == finding.Write || a.Mode == finding.AtomicWrite }

// Atomic reports whether a goes through sync/atomic.
func (a *Access) Atomic() bool {
	return a.Mode == finding.AtomicRead || a.Mode == finding.AtomicWrite
}

// pastVerb returns the verb for a in the past tense.
func (a *Access) pastVerb() string {
	if a.Writes() {
		return "written"
	}
	return "read"
}

// otherLock returns a lock of the object, or a package variable, that is held at
// an access which lacks its guard: its author may have thought that one to be it.
func (a *Access) otherLock() string {
	for _, h := range a.Held {
		if h.Near {
			return nameAt(a, lockID{class: h.Class})
		}
	}
	return ""
}

// countAlike is how many accesses a stands for.
func (a *Access) countAlike() int { return 1 + a.Alike }

// fileAndLine returns "file:line" of a, without the folder.
func (a *Access) fileAndLine() string { return fmt.Sprintf("%s:%d", path.Base(a.File), a.Line) }

// maySame reports whether a and b, of one variable, may be accesses to one
// location: not if the objects that hold the field are of distinct types, or
// hold it twice and this is the one and that the other.
func maySame(a, b *Access) bool {
	if a.Map != b.Map {
		return false
	}
	x, y := a.Place, b.Place
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) == 0 || len(x) == len(y) {
		return slices.Equal(x, y)
	}
	// One of them starts from a pointer to the inner struct.
	return slices.Equal(x[1:], y[len(y)-len(x)+1:])
}

// areExcluded reports whether a lock that one of a and b holds, and the other may
// hold too, keeps them apart.
func areExcluded(a, b *Access) bool { return shutsOut(a, b) || shutsOut(b, a) }

func shutsOut(a, b *Access) bool {
	return slices.ContainsFunc(a.Held, func(h Held) bool {
		return h.Class != "" && slices.Contains(b.May, h.Class) && !(h.Read && onlyReads(b, h.Class))
	})
}

// onlyReads reports whether a surely holds the read side of a lock of the class.
func onlyReads(a *Access, class string) bool {
	return slices.ContainsFunc(a.Held, func(h Held) bool { return h.Class == class && h.Read })
}
