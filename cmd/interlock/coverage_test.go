package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/cmd/internal/report"
)

// The scripts call every command that help lists, write every format, and see every exit code.
func TestScriptsCoverTheCommandLine(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	scripts := all.String()
	help, err := exec.Command(binary, "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^    ([a-z]+)  `)
	want := []string{"^interrupt ", "^exec interlock", "^code 1 ", "^code 2 ", "^code 3 "}
	for _, m := range command.FindAllStringSubmatch(string(help), -1) {
		want = append(want, `interlock (-C \S+ )?`+m[1]+`\b`)
		// A usage error of the command, and a good call of it with each flag.
		flags, err := exec.Command(binary, "help", m[1]).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(string(flags), -1) {
			want = append(want, `interlock [^\n]*-`+f[1]+`\b`)
		}
	}
	for _, format := range report.Formats() {
		want = append(want, `-(o|format)[ =]`+format+`\b`)
	}
	for _, w := range want {
		if !regexp.MustCompile("(?m)" + w).MatchString(scripts) {
			t.Errorf("no script has %s", w)
		}
	}
}
