package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/internal/testmodule"
)

// Interrupted in the middle of a compilation, the go command leaves nothing in
// the folder for temporary files.
func TestInterruptedGoCommandLeavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the tool is a shell script")
	}
	dir, tmp := testmodule.Unpack(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.22\n-- m.go --\npackage m\n"), t.TempDir()
	started, tool := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "slow")
	script := "#!/bin/sh\ncase \"$2\" in\n-V=full) exec \"$@\" ;;\n*) : >\"$STARTED\"; exec sleep 20 ;;\nesac\n"
	if err := os.WriteFile(tool, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
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
	g := gocmd.Command{Dir: dir, Env: append(os.Environ(), "GOTMPDIR="+tmp, "TMPDIR="+tmp, "STARTED="+started)}
	_, _, err := g.Run(ctx, "build", "-toolexec="+tool, "./...")
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if _, err := os.Stat(started); err != nil {
		t.Fatal("nothing was compiled")
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Without tests there is nothing to run, but something to look at.
func TestPackagesWithoutTests(t *testing.T) {
	dir := testmodule.Unpack(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.22\n-- m.go --\npackage m\n")
	var config *gocmd.ConfigError
	if _, err := Load(t.Context(), Options{Dir: dir}); !errors.As(err, &config) {
		t.Errorf("error %v, want a ConfigError", err)
	}
	m, err := Load(t.Context(), Options{Dir: dir, NoTests: true})
	if err != nil || len(m.Packages) != 1 {
		t.Errorf("%v, %+v", err, m)
	}
}
