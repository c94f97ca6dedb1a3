package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The README shows what the commands print of testdata/bank, as far as that is the same
// each time.
func TestExampleOfTheReadme(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/bank")); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command(binary, args...)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), goEnvironment(t)...), "PWD="+dir)
		out, _ := cmd.Output() // findings end in 1
		return string(out)
	}
	check := "    $ interlock check\n"
	for line := range strings.Lines(run("check")) {
		check += strings.TrimRight("    "+line, " \n") + "\n"
	}
	if !strings.Contains(readme, check) {
		t.Errorf("the README does not have:\n%s", check)
	}
	for line := range strings.Lines(run("test", "-seed=1", "-runs=4", "-replays=0")) {
		stable := strings.Contains(line, " confirmed: ") || strings.Contains(line, " of a.balance at ") ||
			strings.Contains(line, "statically: ")
		if stable && !strings.Contains(readme, strings.TrimRight("    "+line, "\n")) {
			t.Errorf("the README does not have: %s", line)
		}
	}
}
