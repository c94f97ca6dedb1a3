package plan

import (
	"errors"
	"fmt"
	"slices"
)

// Kinds of [Section].
const (
	LoadAndStore = "load-and-store" // loads, then a store of a value that depends on them
	TestAndUse   = "test-and-use"   // a test, and a use that it decides about
	Invariant    = "invariant"      // two consecutive accesses that a run may split or not: AVIO's candidates
	UserSection  = "user"           // declared by a comment or in the repository file
)

// Section is an atomic section: entry, ends, and for each end the kinds of
// remote access that may come between (its A set). It is one activation's and
// one object's: it opens before the access of its entry and closes after that
// of an end. Every other way out of Function (return, panic, Goexit) closes it
// too and allows everything; the plan does not list those, the rewriter finds
// them.
type Section struct {
	ID   uint32 `json:"id"` // from 1, dense over the plan
	Kind string `json:"kind"`
	// Name is the key of the section in reviewed files. It has no line
	// numbers, so that it survives edits elsewhere in the file.
	Name     string `json:"name"`
	Package  string `json:"package"`  // import path, of Function
	File     string `json:"file"`     // slash path, relative to the module's root
	Function string `json:"function"` // that has both halves, as in Site
	// Variables are those that the section holds together, the entry's first.
	Variables []Variable `json:"variables"`
	// Entry is the site that opens the section and binds its object. With
	// EntryCall it lies in a callee: the section opens at the call, and binds
	// the object at the first access of the site inside.
	Entry     uint32 `json:"entry"`
	EntryCall *Place `json:"entry_call,omitempty"`
	Ends      []End  `json:"ends"`
	// Length: the section tests a length or ranges, so that a remote access
	// of any key of the map splits it.
	Length bool `json:"length,omitempty"`
	// Own: the section tests whether the variable equals a value of the goroutine's own, so that another goroutine
	// that finds the same may go another way.
	Own bool `json:"own,omitempty"`
	// Finding is the id of the static finding that speaks of the section.
	Finding string `json:"finding,omitempty"`
	// Lead: that finding is a lead, so that a split counts only with a proof of harm.
	Lead bool `json:"lead,omitempty"`
	// Left is the reason why the rewriter cannot open the section; "" if it can.
	Left Reason `json:"left,omitempty"`
}

// End is one end of a section.
type End struct {
	// Site is the access that closes the section. With EndCall it lies in a
	// callee, and the section closes after the first access of the site in
	// that call, or where the call returns.
	Site    uint32 `json:"site"`
	EndCall *Place `json:"end_call,omitempty"`
	// Allows are the kinds of remote access that may come between: Read,
	// Write, both or none. An atomic access counts as one of its kind.
	Allows []Mode `json:"allows"`
}

// Place is a call expression in the section's File.
type Place struct {
	Line    int `json:"line"`
	Column  int `json:"column"`
	EndLine int `json:"end_line"`
	EndCol  int `json:"end_column"`
}

func (s *Section) validate(p *Plan, id uint32) error {
	kinds := []string{LoadAndStore, TestAndUse, Invariant, UserSection}
	switch {
	case s.ID != id:
		return fmt.Errorf("has id %d: ids are dense and in order", s.ID)
	case !slices.Contains(kinds, s.Kind):
		return fmt.Errorf("unknown kind %q", s.Kind)
	case s.Name == "" || s.File == "" || s.Function == "" || len(s.Variables) == 0:
		return errors.New("no name, file, function or variable")
	case p.Site(s.Entry) == nil || len(s.Ends) == 0:
		return errors.New("no entry or no end")
	case !s.EntryCall.isValid():
		return errors.New("the call of the entry has no place")
	}
	for _, e := range s.Ends {
		if err := e.validate(p); err != nil {
			return fmt.Errorf("end at site %d: %w", e.Site, err)
		}
	}
	return nil
}

func (e *End) validate(p *Plan) error {
	switch {
	case p.Site(e.Site) == nil:
		return errors.New("no such site")
	case !e.EndCall.isValid():
		return errors.New("the call has no place")
	case slices.ContainsFunc(e.Allows, func(m Mode) bool { return m != Read && m != Write }):
		return fmt.Errorf("allows %v, want read or write", e.Allows)
	}
	return nil
}

// isValid reports whether c is nil or a place.
func (c *Place) isValid() bool { return c == nil || c.Line > 0 && c.Column > 0 && c.EndLine >= c.Line }
