package stacktext

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestHangingTestsAreNamed(t *testing.T) {
	frame := func(call string) string { return call + "\n\t/m/m_test.go:5 +0x1\n" }
	goroutine := func(state string, calls ...string) string {
		text := "goroutine 7 [" + state + "]:\n"
		for _, c := range calls {
			text += frame(c)
		}
		return text
	}
	dump := strings.Join([]string{
		"SIGQUIT: quit\n",
		goroutine("chan receive", "testing.(*T).Run(0xc0, {0x1, 0x2}, 0x3)", "main.main()"),
		goroutine("chan receive", "testing.runTests(0x1)", "testing.tRunner(0xc0, 0x1)", "testing.(*M).Run(0xc0)",
			"example.com/m.TestMain(0xc0)"),
		goroutine("chan receive", "example.com/m.wait(...)", "example.com/m.TestOuter.func1(0xc0, 0x1)",
			"testing.tRunner(0xc0, 0x1)", "created by testing.(*T).Run in goroutine 6"),
		goroutine("sync.Mutex.Lock", "example.com/m_test.TestOther(0xc0)", "testing.tRunner(0xc0, 0x1)"),
		goroutine("chan receive", "testing.(*T).Parallel(0xc0)", "example.com/m.TestWaits(0xc0)",
			"testing.tRunner(0xc0, 0x1)"),
		goroutine("select", "example.com/m.(*suite).TestMethod(0xc0)", "testing.tRunner(0xc0, 0x1)"),
		goroutine("select", "example.com/m.TestDone.func2()", "created by example.com/m.TestDone in goroutine 3"),
	}, "\n")
	if got := HangingTests([]byte(dump)); !slices.Equal(got, []string{"TestOuter", "TestOther"}) {
		t.Errorf("got %q", got)
	}
}

// What a killed test shows are the goroutines that wait, those alike together, in at most
// ten lines each: without the runtime, package testing and the monitor.
func TestWaiting(t *testing.T) {
	frames := func(calls ...string) (text string) {
		for i, c := range calls {
			text += fmt.Sprintf("%s\n\t/m/a.go:%d +0x2f fp=0xc0 sp=0xc1 pc=0x1\n", c, i+1)
		}
		return text
	}
	const (
		hang  = "x_test.go:3: says\nSIGQUIT: quit\nPC=0x48ac03 m=0 sigcode=0\n\n"
		ended = "\t/tmp/m/zz_interlock_test.go:9 +0x1 fp=0xc0 sp=0xc1 pc=0x1\n"
	)
	waiter := func(id int) string {
		return fmt.Sprintf("goroutine %d gp=0xc0 m=nil [sync.Mutex.Lock]:\n", id) +
			frames("internal/sync.runtime_SemacquireMutex(0x1)", "sync.(*Mutex).Lock(0x1)",
				fmt.Sprintf("example.com/m.TestX.func1(%#x)", id)) +
			"created by example.com/m.TestX in goroutine 6\n\t/m/x_test.go:9 +0x1\n\n"
	}
	dump := hang +
		"goroutine 0 gp=0x7a7c60 m=0 mp=0x7a8ba0 [idle]:\n" +
		"runtime.futex(0x7a8ce0)\n\t/go/src/runtime/sys_linux_amd64.s:558 +0x23\n\n" +
		"goroutine 1 gp=0xc0 m=nil [chan receive]:\n" + frames("runtime.gopark(0x1)", "testing.(*M).Run(0xc0)") +
		"example.com/m.TestMain(0xc0)\n" + ended + frames("main.main()") + "\n" +
		"goroutine 6 gp=0xc0 m=nil [chan receive]:\n" +
		frames("runtime.gopark(0x1)", "example.com/m.wait(0x1)", "example.com/m.TestX(0xc000)",
			"testing.tRunner(0xc0, 0x1)") +
		"created by testing.(*T).Run in goroutine 1\n\t/go/testing.go:1 +0x1\n\n" +
		waiter(7) + waiter(8) +
		"goroutine 9 gp=0xc0 m=nil [sleep]:\n" +
		frames("time.Sleep(0x1)", "interlock.invalid/rt.delay(0x1)", "example.com/m.F(0x1)") + "\n" +
		"goroutine 10 gp=0xc0 m=nil [select]:\n" + strings.Repeat(frames("example.com/m.deep(0x1)"), 20) + "\n" +
		"goroutine 11 gp=0xc0 m=nil [select]:\n" + strings.Repeat(frames("example.com/m.deep(0x1)"), 19) +
		frames("example.com/m.deeper(0x1)") + "\n" +
		"rax    0xca\nr10    0x0\nrip    0x48ac03\n"
	want := `goroutine 6 of TestX [chan receive]:
	example.com/m.wait  a.go:2
	example.com/m.TestX  a.go:3
2 goroutines of TestX [sync.Mutex.Lock]:
	sync.(*Mutex).Lock  a.go:2
	example.com/m.TestX.func1  a.go:3
	started by example.com/m.TestX  x_test.go:9
2 goroutines [select]:
` + strings.Repeat("\texample.com/m.deep  a.go:1\n", 8) + "\t... 12 more frames\n"
	before, _, snapshot := Goroutines([]byte(dump))
	nameFile := func(file string) string {
		if strings.HasSuffix(file, "/zz_interlock_test.go") {
			return ""
		}
		return strings.TrimPrefix(file, "/m/")
	}
	sections := func(s string) []string {
		all := strings.SplitAfter(strings.ReplaceAll(s, "]:\n\t", "]: "), "\n")
		slices.Sort(all)
		return all
	}
	if got := string(Waiting(snapshot, nameFile)); !slices.Equal(sections(got), sections(want)) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if string(before) != "x_test.go:3: says\n" {
		t.Errorf("before the dump: %q", before)
	}
}
