package trial

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
)

// A budget ends by processor time, or by the clock where none is used.
func TestBudgetEnds(t *testing.T) {
	for name, work := range map[string]func(){"at work": func() {}, "waiting": func() { time.Sleep(time.Millisecond) }} {
		ctx, cancel := withBudget(context.Background(), 100*time.Millisecond)
		began := time.Now()
		for ctx.Err() == nil && time.Since(began) < 20*time.Second {
			work()
		}
		if !errors.Is(context.Cause(ctx), ErrBudget) {
			t.Errorf("%s: ended by %v after %v", name, context.Cause(ctx), time.Since(began))
		}
		cancel()
	}
	ctx, cancel := withBudget(context.Background(), 0)
	if cancel(); errors.Is(context.Cause(ctx), ErrBudget) {
		t.Error("no budget is set, and one has ended")
	}
}

// An interrupt ends the go command, and the test that it runs and that waits for ever, within two seconds.
func TestInterruptEndsTests(t *testing.T) {
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	for name, text := range map[string]string{
		"go.mod": "module example.com/stuck\n\ngo 1.21\n",
		"a_test.go": "package stuck\n\nimport (\n\t\"os\"\n\t\"os/signal\"\n\t\"strconv\"\n\t\"testing\"\n)\n\n" +
			"func TestStuck(t *testing.T) {\n\tsignal.Ignore(os.Interrupt)\n\t" +
			"os.WriteFile(\"started.new\", []byte(strconv.Itoa(os.Getpid())), 0o666)\n\t" +
			"os.Rename(\"started.new\", \"started\")\n\tselect {}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tr := &trial{ctx: ctx, copy: &moduleCopy{root: dir}}
	tr.plan.Dir, tr.plan.Still = dir, new(build.Still)
	ended := make(chan error, 1)
	go func() {
		_, err := tr.run("test", "-count=1", ".")
		ended <- err
	}()
	var pid []byte
	for end := time.Now().Add(time.Minute); len(pid) == 0; time.Sleep(10 * time.Millisecond) {
		if pid, _ = os.ReadFile(started); time.Now().After(end) {
			t.Fatal("the test has not started")
		}
	}
	began := time.Now()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v to end", took)
	}
	lives := func() bool {
		out, err := exec.Command("ps", "-o", "stat=", "-p", string(pid)).Output()
		return err == nil && len(bytes.TrimSpace(out)) > 0 && !strings.HasPrefix(string(bytes.TrimSpace(out)), "Z")
	}
	for end := time.Now().Add(2 * time.Second); lives(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the test lives on")
		}
	}
}
