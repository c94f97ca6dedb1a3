package stacktext

import "testing"

const (
	closedTwice = "panic: close of closed channel\n\n"
	mapWrites   = "fatal error: concurrent map writes\n\n"
	stackOf1    = "goroutine 1 [running]:\nexample.com/m.TestMain(0xc0)\n\t/m/m_test.go:9 +0xb0\n" +
		"main.main()\n\t_testmain.go:50 +0xa5\n"
	stackOf7 = "goroutine 7 gp=0xc0 m=0 [running]:\nexample.com/m.put(...)\n\t/m/m.go:5 +0x1\n" +
		"created by example.com/m.TestPut in goroutine 6\n\t/m/m_test.go:20 +0x1\n"
	failed = "--- FAIL: TestFast (0.03s)\n    m_test.go:48: took 34ms\nFAIL\n"
)

// A process that was started may crash on purpose: its words are not those of the process that passes them on.
func TestCrash(t *testing.T) {
	for _, c := range []struct {
		name, output, kept string
		hasCopy            bool
		message            string
		goroutine          int64
	}{
		{"a child crashed, this process failed", closedTwice + stackOf1 + failed, "", true, "", 0},
		{"both crashed", closedTwice + stackOf1 + "panic: too slow\n\n" + stackOf7, "panic: too slow\n\n" + stackOf7, true,
			"too slow", 7},
		{"a fatal error has no message in the copy", closedTwice + stackOf1 + mapWrites + stackOf7, "\n" + stackOf7, true,
			"concurrent map writes", 7},
		{"its message is not in front of it", closedTwice + stackOf1 + "\n" + stackOf7, "\n" + stackOf7, true, "", 0},
		{"no copy, a child crashed", closedTwice + stackOf1 + failed, "", false, "", 0},
		{"no copy, this process crashed later", closedTwice + stackOf1 + mapWrites + stackOf7 + "\n" + stackOf1, "", false,
			"concurrent map writes", 7},
		{"no copy, a nil pointer", failed + "panic: runtime error: invalid memory address\n\tpanic: x\n" +
			"[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x478a71]\n\n" + stackOf7, "", false,
			"runtime error: invalid memory address", 7},
		{"no copy, no goroutine", closedTwice, "", false, "", 0},
		{"no crash", failed, "", false, "", 0},
	} {
		text := Crash([]byte(c.output), []byte(c.kept), c.hasCopy)
		if got := PanicMessage(text); got != c.message {
			t.Errorf("%s: message %q, want %q", c.name, got, c.message)
		}
		if p, ok := PanicOf(text); ok != (c.message != "") || p.Goroutine.ID != c.goroutine {
			t.Errorf("%s: goroutine %d of %v, want %d", c.name, p.Goroutine.ID, ok, c.goroutine)
		}
	}
}
