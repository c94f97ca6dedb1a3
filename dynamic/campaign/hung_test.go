package campaign

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestHangingTestsAreLeftOut(t *testing.T) {
	cfg := config(t, scripted("hang 1-2\nhang\nhang\n1-2"), threeSites(t))
	cfg.Runs, cfg.Timeout = 4, 100*time.Millisecond
	r := campaignOf(t, cfg)
	p := r.Packages[0]
	if p.Runs != 4 || p.Failures != 2 || !slices.Equal(p.LeftOut, []string{"Test"}) {
		t.Errorf("%+v", p)
	}
	if !strings.Contains(strings.Join(r.Problems, "\n"), "Test of example.com/m hung in 2 runs, later runs leave it out") {
		t.Errorf("problems %q", r.Problems)
	}
}

// Where nothing tells which test hangs, all of the package's are left out.
func TestHangingPackagesAreLeftOut(t *testing.T) {
	c := &campaign{cfg: &Config{}, result: &Result{}}
	pkg := &PackageResult{Package: "example.com/m"}
	for range maxPackageHangs {
		c.hung(pkg, &process{output: []byte("goroutine 1 [sleep]:\nexample.com/m.init.0()\n")})
	}
	if pkg.hangs != maxPackageHangs || len(pkg.LeftOut) > 0 || len(c.result.Problems) != 1 {
		t.Errorf("%+v, problems %q", pkg, c.result.Problems)
	}
}

func TestHangingTestsAreNamed(t *testing.T) {
	dump := strings.Join([]string{
		"SIGQUIT: quit\n",
		"goroutine 1 [chan receive]:\ntesting.(*T).Run(0xc0, {0x1, 0x2}, 0x3)\n\t/go/testing.go:1\nmain.main()\n\t_testmain.go:9\n",
		"goroutine 1 [chan receive]:\ntesting.runTests(0x1)\ntesting.tRunner(0xc0, 0x1)\ntesting.(*M).Run(0xc0)\nexample.com/m.TestMain(0xc0)\n\tm_test.go:2\n",
		"goroutine 7 [chan receive]:\nexample.com/m.wait(...)\n\tm.go:3\nexample.com/m.TestOuter.func1(0xc0, 0x1)\n\tm_test.go:5\ntesting.tRunner(0xc0, 0x1)\n\ttesting.go:1\ncreated by testing.(*T).Run in goroutine 6\n",
		"goroutine 8 [sync.Mutex.Lock]:\nexample.com/m_test.TestOther(0xc0)\n\tx_test.go:5\ntesting.tRunner(0xc0, 0x1)\n",
		"goroutine 9 [chan receive]:\ntesting.(*T).Parallel(0xc0)\nexample.com/m.TestWaits(0xc0)\n\tm_test.go:5\ntesting.tRunner(0xc0, 0x1)\n",
		"goroutine 10 [select]:\nexample.com/m.(*suite).TestMethod(0xc0)\n\tm_test.go:5\ntesting.tRunner(0xc0, 0x1)\n",
		"goroutine 11 [select]:\nexample.com/m.TestDone.func2()\n\tm_test.go:5\ncreated by example.com/m.TestDone in goroutine 3\n",
	}, "\n")
	if got := hangingTests([]byte(dump)); !slices.Equal(got, []string{"TestOuter", "TestOther"}) {
		t.Errorf("got %q", got)
	}
}

func TestLeavingOutKeepsTheFlags(t *testing.T) {
	c := &campaign{cfg: &Config{TestFlags: []string{"-test.v=true", "-test.skip=A|B/c", "-addr", "x"}}}
	if got := c.without(nil); !slices.Equal(got, c.cfg.TestFlags) {
		t.Errorf("got %q", got)
	}
	want := []string{"-test.skip=A|B/c|^(TestX|TestY)$", "-test.v=true", "-addr", "x"}
	if got := c.without([]string{"TestX", "TestY"}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a killed test shows are its goroutines, not the scheduler's own stack
// and the registers.
func TestDumpWithoutRegisters(t *testing.T) {
	dump := "SIGQUIT: quit\nPC=0x48ac03 m=0 sigcode=0\n\ngoroutine 0 gp=0x7a7c60 m=0 mp=0x7a8ba0 [idle]:\nruntime.futex(0x7a8ce0)\n\t/go/src/runtime/sys_linux_amd64.s:558 +0x23\n\n" +
		"goroutine 1 [chan receive]:\nexample.com/m.TestX(0xc000)\n\t/m/m_test.go:5 +0x2f\n\nrax    0xca\nrip    0x48ac03\nrflags 0x286\ncs     0x33\n"
	want := "SIGQUIT: quit\ngoroutine 1 [chan receive]:\nexample.com/m.TestX(0xc000)\n\t/m/m_test.go:5 +0x2f\n\n"
	if got := string(withoutRegisters([]byte(dump))); got != want {
		t.Errorf("got\n%s", got)
	}
}
