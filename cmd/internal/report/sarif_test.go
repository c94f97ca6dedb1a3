package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sourcegraph/go-diff/diff"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// sarifOf renders r and reads it back.
func sarifOf(t *testing.T, r *Report) sarifRun {
	t.Helper()
	var log sarifLog
	if err := json.Unmarshal(render(t, SARIF{}, r), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("version %s, %d runs", log.Version, len(log.Runs))
	}
	return log.Runs[0]
}

// The rules of the standard and of the checkers that a wrong change would
// break: no index outside its list, no empty list where one is demanded,
// every place with a line.
func TestSARIFStructure(t *testing.T) {
	r := sample()
	r.Root = t.TempDir()
	run := sarifOf(t, r)
	if len(run.Results) != len(r.Findings) {
		t.Fatalf("%d results for %d findings", len(run.Results), len(r.Findings))
	}
	for i, res := range run.Results {
		f := r.Findings[i]
		if res.RuleIndex < 0 || run.Tool.Driver.Rules[res.RuleIndex].ID != res.RuleID || res.RuleID != string(f.Code) {
			t.Errorf("result %d: rule %s at index %d", i, res.RuleID, res.RuleIndex)
		}
		if len(res.Locations) != 1 || len(res.Related) != len(f.Accesses)-1 {
			t.Errorf("result %d: %d locations, %d related", i, len(res.Locations), len(res.Related))
		}
		if res.Fingerprints["interlockId/v1"] != f.ID || res.Properties["status"] != string(f.Status) {
			t.Errorf("result %d: fingerprints %v, properties %v", i, res.Fingerprints, res.Properties)
		}
		if !strings.HasSuffix(res.Message.Text, ".") {
			t.Errorf("result %d: the message ends without a full stop: %s", i, res.Message.Text)
		}
		for _, loc := range append(res.Locations, res.Related...) {
			if a := loc.Physical.Artifact; loc.Physical.Region.StartLine < 1 || a.Base != srcRoot ||
				strings.HasPrefix(a.URI, "/") {
				t.Errorf("result %d: location %+v", i, loc)
			}
		}
	}
	if base := run.BaseIDs[srcRoot].URI; !strings.HasPrefix(base, "file:///") || !strings.HasSuffix(base, "/") {
		t.Errorf("base %q", base)
	}
	for _, rule := range run.Tool.Driver.Rules {
		if rule.Help.Text == "" || rule.Short.Text == "" || rule.Full.Text == "" || strings.ContainsAny(rule.Name, " ,+=-") {
			t.Errorf("rule %+v", rule)
		}
	}
}

// The steps of a split section follow each other, over two flows.
func TestSARIFThreadFlowsOfASplit(t *testing.T) {
	flows := sarifOf(t, split()).Results[0].CodeFlows[0].ThreadFlows
	if len(flows) != 2 || len(flows[0].Locations) != 3 || len(flows[1].Locations) != 2 {
		t.Fatalf("%d flows, want the owner's with two accesses and the other's with one: %+v", len(flows), flows)
	}
	entry, end, remote := flows[0].Locations[1].Order, flows[0].Locations[2].Order, flows[1].Locations[1].Order
	if entry+1 != remote || remote+1 != end || flows[0].Locations[0].Order >= entry {
		t.Errorf("orders: entry %d, remote %d, end %d", entry, remote, end)
	}
}

func TestSARIFThreadFlowsMeetAtTheCollision(t *testing.T) {
	run := sarifOf(t, sample())
	var flows []sarifThreadFlow
	for _, res := range run.Results {
		for _, cf := range res.CodeFlows {
			flows = append(flows, cf.ThreadFlows...)
		}
	}
	if len(flows) != 2 {
		t.Fatalf("%d thread flows, want one for each goroutine seen", len(flows))
	}
	for _, flow := range flows {
		last := 0
		for _, step := range flow.Locations {
			if step.Order <= last {
				t.Errorf("%s: order %d after %d", flow.ID, step.Order, last)
			}
			last = step.Order
		}
		if last != 4 {
			t.Errorf("%s ends on %d, want 4: the collision", flow.ID, last)
		}
	}
}

func TestSARIFTellsWhatIsMissing(t *testing.T) {
	r := &Report{Command: "check", Interrupted: true, Problems: []string{"m/broken does not compile"}}
	inv := sarifOf(t, r).Invocations[0]
	if inv.Successful || len(inv.Notifications) != 2 {
		t.Errorf("invocation %+v", inv)
	}
	if len(r.Problems) != 1 {
		t.Errorf("the report was changed: %q", r.Problems)
	}
}

func TestSARIFColumnsAreUTF16(t *testing.T) {
	r := sample()
	r.Root = t.TempDir()
	// Byte column 29 lies behind two 2-byte letters and a 4-byte one (two code units).
	src := "package bank\n\nfunc ö(ä, \U0001F600 Log) int { return l.n }\n"
	if err := os.WriteFile(filepath.Join(r.Root, "log.go"), []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, res := range sarifOf(t, r).Results {
		if res.RuleID != string(finding.Unguarded) {
			continue
		}
		if got := res.Locations[0].Physical.Region; got.StartColumn != 25 || got.EndColumn != 28 {
			t.Errorf("region %+v, want columns 25 to 28", got)
		}
		return
	}
	t.Fatal("no result for the suspected finding")
}

func TestSARIFFilesOutsideTheModule(t *testing.T) {
	c := &converter{r: &Report{Root: "/m"}}
	for file, want := range map[string]sarifArtifact{
		"a b/ü.go": {URI: "a%20b/%C3%BC.go", Base: srcRoot},
		"/go/x.go": {URI: "file:///go/x.go"},
	} {
		if got := c.artifact(file); got != want {
			t.Errorf("%s: got %+v, want %+v", file, got, want)
		}
	}
}

// Replacements, put in place from the last to the first, must make the same
// file as the diff does.
func TestReplacementsDoWhatTheDiffDoes(t *testing.T) {
	for _, tt := range []struct{ name, before, body, after string }{
		{"insert", "a\nb\n", "@@ -1,2 +1,3 @@\n a\n+x\n b\n", "a\nx\nb\n"},
		{"insert first", "a\n", "@@ -1,1 +1,2 @@\n+x\n a\n", "x\na\n"},
		{"insert last", "a\n", "@@ -1,1 +1,2 @@\n a\n+x\n", "a\nx\n"},
		{"insert without context", "a\nb\n", "@@ -1,0 +2,1 @@\n+x\n", "a\nx\nb\n"},
		{"delete", "a\nb\nc\n", "@@ -1,3 +1,2 @@\n a\n-b\n c\n", "a\nc\n"},
		{"replace", "a\nb\nc\n", "@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n", "a\nx\ny\nc\n"},
		{"two runs", "a\nb\nc\nd\n", "@@ -1,4 +1,4 @@\n-a\n+A\n b\n-c\n-d\n+C\n+D\n", "A\nb\nC\nD\n"},
		{"added before deleted", "a\n", "@@ -1,1 +1,1 @@\n+A\n-a\n", "A\n"},
		{"empty lines", "a\n\nb\n", "@@ -1,3 +1,4 @@\n a\n \n+\n b\n", "a\n\n\nb\n"},
		{"empty lines, bare", "a\n\nb\n", "@@ -1,3 +1,4 @@\n a\n\n+x\n b\n", "a\n\nx\nb\n"},
		{"no newline at the end", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n" +
			"\\ No newline at end of file\n", "a\nc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fd, err := diff.ParseFileDiff([]byte("--- a/f.go\n+++ b/f.go\n" + tt.body))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(tt.before, "\n")
			var all []sarifReplacement
			for _, h := range fd.Hunks {
				all = append(all, replacements(h)...)
			}
			for i := len(all) - 1; i >= 0; i-- {
				r := all[i].Deleted
				var text []string
				if all[i].Inserted != nil {
					text = []string{all[i].Inserted.Text}
				}
				rest := append([]string{}, lines[r.EndLine-1:]...)
				lines = append(append(lines[:r.StartLine-1:r.StartLine-1], text...), rest...)
			}
			if got := strings.Join(lines, ""); got != tt.after {
				t.Errorf("got %q, want %q (%+v)", got, tt.after, all)
			}
		})
	}
}

func TestSARIFRefusesABrokenPatch(t *testing.T) {
	r := sample()
	r.Findings[0].Fix = &finding.Fix{Strategy: "guard", Diff: "--- a/x\n+++ b/x\n@@ nonsense @@\n"}
	var b strings.Builder
	if err := (SARIF{}).Write(&b, r); err == nil || !strings.Contains(err.Error(), "reading the patch") {
		t.Errorf("got %v", err)
	}
	if b.Len() > 0 {
		t.Error("half a report was written")
	}
}

// Accepted findings are suppressed results; a comparison says which ones are new; findings of one cause are one
// result, which names the others.
func TestSARIFOfAnAudit(t *testing.T) {
	r := sample()
	r.Root = t.TempDir()
	for _, res := range sarifOf(t, r).Results {
		if res.Suppressions != nil || res.BaselineState != "" {
			t.Errorf("without an audit: %v, %q", res.Suppressions, res.BaselineState)
		}
	}
	last := len(r.Findings) - 1
	fresh, twin, accepted := r.Findings[0], *r.Findings[0], *r.Findings[last]
	twin.Variable.Type, twin.Accesses = "Other", append([]finding.Access{}, fresh.Accesses...)
	twin.Accesses[0].Line = 99
	fresh.Fix = &finding.Fix{Strategy: "guard", Verdict: finding.Manual, Diff: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}
	twin.Fix = fresh.Fix
	finding.Seal([]*finding.Finding{&twin})
	r.Findings = append(r.Findings, &twin)
	r.Earlier = &Comparison{New: map[string]bool{fresh.ID: true}}
	r.Suppressed = []Suppressed{{Finding: &accepted, InSource: true, Why: "a stale value will do"}}
	run := sarifOf(t, r)
	if len(run.Results) != last+2 {
		t.Fatalf("%d results of %d findings, two of them of one cause, and an accepted one", len(run.Results), last+2)
	}
	for i, res := range run.Results {
		states := map[bool]string{true: "new", false: "unchanged"}
		if want := states[res.Fingerprints["interlockId/v1"] == fresh.ID]; res.BaselineState != want {
			t.Errorf("result %d: %q, want %q", i, res.BaselineState, want)
		}
		isAccepted := i == len(run.Results)-1
		if res.Suppressions == nil || len(*res.Suppressions) > 0 != isAccepted {
			t.Errorf("result %d: suppressions %v", i, res.Suppressions)
		} else if want := (sarifSuppression{"inSource", "accepted", "a stale value will do"}); isAccepted &&
			(*res.Suppressions)[0] != want {
			t.Errorf("%+v", *res.Suppressions)
		}
		if same, _ := res.Properties["sameCause"].([]any); res.Fingerprints["interlockId/v1"] == fresh.ID &&
			(len(same) != 1 || same[0] != twin.ID || !strings.Contains(res.Message.Text, "Same cause: [")) {
			t.Errorf("%v: %s", same, res.Message.Text)
		}
	}
}

// FuzzPatch has a patch of a file that somebody else has written: it becomes replacements, or an error with its line.
func FuzzPatch(f *testing.F) {
	f.Add(bankDiff)
	f.Add("--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := &converter{r: new(Report), lines: map[string][]string{}}
		fixes, err := c.fixes(&finding.Fix{Strategy: "guard", Diff: text})
		if err != nil && !regexp.MustCompile(`line [1-9]\d*: `).MatchString(err.Error()) {
			t.Errorf("an error without a line: %v", err)
		}
		for _, fix := range fixes {
			for _, change := range fix.Changes {
				for _, r := range change.Replacements {
					if r.Deleted.EndLine < r.Deleted.StartLine {
						t.Errorf("%q: a replacement that ends before it begins: %+v", text, r)
					}
				}
			}
		}
	})
}
