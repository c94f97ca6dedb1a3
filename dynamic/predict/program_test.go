package predict_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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
	binary := build(t, "hidden")
	for _, name := range tests(t, binary) {
		t.Run(name, func(t *testing.T) {
			found, err := predict.FromFile(record(t, binary, name), binary)
			if err != nil || found.Cut || found.Untried > 0 {
				t.Fatalf("%+v: %v", found, err)
			}
			for _, race := range found.Races {
				judge(t, name, "TestRace", race[:])
			}
			for _, d := range found.Deadlocks {
				judge(t, name, "TestDeadlock", d[:])
			}
			if len(found.Races)+len(found.Deadlocks) == 0 && !strings.HasPrefix(name, "TestNothing") {
				t.Errorf("nothing predicted of %d events", found.Events)
			}
		})
	}
}

// judge compares a prediction with the name of the test.
func judge(t *testing.T, name, kind string, steps []predict.Step) {
	for _, s := range steps {
		if !strings.HasPrefix(name, kind) || filepath.Base(s.File) != "hidden_test.go" {
			t.Errorf("%s is predicted: %v", kind, steps)
		}
	}
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
