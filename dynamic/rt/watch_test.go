package rt_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// The programs of testdata/watch run as processes of their own, built without
// the race detector, against the monitor as it is delivered: extracted from
// dynamic.Source as module interlock.invalid/rt.

var (
	scratch    string
	buildWatch = sync.OnceValues(func() (string, error) {
		err := os.CopyFS(filepath.Join(scratch, "watch"), os.DirFS("testdata/watch"))
		if err != nil {
			return "", err
		}
		return goBuild("watch", "-o", "watch.exe", ".")
	})
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "interlock-rt-")
	if err == nil {
		scratch = dir
		err = dynamic.WriteMonitor(filepath.Join(dir, "rt"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// goBuild runs `go build` on the package in a folder of scratch, which becomes
// a module that requires the monitor, and returns what the command prints, or
// for -o the path of the binary.
func goBuild(folder string, args ...string) (string, error) {
	return goCommand(folder, append([]string{"build"}, args...)...)
}

func goCommand(folder string, args ...string) (string, error) {
	dir := filepath.Join(scratch, folder)
	mod := "module watch\n\ngo 1.26\n\nrequire interlock.invalid/rt v0.0.0\n\nreplace interlock.invalid/rt => ../rt\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	text, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	for i, arg := range args {
		if arg == "-o" {
			return filepath.Join(dir, args[i+1]), nil
		}
	}
	return string(text), nil
}

// run is one monitored process.
type run struct {
	program string
	seed    int
	env     []string

	// Set by do.
	out     string // evidence file
	stderr  string
	stdout  string
	code    int
	wall    time.Duration
	records []evidence.Record
	bad     int
}

// do runs the program of testdata/watch and reads its evidence.
func (r *run) do(t *testing.T) *run {
	t.Helper()
	binary, err := buildWatch()
	if err != nil {
		t.Fatal(err)
	}
	return r.exec(t, binary)
}

// monitored returns a command that runs a program with the monitor awake.
func monitored(t *testing.T, binary, program, out string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(binary, program)
	cmd.Env = append(os.Environ(), "INTERLOCK_OUT="+out, "INTERLOCK_SITES="+siteTable(t))
	return cmd
}

func (r *run) exec(t *testing.T, binary string) *run {
	t.Helper()
	if r.out == "" {
		r.out = filepath.Join(t.TempDir(), "evidence.jsonl")
	}
	cmd := monitored(t, binary, r.program, r.out)
	cmd.Env = append(cmd.Env, "INTERLOCK_RUN=1", "INTERLOCK_SEED="+strconv.Itoa(r.seed))
	cmd.Env = append(cmd.Env, r.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r.wall, r.code = time.Since(begin), cmd.ProcessState.ExitCode()
	r.stdout, r.stderr = stdout.String(), stderr.String()
	r.read(t)
	return r
}

func (r *run) read(t *testing.T) {
	t.Helper()
	f, err := os.Open(r.out)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var bad evidence.Bad
	if r.records, bad, err = evidence.Read(f); err != nil {
		t.Fatal(err)
	}
	r.bad = bad.Lines
}

// expectClean fails if the process did not end as the program would.
func (r *run) expectClean(t *testing.T) {
	t.Helper()
	if r.code != 0 || r.stderr != "" || r.stdout != "" || r.bad != 0 {
		t.Fatalf("%s, seed %d: exit code %d, %d bad lines, stdout %q, stderr %q",
			r.program, r.seed, r.code, r.bad, r.stdout, r.stderr)
	}
}

func (r *run) races() (races []evidence.Record) {
	for _, rec := range r.records {
		if rec.Kind == evidence.Race {
			races = append(races, rec)
		}
	}
	return races
}

// stats returns the last counters of the last process.
func (r *run) stats() (last evidence.Record) {
	for _, rec := range r.records {
		if rec.Kind == evidence.Stats {
			last = rec
		}
	}
	return last
}

// siteTable writes a table in which sites 1 and 2 are of one variable, and up
// to 1000 others are of their own.
func siteTable(t *testing.T) string {
	t.Helper()
	table := []byte("1 1 -\n2 1 -\n")
	for id := 3; id <= 1000; id++ {
		table = fmt.Appendf(table, "%d %d -\n", id, id)
	}
	path := filepath.Join(t.TempDir(), "sites")
	if err := os.WriteFile(path, table, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// programs lists the programs whose name begins with prefix.
func programs(t *testing.T, prefix string) (names []string) {
	t.Helper()
	binary, err := buildWatch()
	if err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(text)) {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatalf("no program begins with %s", prefix)
	}
	return names
}

// runs is how often each program is run: 20, or what INTERLOCK_TEST_RUNS says.
func runs(t *testing.T) int {
	t.Helper()
	v := os.Getenv("INTERLOCK_TEST_RUNS")
	if v == "" {
		if testing.Short() {
			return 5
		}
		return 20
	}
	n, err := strconv.Atoi(v)
	if err != nil || n <= 0 {
		t.Fatalf("INTERLOCK_TEST_RUNS=%q is not a positive number", v)
	}
	return n
}
