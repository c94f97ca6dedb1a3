package instrument_test

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/instrument"
)

// Of the calls named Run, the one that runs all tests is found wherever in TestMain it
// stands, and the file is rewritten for it alone.
func TestLingersBehindAllTests(t *testing.T) {
	const main = `package p

import (
	"os"
	"testing"
)

type other struct{}

func (other) Run() int { return 1 }

`
	const call = "_ilrt.Linger(_ilrt.Goroutines(), m.Run())"
	for _, tt := range []struct{ body, want string }{
		{"func TestMain(m *testing.M) { os.Exit(m.Run()) }", "os.Exit(" + call + ")"},
		{"func TestMain(m *testing.M) {\n\tcode := m.Run()\n\tos.Exit(code)\n}", "code := " + call},
		{"func TestMain(m *testing.M) { os.Stdout.Sync(); m.Run() }", call},
		{"func TestMain(m *testing.M) { os.Exit(func() int { return m.Run() }()) }", "return " + call},
		{"func TestMain(m *testing.M) { defer m.Run(); os.Stdout.Sync() }", ""},
		{"func TestMain(m other) { os.Exit(m.Run()) }\n\nvar _ testing.TB", ""},
	} {
		p := typed(t, "go1.22", map[string]string{
			"a.go": "package p\n\nvar n int\n\nfunc inc() { n++ }\n", "main.go": main + tt.body + "\n",
		})
		res, err := instrument.Rewrite(p, everySite(p), instrument.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, f := range res.Files {
			if strings.HasSuffix(f.Name, "main.go") {
				text = string(f.Content)
			}
		}
		if tt.want == "" && strings.Contains(text, "Linger") || !strings.Contains(text, tt.want) {
			t.Errorf("%s\nbecomes\n%s\nwant %q", tt.body, text, tt.want)
		}
	}
}
