package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// Name of the file, at the root of the main module.
const Name = "interlock.sections"

// File is a repository file. Sections are in the order of the file.
type File struct {
	Sections []*Section
	Tail     []string // comments behind the last section
}

// Section is one section of the file.
type Section struct {
	Comments []string // lines above it, with their #; an empty line stays empty
	Key
	Ends   []*End
	Why    string // why its accesses belong together
	Pinned string // why nothing but a person may change it; "": it is not pinned
	Line   int    // in the file it was read from; 0 for a new one
}

// Key identifies a section in a module.
type Key struct {
	Kind     string // a kind of plan.Section
	Package  string // import path
	Function string // that has both halves, as in plan.Site
	Entry    Access
}

// Parts of a variable that an access may be of.
const (
	OfMap      = "map"      // the map: an index, an assignment to it, delete, range
	OfElements = "elements" // all elements of a slice, as copy and append access them
)

// Access names one site of a function, without its line.
type Access struct {
	Mode plan.Mode
	// Of is OfMap or OfElements for an access to the contents of the variable that Expr names, not to the
	// variable itself; else "".
	Of string
	// In is the function of the site where that is a callee of the section's.
	In   string
	Expr string // normalised source
	// Nth counts the sites of the function that are alike in all else,
	// from 1, in the order of the text.
	Nth int
}

// End is one end of a section.
type End struct {
	Access
	Allows     []plan.Mode // read, write, none or both, in this order
	Dropped    string      // why everything is allowed; "": it is not dropped
	Unobserved bool
	Line       int // as in Section
}

// Active reports whether runs are to watch the end.
func (e *End) Active() bool { return e.Dropped == "" && !e.Unobserved }

// Drop lets everything come between entry and end, for a reason.
func (e *End) Drop(why string) {
	e.Dropped, e.Unobserved = why, false
	e.Allows = []plan.Mode{plan.Read, plan.Write}
}

// Find returns the section with the key, or nil.
func (f *File) Find(k Key) *Section {
	if i := slices.IndexFunc(f.Sections, func(s *Section) bool { return s.Key == k }); i >= 0 {
		return f.Sections[i]
	}
	return nil
}

// End returns the end with the access, or nil.
func (s *Section) End(a Access) *End {
	if i := slices.IndexFunc(s.Ends, func(e *End) bool { return e.Access == a }); i >= 0 {
		return s.Ends[i]
	}
	return nil
}

// Load reads the file of the module at root. Without one, an empty file is
// returned.
func Load(root string) (*File, error) {
	data, err := os.ReadFile(filepath.Join(root, Name))
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the sections: %w", err)
	}
	return Parse(Name, data)
}

// Save writes the file of the module at root, whole or not at all.
func (f *File) Save(root string) error {
	name := filepath.Join(root, Name)
	tmp, err := os.CreateTemp(root, Name+".*")
	if err != nil {
		return fmt.Errorf("writing the sections: %w", err)
	}
	_, err = tmp.Write(f.Format())
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("writing the sections: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}
