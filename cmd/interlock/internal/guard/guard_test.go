package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The guard fails for each kind of change, and for no other.
func TestGuard(t *testing.T) {
	for _, tt := range []struct {
		does, args, want string
	}{
		{does: "cat file >/dev/null", args: "check"},
		{does: "exit 3", args: "check"},
		{does: "echo >>file", args: "fix", want: "file has changed"},
		{does: "touch new", args: "test", want: "new is new"},
		{does: "mkdir new", args: "test", want: "new is new"},
		{does: "rm file", args: "plan", want: "file is gone"},
		{does: "chmod 600 file", args: "plan", want: "file has mode"},
		{does: "ln -sfn other link", args: "env", want: "link has changed"},
		{does: "cp file copy; rm link; mv copy link", args: "fix -w", want: "link has mode"},
		{does: "echo >>file", args: "fix -w"},
		{does: "touch new", args: "fix -w", want: "new is new"},
		{does: "chmod 600 file", args: "fix -w", want: "file has mode"},
		{does: "touch interlock.sections", args: "sections refresh -w"},
		{does: "touch interlock.sections", args: "sections refresh", want: "interlock.sections is new"},
		{does: "touch r.sarif", args: "check -o sarif:r.sarif"},
		{does: "touch r.sarif", args: "check -o sarif:other.sarif", want: "r.sarif is new"},
		{does: "mkdir d; touch d/x", args: "env -dir=d"},
		{does: "mkdir d; touch d/x", args: "audit -o d"},
		{does: "touch program", args: "build -o program ."},
		{does: "mkdir interlock-audit", args: "audit"},
		{does: "touch new", args: "audit -o d", want: "new is new"},
		{does: "mkdir .tmp; touch .tmp/x", args: "test"},
		{does: "touch c.out", args: "test ./... -- -coverprofile c.out"},
	} {
		t.Run(tt.does+" in "+tt.args, func(t *testing.T) {
			work, bin := t.TempDir(), t.TempDir()
			t.Chdir(work)
			for name, text := range map[string]string{"file": "text", "other": ""} {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("file", "link"); err != nil {
				t.Skip(err)
			}
			binary := filepath.Join(bin, "interlock")
			if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+tt.does+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			code, faults := Run(binary, work, strings.Fields(tt.args))
			said := strings.Join(faults, "\n")
			if tt.want == "" {
				if want := map[bool]int{true: 3}[tt.does == "exit 3"]; code != want || said != "" {
					t.Errorf("exit code %d, want %d: %s", code, want, said)
				}
			} else if code != ExitTouched || !strings.Contains(said, tt.want) {
				t.Errorf("exit code %d, %q; want %d and %q", code, said, ExitTouched, tt.want)
			}
		})
	}
}
