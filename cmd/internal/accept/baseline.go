package accept

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/place"
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

// Entry is one finding of a [Baseline]. Only ID, SameAs, Status and Also decide; the rest is for readers.
type Entry struct {
	ID     string         `json:"id"`
	SameAs []string       `json:"same_as,omitempty"` // further ids by which the bug is known
	Status finding.Status `json:"status"`            // as far as it was proven when it was accepted
	// Also are the further functions in which a check found the same fault of the same variable: one more is news.
	Also []string `json:"also,omitempty"`
	// Runs is set where the entry is from a report, and check does not find it.
	Runs  bool         `json:"runs,omitempty"`
	Code  finding.Code `json:"code"`
	File  string       `json:"file"`
	Title string       `json:"title"`
}

// ByReading reports whether reading the code shows whether the finding is still there.
func (e *Entry) ByReading() bool { return e.Status == finding.Suspected && !e.Runs }

// rank orders statuses by how far they prove a finding; 0 is unknown.
func rank(s finding.Status) int {
	return 1 + slices.Index([]finding.Status{finding.Suspected, finding.Predicted, finding.Confirmed}, s)
}

// AtLeast reports whether a finding of status s is proven as far as one of the other.
func AtLeast(s, other finding.Status) bool { return rank(s) >= rank(other) }

// NewBaseline returns a baseline without entries.
func NewBaseline() *Baseline { return &Baseline{Version: baselineVersion, Entries: []Entry{}} }

// Update counts the changes of [Baseline.Accept].
type Update struct {
	Added, Removed []Entry
	Raised         []Entry // that were listed with a weaker status
	Kept           []Entry // that none of the findings needs, and that are not known to be gone
}

// Accept makes b cover the findings, and removes the entries that none of them needs and that are gone. checked are all
// findings of check now: the functions that they name are accepted with the finding. An entry that was accepted as
// confirmed stays confirmed, though check can only suspect it.
func (b *Baseline) Accept(findings, checked []*finding.Finding, isGone func(Entry) bool) (u Update) {
	byCheck := map[string]*finding.Finding{}
	for _, f := range checked {
		byCheck[f.ID] = f
	}
	entries, covered := map[string]Entry{}, map[string]bool{}
	for _, f := range findings {
		e := entryOf(f, byCheck[f.ID])
		before := b.entryFor(f)
		if before != nil {
			covered[before.ID] = true
			e.known(before)
		}
		switch {
		case before == nil:
			u.Added = append(u.Added, e)
		case !AtLeast(e.Status, before.Status): // the stronger entry of before still covers it
			e.Status, e.Code, e.File, e.Title = before.Status, before.Code, before.File, before.Title
		case !AtLeast(before.Status, e.Status):
			u.Raised = append(u.Raised, e)
		}
		if before != nil && f.Evidence != nil && byCheck[f.ID] == nil { // the functions of check are not known
			e.Also = before.Also
		}
		entries[e.ID] = e
	}
	for _, e := range b.Entries {
		if covered[e.ID] {
			continue
		}
		if isGone(e) {
			u.Removed = append(u.Removed, e)
			continue
		}
		u.Kept, entries[e.ID] = append(u.Kept, e), e
	}
	b.Entries = slices.SortedFunc(maps.Values(entries), func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return u
}

// entryOf returns the entry of f. check is the same finding as check reports it now, or nil.
func entryOf(f, check *finding.Finding) Entry {
	e := Entry{ID: f.ID, SameAs: f.SameAs, Status: f.Status, Also: furtherFunctions(f),
		Runs: f.Status == finding.Suspected && check == nil, Code: f.Code, Title: f.Title}
	if check != nil {
		e.Also = furtherFunctions(check)
	}
	if places := f.Places(); len(places) > 0 {
		e.File = places[0].File
	}
	return e
}

// ReadBaseline reads the file. A file that is not there is an error that is [fs.ErrNotExist].
func ReadBaseline(name string) (*Baseline, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	b, err := parseBaseline(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; take back the version before, as `git checkout` does, or remove it and accept anew "+
			"with `interlock baseline write`", name, err)
	}
	return b, nil
}

// parseBaseline reads a baseline. Its errors name line and column.
func parseBaseline(data []byte) (*Baseline, error) {
	// Its form: no key may be unknown, which is mostly a slip of an editor.
	b := new(Baseline)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(b); err != nil {
		line, column := place.OfJSON(data, err, dec.InputOffset())
		return nil, fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	at := func(offset int64, format string, args ...any) error {
		line, column := place.At(data, offset)
		return fmt.Errorf("line %d, column %d: %s", line, column, fmt.Sprintf(format, args...))
	}
	if b.Version != baselineVersion {
		return nil, at(int64(1+bytes.Index(data, []byte(`"version"`))), "it has version %d, and this Interlock reads %d",
			b.Version, baselineVersion)
	}
	// Each entry is one finding with its status.
	seen, places := map[string]bool{}, entryPlaces(data)
	for i, e := range b.Entries {
		begin := int64(0)
		if i < len(places) {
			begin = places[i]
		}
		switch {
		case e.ID == "":
			return nil, at(begin, "entry %d has no id", i+1)
		case seen[e.ID]:
			return nil, at(begin, "entry %d: %s stands there twice", i+1, e.ID)
		case rank(e.Status) == 0:
			return nil, at(begin, "entry %d: unknown status %q", i+1, e.Status)
		}
		seen[e.ID] = true
	}
	return b, nil
}

// entryPlaces returns where the objects of the list in a baseline begin.
//
//	{"version": 1, "findings": [{"id": …}, {"id": …}]}
func entryPlaces(data []byte) (places []int64) {
	dec := json.NewDecoder(bytes.NewReader(data))
	depth := 0
	for {
		token, err := dec.Token()
		if err != nil { // the end: the text was decoded before
			return places
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth == 3 && token == json.Delim('{') {
				places = append(places, dec.InputOffset())
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
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

// furtherFunctions lists the further functions, besides that of its first place, in which a check found the fault f:
// checks put all places of one variable into one finding, with the id of the first two. The places of a finding that a
// run has shown are no such list. Accesses with the locks of the second place are there for comparison.
//
//	read of b.n in Get, holding no lock        the first place
//	write of b.n in Put, holding b.mu          the conflicting access
//	read of b.n in Len, holding no lock        a further function
func furtherFunctions(f *finding.Finding) (all []string) {
	if f.Evidence != nil {
		return nil
	}
	if f.Code.IsDataRace() && len(f.Accesses) > 2 {
		for _, a := range f.Accesses[2:] {
			if !slices.Equal(a.Locks, f.Accesses[1].Locks) {
				all = append(all, a.Function)
			}
		}
	}
	if f.Section != nil {
		for _, s := range f.Section.Also {
			all = append(all, s.Function)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(fn string) bool {
		return fn == "" || len(f.Accesses) > 0 && fn == f.Accesses[0].Function
	})
}

// uncovered lists the functions in which f is news, though the baseline has it elsewhere.
func (b *Baseline) uncovered(f *finding.Finding) []string {
	e := b.entryFor(f)
	if e == nil {
		return nil
	}
	return slices.DeleteFunc(furtherFunctions(f), func(fn string) bool { return slices.Contains(e.Also, fn) })
}

// covers reports whether f was accepted in its present form. A suspicion that was accepted and that a run
// confirms now is news, and so is the same fault in one more function.
func (b *Baseline) covers(f *finding.Finding) bool {
	e := b.entryFor(f)
	return e != nil && AtLeast(e.Status, f.Status) && len(b.uncovered(f)) == 0
}

// entryFor returns the entry that is about f, by its id or one of those by which either is known as well; nil if
// there is none.
func (b *Baseline) entryFor(f *finding.Finding) *Entry {
	for _, id := range append([]string{f.ID}, f.SameAs...) {
		if e := b.entry(id); e != nil {
			return e
		}
	}
	if i := slices.IndexFunc(b.Entries, func(e Entry) bool { return slices.Contains(e.SameAs, f.ID) }); i >= 0 {
		return &b.Entries[i]
	}
	return nil
}

// known has e keep the id of the entry before on the same bug.
func (e *Entry) known(before *Entry) {
	all := slices.Concat(e.SameAs, before.SameAs, []string{e.ID})
	slices.Sort(all)
	e.ID = before.ID
	e.SameAs = slices.DeleteFunc(slices.Compact(all), func(id string) bool { return id == e.ID })
}

// entry returns the entry with an id; nil if there is none.
func (b *Baseline) entry(id string) *Entry {
	i, found := slices.BinarySearchFunc(b.Entries, id, func(e Entry, id string) int { return cmp.Compare(e.ID, id) })
	if !found { // a file that people have edited need not be sorted
		i = slices.IndexFunc(b.Entries, func(e Entry) bool { return e.ID == id })
	}
	if i < 0 {
		return nil
	}
	return &b.Entries[i]
}

// Without returns the entries that none of the findings needs and that are gone, and the baseline without them.
func (b *Baseline) Without(findings []*finding.Finding, isGone func(Entry) bool) (gone []Entry, rest *Baseline) {
	there := map[string]bool{}
	for _, f := range findings {
		if e := b.entryFor(f); e != nil {
			there[e.ID] = true
		}
	}
	rest = NewBaseline()
	for _, e := range b.Entries {
		if there[e.ID] || !isGone(e) {
			rest.Entries = append(rest.Entries, e)
		} else {
			gone = append(gone, e)
		}
	}
	return gone, rest
}

// IsMissing reports whether err says that there is no baseline.
func IsMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
