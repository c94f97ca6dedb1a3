package record

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Process is one that a campaign has run.
type Process struct {
	Name     string // unique in its campaign
	Run      int    // 0 where it made no noise
	Package  string
	Engine   string // "watch", "hb", "race" or "plain"
	Seed     uint64
	Schedule string // the noise as the monitor reads it, or the command of a replay
	Outcome  string
	Exit     int
	State    string // as the operating system reports it
	Killed   bool
	Elapsed  time.Duration
	CPU      time.Duration
	Output   []byte
	Crash    []byte // see testproc.Process
	// Files is the evidence that it has left, by the purpose of the file; a file that was not there is missing.
	Files map[string][]byte
}

const (
	processColumns = "campaign, name, run, package, engine, seed, schedule, outcome, exit, state, killed, elapsed, cpu, " +
		"ended, files, output, crash"
	evidenceColumns = "campaign, process, file, line, kind, record"
)

// Keep records a process that has ended, all of it or nothing. One of the same name is an error.
func (c *Campaign) Keep(p *Process) error {
	names := slices.Sorted(maps.Keys(p.Files))
	list, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return c.record.within(func(tx *sql.Tx) error {
		// The process,
		_, err := tx.Exec("INSERT INTO processes ("+processColumns+") VALUES (?"+strings.Repeat(", ?", 16)+")",
			c.ID, p.Name, p.Run, p.Package, p.Engine, strconv.FormatUint(p.Seed, 10), p.Schedule, p.Outcome, p.Exit, p.State,
			p.Killed, p.Elapsed, p.CPU, time.Now().UnixNano(), string(list), slices.Concat([]byte{}, p.Output), p.Crash)
		if err != nil {
			return fmt.Errorf("keeping %s: %w", p.Name, err)
		}
		// and a row for each line of its files.
		insert, err := tx.Prepare("INSERT INTO evidence (" + evidenceColumns + ") VALUES (?, ?, ?, ?, ?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, name := range names {
			n := 0
			for line := range bytes.Lines(p.Files[name]) {
				n++
				line = bytes.TrimSuffix(line, []byte("\n"))
				if _, err := insert.Exec(c.ID, p.Name, name, n, kindOf(line), string(line)); err != nil {
					return fmt.Errorf("keeping the evidence of %s: %w", p.Name, err)
				}
			}
		}
		return nil
	})
}

// kindOf returns the kind of a line of evidence, "" if it is not readable.
func kindOf(line []byte) string {
	var r struct{ Kind evidence.Kind }
	if json.Unmarshal(line, &r) != nil {
		return ""
	}
	return string(r.Kind)
}

// Process returns a process that was recorded, and nil if there is none of that name.
func (c *Campaign) Process(name string) (*Process, error) {
	p, err := c.process(name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, c.record.explained(fmt.Errorf("reading %s: %w", name, err))
	}
	return p, nil
}

func (c *Campaign) process(name string) (*Process, error) {
	p := &Process{Name: name, Files: map[string][]byte{}}
	var seed, list string
	err := c.record.db.QueryRow("SELECT run, package, engine, seed, schedule, outcome, exit, state, killed, elapsed, "+
		"cpu, files, output, crash FROM processes WHERE campaign = ? AND name = ?", c.ID, name).
		Scan(&p.Run, &p.Package, &p.Engine, &seed, &p.Schedule, &p.Outcome, &p.Exit, &p.State, &p.Killed, &p.Elapsed, &p.CPU,
			&list, &p.Output, &p.Crash)
	if err != nil {
		return nil, err
	}
	if p.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
		return nil, err
	}
	// A file without a line was there, too.
	var names []string
	if err := json.Unmarshal([]byte(list), &names); err != nil {
		return nil, err
	}
	for _, n := range names {
		p.Files[n] = []byte{}
	}
	rows, err := c.record.db.Query("SELECT file, record FROM evidence WHERE campaign = ? AND process = ? "+
		"ORDER BY file, line", c.ID, name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var file, line string
		if err := rows.Scan(&file, &line); err != nil {
			return nil, err
		}
		p.Files[file] = append(append(p.Files[file], line...), '\n')
	}
	return p, rows.Err()
}
