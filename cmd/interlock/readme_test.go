package main

import (
	"os"
	"os/exec"
	"regexp"
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
	if testing.Short() {
		return
	}
	for _, command := range []string{"test -seed 1", "fix -seed 1"} {
		_, rest, _ := strings.Cut(readme, "    $ interlock "+command+"\n")
		want, got := shapes(example(rest)), shapes(run(strings.Fields(command)...))
		for line := range got {
			if !want[line] && !varies.MatchString(line) {
				t.Errorf("the README does not show of %s: %s", command, line)
			}
		}
		for line := range want {
			if !got[line] && !varies.MatchString(line) {
				t.Errorf("%s does not print, as the README has it: %s", command, line)
			}
		}
	}
}

// example returns the indented lines that a text begins with, with their indentation taken away.
func example(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, isCode := strings.CutPrefix(line, "    ")
		if !isCode && strings.TrimSpace(line) != "" {
			break
		}
		b.WriteString(code)
	}
	return b.String()
}

// number matches what differs from call to call: goroutines, counts, seeds, times.
var number = regexp.MustCompile(`\d+(\.\d+s)?`)

// varies matches lines that not every call prints: whether the test of the bank failed, what another goroutine did, and
// what happens-before saw, which needs linux/amd64.
var varies = regexp.MustCompile(
	`^ok  |FAIL|^\*\*\* Run N had noise|bank_test\.go:N: |evidence: seen|also caught with|happens-before engine|` +
		`The variable held|^$|^replayed:`)

// shapes returns the lines of a text, without indentation and with N for each number.
func shapes(text string) map[string]bool {
	lines := map[string]bool{}
	for line := range strings.Lines(text) {
		lines[number.ReplaceAllString(strings.TrimSpace(line), "N")] = true
	}
	return lines
}
