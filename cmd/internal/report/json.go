package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// JSONLines writes one finding a line, in the published schema
// (analyzers/finding/schema.json), and nothing else.
type JSONLines struct{}

// Write implements [Handler].
func (JSONLines) Write(w io.Writer, r *Report) error {
	enc := encoder(w)
	for _, f := range r.Findings {
		if err := enc.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// JSON writes one document: the findings, and what JSON Lines has no place
// for.
type JSON struct{}

// document is the form of [JSON].
type document struct {
	Version     int                `json:"version"` // finding.SchemaVersion
	Tool        string             `json:"tool"`
	Command     string             `json:"command"`
	Findings    []*finding.Finding `json:"findings"` // never null
	Coverage    Coverage           `json:"coverage"`
	Accepted    Accepted           `json:"accepted,omitzero"`
	Problems    []string           `json:"problems,omitempty"`
	GaveUp      []string           `json:"gaveUp,omitempty"`
	LeftOut     []string           `json:"leftOut,omitempty"`
	Unused      []string           `json:"unused,omitempty"`
	Failures    []string           `json:"failures,omitempty"`
	Interrupted bool               `json:"interrupted,omitempty"`
}

// Write implements [Handler].
func (JSON) Write(w io.Writer, r *Report) error {
	enc := encoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(document{
		Version: finding.SchemaVersion, Tool: "interlock " + r.Version, Command: r.Command,
		Findings: append([]*finding.Finding{}, r.Findings...), Coverage: r.Coverage, Accepted: r.Accepted,
		Unused: r.Unused, Problems: r.Problems, GaveUp: r.GaveUp, LeftOut: r.LeftOut, Failures: r.Failures,
		Interrupted: r.Interrupted,
	})
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

// ReadFindings reads a file that [JSONLines] has written. Its errors name the line.
func ReadFindings(name string) ([]*finding.Finding, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := readFindings(f)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return all, nil
}

func readFindings(r io.Reader) (all []*finding.Finding, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		f := new(finding.Finding)
		err := json.Unmarshal(lines.Bytes(), f)
		if err == nil {
			err = f.Validate()
		}
		if err != nil {
			return nil, fmt.Errorf("%d: no finding of JSON Lines (-format jsonl): %w", n, err)
		}
		all = append(all, f)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%d: %w", n+1, err)
	}
	return all, nil
}
