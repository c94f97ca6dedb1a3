package record

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// table is one of the file, as JSON Lines have it.
type table struct {
	name    string
	columns []string
	// Of the columns, those that hold bytes, which are base64 in JSON, and those that hold numbers; the others hold text,
	blobs, numbers []string
	// and of these some hold unsigned numbers, which may be too large for a column of numbers, and JSON lists of texts.
	seeds, lists []string
}

var exported = []table{
	{
		name: "campaigns", columns: strings.Split(campaignColumns, ", "), numbers: []string{"runs", "began", "made"},
		seeds: []string{"seed"}, lists: []string{"earlier"},
	},
	{
		name: "processes", columns: strings.Split(processColumns, ", "), blobs: []string{"output", "crash"},
		numbers: []string{"run", "exit", "killed", "elapsed", "cpu", "ended"},
		seeds:   []string{"seed"}, lists: []string{"files"},
	},
	{name: "evidence", columns: strings.Split(evidenceColumns, ", "), numbers: []string{"line"}},
	{
		name: "findings", columns: []string{"campaign", "id", "status", "run", "at", "code", "title", "finding"},
		numbers: []string{"run", "at"},
	},
}

// Export writes the whole record as JSON Lines: each line is one row, an object of its columns, with the name of
// the table as "table". Rows come after those that they refer to.
func (r *Record) Export(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, t := range exported {
		if err := r.exportTable(t, out); err != nil {
			return err
		}
	}
	return nil
}

func (r *Record) exportTable(t table, out *json.Encoder) error {
	rows, err := r.db.Query("SELECT " + strings.Join(t.columns, ", ") + " FROM " + t.name + " ORDER BY rowid")
	if err != nil {
		return r.explained(err)
	}
	defer rows.Close()
	for rows.Next() {
		values, into := make([]any, len(t.columns)), make([]any, len(t.columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return r.explained(err)
		}
		line := map[string]any{"table": t.name}
		for i, c := range t.columns {
			line[c] = values[i]
		}
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return r.explainedOrNil(rows.Err())
}

// Imported counts the additions of a merge.
type Imported struct{ Campaigns, Processes int }

// Merge adds another record, or JSON Lines that [Record.Export] has written: all of it, or nothing if there is an
// error. It adds no process twice.
func (r *Record) Merge(name string) (Imported, error) {
	f, err := os.Open(name)
	if err != nil {
		return Imported{}, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	if head, _ := in.Peek(len(magic)); string(head) != magic {
		return r.importLines(name, in)
	}
	if r.isSame(f) {
		return Imported{}, fmt.Errorf("%s: that is %s itself, which has all of it: name another file", name, r.name)
	}
	other, err := OpenExisting(name)
	if err != nil {
		return Imported{}, err
	}
	defer other.Close()
	// A record is read as the lines that it would be written as.
	from, to := io.Pipe()
	go func() { to.CloseWithError(other.Export(to)) }()
	defer from.Close()
	return r.importLines(name, bufio.NewReader(from))
}

// isSame reports whether an open file is that of the record, by whatever name.
func (r *Record) isSame(f *os.File) bool {
	own, err1 := os.Stat(r.name)
	other, err2 := f.Stat()
	return err1 == nil && err2 == nil && os.SameFile(own, other)
}

// importLines takes up the lines of a file of that name.
func (r *Record) importLines(name string, in *bufio.Reader) (n Imported, err error) {
	err = r.within(func(tx *sql.Tx) error {
		for number := 1; ; number++ {
			line, err := in.ReadBytes('\n')
			if err == io.EOF && len(line) == 0 {
				return nil
			}
			if err != nil && err != io.EOF {
				return fmt.Errorf("reading %s: %w", name, err)
			}
			if err := n.importLine(tx, line); err != nil {
				return fmt.Errorf("%s, line %d: %w", name, number, err)
			}
		}
	})
	return n, err
}

// ErrForeign is the error of [Record.Merge] for a file that holds something else than a record.
var ErrForeign = errors.New("this is no line of a record, so nothing was taken up: name what " +
	"`interlock campaign export` has printed")

// importLine takes up a row, unless it is there already.
func (n *Imported) importLine(tx *sql.Tx, line []byte) error {
	var name struct{ Table string }
	var row map[string]json.RawMessage
	if json.Unmarshal(line, &name) != nil || json.Unmarshal(line, &row) != nil {
		return ErrForeign
	}
	i := slices.IndexFunc(exported, func(t table) bool { return t.name == name.Table })
	if i < 0 {
		return ErrForeign
	}
	t := exported[i]
	values := make([]any, len(t.columns))
	for i, c := range t.columns {
		var err error
		if values[i], err = t.value(c, row[c]); err != nil {
			return ErrForeign
		}
	}
	added, err := t.insert(tx, values)
	switch {
	case err != nil:
		return err
	case added && t.name == "campaigns":
		n.Campaigns++
	case added && t.name == "processes":
		n.Processes++
	}
	return nil
}

// value returns the value of a column. A value that nobody could read from the record again is an error.
func (t table) value(column string, text json.RawMessage) (any, error) {
	switch {
	case slices.Contains(t.blobs, column):
		return decoded[[]byte](text)
	case slices.Contains(t.numbers, column): // of 64 bits, so none of JavaScript's
		return decoded[int64](text)
	}
	s, err := decoded[string](text)
	if err == nil && slices.Contains(t.seeds, column) {
		_, err = strconv.ParseUint(s, 10, 64)
	}
	if err == nil && slices.Contains(t.lists, column) {
		_, err = decoded[[]string](json.RawMessage(s))
	}
	return s, err
}

func decoded[T any](text json.RawMessage) (v T, err error) {
	err = json.Unmarshal(text, &v)
	return v, err
}

// insert puts a row into the table, unless it is there already, and reports whether it was put.
func (t table) insert(tx *sql.Tx, values []any) (bool, error) {
	value := func(column string) any { return values[slices.Index(t.columns, column)] }
	if t.name == "processes" { // a process of this name that has ended at another time is another process
		var ended int64
		err := tx.QueryRow("SELECT ended FROM processes WHERE campaign = ? AND name = ?", value("campaign"), value("name")).
			Scan(&ended)
		if err == nil && ended != value("ended") {
			return false, fmt.Errorf("campaign %v has gone on in both since one was copied from the other, so nothing was "+
				"taken up: keep them apart", value("campaign"))
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ")
	result, err := tx.Exec("INSERT INTO "+t.name+" ("+strings.Join(t.columns, ", ")+") VALUES ("+marks+") "+
		"ON CONFLICT DO NOTHING", values...)
	if err != nil {
		return false, err
	}
	if added, err := result.RowsAffected(); err != nil || added > 0 {
		return added > 0, err
	}
	if t.name == "campaigns" { // one that went on there is finished here, too
		_, err = tx.Exec("UPDATE campaigns SET made = max(made, ?) WHERE id = ?", value("made"), value("id"))
	}
	return false, err
}
