package instrument_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/instrument"
)

// buildMonitored builds testdata/caught.go.txt with the real monitor. It returns
// the binary and a site table.
func buildMonitored(t *testing.T, src string) (binary, table string) {
	t.Helper()
	p := typed(t, "go1.24", map[string]string{"main.go": src})
	res, err := instrument.Rewrite(p, everySite(p), instrument.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range res.Left {
		if l.Reason != instrument.Repeated {
			t.Errorf("left alone: %d: %s: %s", l.Site.Line, l.Site.Expr, l.Reason)
		}
	}
	dir := t.TempDir()
	if err := dynamic.WriteMonitor(filepath.Join(dir, "rt")); err != nil {
		t.Fatal(err)
	}
	groups := map[plan.Variable]int{}
	var siteTable strings.Builder
	for i, a := range sites.Enumerate(p) {
		if groups[a.Site.Variable] == 0 {
			groups[a.Site.Variable] = len(groups) + 1
		}
		fmt.Fprintf(&siteTable, "%d %d -\n", i+1, groups[a.Site.Variable])
	}
	for name, content := range map[string]string{
		"go.mod":  "module m\n\ngo 1.24\n\nrequire interlock.invalid/rt v0.0.0\n\nreplace interlock.invalid/rt => ./rt\n",
		"main.go": string(res.Files[0].Content),
		"sites":   siteTable.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	binary = filepath.Join(dir, "prog")
	cmd := exec.Command("go", "build", "-o", binary, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return binary, filepath.Join(dir, "sites")
}

// races runs one shape once and counts the races that the monitor records.
func races(t *testing.T, binary, table, kind, shape string, seed int) int {
	t.Helper()
	out := filepath.Join(t.TempDir(), "evidence")
	cmd := exec.Command(binary, kind, shape)
	cmd.Env = append(os.Environ(), "INTERLOCK_OUT="+out, "INTERLOCK_SITES="+table, "INTERLOCK_RUN=1",
		fmt.Sprintf("INTERLOCK_NOISE=prob=1000,strength=%d,budget=500", 500+1000*(seed%4)),
		fmt.Sprint("INTERLOCK_SEED=", seed))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", shape, err, text)
	}
	evidence, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(evidence), `"kind":"race"`)
}

var silent = flag.Int("silent", 4, "runs of each clean shape, all of which must be silent")

// TestCaught runs each racy shape of testdata/caught.go.txt until the monitor
// has caught its race, and each clean one a few times, which must be silent.
func TestCaught(t *testing.T) {
	src, err := os.ReadFile("testdata/caught.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	binary, table := buildMonitored(t, string(src))
	head, tail, _ := strings.Cut(string(src), "var clean")
	tail, waits, _ := strings.Cut(tail, "var waits")
	shape := regexp.MustCompile(`(?m)^\t"(.*)": func`)
	for _, m := range shape.FindAllStringSubmatch(head, -1) {
		t.Run("racy/"+m[1], func(t *testing.T) {
			t.Parallel()
			deadline, seed := time.Now().Add(time.Minute), 1
			for ; races(t, binary, table, "racy", m[1], seed) == 0; seed++ {
				if time.Now().After(deadline) {
					t.Fatalf("not caught in %d runs", seed)
				}
			}
			t.Logf("caught in run %d", seed)
		})
	}
	for kind, text := range map[string]string{"clean": tail, "waits": waits} {
		found := shape.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("no shape of kind %s", kind)
		}
		for _, m := range found {
			t.Run(kind+"/"+m[1], func(t *testing.T) {
				t.Parallel()
				for seed := range *silent {
					if n := races(t, binary, table, kind, m[1], seed+1); n > 0 {
						t.Errorf("seed %d: %d races in a program without any", seed+1, n)
					}
				}
			})
		}
	}
}
