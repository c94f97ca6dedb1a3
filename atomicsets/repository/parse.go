package repository

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// maxErrors bounds how many bad lines are reported at once.
const maxErrors = 10

// Parse reads a file; errors call it name. All bad lines are reported, up to a bound, each with its place.
func Parse(name string, data []byte) (*File, error) {
	p := &parser{name: name, file: &File{}, lines: strings.Split(string(data), "\n")}
	for i, line := range p.lines {
		p.line = i + 1
		p.readLine(strings.TrimRight(line, " \t\r"))
	}
	p.finish()
	p.file.Tail = trimEmpty(p.comments)
	if len(p.errs) > maxErrors {
		more := len(p.errs) - maxErrors
		p.errs = append(p.errs[:maxErrors], fmt.Errorf("%s: %d more bad lines", name, more))
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return p.file, nil
}

// parser reads line by line: one that is not indented begins a section or is a
// comment, the others belong to the section above.
type parser struct {
	name     string
	lines    []string
	line     int // of those, from 1
	file     *File
	comments []string // since the last section
	section  *Section // nil before the first one, and behind one that makes no sense
	begun    bool     // some section line came already
	end      *End     // the last line was this end
	errs     []error
	before   int // how many errors there were when the section began
}

// addFault reports a fault of a line, at its first word.
func (p *parser) addFault(line int, format string, args ...any) {
	text := p.lines[line-1]
	p.failAt(line, len(text)-len(strings.TrimLeft(text, " \t")), format, args...)
}

// failWord reports a fault of a word of the line that is being read.
func (p *parser) failWord(word, format string, args ...any) {
	p.failAt(p.line, max(0, strings.Index(p.lines[p.line-1], word)), format, args...)
}

// failAt reports a fault behind so many bytes of a line.
func (p *parser) failAt(line, before int, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d:%d: %s", p.name, line, before+1, fmt.Sprintf(format, args...)))
}

func (p *parser) readLine(line string) {
	text := strings.TrimLeft(line, " \t")
	indented := text != line
	switch {
	case !utf8.ValidString(line):
		p.addFault(p.line, "not UTF-8 text")
	case strings.HasPrefix(text, "#"):
		p.comments = append(p.comments, text)
	case text == "":
		p.comments = append(p.comments, "")
	case !indented:
		p.beginSection(text)
	case p.section != nil:
		p.inside(text)
	case !p.begun:
		p.addFault(p.line,
			"%q belongs to no section: a section begins with `section kind package function`, not indented", text)
	}
}

// beginSection reads the first line of a section.
func (p *parser) beginSection(text string) {
	p.finish()
	p.begun, p.before = true, len(p.errs)
	words := strings.SplitN(text, " ", 4)
	kinds := []string{plan.LoadAndStore, plan.TestAndUse, plan.Invariant, plan.UserSection}
	switch {
	case words[0] != "section":
		p.addFault(p.line, "unknown word %q: want `section kind package function`", words[0])
	case len(words) < 4 || words[2] == "" || strings.TrimSpace(words[3]) != words[3] || words[3] == "":
		p.addFault(p.line, "want `section kind package function`")
	case !slices.Contains(kinds, words[1]):
		p.failWord(words[1], "unknown kind %q: want one of %s", words[1], strings.Join(kinds, ", "))
	default:
		p.section = &Section{Key: Key{Kind: words[1], Package: words[2], Function: words[3]}, Line: p.line}
		p.section.Comments = p.comments
		if len(p.file.Sections) == 0 {
			p.section.Comments = trimLeading(p.comments)
		}
		p.comments = nil
	}
}

// inside reads a further line of a section.
func (p *parser) inside(text string) {
	s := p.section
	p.flushInner()
	words, rest, ok := strings.Cut(text, ": ")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" {
		p.addFault(p.line, "want `word …: text`, as in `entry read: p.idle`")
		return
	}
	end := p.end
	p.end = nil
	word, more, _ := strings.Cut(words, " ")
	switch {
	case word == "entry":
		p.setEntry(more, rest)
	case word == "end":
		p.ending(more, rest)
	case words == "why" && end != nil && end.Dropped == missing:
		end.Dropped = rest
	case words == "why":
		p.setOnce(&s.Why, words, rest)
	case words == "pinned":
		p.setOnce(&s.Pinned, words, rest)
	default:
		p.addFault(p.line, "unknown word %q: want entry, end, why or pinned", word)
	}
}

// flushInner moves comments between the lines of a section above it, where
// they outlive a change of its ends.
func (p *parser) flushInner() {
	for _, c := range p.comments {
		if c != "" {
			p.section.Comments = append(p.section.Comments, c)
		}
	}
	p.comments = nil
}

func (p *parser) setOnce(to *string, word, text string) {
	if *to != "" {
		p.addFault(p.line, "a second %s", word)
	}
	*to = text
}

func (p *parser) setEntry(words, expr string) {
	a, rest, ok := p.access(words, expr)
	switch {
	case !ok:
	case rest != "":
		p.failWord(rest, "unknown words %q of an entry", rest)
	case p.section.Entry.Mode != "":
		p.addFault(p.line, "a second entry: begin another section for it")
	default:
		p.section.Entry = a
	}
}

// missing stands for a reason that is still to come.
const missing = "\x00"

func (p *parser) ending(words, expr string) {
	a, rest, ok := p.access(words, expr)
	if !ok {
		return
	}
	e := &End{Access: a, Line: p.line}
	// The accesses that may come between: allows none|read|write|read write, dropped, unobserved.
	said := false
	for fields := strings.Fields(rest); len(fields) > 0; {
		word := fields[0]
		fields = fields[1:]
		switch word {
		case "allows":
			said = true
			n := slices.IndexFunc(fields, func(w string) bool { return w != "read" && w != "write" && w != "none" })
			if n < 0 {
				n = len(fields)
			}
			if !e.setAllowed(fields[:n]) {
				p.addFault(p.line, "allows %s: want none, read, write or read write", strings.Join(fields, " "))
				return
			}
			fields = fields[n:]
		case "dropped":
			said = true
			e.Drop(missing)
		case "unobserved":
			e.Unobserved = true
		default:
			p.failWord(word, "unknown word %q of an end: want allows, dropped or unobserved", word)
			return
		}
	}
	// The words must make sense together, and the end must be new.
	switch {
	case !said:
		p.addFault(p.line, "an end says what may come between: allows none, read or write, or dropped")
	case len(e.Allows) == 2 && e.Dropped == "":
		p.addFault(p.line, "an end that allows everything is dropped: write `dropped`, and `why:` on the next line")
	case e.Dropped != "" && e.Unobserved:
		p.addFault(p.line, "an end is dropped or unobserved, not both")
	case p.section.End(a) != nil:
		p.addFault(p.line, "the same end as at line %d", p.section.End(a).Line)
	default:
		p.section.Ends = append(p.section.Ends, e)
		p.end = e
	}
}

// setAllowed sets the A set from its words.
func (e *End) setAllowed(words []string) bool {
	switch strings.Join(words, " ") {
	case "none":
		e.Allows = []plan.Mode{}
	case "read":
		e.Allows = []plan.Mode{plan.Read}
	case "write":
		e.Allows = []plan.Mode{plan.Write}
	case "read write":
		e.Allows = []plan.Mode{plan.Read, plan.Write}
	default:
		return false
	}
	return true
}

// endWords begin the part of an end behind its access.
var endWords = []string{" allows ", " dropped ", " unobserved "}

// access reads `mode [map|elements] [#n] [in function]`, and returns the words behind it.
func (p *parser) access(words, expr string) (a Access, rest string, ok bool) {
	// The access ends where the words of an end begin.
	at := len(words)
	for _, w := range endWords {
		if i := strings.Index(words+" ", w); i >= 0 {
			at = min(at, i)
		}
	}
	words, rest = words[:at], strings.TrimSpace(words[at:])
	// mode [map|elements] [#n] [in function]
	mode, words, _ := strings.Cut(words, " ")
	a = Access{Mode: plan.Mode(mode), Expr: expr, Nth: 1}
	modes := []plan.Mode{plan.Read, plan.Write, plan.AtomicRead, plan.AtomicWrite}
	if !slices.Contains(modes, a.Mode) {
		p.failWord(mode, "unknown mode %q: want read, write, atomic-read or atomic-write", mode)
		return a, "", false
	}
	if of, more, _ := strings.Cut(words, " "); of == OfMap || of == OfElements {
		a.Of, words = of, more
	}
	if number, found := strings.CutPrefix(words, "#"); found {
		number, words, _ = strings.Cut(number, " ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || strconv.Itoa(n) != number {
			p.failWord("#"+number, "#%s: want a number from 1", number)
			return a, "", false
		}
		a.Nth = n
	}
	if words != "" {
		in, found := strings.CutPrefix(words, "in ")
		if a.In = strings.TrimSpace(in); !found || a.In == "" {
			p.failWord(words, "unknown words %q of an access: want `mode [map|elements] [#n] [in function]`", words)
			return a, "", false
		}
	}
	return a, rest, true
}

// finish ends the section that is being read.
func (p *parser) finish() {
	s := p.section
	p.section, p.end = nil, nil
	if s == nil {
		return
	}
	for _, e := range s.Ends {
		if e.Dropped == missing {
			p.addFault(e.Line, "dropped without a reason: write `why: …` on the next line")
		}
	}
	switch {
	case len(p.errs) > p.before: // they say enough
	case s.Entry.Mode == "":
		p.addFault(s.Line, "the section has no entry")
	case len(s.Ends) == 0:
		p.addFault(s.Line, "the section has no end")
	case s.Kind == plan.UserSection && s.Why == "":
		p.addFault(s.Line, "a user section says why its accesses belong together: write `why: …`")
	case p.file.Find(s.Key) != nil:
		p.addFault(s.Line, "the same section as at line %d: write their ends into one", p.file.Find(s.Key).Line)
	default:
		p.file.Sections = append(p.file.Sections, s)
	}
}

func trimLeading(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	return lines
}

func trimEmpty(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
