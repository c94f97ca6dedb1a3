// Package page formats the figures that the tools of the lab measure: as Markdown to read, and as JSON to keep.
package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Head returns the beginning of a document that `make target` measures. about goes on after "measured by `make
// target`", with its punctuation: ".", or ": the columns are …".
func Head(title, target, about string) string {
	return fmt.Sprintf("# %s\n\nMeasured by `make %s`%s\n\n%s", title, target, about, Made())
}

// Made returns the item of a list that names the machine, the go command and the
// day (UTC) of a measurement.
func Made() string {
	return fmt.Sprintf("- %s, %s\n", Machine(), time.Now().UTC().Format(time.DateOnly))
}

// Write prints a document, which is Markdown, and writes its figures to file unless that is "".
func Write(file, markdown string) error {
	if _, err := os.Stdout.WriteString(markdown); err != nil || file == "" {
		return err
	}
	return Store(file, markdown)
}

// Store writes the figures of a document as JSON.
func Store(file, markdown string) error { return encode(file, Parse(markdown)) }

// Update is Write for one part of a document: the sections of file that markdown has no heading of stay.
func Update(file, markdown string) error {
	if _, err := os.Stdout.WriteString(markdown); err != nil || file == "" {
		return err
	}
	var d Document
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &d)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("the figures of the last run: %w", err)
	}
	d.Replace(Parse(markdown))
	return encode(file, d)
}

func encode(file string, d Document) error {
	data, err := d.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// Table writes a heading and a table below it, unless the table has no rows.
func Table(b *strings.Builder, heading string, columns []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", heading)
	Rows(b, columns, rows)
}

// Rows writes a table.
func Rows(b *strings.Builder, columns []string, rows [][]string) {
	fmt.Fprintf(b, "| %s |\n%s|\n", strings.Join(columns, " | "), strings.Repeat("|---", len(columns)))
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
