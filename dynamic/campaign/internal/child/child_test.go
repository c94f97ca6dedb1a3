package child

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

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
