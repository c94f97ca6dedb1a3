// Package child runs a process that ends with this one or at its deadline, and collects
// its output.
package child

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"time"
)

// Grace is how long a test binary has after its deadline to print its goroutines
// and end; then it is asked to, and after as long again it is killed.
const Grace = 5 * time.Second

// Run starts the process with its output going to out, and waits for it. It reports
// whether the process had to be killed after its deadline (0 is none), and how long it ran;
// err is not nil if it could not be started.
func Run(ctx context.Context, cmd *exec.Cmd, out *Output, deadline time.Duration) (
	killed bool, elapsed time.Duration, err error,
) {
	cmd.Stdout, cmd.Stderr = out, out
	// A process that this one leaves behind may hold the output open.
	cmd.WaitDelay = Grace
	endWithParent(cmd)
	ownGroup(cmd)
	// The system ends the process when the thread that has started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	adoptOrphans()
	defer endOrphans()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return false, 0, err
	}
	killed = waitOrKill(ctx, cmd, deadline)
	endGroup(cmd) // a server that a test has started would live on
	return killed, time.Since(began), nil
}

// waitOrKill waits for the process to end. It asks a process that outlives its
// deadline for its goroutines, then kills it. If the campaign is interrupted, it kills
// the process at once, as the evidence is written already.
func waitOrKill(ctx context.Context, cmd *exec.Cmd, deadline time.Duration) (killed bool) {
	done := make(chan struct{})
	go func() {
		cmd.Wait() // the state says all
		close(done)
	}()
	var late, end <-chan time.Time
	if deadline > 0 {
		t := time.NewTimer(deadline)
		defer t.Stop()
		late = t.C
	}
	for {
		select {
		case <-done:
			return killed
		case <-ctx.Done():
			cmd.Process.Kill()
			<-done
			return killed
		case <-late:
			killed, late = true, nil
			askForGoroutines(cmd.Process)
			end = time.After(Grace)
		case <-end:
			cmd.Process.Kill()
			end = nil
		}
	}
}

// Output collects the output of a process: all of it up to a size that no
// reader wants, then the beginning and the end.
type Output struct {
	head, tail []byte
	dropped    int
	Live       io.Writer // gets everything at once as well, if not nil
}

const outputHalf = 4 << 20 // bytes

// Write adds output of the process.
func (o *Output) Write(p []byte) (int, error) {
	n := len(p)
	if o.Live != nil {
		o.Live.Write(p)
	}
	if room := outputHalf - len(o.head); room > 0 {
		take := min(room, len(p))
		o.head, p = append(o.head, p[:take]...), p[take:]
	}
	o.tail = append(o.tail, p...)
	if over := len(o.tail) - outputHalf; over > outputHalf {
		o.tail = append([]byte(nil), o.tail[over:]...)
		o.dropped += over
	}
	return n, nil
}

// Bytes returns the collected output.
func (o *Output) Bytes() []byte {
	if o.dropped == 0 {
		return slices.Concat(o.head, o.tail)
	}
	return slices.Concat(o.head, fmt.Appendf(nil, "\n... %d bytes left out ...\n", o.dropped), o.tail)
}
