package child

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A server that a test has started ends with the tests, and does not hold their output open: also one that has a
// group of its own, and no parent any more.
func TestStartedProcessesEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	for _, command := range []string{
		"sleep 3600 >/dev/null 2>&1 & echo $!",
		"env -i setsid sh -c 'sleep 3600 >/dev/null 2>&1 & echo $!'",
	} {
		var out Output
		sh := exec.Command("sh", "-c", command)
		if _, _, err := Run(context.Background(), sh, &out, time.Minute); err != nil {
			t.Skip("no shell: ", err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(out.Bytes())))
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		lives := func() bool {
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			return err == nil && !strings.Contains(string(stat), ") Z ")
		}
		for end := time.Now().Add(10 * time.Second); lives(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: process %d lives on", command, pid)
			}
		}
	}
}

// A process that does not end at its own deadline is asked for its goroutines
// and then killed.
func TestProcessThatOutlivesItsDeadline(t *testing.T) {
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Skip("no process to outlive its deadline: ", err)
	}
	if killed := waitOrKill(context.Background(), cmd, time.Nanosecond); !killed || cmd.ProcessState.Success() {
		t.Errorf("killed: %v, %v", killed, cmd.ProcessState)
	}
}

func TestOutputIsBounded(t *testing.T) {
	var o Output
	line := []byte(strings.Repeat("x", 1<<16-1) + "\n")
	for range 300 {
		o.Write(line)
	}
	o.Write([]byte("the end"))
	got := o.Bytes()
	if len(got) > 4*outputHalf || !bytes.HasSuffix(got, []byte("the end")) ||
		!bytes.Contains(got, []byte("bytes left out")) {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-10:])
	}
}
