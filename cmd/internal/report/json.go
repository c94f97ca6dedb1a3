package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/place"
)

// JSONLines writes one finding a line, in the published schema
// (analyzers/finding/schema.json), and an end (end.schema.json beside it).
type JSONLines struct{}

// Write implements [Handler].
func (JSONLines) Write(w io.Writer, r *Report) error {
	enc, heads := encoder(w), r.heads()
	for _, f := range r.Findings {
		if err := enc.Encode(withLists(f, heads[f])); err != nil {
			return err
		}
	}
	return enc.Encode(finding.End{
		Version: finding.SchemaVersion, End: true, Findings: len(r.Findings), Interrupted: r.Interrupted,
	})
}

// JSON writes one document, in the published schema (schema.json): the
// findings, and the figures that JSON Lines has no place for.
type JSON struct{}

// Document is the form of [JSON].
type Document struct {
	Version     int                `json:"version"` // that of the schema, as in findings
	Tool        string             `json:"tool"`    // "interlock" and its version
	Command     string             `json:"command"` // such as check
	Findings    []*finding.Finding `json:"findings"`
	Coverage    Coverage           `json:"coverage"`
	Accepted    Accepted           `json:"accepted,omitzero"`
	Problems    []string           `json:"problems,omitempty"`    // why the report is incomplete
	GaveUp      []string           `json:"gaveUp,omitempty"`      // functions that a check did not finish, for their size
	LeftOut     []string           `json:"leftOut,omitempty"`     // tests that need modules which go.mod does not require
	Unused      []string           `json:"unused,omitempty"`      // comments and entries that accept no finding
	Failures    []string           `json:"failures,omitempty"`    // how tests failed, a sentence a package
	Interrupted bool               `json:"interrupted,omitempty"` // the findings are those of the time until then
}

// Write implements [Handler].
func (JSON) Write(w io.Writer, r *Report) error {
	findings, heads := []*finding.Finding{}, r.heads()
	for _, f := range r.Findings {
		findings = append(findings, withLists(f, heads[f]))
	}
	enc := encoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(Document{
		Version: finding.SchemaVersion, Tool: "interlock " + r.Version, Command: r.Command,
		Findings: findings, Coverage: r.Coverage, Accepted: r.Accepted,
		Unused: r.Unused, Problems: r.Problems, GaveUp: r.GaveUp, LeftOut: r.LeftOut, Failures: r.failures(),
		Interrupted: r.Interrupted,
	})
}

// heads returns, for each finding that shares its cause with others, the id of the one that heads them.
func (r *Report) heads() map[*finding.Finding]string {
	heads := map[*finding.Finding]string{}
	for _, group := range r.Causes() {
		for _, f := range group {
			if len(group) > 1 {
				heads[f] = group[0].ID
			}
		}
	}
	return heads
}

// withLists returns f with its cause, and with an empty list for each that the schema demands and that is nil, which
// would be written as null.
func withLists(f *finding.Finding, cause string) *finding.Finding {
	whole := *f
	whole.Cause = cause
	whole.Accesses = make([]finding.Access, len(f.Accesses))
	for i, a := range f.Accesses {
		if a.Goroutine != nil && a.Goroutine.Stack == nil {
			g := *a.Goroutine
			g.Stack, a.Goroutine = []finding.Frame{}, &g
		}
		whole.Accesses[i] = a
	}
	if f.Section != nil {
		s := sectionWithLists(*f.Section)
		whole.Section = &s
	}
	return &whole
}

func sectionWithLists(s finding.Section) finding.Section {
	s.Allows = append([]finding.Mode{}, s.Allows...)
	s.More, s.Also = slices.Clone(s.More), slices.Clone(s.Also)
	for i, end := range s.More {
		s.More[i].Allows = append([]finding.Mode{}, end.Allows...)
	}
	for i, also := range s.Also {
		s.Also[i] = sectionWithLists(also)
	}
	return s
}

// encoder returns one that leaves <, > and & as they are: source code is full
// of them, and no browser reads this as HTML.
func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// maxLine is how long a line of JSON Lines may be: a finding with long stacks has some 100 KB.
const maxLine = 64 << 20

// errCut is the error of findings in JSON Lines that do not end as [JSONLines] ends them: some may be missing.
var errCut = errors.New("the report was cut, or an older Interlock wrote it: the line {\"end\":true, …} behind its " +
	"findings is missing; write it again with -o jsonl:file")

// ReadFindings reads a file that [JSONLines] has written, or several of them one behind the other. It reports whether a
// command that wrote one of them was interrupted. Its errors name line and column; one is errCut.
func ReadFindings(name string) (all []*finding.Finding, interrupted bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	all, interrupted, err = readFindings(f)
	if err != nil {
		return nil, false, fmt.Errorf("%s:%w", name, err)
	}
	return all, interrupted, nil
}

// isCut reports whether the line is JSON as far as it goes.
func isCut(line []byte) bool {
	err := json.NewDecoder(bytes.NewReader(line)).Decode(new(json.RawMessage))
	return errors.Is(err, io.ErrUnexpectedEOF)
}

func readFindings(r io.Reader) (all []*finding.Finding, interrupted bool, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n, since, ended := 0, 0, false // lines, findings since the last end, and whether the last line was one
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		// The end counts the lines before it, so that those that were lost in between are missed too.
		var end finding.End
		if ended = json.Unmarshal(lines.Bytes(), &end) == nil && end.End; ended {
			if end.Findings != since {
				return nil, false, fmt.Errorf("%d:1: there are %d findings above, and the end counts %d: %w", n, since,
					end.Findings, errCut)
			}
			since = 0
			interrupted = interrupted || end.Interrupted
			continue
		}
		f := new(finding.Finding)
		err := json.Unmarshal(lines.Bytes(), f)
		if err == nil {
			err = f.Validate()
		}
		if err != nil {
			_, column := place.OfJSON(lines.Bytes(), err, 0)
			if isCut(lines.Bytes()) {
				err = errCut
			}
			return nil, false, fmt.Errorf("%d:%d: no finding of JSON Lines (-format jsonl): %w", n, column, err)
		}
		since++
		all = append(all, f)
	}
	if err := lines.Err(); err != nil {
		return nil, false, fmt.Errorf("%d:1: %w", n+1, err)
	}
	if !ended {
		return nil, false, fmt.Errorf("%d:1: %w", n+1, errCut)
	}
	return all, interrupted, nil
}
