package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/interlock-go/interlock/cmd/interlock/internal/guard"
)

// binary is the tool under test. The scripts need the real thing: check has
// the go command start it again as a vet tool, by its own path. guarding is the
// one that they find as interlock. cache is what they use as the user's cache
// folder: one for all, or each would build anew.
var binary, guarding, cache string

func TestMain(m *testing.M) {
	// Scripts wait for their commands, and those for each other, for a good half of their time.
	if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0)+1)); err != nil {
		panic(err)
	}
	testscript.Main(withBinaries{m}, nil)
}

// withBinaries runs the tests with the binaries built for them.
type withBinaries struct{ m *testing.M }

// Run builds the binaries and returns the exit code of the tests.
func (w withBinaries) Run() int {
	dir, err := os.MkdirTemp("", "interlock-script-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary, cache = filepath.Join(dir, "interlock"), filepath.Join(dir, "cache")
	guarding = filepath.Join(dir, "guard", "interlock")
	for name, pkg := range map[string]string{binary: ".", guarding: "./internal/guard/interlock"} {
		if out, err := exec.Command("go", "build", "-o", name, pkg).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building %s: %v\n%s", pkg, err, out)
			return 1
		}
	}
	return w.m.Run()
}

// TestScript runs testdata/script/*.txtar. Every interlock in them is the
// guard's: one that writes anything below $WORK but the outputs that its
// command line names fails its script. Beside the usual commands, scripts have:
//
//	code N command…         the command ends with exit code N
//	interrupt N TEXT args…  interlock with the args gets SIGINT once TEXT stands
//	                        on its standard error, or for @FILE once the file is
//	                        there, and ends with exit code N
//	killed TEXT args…       interlock with the args is killed once TEXT stands on its
//	                        standard error
//	snapshot DIR            remembers every name, byte and mode below DIR
//	unchanged DIR           fails if one of them is another now; for what others
//	                        than interlock do, which the guard does not see
//	damage DIR HOW          damages every file below DIR: flip turns one bit in its
//	                        middle, truncate leaves half of it, zero makes its bytes
//	                        0, folder puts a folder into its place, unreadable
//	                        takes its permissions away
//	[perf]                  the kernel opens a timer that sends signals
//	clean                   fails if interlock left anything in $TMPDIR
//
// The condition [long] holds under make long: a script that has more to try begins that with [!long] stop.
func TestScript(t *testing.T) {
	t.Parallel()
	bank, err := filepath.Abs("../../testdata/bank")
	if err != nil {
		t.Fatal(err)
	}
	goEnv := goEnvironment(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "long":
				return os.Getenv("INTERLOCK_TEST_LONG") != "", nil
			case "perf":
				return opensTimer(), nil
			}
			return false, fmt.Errorf("no such condition: %s", cond)
		},
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, goEnv...)
			env.Setenv("BANK", bank)
			env.Setenv("SOURCE", filepath.Dir(filepath.Dir(bank)))
			env.Setenv("PATH", filepath.Dir(guarding)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			report := filepath.Join(t.TempDir(), "touched")
			env.Setenv("GUARDED_BINARY", binary)
			env.Setenv("GUARD_REPORT", report)
			env.Defer(func() {
				if said, err := os.ReadFile(report); err == nil {
					t.Errorf("interlock has touched the tree:\n%s", said)
				}
			})
			env.Values[snapshotsKey{}] = snapshots{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":      cmdCode,
			"found":     cmdFound,
			"interrupt": cmdInterrupt,
			"killed":    cmdKilled,
			"snapshot":  cmdSnapshot,
			"unchanged": cmdUnchanged,
			"damage":    cmdDamage,
			"clean":     cmdClean,
		},
	})
}

// goEnvironment returns what the go command needs to find its caches: scripts
// run with an empty home folder.
func goEnvironment(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS").Output()
	if err != nil {
		t.Fatal(err)
	}
	values := strings.Split(string(out), "\n")
	var env []string
	for i, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS"} {
		env = append(env, name+"="+strings.TrimSpace(values[i]))
	}
	return append(env, "XDG_CACHE_HOME="+cache, "GOTOOLCHAIN=local", "GOWORK=")
}

// cmdCode is exec with a known exit code, or one of several: 0,1.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command…")
	}
	if got := codeOf(ts, args[1:]); !slices.Contains(strings.Split(args[0], ","), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// codeOf runs a command, and returns its exit code.
func codeOf(ts *testscript.TestScript, command []string) int {
	err := ts.Exec(command[0], command[1:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// cmdFound is code 1, with a standard output that a pattern matches, in one of several tries: what runs find by pauses
// of milliseconds, they may miss, or find in another way, while other tests have the processors. It tries for two
// minutes, and three times at least.
func cmdFound(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: found PATTERN command…")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	tries := 0
	for begin := time.Now(); tries < 3 || time.Since(begin) < 2*time.Minute; tries++ {
		if codeOf(ts, args[1:]) == 1 && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("exit code 1 with %q in none of %d tries", args[0], tries)
}

// cmdInterrupt stops a command as Ctrl-C would, in the middle of its work.
func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt N TEXT args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	cmd := inScript(ts, guarding, args[2:]...)
	var stdout bytes.Buffer
	stderr := &watched{text: args[1], seen: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	ts.Check(cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	if mark, isFile := strings.CutPrefix(args[1], "@"); isFile {
		go stderr.awaitFile(ts.MkAbs(mark))
	}
	select {
	case <-stderr.seen:
		ts.Check(cmd.Process.Signal(syscall.SIGINT))
	case <-done:
		ts.Fatalf("ended before %q was seen:\n%s", args[1], stderr)
	}
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		cmd.Process.Kill()
		ts.Fatalf("still running 30 s after SIGINT:\n%s", stderr)
	}
	fmt.Fprint(ts.Stdout(), stdout.String())
	fmt.Fprint(ts.Stderr(), stderr.String())
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d, want %d\n%s\n%s", got, want, stdout.String(), stderr)
	}
}

// inScript returns a command that runs where the script is, with the variables
// that interlock needs.
func inScript(ts *testscript.TestScript, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS",
		"XDG_CACHE_HOME", "GOTOOLCHAIN", "GOWORK", "WORK", "GUARDED_BINARY", "GUARD_REPORT"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

// cmdKilled ends a command in the middle of its work as nobody can expect, but
// the kernel.
func cmdKilled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: killed TEXT args…")
	}
	cmd := inScript(ts, ts.Getenv("GUARDED_BINARY"), args[1:]...)
	stderr := &watched{text: args[0], seen: make(chan struct{})}
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second // what it has started may hold the pipe open
	ts.Check(cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-stderr.seen:
		ts.Check(cmd.Process.Kill())
		<-done
	case <-done:
		ts.Fatalf("ended before %q was seen:\n%s", args[0], stderr)
	}
}

// watched collects output and reports when a text has appeared.
type watched struct {
	text string
	seen chan struct{} // closed by once
	once sync.Once

	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if strings.Contains(w.buf.String(), w.text) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

// awaitFile takes the appearance of a file for that of the text.
func (w *watched) awaitFile(name string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			w.once.Do(func() { close(w.seen) })
			return
		}
	}
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// snapshots holds what `snapshot` saw, by folder.
type (
	snapshots    map[string]guard.Tree
	snapshotsKey struct{}
)

func cmdSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot DIR")
	}
	tree, err := guard.ReadTree(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Value(snapshotsKey{}).(snapshots)[args[0]] = tree
}

func cmdUnchanged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unchanged DIR")
	}
	before, ok := ts.Value(snapshotsKey{}).(snapshots)[args[0]]
	if !ok {
		ts.Fatalf("no snapshot of %s", args[0])
	}
	after, err := guard.ReadTree(ts.MkAbs(args[0]))
	ts.Check(err)
	if changed := before.Changes(after); len(changed) > 0 {
		ts.Fatalf("%s", strings.Join(changed, "\n"))
	}
}

// cmdDamage does to files what disks, and processes that were killed, do.
func cmdDamage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage DIR HOW")
	}
	damaged := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		damaged++
		return damage(name, args[1])
	}))
	if damaged == 0 {
		ts.Fatalf("no file below %s", args[0])
	}
}

func damage(name, how string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := os.Remove(name); err != nil { // a program that runs cannot be written to
		return err
	}
	mode := fs.FileMode(0o755)
	switch how {
	case "flip":
		if len(data) > 0 {
			data[len(data)/2] ^= 1
		}
	case "truncate":
		data = data[:len(data)/2]
	case "zero":
		clear(data)
	case "unreadable":
		mode = 0
	case "folder":
		return os.Mkdir(name, mode)
	default:
		return fmt.Errorf("no such damage: %s", how)
	}
	return os.WriteFile(name, data, mode)
}

func cmdClean(ts *testscript.TestScript, neg bool, args []string) {
	left, err := filepath.Glob(filepath.Join(ts.Getenv("TMPDIR"), "*interlock*"))
	ts.Check(err)
	if len(left) > 0 {
		ts.Fatalf("left behind: %s", strings.Join(left, ", "))
	}
}
