// Package rebuild sees to it that Interlock is as new as the user's go command.
// The type checker that is linked into a Go program knows the
// language as it was when that program was built, and the standard library
// of a newer release does not compile for it. So an Interlock that was built
// with an older release than the user's go command builds itself again with
// that, from its own source, once; the result stays in the cache, and this
// process becomes that one. If there is no source, the error names a command to run.
package rebuild

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// guard is set for a program that was built again. It never builds itself once
// more, whatever the go command says then.
const guard = "INTERLOCK_REBUILT"

// toolchain is a go command: the version that it states, and its GOROOT.
type toolchain struct{ version, root string }

// Match returns nil where this program is new enough for the go command that is
// in force in dir, or if that one cannot be asked: then its next caller reports
// why. Otherwise it does not return, but runs this command line with a program that
// is new enough. If it has to build that program first, it prints so on stderr. An
// error has the reason and a command to run. When ctx ends, the error is its own.
func Match(ctx context.Context, dir string, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOROOT")
	cmd.Dir = dir
	if abs, err := filepath.Abs(dir); err == nil && dir != "" {
		cmd.Env = append(os.Environ(), "PWD="+abs)
	}
	out, err := cmd.Output()
	if err != nil {
		return ctx.Err()
	}
	release, root, _ := strings.Cut(string(out), "\n")
	return match(ctx, toolchain{release, strings.TrimSpace(root)}, stderr)
}

// MatchTool is [Match] for a vet tool with its arguments. The environment names the
// go command that has started it. That command asks for the flags first, without
// showing errors; so MatchTool leaves that call alone: the flags are the same in all
// builds.
func MatchTool(ctx context.Context, args []string, stderr io.Writer) error {
	if args[0] == "-flags" {
		return nil
	}
	return match(ctx, toolchain{os.Getenv("GOVERSION"), os.Getenv("GOROOT")}, stderr)
}

func match(ctx context.Context, t toolchain, stderr io.Writer) error {
	before := os.Getenv(guard)
	os.Unsetenv(guard) // programs that this one starts may be other builds of it
	if !newer(t.version, runtime.Version()) {
		return nil
	}
	if before != "" {
		return fmt.Errorf("interlock was built again with %s, and the go command is %s now: run it again", before, t.version)
	}
	own, err := ownSource()
	if err != nil {
		return err
	}
	program, err := own.program(ctx, t, stderr)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		err = become(program, append(os.Environ(), guard+"="+release(t.version)))
	}
	next := "; "
	if strings.Contains(err.Error(), "\n") { // a go command had its say
		next = "\n"
	}
	return fmt.Errorf("interlock was built with %s, which cannot read code of %s, the go command here: %w%s%s",
		release(runtime.Version()), release(t.version), err, next, own.advice(t))
}

// newer reports whether the language of the one version is newer than that of
// the other. Within a release of the language the type checker stays the same;
// of a version that nobody can make out, it is not known.
func newer(v, than string) bool {
	v, than = version.Lang(release(v)), version.Lang(release(than))
	return v != "" && than != "" && version.Compare(v, than) > 0
}

// release returns the part of a version as programs state it that names the
// release: there may be experiments behind it, and "devel" before.
func release(v string) string {
	for word := range strings.FieldsSeq(v) {
		if base, _, _ := strings.Cut(word, "-"); version.IsValid(base) {
			return base
		}
	}
	return strings.TrimSpace(v)
}

// readsCodeOf reports whether the program was built with a Go version that can read
// the code of the toolchain.
func readsCodeOf(program string, t toolchain) bool {
	info, err := buildinfo.ReadFile(program)
	return err == nil && !newer(t.version, info.GoVersion)
}

// goCommand is the toolchain's own go command, which chooses no other.
func (t toolchain) goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(t.root, "bin", "go"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	// The user's settings for other code do not hold for this build. An empty
	// GOFLAGS would mean the value that `go env -w` has kept.
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly", "GOWORK=off", "GO111MODULE=on",
		"CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	return cmd
}
