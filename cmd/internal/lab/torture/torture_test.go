package torture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

func TestExpand(t *testing.T) {
	w := &writer{
		rng: rand.New(rand.NewPCG(1, 1)), block: "b1", parts: map[string]string{"add": "v++\n"},
		broken: broken{shape: "shape", weaken: -1},
	}
	for text, want := range map[string]string{
		"x$ := «#3-3»":                    "xb1 := 3",
		"«?one¦one»":                      "one",
		"«?a«?b¦b»¦ab»":                   "ab",
		"«add»y //~":                      "v++\ny //~b1",
		"«!nothing¦right «?a¦a»¦wrong» z": "right a z",
	} {
		if got := w.expand(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	w.weaken = len(w.places)
	if got := w.expand("«!what¦right¦wrong»"); got != "wrong" || w.places[w.weaken] != "shape: what" {
		t.Errorf("weakened: %q, %q", got, w.places)
	}
	for _, text := range []string{"«?a¦b", "a»", "«no part»", "«#5-3»"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken", text)
				}
			}()
			w.expand(text)
		}()
	}
}

// A seed makes the same program each time, and a racy twin is the correct
// program except for one place, which racing accesses belong to.
func TestTwins(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	names := strings.NewReplacer("racy", "", "correct", "")
	seen := map[string]bool{}
	seeds := uint64(300) // under which each shape comes
	if os.Getenv("INTERLOCK_TEST_LONG") != "" {
		seeds = 500
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		correct, racy := generate(seed, false, nil), generate(seed, true, nil)
		if seed%10 == 0 && generate(seed, true, nil).source != racy.source {
			t.Fatalf("seed %d makes two programs", seed)
		}
		for _, s := range correct.shapes {
			name, _, _ := strings.Cut(s, ":")
			seen[name] = true
		}
		if len(correct.racing) > 0 || correct.broken != "" {
			t.Errorf("seed %d: a correct program races at %v", seed, correct.racing)
		}
		if racy.broken == "" {
			continue
		}
		if len(racy.racing) < 2 && !strings.Contains(racy.source, "for ") {
			t.Errorf("seed %d: %s: lines %v race", seed, racy.broken, racy.racing)
		}
		twin := strings.ReplaceAll(racy.source, fmt.Sprint("r", seed), fmt.Sprint("c", seed))
		if names.Replace(correct.source) == names.Replace(twin) {
			t.Errorf("seed %d: %s: the twin is the same program", seed, racy.broken)
		}
	}
	for _, s := range shapes {
		if !seen[s.name] {
			t.Errorf("no program has %q", s.name)
		}
	}
}

// The shapes that are asked for are the only ones.
func TestChosenShapes(t *testing.T) {
	p := generate(7, false, func(name string) bool { return name == "pipeline" })
	for _, s := range p.shapes {
		if !strings.HasPrefix(s, "pipeline") {
			t.Errorf("a program of pipelines has %q", s)
		}
	}
}

// Programs compile and pass as they are, twins too.
func TestProgramsPass(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	for _, racy := range []bool{false, true} {
		o := options{correct: 24, seed: 5000}
		if racy {
			o = options{racy: 16, seed: 6000}
		}
		correct, twins := o.programs()
		dir := filepath.Join(t.TempDir(), "programs")
		if err := layOut(dir, append(correct, twins...)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-timeout=2m", ".")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("racy: %v: %v\n%s", racy, err, lastLines(string(out)))
		}
	}
}

func TestHits(t *testing.T) {
	p := &program{racing: map[int]bool{3: true, 5: true}}
	at := func(lines ...int) *finding.Finding {
		f := new(finding.Finding)
		for _, l := range lines {
			f.Accesses = append(f.Accesses, finding.Access{Position: finding.Position{Line: l}})
		}
		return f
	}
	for _, c := range []struct {
		f    *finding.Finding
		want bool
	}{
		{at(3, 5), true}, {at(3, 3), true}, {at(3, 4), false}, {at(4, 5), false}, {at(3), false},
	} {
		if got := p.namesRace(c.f); got != c.want {
			t.Errorf("%v: %v, want %v", c.f.Accesses, got, c.want)
		}
	}
}

// The report counts what is false in either kind of program, and the command
// of an alarm writes the program out.
func TestReport(t *testing.T) {
	confirm := func(p *program, code finding.Code, lines ...int) *finding.Finding {
		f := &finding.Finding{Code: code, Status: finding.Confirmed, Title: "what it is"}
		for _, l := range lines {
			f.Accesses = append(f.Accesses, finding.Access{Position: finding.Position{File: p.fileName(), Line: l}})
		}
		return f
	}
	clean := &program{seed: 1, name: "correct000001"}
	racy := &program{seed: 2, name: "racy000002", racy: true, broken: "pipeline: too late", racing: map[int]bool{7: true}}
	missed := &program{seed: 4, name: "racy000004", racy: true, broken: "mutex; field; WaitGroup: no lock"}
	batches := []*batch{
		{programs: []*program{clean}, byFile: map[string]*program{clean.fileName(): clean}},
		{programs: []*program{racy, missed}, byFile: map[string]*program{racy.fileName(): racy}},
	}
	batches[0].findings = []*finding.Finding{confirm(clean, "IL1000", 1, 2)}
	batches[1].findings = []*finding.Finding{confirm(racy, "IL1000", 7, 7), confirm(racy, "IL2003", 7, 9)}
	text, ok := report(batches, options{runs: 20, norace: true, least: 50})
	if ok {
		t.Error("false findings are no failure")
	}
	for _, want := range []string{
		"| 1 | 20 | 1 | 0 | 0 |", "| 2 | 1 | 50.0 % | - | 1 |",
		"-seed 1 -correct 1 -racy 0 -write", "-seed 2 -correct 0 -racy 1 -write",
		"| pipeline: too late | 1 | 1 | - |", "| no lock | 1 | 0 | - |", "mutex; field; WaitGroup: no lock: seed 4",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	batches[0].findings, batches[1].findings = nil, batches[1].findings[:1]
	if text, ok := report(batches, options{runs: 20, norace: true, least: 50}); !ok {
		t.Errorf("all bars are held, and that is a failure:\n%s", text)
	}
	if _, ok := report(batches, options{runs: 20, norace: true, least: 51}); ok {
		t.Error("half of the twins caught is enough for 51 %")
	}
}

var declaredNames = regexp.MustCompile(`(?m)\b(?:([a-z]+)\$ :=|(?:var|type) ([a-z]+)\$)`)

// A program takes one part of each kind, so that two kinds may not declare one name.
func TestKindsDeclareDifferentNames(t *testing.T) {
	kinds := map[string]string{}
	for _, kind := range []string{"forks", "locks", "cells"} {
		data, err := partFiles.ReadFile("parts/" + kind + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declaredNames.FindAllStringSubmatch(string(data), -1) {
			name := m[1] + m[2]
			if other := kinds[name]; other != "" && other != kind {
				t.Errorf("%s$ is declared by parts of %s and of %s", name, other, kind)
			}
			kinds[name] = kind
		}
	}
}
