package racesuite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
)

// distribution returns the functions of the suite in this Go installation.
func distribution(t *testing.T) *files {
	t.Helper()
	testdata, err := suiteFolder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(testdata); err != nil {
		t.Skip("this Go installation has no sources of the runtime's tests")
	}
	f, err := copySuite(testdata, filepath.Join(t.TempDir(), "racesuite"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCopy(t *testing.T) {
	f := distribution(t)
	racy := 0
	for _, fn := range f.functions {
		if fn.racy {
			racy++
		}
	}
	if clean := len(f.functions) - racy; racy < 200 || clean < 100 {
		t.Errorf("%d racy and %d clean functions, want more than 200 and 100", racy, clean)
	}
	if f.leftOut["TestNoRaceCgoSync"] == "" {
		t.Errorf("left out: %v, want TestNoRaceCgoSync among them", f.leftOut)
	}
	if _, err := copySuite(t.TempDir(), t.TempDir()); err == nil {
		t.Error("a folder without the suite is taken")
	}
}

func TestReport(t *testing.T) {
	found := []*finding.Finding{{Title: "data race on x"}}
	text, alarms := report([]outcome{
		{function: function{"TestRaceA", "a_test.go", true}, runs: 1, findings: found},
		{function: function{"TestRaceB", "a_test.go", true}, runs: 20, ended: "panic: x"},
		{function: function{"TestNoRaceC", "a_test.go", false}, runs: 20},
		{function: function{"TestNoRaceD", "a_test.go", false}, runs: 20, findings: found},
	}, map[string]string{"TestE": "needs cgo"}, 2, options{runs: 20, strength: 1000})
	if alarms != 1 {
		t.Errorf("%d false alarms, want 1", alarms)
	}
	for _, want := range []string{
		"**1 of 2 confirmed** in up to 20 runs, 1 of them in the first", "**1 of 2 with a confirmed race**",
		"| TestNoRaceD | a_test.go | data race on x |", "| TestRaceB | a_test.go | panic: x |", "TestE, which needs cgo",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

// A module of the suite's form goes through build, runs and judgement.
func TestSmallSuite(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module small\n\ngo 1.22\n",
		"x_test.go": `package small

import "testing"

var early, x int

func init() {
	done := make(chan bool)
	for range 2 {
		go func() {
			for range 1000 {
				early++
			}
			done <- true
		}()
	}
	<-done
	<-done
}

func TestRaceX(*testing.T) {
	done := make(chan bool)
	go func() { x = 1; close(done) }()
	x = 2
	<-done
}

func TestNoRaceX(*testing.T) {
	done := make(chan bool)
	go func() { x = 1; close(done) }()
	<-done
	x = 2
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := testbin.BuildMonitored(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n, err := s.Quiet(context.Background(), 10); err != nil || n == 0 {
		t.Fatalf("%d accesses race at the start, %v; want some", n, err)
	}
	functions := []function{{"TestRaceX", "x_test.go", true}, {"TestNoRaceX", "x_test.go", false}}
	outcomes, err := runAll(context.Background(), s, functions, options{runs: 10, parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(outcomes[0].findings) == 0 || len(outcomes[1].findings) != 0 || outcomes[1].runs != 10 {
		t.Errorf("outcomes %+v", outcomes)
	}
}
