// Package page writes what the tools of the lab measure as Markdown: the head
// that says how, where and when a document was made, tables, lists, and where
// it goes.
package page

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Head returns the beginning of a document that `make target` writes. about goes
// on after "which overwrites this file", with its punctuation: ".", or ": what
// it shows."
func Head(title, target, about string) string {
	return fmt.Sprintf("# %s\n\nMade by `make %s`, which overwrites this file%s\n\n%s", title, target, about, Made())
}

// Made returns the item of a list that says on what machine, with which go
// command and when (UTC) something was measured.
func Made() string {
	return fmt.Sprintf("- %s, %s\n", Machine(), time.Now().UTC().Format(time.DateOnly))
}

// Write writes a document to a file, or to standard output where file is "".
func Write(file, text string) error {
	if file == "" {
		_, err := os.Stdout.WriteString(text)
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// ReplaceSection returns document, which begins with head, with section in place
// of the one that has the same heading, or at the end.
func ReplaceSection(document, head, section string) string {
	heading, _, _ := strings.Cut(section, "\n")
	parts := strings.Split("\n"+document, "\n## ")
	all := []string{head}
	found := false
	for _, p := range parts[1:] {
		p = "## " + strings.TrimRight(p, "\n") + "\n"
		if strings.HasPrefix(p, heading+"\n") {
			p, found = section, true
		}
		all = append(all, p)
	}
	if !found {
		all = append(all, section)
	}
	return strings.Join(all, "\n")
}

// Table writes a heading and a table below it, unless the table has no rows.
func Table(b *strings.Builder, heading string, columns []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| %s |\n%s|\n", heading, strings.Join(columns, " | "), strings.Repeat("|---", len(columns)))
	for _, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(b, "| %s ", strings.ReplaceAll(cell, "|", `\|`))
		}
		b.WriteString("|\n")
	}
}

// List writes a list, one item a line of lines; the further lines of an item are
// indented.
func List(b *strings.Builder, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", strings.ReplaceAll(strings.TrimSpace(line), "\n", "\n  "))
	}
}
