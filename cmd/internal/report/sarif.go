package report

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// SARIF writes SARIF 2.1.0. A result's first location is the side to look
// at, the other accesses are related locations, properties.status is the
// status; a finding that was seen in a run has one thread flow a goroutine, and
// the execution orders of these meet at the collision; a patch is one fix.
type SARIF struct{}

// srcRoot is the uriBaseId of files below the repository's root, which GitHub takes all relative URIs from.
const srcRoot = "SRCROOT"

// Write implements [Handler].
func (SARIF) Write(w io.Writer, r *Report) error {
	c := &converter{r: r, lines: map[string][]string{}}
	run, err := c.run()
	if err != nil {
		return fmt.Errorf("writing SARIF: %w", err)
	}
	enc := encoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	})
}

// converter turns one report into a SARIF run.
type converter struct {
	r     *Report
	lines map[string][]string // source lines of files read, see columns.go
}

func (c *converter) run() (sarifRun, error) {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "Interlock", Version: strings.TrimPrefix(c.r.Version, "v"),
			InformationURI: home, Rules: c.rules()}},
		Automation:  sarifAutomation{"interlock/" + c.r.Command + "/"},
		Invocations: []sarifInvocation{c.invocation()},
		ColumnKind:  "utf16CodeUnits",
		Results:     []sarifResult{},
	}
	if root := cmp.Or(c.r.Repository, c.r.Root); root != "" {
		run.BaseIDs = map[string]sarifArtifact{srcRoot: {URI: fileURI(root) + "/"}}
	}
	for _, group := range c.r.Causes() {
		result, err := c.result(group)
		if err != nil {
			return run, fmt.Errorf("finding %s: %w", group[0].ID, err)
		}
		run.Results = append(run.Results, result)
	}
	// Once one result has suppressions, all have, or its absence would mean that nobody knows (3.27.23).
	if len(c.r.Suppressed) > 0 {
		for i := range run.Results {
			run.Results[i].Suppressions = &[]sarifSuppression{}
		}
	}
	for _, s := range c.r.Suppressed {
		result, err := c.result([]*finding.Finding{s.Finding})
		if err != nil {
			return run, fmt.Errorf("finding %s: %w", s.ID, err)
		}
		kind := "external"
		if s.InSource {
			kind = "inSource"
		}
		result.Suppressions = &[]sarifSuppression{{Kind: kind, Status: "accepted", Justification: s.Why}}
		run.Results = append(run.Results, result)
	}
	return run, nil
}

// baselineState returns whether an earlier report had the finding; empty if there is none to compare with. Findings of
// the earlier report alone are left out: code hosts would show them as open.
func (c *converter) baselineState(f *finding.Finding) string {
	switch {
	case c.r.Earlier == nil:
		return ""
	case c.r.Earlier.New[f.ID]:
		return "new"
	}
	return "unchanged"
}

func (c *converter) rules() []sarifRule {
	var rules []sarifRule
	for _, code := range finding.Codes() {
		help := c.r.Help[code]
		if help == "" {
			help = code.Title()
		}
		level, precision := "warning", "medium" // a static pass suspects, and may report falsely
		if code.RunsOnly() {                    // confirmed ones
			level, precision = "error", "very-high"
		}
		rules = append(rules, sarifRule{
			ID: string(code), Name: pascal(code.Title()), Short: sarifText{sentence(code.Title())},
			Full: sarifText{sentence(firstParagraph(help))}, Help: sarifHelp{Text: help, Markdown: markdown(help)},
			HelpURI: code.Page(), Default: sarifDefault{level},
			Properties: map[string]any{"tags": []string{"concurrency", "correctness"}, "precision": precision,
				"problem.severity": "error"},
		})
	}
	return rules
}

func ruleIndex(code finding.Code) int {
	for i, c := range finding.Codes() {
		if c == code {
			return i
		}
	}
	return 0 // not reached: findings are validated before they are reported
}

func (c *converter) invocation() sarifInvocation {
	inv := sarifInvocation{Successful: len(c.r.Problems) == 0 && !c.r.Interrupted}
	problems := c.r.Problems
	if c.r.Interrupted {
		problems = append([]string{"interrupted: this is what was found so far"}, problems...)
	}
	for _, p := range problems {
		inv.Notifications = append(inv.Notifications, sarifNotification{Level: "error", Message: sarifText{p}})
	}
	for _, f := range c.r.failures() {
		inv.Notifications = append(inv.Notifications, sarifNotification{Level: "warning", Message: sarifText{f}})
	}
	return inv
}

// result returns the result of findings with one cause. It is that of the first one; the places of the others are
// related to it.
func (c *converter) result(group []*finding.Finding) (sarifResult, error) {
	f := group[0]
	text := message(f)
	if headline := Headline(group); headline != f.Title {
		text = sentence(headline) + " " + text
	}
	res := sarifResult{
		RuleID: string(f.Code), RuleIndex: ruleIndex(f.Code), Level: "warning", Message: sarifText{escapeLinks(text)},
		// GitHub compares primaryLocationLineHash alone; the id does not change with the lines.
		Fingerprints:  map[string]string{"interlockId/v1": f.ID, "primaryLocationLineHash": f.ID + ":1"},
		Properties:    map[string]any{"status": f.Status, "variable": f.Variable.String()},
		BaselineState: c.baselineState(f),
	}
	switch {
	case f.Minor():
		res.Level = "note"
	case f.Status == finding.Confirmed:
		res.Level = "error"
	}
	if f.Evidence != nil {
		res.Properties["evidence"] = f.Evidence
	}
	// The first place is the unprotected side; the rest are related to it.
	for i := range f.Accesses {
		a := &f.Accesses[i]
		loc := c.location(a.Position, a.Function, accessText(a))
		if i == 0 {
			res.Locations = append(res.Locations, loc)
		} else {
			loc.ID = i
			res.Related = append(res.Related, loc)
		}
	}
	for i, e := range f.Cycle {
		loc := c.location(e.Position, e.Function, edgeText(&e))
		if len(res.Locations) == 0 {
			res.Locations = append(res.Locations, loc)
		} else {
			loc.ID = len(f.Accesses) + i
			res.Related = append(res.Related, loc)
		}
	}
	// GitHub links a related place only where the message names it.
	for i := range res.Related {
		loc := &res.Related[i]
		res.Message.Text += fmt.Sprintf(" See also: [%s](%d).", escapeLinks(loc.Message.Text), loc.ID)
	}
	c.sameCause(&res, group)
	res.CodeFlows = c.codeFlows(f)
	if fix := f.Fix; fix != nil && fix.Verdict != "" {
		res.Properties["patch"] = fix.Verdict
		if len(fix.Doubts) > 0 {
			res.Properties["doubts"] = fix.Doubts
		}
	}
	fixes, err := c.fixes(f.Fix)
	res.Fixes = fixes
	return res, err
}

// sameCause adds the further findings of a group to the result of its first.
func (c *converter) sameCause(res *sarifResult, group []*finding.Finding) {
	var ids []string
	for i, f := range group[1:] {
		ids = append(ids, f.ID)
		places := f.Places()
		if i >= maxRelated || len(places) == 0 {
			continue
		}
		loc := c.location(places[0], "", "same cause: "+f.Title)
		loc.ID = len(res.Related) + 1
		res.Related = append(res.Related, loc)
		res.Message.Text += fmt.Sprintf(" Same cause: [%s](%d).", escapeLinks(f.Title), loc.ID)
	}
	if len(ids) > 0 {
		res.Properties["sameCause"] = ids
	}
}

// maxRelated is how many further findings of one cause a result names; all have their id in a property.
const maxRelated = 20

// escapeLinks returns s as SARIF messages have it: m[k](x) is no link.
func escapeLinks(s string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s)
}

// markdown returns a help text with its snippets as Go code, and WRONG and RIGHT marked.
func markdown(help string) string {
	var b strings.Builder
	code := false
	lines := strings.Split(strings.TrimRight(help, "\n"), "\n")
	for i, line := range lines {
		indented := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ")
		goesOn := line == "" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t")
		if !code && indented {
			b.WriteString("```go\n")
			code = true
		} else if code && !indented && !goesOn {
			b.WriteString("```\n")
			code = false
		}
		if !code {
			line = marks.Replace(line)
		}
		b.WriteString(strings.TrimPrefix(line, "\t") + "\n")
	}
	if code {
		b.WriteString("```\n")
	}
	return b.String()
}

// marks are the words that begin the parts of a help text, and the characters that Markdown would interpret.
var marks = strings.NewReplacer("WRONG:", "**WRONG:**", "RIGHT:", "**RIGHT:**", "Missed:", "**Missed:**",
	"Reported falsely:", "**Reported falsely:**", "Cost:", "**Cost:**", "*", `\*`, "_", `\_`, "<", "&lt;")

func accessText(a *finding.Access) string {
	s := deed(a)
	if with := held(a, false); with != "" {
		s += ", " + with
	}
	return s
}

func (c *converter) location(p finding.Position, function, text string) sarifLocation {
	loc := sarifLocation{Physical: sarifPhysical{Artifact: c.artifact(p.File), Region: c.region(p)},
		Message: &sarifText{text}}
	if function != "" {
		loc.Logical = []sarifLogical{{Name: function, Kind: "function"}}
	}
	return loc
}

func (c *converter) artifact(file string) sarifArtifact {
	if filepath.IsAbs(filepath.FromSlash(file)) {
		return sarifArtifact{URI: fileURI(file)}
	}
	a := sarifArtifact{URI: (&url.URL{Path: c.r.inRepository(file)}).EscapedPath()}
	if c.r.Root != "" {
		a.Base = srcRoot
	}
	return a
}

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// codeFlows returns one thread flow for each goroutine that a run saw: from
// where it was started, down its stack, to the access. The orders of all
// flows end on the same number: the accesses met.
func (c *converter) codeFlows(f *finding.Finding) []sarifCodeFlow {
	if slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return a.Step > 0 }) {
		return c.stepFlows(f)
	}
	var flows []sarifThreadFlow
	longest := 0
	for i := range f.Accesses {
		a := &f.Accesses[i]
		if a.Goroutine == nil {
			continue
		}
		flow := c.wayTo(a)
		flow.Locations = append(flow.Locations, c.accessStep(a))
		flows = append(flows, flow)
	}
	if len(flows) == 0 {
		flows = c.cycleFlows(f)
	}
	// The accesses met, so that all flows end on the same number.
	for _, flow := range flows {
		longest = max(longest, len(flow.Locations))
	}
	for _, flow := range flows {
		for j := range flow.Locations {
			flow.Locations[j].Order = longest - len(flow.Locations) + j + 1
		}
	}
	if len(flows) == 0 {
		return nil
	}
	return []sarifCodeFlow{{ThreadFlows: flows}}
}

// wayTo returns the flow of an access's goroutine, from where it was started, up to
// the access.
func (c *converter) wayTo(a *finding.Access) sarifThreadFlow {
	flow := sarifThreadFlow{ID: a.Goroutine.Name(), Message: sarifText{accessText(a)}}
	for j := len(a.Goroutine.Created) - 1; j >= 0; j-- {
		flow.Locations = append(flow.Locations, c.step(a.Goroutine.Created[j], "starts the goroutine"))
	}
	for j := len(a.Goroutine.Stack) - 1; j > 0; j-- {
		flow.Locations = append(flow.Locations, c.step(a.Goroutine.Stack[j], "calls"))
	}
	return flow
}

func (c *converter) accessStep(a *finding.Access) sarifStep {
	return sarifStep{Location: c.location(a.Position, a.Function, accessText(a)), Importance: "essential"}
}

// stepFlows returns the flows of a finding with accesses in the order of a run, one flow
// a goroutine. The accesses have the last execution orders.
func (c *converter) stepFlows(f *finding.Finding) []sarifCodeFlow {
	var flows []sarifThreadFlow
	at := map[int64]int{} // goroutine -> flow
	before := 0
	for _, a := range inSteps(f.Accesses) {
		if a.Step == 0 || a.Goroutine == nil {
			continue
		}
		i, known := at[a.Goroutine.ID]
		if !known {
			i = len(flows)
			at[a.Goroutine.ID] = i
			flows = append(flows, c.wayTo(a))
			before = max(before, len(flows[i].Locations))
		}
		step := c.accessStep(a)
		step.Order = -a.Step // until the number of earlier steps is known
		flows[i].Locations = append(flows[i].Locations, step)
	}
	for _, flow := range flows {
		for j := range flow.Locations {
			if step := &flow.Locations[j]; step.Order < 0 {
				step.Order = before - step.Order
			} else {
				step.Order = j + 1
			}
		}
	}
	return []sarifCodeFlow{{ThreadFlows: flows}}
}

func (c *converter) step(f finding.Frame, does string) sarifStep {
	loc := c.location(finding.Position{File: f.File, Line: f.Line}, f.Function, f.Function+" "+does)
	return sarifStep{Location: loc, Importance: "important"}
}

// pascal returns a rule its name: "return without an unlock" becomes "ReturnWithoutUnlock". Validators take two
// capital letters in a row for two words, so articles go.
func pascal(title string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(strings.NewReplacer("+", "", "-", " ", ".", " ").Replace(title)) {
		if word == "a" || word == "an" {
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// sentence returns s with a capital letter and a full stop, as SARIF demands.
func sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return s
	}
	if r := s[0]; r >= 'a' && r <= 'z' && !strings.ContainsAny(firstWord(s), "._()") {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, "!") {
		s += "."
	}
	return s
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

func firstParagraph(s string) string {
	para, _, _ := strings.Cut(strings.TrimSpace(s), "\n\n")
	return strings.Join(strings.Fields(para), " ")
}

// cycleFlows returns each step of a lock-order cycle as the flow of a goroutine
// of its own: where it takes the one lock, and where it waits for the next.
func (c *converter) cycleFlows(f *finding.Finding) []sarifThreadFlow {
	var flows []sarifThreadFlow
	for i := range f.Cycle {
		e := &f.Cycle[i]
		flow := sarifThreadFlow{ID: fmt.Sprintf("goroutine %d of the cycle", i+1),
			Message: sarifText{e.Function + ", " + edgeText(e)}}
		if e.Since != nil {
			loc := c.location(*e.Since, e.Function, "locks "+finding.ShortLock(e.From))
			flow.Locations = append(flow.Locations, sarifStep{Location: loc, Importance: "important"})
		}
		flow.Locations = append(flow.Locations, sarifStep{Location: c.location(e.Position, e.Function, waits(e)),
			Importance: "essential"})
		flows = append(flows, flow)
	}
	return flows
}
