//go:build unix

package driver_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/driver"
)

// slowTool is a vet tool that says that it was started and does not end.
const slowTool = `#!/bin/sh
case "$1" in
-V=full) echo "slow version 1" ;;
-flags) echo '[{"Name":"interlocksummary.emit","Bool":true},{"Name":"interlocksummary.modules"}]' ;;
*) echo $$ >"$STARTED.tmp"; mv "$STARTED.tmp" "$STARTED"; exec sleep 600 ;;
esac
`

// Interrupted, the go command and its children end, and leave nothing but what
// is in a folder that is the caller's to remove.
func TestNothingIsLeftBehind(t *testing.T) {
	dir, tmp, own, tool := unpack(t, "module"), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "slow")
	if err := os.WriteFile(tool, []byte(slowTool), 0o755); err != nil {
		t.Fatal(err)
	}
	started := filepath.Join(t.TempDir(), "started")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(started); err == nil {
				break
			}
		}
		cancel()
	}()
	_, err := driver.Vet(ctx, driver.Options{
		Dir: dir, Patterns: []string{"./..."}, Tool: tool,
		Env: []string{"GOFLAGS=", "GOWORK=off", "TMPDIR=" + tmp, "GOTMPDIR=" + own, "STARTED=" + started},
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	text, err := os.ReadFile(started)
	if err != nil {
		t.Fatal("the tool was not started")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	// Nobody may have waited for it yet, which takes a moment.
	for deadline := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the tool is still running")
		}
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
