package instrument_test

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/instrument"
)

// The counters are written where a program ends by itself: a file is rewritten for that alone.
func TestFlushesWhereAProgramEnds(t *testing.T) {
	const head = "package main\n\nimport \"os\"\n\nvar _ = os.Args\n\n"
	for _, tt := range []struct{ body, want string }{
		{"func main() { run() }", "func main() { defer _ilrt.Flush(); run() }"},
		{"func main() {\n\tos.Exit(run())\n}", "main() { defer _ilrt.Flush();\n\tos.Exit(_ilrt.Exit(run()))"},
		{"func main() {}\n\nfunc fail() { defer os.Exit(1) }", "defer os.Exit(_ilrt.Exit(1))"},
		{"func main() {}\n\nfunc exit(os other) { os.Exit(1) }\n\ntype other struct{}\n\nfunc (other) Exit(int) {}",
			"func exit(os other) { os.Exit(1) }"},
		{"func main() {}\n\nfunc TestMain() { os.Exit(1) }", "func TestMain() { os.Exit(1) }"},
	} {
		p := typed(t, "go1.22", map[string]string{
			"a.go": "package main\n\nfunc run() int { return 0 }\n", "main.go": head + tt.body + "\n",
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
		if !strings.Contains(text, tt.want) {
			t.Errorf("%s\nbecomes\n%s\nwant %q", tt.body, text, tt.want)
		}
	}
}
