package directives

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Ignore is a comment that accepts the findings on its line, or on the line below it.
type Ignore struct {
	File   string         `json:"file"` // as the package's files are named
	Line   int            `json:"line"`
	Codes  []finding.Code `json:"codes,omitempty"` // none: all
	Reason string         `json:"reason"`
	Used   bool           `json:"used,omitempty"` // a static check found something there
}

// Covers reports whether the comment accepts findings of the code. IL1000 is a data race of which no
// check knows more, so that it stands for every code of a data race, and each of them for it: a run
// and a check name the same bug differently.
func (ig *Ignore) Covers(code finding.Code) bool {
	return len(ig.Codes) == 0 || slices.ContainsFunc(ig.Codes, func(c finding.Code) bool {
		general := c == finding.CaughtInTheAct || code == finding.CaughtInTheAct
		return c == code || general && c.IsDataRace() && code.IsDataRace()
	})
}

// IsAt reports whether the comment stands on the line of file, or on the line above.
func (ig *Ignore) IsAt(file string, line int) bool {
	return ig.File == file && (ig.Line == line || ig.Line == line-1)
}

// placedIgnore is an ignore of the package that is being read.
type placedIgnore struct {
	Ignore
	pos token.Pos
}

// describe returns the ignore in the words of a message.
func (ig *Ignore) describe() string {
	if len(ig.Codes) == 0 {
		return "nolint:interlock"
	}
	var codes []string
	for _, c := range ig.Codes {
		codes = append(codes, string(c))
	}
	return "interlock:ignore " + strings.Join(codes, ",")
}

// ParseIgnore reads a comment in one of three spellings, the last two those of golangci-lint and
// staticcheck. It returns nil for a comment that is none of them, or names other tools only:
//
//	//interlock:ignore IL1001,IL2002 why
//	//nolint:errcheck,interlock // why
//	//lint:ignore IL1001 why
func ParseIgnore(comment string) (*Ignore, error) {
	if rest, ok := strings.CutPrefix(comment, "//interlock:ignore"); ok {
		return parseCodes("interlock:ignore", rest, func(string) bool { return false })
	}
	if rest, ok := strings.CutPrefix(comment, "//lint:ignore "); ok {
		return parseCodes("lint:ignore", rest, func(word string) bool { return !strings.HasPrefix(word, "IL") })
	}
	if rest, ok := strings.CutPrefix(comment, "//nolint:"); ok {
		linters, why, _ := strings.Cut(rest, "//")
		ours := slices.ContainsFunc(strings.Split(linters, ","), func(s string) bool {
			return strings.TrimSpace(s) == "interlock"
		})
		if why = strings.TrimSpace(why); ours && why == "" {
			return nil, errors.New("nolint:interlock without a reason: write //nolint:interlock // why")
		}
		if ours {
			return &Ignore{Reason: why}, nil
		}
	}
	return nil, nil
}

// parseCodes reads codes with commas between and a reason; foreign are the codes of other tools.
func parseCodes(directive, rest string, foreign func(string) bool) (*Ignore, error) {
	words, why, _ := strings.Cut(strings.TrimSpace(rest), " ")
	ig := &Ignore{Reason: strings.TrimSpace(why)}
	for word := range strings.SplitSeq(words, ",") {
		code := finding.Code(word)
		switch {
		case foreign(word):
		case !code.Known():
			return nil, fmt.Errorf("%s of unknown code %q: write //%s CODE why", directive, word, directive)
		default:
			ig.Codes = append(ig.Codes, code)
		}
	}
	switch {
	case len(ig.Codes) == 0:
		return nil, nil
	case ig.Reason == "":
		return nil, fmt.Errorf("%s %s without a reason: say why after the code", directive, words)
	}
	return ig, nil
}

// Nolint is whether comments for golangci-lint are obeyed here. Where golangci-lint runs the checks, it
// obeys them itself, and reports those without effect. It is set before any pass runs.
var Nolint = true

func (s *Set) readIgnore(c *ast.Comment) {
	if !Nolint && strings.HasPrefix(c.Text, "//nolint:") {
		return
	}
	if word, unknown := unknownDirective(c.Text); unknown {
		s.problem(c.Pos(), "unknown directive interlock:%s: want interlock:ignore, interlock:guardedby or interlock:atomic",
			word)
	}
	ig, err := ParseIgnore(c.Text)
	if err != nil {
		s.problem(c.Pos(), "%v", err)
	}
	if ig == nil {
		return
	}
	p := ir.Position(s.fset, c.Pos())
	ig.File, ig.Line = p.Filename, p.Line
	s.ignores = append(s.ignores, &placedIgnore{*ig, c.Pos()})
}

// unknownDirective returns the word of a comment that is written to Interlock, and whether it means nothing.
//
//	//interlock:ignor IL1001 why
func unknownDirective(comment string) (word string, unknown bool) {
	text, ours := strings.CutPrefix(comment, "//interlock:")
	if !ours {
		return "", false
	}
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		text = text[:i]
	}
	return text, !slices.ContainsFunc([]string{"ignore", "guardedby", "atomic"}, func(known string) bool {
		return strings.HasPrefix(text, known)
	})
}

// Ignored reports whether a directive suppresses a finding of the code at one
// of the positions, and marks it as used. It is safe for concurrent use.
func (s *Set) Ignored(code finding.Code, at ...token.Pos) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for _, pos := range at {
		p := ir.Position(s.fset, pos)
		for _, ig := range s.ignores {
			if ig.Covers(code) && ig.IsAt(p.Filename, p.Line) {
				ig.Used, found = true, true
			}
		}
	}
	return found
}

// Ignores lists the package's ignores; ask once the checks have run.
func (s *Set) Ignores() []Ignore {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Ignore
	for _, ig := range s.ignores {
		all = append(all, ig.Ignore)
	}
	return all
}

// Problems lists the directives that make no sense; ask once the checks have run.
func (s *Set) Problems() []Problem { return slices.Clone(s.problems) }

// Unused lists the ignores that suppressed nothing, of those that name none but the given codes: a run may not
// have looked for the others. Ask once the checks have run.
func (s *Set) Unused(codes ...finding.Code) []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Problem
	for _, ig := range s.ignores {
		foreign := func(c finding.Code) bool { return !slices.Contains(codes, c) }
		if !ig.Used && len(ig.Codes) > 0 && !slices.ContainsFunc(ig.Codes, foreign) {
			all = append(all, Problem{ig.pos, ig.describe() + " suppresses no finding of a check: remove it, unless it " +
				"accepts one of `interlock test`"})
		}
	}
	return all
}
