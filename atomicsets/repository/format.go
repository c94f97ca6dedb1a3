package repository

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// Format returns the text of the file. Parsing it again yields the same file.
func (f *File) Format() []byte {
	var b bytes.Buffer
	for i, s := range f.Sections {
		if i > 0 && (len(s.Comments) == 0 || s.Comments[0] != "") {
			b.WriteByte('\n')
		}
		s.format(&b)
	}
	writeComments(&b, f.Tail)
	return b.Bytes()
}

func writeComments(b *bytes.Buffer, lines []string) {
	for _, c := range lines {
		b.WriteString(c + "\n")
	}
}

func (s *Section) format(b *bytes.Buffer) {
	writeComments(b, s.Comments)
	fmt.Fprintf(b, "section %s %s %s\n\tentry %s\n", s.Kind, s.Package, s.Function, s.Entry)
	for _, e := range s.Ends {
		fmt.Fprintf(b, "\tend %s\n", e)
		if e.Dropped != "" {
			fmt.Fprintf(b, "\t\twhy: %s\n", e.Dropped)
		}
	}
	if s.Why != "" {
		fmt.Fprintf(b, "\twhy: %s\n", s.Why)
	}
	if s.Pinned != "" {
		fmt.Fprintf(b, "\tpinned: %s\n", s.Pinned)
	}
}

// String returns the access as the file has it.
func (a Access) String() string { return a.joinWords() + ": " + a.Expr }

func (a Access) joinWords() string {
	s := string(a.Mode)
	if a.Of != "" {
		s += " " + a.Of
	}
	if a.Nth > 1 {
		s += fmt.Sprintf(" #%d", a.Nth)
	}
	if a.In != "" {
		s += " in " + a.In
	}
	return s
}

// String returns the end as the file has it, without its reason.
func (e *End) String() string {
	s := e.joinWords()
	switch {
	case e.Dropped != "":
		s += " dropped"
	default:
		s += " allows " + allowed(e.Allows)
	}
	if e.Unobserved {
		s += " unobserved"
	}
	return s + ": " + e.Expr
}

func allowed(modes []plan.Mode) string {
	if len(modes) == 0 {
		return "none"
	}
	var words []string
	for _, m := range modes {
		words = append(words, string(m))
	}
	return strings.Join(words, " ")
}

// String returns the key on one line.
func (k Key) String() string {
	return fmt.Sprintf("%s %s %s, entry %s", k.Kind, k.Package, k.Function, k.Entry)
}
