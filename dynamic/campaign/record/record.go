// Package record keeps the evidence of campaigns in one file, so that a campaign that was killed goes on where it
// ended, and the next one begins with that evidence.
//
// The file has each process that a campaign has run: its end, its output and its evidence.
// A campaign depends on nothing else but its description, so one that goes on is made again from the processes that
// are kept, and runs those that are not. Nothing is kept of a process that was interrupted.
//
// The file is an SQLite database. Each process is written in one transaction, so that the file is whole whenever
// the writer is killed, and a campaign has it for itself. [Record.Export] writes all of it as JSON Lines, which
// [Record.Import] reads.
package record

import (
	"cmp"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/interlock-go/interlock/analyzers/finding"
)

const (
	// applicationID stands in the header of the file, so that other databases are refused: "ILCK".
	applicationID = 0x494C434B
	// version is that of the tables.
	version = 1
)

// tables are those of the file. Times are those of the clock in nanoseconds since 1970, unless they are durations.
const tables = `
CREATE TABLE campaigns (
	id       TEXT PRIMARY KEY,
	module   TEXT NOT NULL,    -- path of the main module
	build    TEXT NOT NULL,    -- checksum of the test binaries and of the plan
	settings TEXT NOT NULL,    -- all else that decides what is run, seed and runs apart
	seed     TEXT NOT NULL,    -- of the first run
	runs     INTEGER NOT NULL, -- that were asked for
	earlier  TEXT NOT NULL,    -- JSON: the campaigns whose results it began with
	began    INTEGER NOT NULL,
	made     INTEGER NOT NULL  -- runs when it was finished; 0 while some are left
);
CREATE TABLE processes (
	campaign TEXT NOT NULL REFERENCES campaigns(id),
	name     TEXT NOT NULL,
	run      INTEGER NOT NULL, -- 0 for runs without noise
	package  TEXT NOT NULL,
	engine   TEXT NOT NULL,    -- watch, hb or plain
	seed     TEXT NOT NULL,
	schedule TEXT NOT NULL,    -- the noise as the monitor reads it, or the command of a replay
	outcome  TEXT NOT NULL,
	exit     INTEGER NOT NULL,
	state    TEXT NOT NULL,    -- as the operating system reports it
	killed   INTEGER NOT NULL,
	elapsed  INTEGER NOT NULL, -- duration
	cpu      INTEGER NOT NULL, -- duration
	ended    INTEGER NOT NULL,
	files    TEXT NOT NULL,    -- JSON: those of its evidence that were there
	output   BLOB NOT NULL,
	crash    BLOB,             -- what the runtime printed as it ended the process
	PRIMARY KEY (campaign, name)
);
CREATE TABLE evidence (
	campaign TEXT NOT NULL,
	process  TEXT NOT NULL,
	file     TEXT NOT NULL,
	line     INTEGER NOT NULL, -- from 1
	kind     TEXT NOT NULL,    -- as in package evidence; empty where the line is not readable
	record   TEXT NOT NULL,
	PRIMARY KEY (campaign, process, file, line),
	FOREIGN KEY (campaign, process) REFERENCES processes(campaign, name)
);
CREATE TABLE findings (
	campaign TEXT NOT NULL REFERENCES campaigns(id),
	id       TEXT NOT NULL,
	status   TEXT NOT NULL,
	run      INTEGER NOT NULL, -- behind which it was known
	at       INTEGER NOT NULL,
	code     TEXT NOT NULL,
	title    TEXT NOT NULL,
	finding  TEXT NOT NULL,    -- JSON
	PRIMARY KEY (campaign, id, status)
);
CREATE VIEW gaps AS
	SELECT p.campaign, p.package, p.run, g.value ->> 'first' AS first, g.value ->> 'then' AS "then",
		g.value ->> 'least_ns' AS least_ns, g.value ->> 'most_ns' AS most_ns
	FROM evidence e JOIN processes p ON p.campaign = e.campaign AND p.name = e.process, json_each(e.record, '$.gaps') g
	WHERE e.kind = 'gaps';
CREATE VIEW relations AS
	SELECT p.campaign, p.package, p.run, e.kind, e.record
	FROM evidence e JOIN processes p ON p.campaign = e.campaign AND p.name = e.process
	WHERE e.kind IN ('order', 'held', 'deadlock');
`

// Record is a file of campaigns, open for this process alone. It is not safe for concurrent use.
type Record struct {
	name string
	db   *sql.DB
}

// Open opens a record, which is made if there is no such file. A file that is no record, is damaged, or that another
// process has open is refused, and stays as it is.
func Open(name string) (*Record, error) { return open(name, true) }

// OpenExisting is [Open] of a file that has to be there.
func OpenExisting(name string) (*Record, error) { return open(name, false) }

func open(name string, mayMake bool) (*Record, error) {
	isNew, err := isFresh(name)
	if err != nil {
		return nil, err
	}
	if isNew && !mayMake {
		return nil, fmt.Errorf("%s: no record of campaigns is there", name)
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// One connection, which holds the lock on the file.
	db.SetMaxOpenConns(1)
	r := &Record{name, db}
	if err := r.begin(isNew); err != nil {
		return nil, errors.Join(r.explained(err), db.Close())
	}
	return r, nil
}

// isFresh reports whether a file does not exist, or is empty. It returns an error for a file that is not a database:
// the error of SQLite names no next step.
func isFresh(name string) (bool, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err == nil && !info.Mode().IsRegular(): // to open a pipe would wait for its other end
		return false, fmt.Errorf("%s: this is a folder or a device and no record of campaigns: name another file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return false, fmt.Errorf("the record cannot be read: %w: name another file", err)
	}
	defer f.Close()
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	switch {
	case err == io.EOF:
		return true, nil
	case err != nil && err != io.ErrUnexpectedEOF:
		return false, fmt.Errorf("%s: %w", name, err)
	case string(head[:n]) != magic:
		return false, fmt.Errorf("%s: this is no record of campaigns, so it stays as it is: name another file", name)
	}
	return false, nil
}

// magic begins each SQLite database.
const magic = "SQLite format 3\x00"

// begin takes the file for this process, and makes the tables of a new one.
func (r *Record) begin(isNew bool) error {
	for _, pragma := range []string{"locking_mode = EXCLUSIVE", "foreign_keys = ON"} {
		if _, err := r.db.Exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	// The lock is taken with the first transaction that writes, and kept.
	if _, err := r.db.Exec("BEGIN EXCLUSIVE; COMMIT"); err != nil {
		return err
	}
	var id, made int64
	err := errors.Join(r.db.QueryRow("PRAGMA application_id").Scan(&id), r.db.QueryRow("PRAGMA user_version").Scan(&made))
	switch {
	case err != nil:
		return err
	case id == 0 && made == 0 && (isNew || r.isEmpty()): // killed before its tables were made
		_, err := r.db.Exec(fmt.Sprintf("BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d;%s COMMIT",
			applicationID, version, tables))
		return err
	case id != applicationID:
		return errors.New("this is a database of something else, so it stays as it is: name another file")
	case made != version:
		return fmt.Errorf("this is a record of version %d, and this Interlock knows version %d: use the Interlock that made "+
			"it, or name another file", made, version)
	}
	var state string
	if err := r.db.QueryRow("PRAGMA quick_check(1)").Scan(&state); err != nil {
		return err
	}
	if state != "ok" {
		return fmt.Errorf("the file is damaged (%s): %s", state, afterDamage)
	}
	return r.hasTables()
}

// hasTables returns an error unless each table has its columns.
func (r *Record) hasTables() error {
	for _, t := range exported {
		rows, err := r.db.Query("SELECT " + strings.Join(t.columns, ", ") + " FROM " + t.name + " LIMIT 0")
		if err != nil {
			return fmt.Errorf("the file is damaged (%w): %s", err, afterDamage)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (r *Record) isEmpty() bool {
	var n int
	return r.db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&n) == nil && n == 0
}

const afterDamage = "name another file, or take a copy of before"

// Codes of SQLite that users can do something about.
const (
	busy       = 5
	readOnly   = 8
	ioError    = 10
	corrupt    = 11
	full       = 13
	cantOpen   = 14
	constraint = 19
	notADB     = 26
)

// explained returns an error with the next step.
func (r *Record) explained(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case busy:
			return fmt.Errorf("%s: another campaign is writing to it: wait for that, or name another file", r.name)
		case corrupt, notADB:
			return fmt.Errorf("%s: the file is damaged (%w): %s", r.name, err, afterDamage)
		case readOnly:
			return fmt.Errorf("%s: the file is write-protected: allow writing, or name another file", r.name)
		case full, ioError:
			return fmt.Errorf("%s: %w; what was recorded before is kept: make room there, and start the same command again",
				r.name, err)
		case constraint:
			return fmt.Errorf("%s: rows refer to what is not there, so nothing was taken up (%w): name all that "+
				"`interlock campaign export` has printed", r.name, err)
		case cantOpen:
			return fmt.Errorf("%s: the file cannot be made there: %w", r.name, err)
		}
	}
	return fmt.Errorf("%s: %w", r.name, err)
}

// Close releases the file.
func (r *Record) Close() error { return r.db.Close() }

// Description has the inputs of a campaign.
type Description struct {
	Module   string // path of the main module
	Build    string // checksum of the build
	Settings string // all else, seed and runs apart
	Seed     uint64 // of the first run
	Runs     int    // that are asked for
}

// Campaign is one of a record.
type Campaign struct {
	Description
	ID string
	// Earlier are the campaigns of the same build and settings that this one began with, in order.
	Earlier []string
	Began   time.Time
	// Made is how many runs it has made, once it is finished; 0 while runs are left.
	Made int
	// Past has it run nothing more: all that it has shown is kept.
	Past bool
	// Unkept is why the record lacks the processes of the campaign from some process on; nil if it has all.
	Unkept error

	record *Record
}

const campaignColumns = "id, module, build, settings, seed, runs, earlier, began, made"

// Campaigns returns all of them, in the order in which they began.
func (r *Record) Campaigns() (all []*Campaign, err error) {
	rows, err := r.db.Query("SELECT " + campaignColumns + " FROM campaigns ORDER BY began, id")
	if err != nil {
		return nil, r.explained(err)
	}
	defer rows.Close()
	for rows.Next() {
		c := &Campaign{record: r}
		var seed, earlier string
		var began int64
		if err := rows.Scan(&c.ID, &c.Module, &c.Build, &c.Settings, &seed, &c.Runs, &earlier, &began, &c.Made); err != nil {
			return nil, r.explained(err)
		}
		c.Began = time.Unix(0, began)
		var bad error
		if c.Seed, bad = strconv.ParseUint(seed, 10, 64); bad == nil {
			bad = json.Unmarshal([]byte(earlier), &c.Earlier)
		}
		if bad != nil {
			return nil, fmt.Errorf("%s: campaign %s is damaged (%w): %s", r.name, c.ID, bad, afterDamage)
		}
		all = append(all, c)
	}
	return all, r.explainedOrNil(rows.Err())
}

func (r *Record) explainedOrNil(err error) error {
	if err == nil {
		return nil
	}
	return r.explained(err)
}

// Unfinished returns the seed of the latest campaign of these settings that has runs left, whatever it was
// built from, and 0 if there is none.
func (r *Record) Unfinished(settings string) (uint64, error) {
	all, err := r.Campaigns()
	if err != nil {
		return 0, err
	}
	for _, c := range slices.Backward(all) {
		if c.Settings == settings && c.Made == 0 {
			return c.Seed, nil
		}
	}
	return 0, nil
}

// Begin goes on with the latest campaign of the description that has runs left, or begins one. The others of the same
// build and settings are earlier; those with runs left go no further than they are.
func (r *Record) Begin(d Description) (now *Campaign, earlier []*Campaign, err error) {
	all, err := r.Campaigns()
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(c *Campaign) bool {
		return c.Module != d.Module || c.Build != d.Build || c.Settings != d.Settings
	})
	for _, c := range slices.Backward(all) {
		if c.Made == 0 && c.Seed == d.Seed && now == nil {
			now = c
		}
	}
	if now == nil {
		if now, err = r.add(d, all); err != nil {
			return nil, nil, err
		}
		all = append(all, now)
	}
	for _, c := range all {
		if c != now {
			c.Past = true
			earlier = append(earlier, c)
		}
	}
	return now, earlier, nil
}

// add begins a campaign behind the earlier ones.
func (r *Record) add(d Description, earlier []*Campaign) (*Campaign, error) {
	c := &Campaign{Description: d, ID: rand.Text(), Began: time.Now(), Earlier: []string{}, record: r}
	for _, e := range earlier {
		c.Earlier = append(c.Earlier, e.ID)
	}
	list, err := json.Marshal(c.Earlier)
	if err != nil {
		return nil, err
	}
	_, err = r.db.Exec("INSERT INTO campaigns ("+campaignColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
		c.ID, c.Module, c.Build, c.Settings, strconv.FormatUint(c.Seed, 10), c.Runs, string(list), c.Began.UnixNano())
	return c, r.explainedOrNil(err)
}

// Finish records that no run is left behind those that were made.
func (c *Campaign) Finish(made int) error {
	_, err := c.record.db.Exec("UPDATE campaigns SET made = ? WHERE id = ?", made, c.ID)
	return c.record.explainedOrNil(err)
}

// Found records findings that are known behind a run. Those that were known before keep the run, and have the text of
// now.
func (c *Campaign) Found(run int, findings []*finding.Finding) error {
	return c.record.within(func(tx *sql.Tx) error { return c.put(tx, run, findings) })
}

// Settle is [Campaign.Found] at the end: a finding that is not among these has become a part of another one, and goes.
func (c *Campaign) Settle(run int, findings []*finding.Finding) error {
	return c.record.within(func(tx *sql.Tx) error {
		ids := []string{}
		for _, f := range findings {
			ids = append(ids, f.ID)
		}
		list, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		_, err = tx.Exec("DELETE FROM findings WHERE campaign = ? AND id NOT IN (SELECT value FROM json_each(?))",
			c.ID, string(list))
		if err != nil {
			return err
		}
		return c.put(tx, run, findings)
	})
}

// put writes the rows of findings.
func (c *Campaign) put(tx *sql.Tx, run int, findings []*finding.Finding) error {
	for _, f := range findings {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO findings (campaign, id, status, run, at, code, title, finding) "+
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET code = excluded.code, title = excluded.title, "+
			"finding = excluded.finding",
			c.ID, f.ID, f.Status, run, time.Now().UnixNano(), f.Code, f.Title, string(text))
		if err != nil {
			return err
		}
	}
	return nil
}

// within does all of do in one transaction, or nothing.
func (r *Record) within(do func(tx *sql.Tx) error) error {
	tx, err := r.db.Begin()
	if err != nil {
		return r.explained(err)
	}
	if err := do(tx); err != nil {
		return r.explained(cmp.Or(err, tx.Rollback()))
	}
	return r.explainedOrNil(tx.Commit())
}

// Summary is the state of a campaign.
type Summary struct {
	Runs, Processes int
	Findings        []Found // in the order in which they were known
}

// Found is a finding, and behind which run it was known, with the status that it has come to.
type Found struct {
	Run     int
	Finding *finding.Finding
}

// Summary returns the recorded state of the campaign.
func (c *Campaign) Summary() (s Summary, err error) {
	// A run of which a process is there may have others to come: those of the last count when it is finished.
	err = c.record.db.QueryRow("SELECT count(*), max(?, coalesce(max(run) - 1, 0)) FROM processes WHERE campaign = ?",
		c.Made, c.ID).Scan(&s.Processes, &s.Runs)
	if err != nil {
		return s, c.record.explained(err)
	}
	rows, err := c.record.db.Query("SELECT run, finding FROM findings WHERE campaign = ? ORDER BY at, id", c.ID)
	if err != nil {
		return s, c.record.explained(err)
	}
	defer rows.Close()
	at := map[string]int{} // of each finding, by id: it has a row for each status
	for rows.Next() {
		f := Found{Finding: new(finding.Finding)}
		var text string
		if err := rows.Scan(&f.Run, &text); err != nil {
			return s, c.record.explained(err)
		}
		if err := json.Unmarshal([]byte(text), f.Finding); err != nil {
			return s, fmt.Errorf("%s: a finding of campaign %s is damaged (%w): %s", c.record.name, c.ID, err, afterDamage)
		}
		if i, known := at[f.Finding.ID]; known {
			s.Findings[i] = f
			continue
		}
		at[f.Finding.ID] = len(s.Findings)
		s.Findings = append(s.Findings, f)
	}
	return s, c.record.explainedOrNil(rows.Err())
}
