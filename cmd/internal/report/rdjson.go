package report

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sourcegraph/go-diff/diff"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// RDJSON writes the Reviewdog Diagnostic Format: columns count bytes of UTF-8, ends are exclusive. A patch of
// one run of lines is a suggestion; any other is left out, since a reader could take half of it.
type RDJSON struct{}

type rdResult struct {
	Source      rdSource       `json:"source"`
	Severity    string         `json:"severity"`
	Diagnostics []rdDiagnostic `json:"diagnostics"` // never null
}

type rdSource struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type rdDiagnostic struct {
	Message     string         `json:"message"`
	Location    rdLocation     `json:"location"`
	Severity    string         `json:"severity"`
	Code        rdCode         `json:"code"`
	Suggestions []rdSuggestion `json:"suggestions,omitempty"`
	Related     []rdRelated    `json:"relatedLocations,omitempty"`
	Original    string         `json:"originalOutput"` // for reviewdog's output on a terminal
}

type rdLocation struct {
	Path  string  `json:"path"`
	Range rdRange `json:"range"`
}

type rdRange struct {
	Start rdPosition  `json:"start"`
	End   *rdPosition `json:"end,omitempty"`
}

type rdPosition struct {
	Line   int `json:"line"`
	Column int `json:"column,omitempty"`
}

type rdCode struct {
	Value string `json:"value"`
	URL   string `json:"url"`
}

type rdSuggestion struct {
	Range rdRange `json:"range"`
	Text  string  `json:"text"`
}

type rdRelated struct {
	Message  string     `json:"message"`
	Location rdLocation `json:"location"`
}

// Write implements [Handler].
func (RDJSON) Write(w io.Writer, r *Report) error {
	res := rdResult{Source: rdSource{"interlock", home}, Severity: "WARNING", Diagnostics: []rdDiagnostic{}}
	for _, f := range r.Findings {
		places := f.Places()
		d := rdDiagnostic{
			Message: message(f) + " [" + f.ID + "]", Location: r.rdLocation(places[0]),
			Severity: severity{"ERROR", "WARNING", "INFO"}.of(f), Code: rdCode{string(f.Code), f.Code.Page()},
			Original: Clean(r.Line(f)),
		}
		for i := range f.Accesses[min(1, len(f.Accesses)):] {
			a := &f.Accesses[i+1]
			d.Related = append(d.Related, rdRelated{accessText(a), r.rdLocation(a.Position)})
		}
		for i := range f.Cycle[min(1, len(f.Cycle)):] {
			e := &f.Cycle[i+1]
			d.Related = append(d.Related, rdRelated{edgeText(e), r.rdLocation(e.Position)})
		}
		// A draft is read in the comment, and never applied from there.
		if fix := f.Fix; fix != nil && fix.Verdict == finding.Draft {
			d.Message += "\n\n```diff\n" + fix.Diff + "```"
		}
		// The diagnostic's range has to be that of the suggestion.
		if s := r.suggestion(f); s != nil {
			d.Suggestions, d.Location.Range = []rdSuggestion{*s}, s.Range
		}
		res.Diagnostics = append(res.Diagnostics, d)
	}
	enc := encoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(res)
}

func (r *Report) rdLocation(p finding.Position) rdLocation {
	loc := rdLocation{r.inRepository(p.File), rdRange{Start: rdPosition{p.Line, p.Column}}}
	if p.EndLine > 0 {
		loc.Range.End = &rdPosition{p.EndLine, p.EndColumn}
	}
	return loc
}

// maxSuggestion is how many lines a suggestion may replace: a longer one is read as a diff.
const maxSuggestion = 60

// suggestion returns the patch of f as one replacement of whole lines, if it changes only the file of the finding, near
// it. The replacement repeats the lines between two changes, so that nobody can take half of a patch.
func (r *Report) suggestion(f *finding.Finding) *rdSuggestion {
	if !f.Fix.Offered() || len(f.Accesses) == 0 {
		return nil
	}
	files, err := diff.ParseMultiFileDiff([]byte(f.Fix.Diff))
	at := f.Accesses[0]
	if err != nil || len(files) != 1 || strings.TrimPrefix(files[0].NewName, "b/") != at.File {
		return nil
	}
	var changes []sarifReplacement
	for _, h := range files[0].Hunks {
		changes = append(changes, replacements(h)...)
	}
	// Lines [from, to) of the file become text.
	lines := r.lines(at.File)
	from, to := changes[0].Deleted.StartLine, changes[len(changes)-1].Deleted.EndLine
	if from == to { // an insertion alone: the line that it comes before is replaced by itself
		to++
	}
	if from < 1 || to-1 > len(lines) || to-from > maxSuggestion || at.Line < from || at.Line >= to {
		return nil
	}
	var text strings.Builder
	next := from
	unchanged := func(to int) {
		for ; next < to; next++ {
			text.WriteString(lines[next-1] + "\n")
		}
	}
	for _, c := range changes {
		unchanged(c.Deleted.StartLine)
		if c.Inserted != nil {
			text.WriteString(c.Inserted.Text)
		}
		next = c.Deleted.EndLine
	}
	unchanged(to)
	end := &rdPosition{to - 1, len(lines[to-2]) + 1}
	return &rdSuggestion{rdRange{rdPosition{from, 1}, end}, strings.TrimSuffix(text.String(), "\n")}
}

// lines returns the lines of a file of the module, without their ends; none if it cannot be read.
func (r *Report) lines(file string) []string {
	path := filepath.FromSlash(file)
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Root, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	lines := strings.Split(string(data), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}
