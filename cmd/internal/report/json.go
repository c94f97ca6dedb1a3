package report

import (
	"encoding/json"
	"io"

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
	Problems    []string           `json:"problems,omitempty"`
	GaveUp      []string           `json:"gaveUp,omitempty"`
	Failures    []string           `json:"failures,omitempty"`
	Interrupted bool               `json:"interrupted,omitempty"`
}

// Write implements [Handler].
func (JSON) Write(w io.Writer, r *Report) error {
	enc := encoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(document{
		Version: finding.SchemaVersion, Tool: "interlock " + r.Version, Command: r.Command,
		Findings: append([]*finding.Finding{}, r.Findings...), Coverage: r.Coverage,
		Problems: r.Problems, GaveUp: r.GaveUp, Failures: r.Failures, Interrupted: r.Interrupted,
	})
}

// encoder returns one that leaves <, > and & as they are: source code is full
// of them, and no browser reads this as HTML.
func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
