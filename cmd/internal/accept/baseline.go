package accept

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// BaselineName is the file of a baseline at the main module's root, which is read if it is there.
const BaselineName = ".interlock-baseline.json"

// baselineVersion is the version of the form of a [Baseline].
const baselineVersion = 1

// Baseline is a list of findings that are accepted until somebody mends them. It is JSON, one entry for
// each id, in the order of ids, so that changes of it are small and two branches merge.
type Baseline struct {
	Version int     `json:"version"`
	Entries []Entry `json:"findings"` // never null; sorted by id
}

// Entry is one finding of a [Baseline]. Only ID and Status decide; the rest is for readers.
type Entry struct {
	ID     string         `json:"id"`
	Status finding.Status `json:"status"` // as far as it was proven when it was accepted
	Code   finding.Code   `json:"code"`
	File   string         `json:"file"`
	Title  string         `json:"title"`
}

// rank orders statuses by how far they prove a finding; 0 is unknown.
func rank(s finding.Status) int {
	return 1 + slices.Index([]finding.Status{finding.Suspected, finding.Predicted, finding.Confirmed}, s)
}

// AtLeast reports whether a finding of status s is proven as far as one of the other.
func AtLeast(s, other finding.Status) bool { return rank(s) >= rank(other) }

// NewBaseline returns the baseline that covers the findings.
func NewBaseline(findings []*finding.Finding) *Baseline {
	b := &Baseline{Version: baselineVersion, Entries: []Entry{}}
	for _, f := range findings {
		e := Entry{ID: f.ID, Status: f.Status, Code: f.Code, Title: f.Title}
		if places := f.Places(); len(places) > 0 {
			e.File = places[0].File
		}
		b.Entries = append(b.Entries, e)
	}
	slices.SortFunc(b.Entries, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return b
}

// ReadBaseline reads the file. A file that is not there is an error that is [fs.ErrNotExist].
func ReadBaseline(name string) (*Baseline, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	b, err := parseBaseline(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; `interlock baseline write` writes it anew", name, err)
	}
	return b, nil
}

// parseBaseline reads a baseline. Its errors name line and column.
func parseBaseline(data []byte) (*Baseline, error) {
	b := new(Baseline)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(b)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", offsetIn(data, err, dec.InputOffset()), err)
	case b.Version != baselineVersion:
		return nil, fmt.Errorf("it has version %d, and this Interlock reads %d", b.Version, baselineVersion)
	}
	seen := map[string]bool{}
	for i, e := range b.Entries {
		switch {
		case e.ID == "":
			return nil, fmt.Errorf("entry %d has no id", i+1)
		case seen[e.ID]:
			return nil, fmt.Errorf("entry %d: %s stands there twice", i+1, e.ID)
		case rank(e.Status) == 0:
			return nil, fmt.Errorf("entry %d: unknown status %q", i+1, e.Status)
		}
		seen[e.ID] = true
	}
	return b, nil
}

// offsetIn returns line and column of a fault in JSON.
func offsetIn(data []byte, err error, read int64) string {
	at := read
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &syntax) {
		at = syntax.Offset
	} else if errors.As(err, &wrong) {
		at = wrong.Offset
	}
	before := data[:max(0, min(at, int64(len(data))))]
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1)
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte("\n")), max(1, column))
}

// Format returns the text of the file.
func (b *Baseline) Format() []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(b); err != nil {
		panic(err) // strings and numbers alone
	}
	return buf.Bytes()
}

// covers reports whether f was accepted as what it is now. A suspicion that was accepted and that a run
// confirms is news.
func (b *Baseline) covers(f *finding.Finding) bool {
	i, found := slices.BinarySearchFunc(b.Entries, f.ID, func(e Entry, id string) int { return cmp.Compare(e.ID, id) })
	if !found { // a file that people have edited need not be sorted
		i = slices.IndexFunc(b.Entries, func(e Entry) bool { return e.ID == f.ID })
	}
	return i >= 0 && AtLeast(b.Entries[i].Status, f.Status)
}

// Without returns the entries that none of the findings needs any more, and the baseline without them.
// An entry that a run has proven is kept if it is among kept, since a check cannot see that it is gone.
func (b *Baseline) Without(findings []*finding.Finding, keep func(Entry) bool) (gone []Entry, rest *Baseline) {
	there := map[string]bool{}
	for _, f := range findings {
		there[f.ID] = true
	}
	rest = &Baseline{Version: baselineVersion, Entries: []Entry{}}
	for _, e := range b.Entries {
		if there[e.ID] || keep(e) {
			rest.Entries = append(rest.Entries, e)
		} else {
			gone = append(gone, e)
		}
	}
	return gone, rest
}

// IsMissing reports whether err says that there is no baseline.
func IsMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
