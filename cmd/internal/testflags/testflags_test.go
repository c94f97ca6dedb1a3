package testflags

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		goFlags, in   string
		build, binary []string
		timeout       time.Duration
		verbose       bool
		cover         []string
		vet           string
	}{
		{in: ""},
		{in: "-run X -v", binary: []string{"-test.run=X", "-test.v"}, verbose: true},
		{in: "--run=X -v=false", binary: []string{"-test.run=X", "-test.v=false"}},
		{in: "-test.run=X", binary: []string{"-test.run=X"}},
		{in: "-tags a,b -race -short", build: []string{"-tags=a,b", "-race"}, binary: []string{"-test.short"}},
		{in: "-timeout 90s", timeout: 90 * time.Second},
		{in: "-timeout 0", timeout: -1},
		{in: "-vet=off", vet: "off"},
		{in: "-vet atomic,bool", vet: "atomic,bool"},
		{goFlags: "-count=1 -race -timeout=9s -short -cover", in: "-count 2",
			binary: []string{"-test.count=1", "-test.short", "-test.count=2"}, timeout: 9 * time.Second},
		{in: "-cover -coverprofile c.out -race", build: []string{"-race"}, cover: []string{"-cover", "-coverprofile=c.out"}},
		{in: "-update golden -run X", binary: []string{"-update", "golden", "-test.run=X"}},
		{in: "-run X -args -run ./... --", binary: []string{"-test.run=X", "-run", "./...", "--"}},
	} {
		got, err := Split(strings.Fields(tt.goFlags), strings.Fields(tt.in))
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
		}
		if !slices.Equal(got.Build, tt.build) || !slices.Equal(got.Binary, tt.binary) || got.Timeout != tt.timeout ||
			got.Verbose != tt.verbose || got.Vet != tt.vet || !slices.Equal(got.Cover, tt.cover) {
			t.Errorf("%q: got %+v", tt.in, got)
		}
	}
	for in, want := range map[string]string{
		"./...":         "packages stand before it",
		"-run":          "-run after -- needs a value",
		"-timeout soon": "-timeout after --: \"soon\": want a duration",
		"-fuzz F":       "-fuzz after --: fuzzing looks for inputs",
		"-o x":          "-o after --: Interlock builds and runs the test binaries itself; leave it out",
		"-mod=mod":      "with `go mod tidy`, and leave it out",
	} {
		if _, err := Split(nil, strings.Fields(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}

// nextStep is in the error for each flag that is refused.
var nextStep = regexp.MustCompile(`leave it out|: run |go test|run instead|want a|apply |put the|change to`)

// What the go command's help names is in the table: obeyed, which the table of
// TestSplit and the scripts show, or refused in words with a next step.
func TestEveryFlagHasAFate(t *testing.T) {
	named := regexp.MustCompile(`(?m)^\t-([A-Za-z]+)(?: .*)?$`)
	seen := map[string]bool{}
	for _, topic := range []string{"build", "test", "testflag"} {
		help, err := exec.Command("go", "help", topic).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(help, -1) {
			seen[string(m[1])] = true
		}
	}
	if !seen["fuzz"] || !seen["trimpath"] || !seen["args"] {
		t.Fatalf("the help is not read as it is written: %v", seen)
	}
	delete(seen, "args") // ends the flags
	for name := range seen {
		if _, known := goTestFlags[name]; !known {
			t.Errorf("go test has the flag -%s: say in goTestFlags what becomes of it", name)
		}
	}
	for name, flag := range goTestFlags {
		word := "-" + name
		if flag.value {
			word += "=x"
		}
		_, err := Split(nil, []string{word})
		refused := slices.Contains([]string{
			"C", "artifacts", "blockprofile", "blockprofilerate", "c", "compiler", "cpuprofile", "exec", "fuzz",
			"fuzzminimizetime", "fuzztime",
			"gccgoflags", "json", "list", "memprofile", "memprofilerate", "modfile", "mutexprofile", "mutexprofilefraction",
			"n", "o", "outputdir",
			"overlay", "timeout", "trace", "work", "x",
		}, name)
		switch {
		case refused != (err != nil):
			t.Errorf("%s: %v", word, err)
		case err != nil && !nextStep.MatchString(err.Error()):
			t.Errorf("%s: no next step in %q", word, err)
		}
	}
}
