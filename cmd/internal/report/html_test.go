package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// A page with 500 bugs is small enough to be opened, and a browser has nothing to complain of.
func TestPageOf500Bugs(t *testing.T) {
	r := sample()
	r.Root = t.TempDir()
	src := strings.Repeat("\t// a line of source that stands around an access\n", 20)
	if err := os.WriteFile(filepath.Join(r.Root, "bank.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	one := *r.Findings[0]
	r.Findings = append(r.Findings, cycle().Findings[0], split().Findings[0])
	for i := len(r.Findings); i < 500; i++ {
		f := one
		f.Accesses = append([]finding.Access{}, one.Accesses...)
		f.Accesses[0].Function = fmt.Sprintf("(*Account).Add%d", i)
		fix := *one.Fix
		fix.Diff += fmt.Sprintf("\n+// patch %d\n", i) // one of its own: else all have one cause
		f.Fix = &fix
		r.Findings = append(r.Findings, &f)
	}
	finding.Seal(r.Findings)
	text := render(t, HTML{}, r)
	if len(text) > 2<<20 {
		t.Errorf("%d bytes for 500 bugs", len(text))
	}
	if n := bytes.Count(text, []byte("<article")); n != 500 {
		t.Errorf("%d entries", n)
	}
	// A browser, where there is one.
	chromium, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("no chromium, or -short")
	}
	file := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, stderr.Bytes())
	}
	if !bytes.Contains(dom, []byte("500 of 500 shown")) {
		t.Error("the filters do not run")
	}
	if bytes.Contains(stderr.Bytes(), []byte(":CONSOLE")) {
		t.Errorf("the console: %s", stderr.Bytes())
	}
}

// The reasons why no strategy applies are a list: in a paragraph they would run together.
func TestPageExplainsItsWords(t *testing.T) {
	r := sample()
	f := *r.Findings[0]
	f.Fix = &finding.Fix{Withheld: "close once: no Once\nno strategy: guard"}
	f.Notes = []string{"under noise"}
	r.Findings = []*finding.Finding{&f}
	text := string(render(t, HTML{}, r))
	for _, want := range []string{"<dt>confirmed</dt>", "<dt>noise</dt>", "<dt>close once (a way to make a patch)</dt>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, not := range []string{"<dt>predicted</dt>", "<dt>guard"} {
		if strings.Contains(text, not) {
			t.Errorf("explains %s, which the page has not", not)
		}
	}
}

func TestPageListsWhyThereIsNoPatch(t *testing.T) {
	for withheld, want := range map[string]string{
		"a lock cycle":                  "<h3>No patch</h3><p>a lock cycle</p>",
		"buffer: no send\nstop: no <i>": "<ul><li>buffer: no send</li><li>stop: no &lt;i&gt;</li></ul>",
	} {
		r := sample()
		f := *r.Findings[0]
		f.Fix = &finding.Fix{Withheld: withheld}
		r.Findings = []*finding.Finding{&f}
		if text := render(t, HTML{}, r); !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s", want)
		}
	}
}
