package predict_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/hb"
	"github.com/interlock-go/interlock/dynamic/predict"
)

// The tests of testdata/hidden are named after what is predicted from one run of each, under the
// happens-before engine.
func TestPrograms(t *testing.T) {
	binary, sections := build(t, "hidden"), marked(t, filepath.Join("testdata", "hidden", "splits_test.go"))
	for _, name := range tests(t, binary) {
		t.Run(name, func(t *testing.T) {
			found, err := predict.FromFile(record(t, binary, name), binary, sections)
			if err != nil || found.Cut || found.Untried > 0 {
				t.Fatalf("%+v: %v", found, err)
			}
			for _, race := range found.Races {
				judge(t, name, "TestRace", race[:])
			}
			for _, d := range found.Deadlocks {
				judge(t, name, "TestDeadlock", d[:])
			}
			for _, s := range found.Splits {
				judge(t, name, "TestSplit", s.Steps[:])
			}
			if len(found.Races)+len(found.Deadlocks)+len(found.Splits) == 0 && !strings.HasPrefix(name, "TestNothing") {
				t.Errorf("nothing predicted of %d events", found.Events)
			}
		})
	}
}

// judge compares a prediction with the name of the test.
func judge(t *testing.T, name, kind string, steps []predict.Step) {
	for _, s := range steps {
		if !strings.HasPrefix(name, kind) || filepath.Base(filepath.Dir(s.File)) != "hidden" {
			t.Errorf("%s is predicted: %v", kind, steps)
		}
	}
}

// marked returns the sections that a file marks by comments.
func marked(t *testing.T, name string) (all predict.Sections) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	method := regexp.MustCompile(`^func \(l \*(\w+)[^)]*\) (\w+)\(`)
	half := regexp.MustCompile(`// (entry|end|use) ?(\w*)$`)
	lines := strings.Split(string(text), "\n")
	all.Named = func(at predict.Place) predict.Place { at.File = filepath.Base(at.File); return at }
	for i, line := range lines {
		if m := method.FindStringSubmatch(line); m != nil {
			all.All = append(all.All, predict.Section{Function: "example.com/hidden.(*" + m[1] + ")." + m[2]})
		}
		m := half.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		h := predict.Half{File: filepath.Base(name), Line: i + 1}
		if m[2] != "" { // in a callee
			h.Call = &predict.Lines{From: i + 1, To: i + 1}
			h.Line = 1 + slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, "// "+m[2]) })
		}
		last := &all.All[len(all.All)-1]
		if m[1] == "entry" {
			last.Entry = h
		} else {
			if m[1] == "end" {
				h.Op = predict.Write
			}
			last.Ends = []predict.End{{Half: h, Allows: []predict.Op{predict.Read}}}
		}
	}
	all.All = slices.DeleteFunc(all.All, func(s predict.Section) bool { return s.Ends == nil })
	return all
}

// build builds the tests of a folder of testdata under the engine.
func build(t *testing.T, folder string) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	in := hb.Installation{
		Root: strings.TrimSpace(string(out)), Version: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	if strings.Contains(in.Root, filepath.Join("golang.org", "toolchain@")) {
		t.Skip("the installation lies in the module cache")
	}
	dir := t.TempDir()
	replaced, err := hb.Prepare(in, dir)
	if err != nil {
		t.Skip(err)
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "tests")
	args := slices.Concat([]string{"test", "-c", "-vet=off", "-o", binary, "-overlay=" + overlay}, hb.Flags(nil, "-s -w"))
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = filepath.Join("testdata", folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func tests(t *testing.T, binary string) []string {
	t.Helper()
	out, err := exec.Command(binary, "-test.list=.").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// record runs one test and returns the file of its trace. On a busy machine a race may show in the run itself, which
// then is no calm one and is made again.
func record(t *testing.T, binary, name string) string {
	t.Helper()
	for tries := 5; ; tries-- {
		file := filepath.Join(t.TempDir(), "trace")
		if err := predict.Create(file); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary, "-test.run=^"+name+"$")
		cmd.Env = append(os.Environ(), "INTERLOCK_OUT=", "INTERLOCK_TRACE="+file)
		out, err := cmd.CombinedOutput()
		if err == nil {
			return file
		}
		shows := strings.HasPrefix(name, "TestRace") && strings.Contains(string(out), "WARNING: DATA RACE")
		if !shows || tries == 0 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
