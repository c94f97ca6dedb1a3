package serve

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// version is that of the tables, kept by SQLite as user_version.
const version = 1

// schema creates what is missing. A delivery is kept by a checksum of its signed text, since its number is not signed.
const schema = `
CREATE TABLE IF NOT EXISTS deliveries (digest TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS jobs (
	id INTEGER PRIMARY KEY, repository TEXT NOT NULL, number INTEGER NOT NULL, head TEXT NOT NULL,
	comment INTEGER NOT NULL DEFAULT 0, author TEXT NOT NULL DEFAULT '', saved TEXT NOT NULL DEFAULT '',
	state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL, note TEXT NOT NULL DEFAULT '',
	UNIQUE (repository, number, head, comment)) STRICT;
CREATE INDEX IF NOT EXISTS jobs_due ON jobs (state, due);
CREATE TABLE IF NOT EXISTS findings (
	repository TEXT NOT NULL, number INTEGER NOT NULL, head TEXT NOT NULL, file BLOB NOT NULL, at INTEGER NOT NULL,
	PRIMARY KEY (repository, number)) STRICT;
PRAGMA user_version = 1;`

// Around the schema, these take over the jobs of a queue of version 0, which knew heads alone.
const (
	moveJobs = `ALTER TABLE jobs RENAME TO jobs_0; DROP INDEX jobs_due;`
	takeJobs = `INSERT INTO jobs (id, repository, number, head, state, tries, due, note)
		SELECT id, repository, number, head, state, tries, due, note FROM jobs_0; DROP TABLE jobs_0;`
)

// create creates the tables, or brings those of an earlier version up to this one.
func create(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var old bool
	err = tx.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version) < ?
		AND EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'jobs')`, version).Scan(&old)
	if err != nil {
		return err
	}
	statements := schema
	if old {
		statements = moveJobs + schema + takeJobs
	}
	if _, err := tx.ExecContext(ctx, statements); err != nil {
		return err
	}
	return tx.Commit()
}

// Save saves a text that the next try of the job gets, if this one is cut off.
func (q *Queue) Save(ctx context.Context, j Job, text string) error {
	_, err := q.db.ExecContext(ctx, `UPDATE jobs SET saved = ? WHERE id = ?`, text, j.id)
	return err
}

// keepFindings is how long the findings of a review are kept: until then its patches can be asked for without the first
// step being done again.
const keepFindings = 90 * 24 * time.Hour

// Keep keeps the file of findings of a head in place of those of the request's earlier ones.
func (q *Queue) Keep(ctx context.Context, j Job, head string, file []byte) error {
	now := time.Now()
	if _, err := q.db.ExecContext(ctx, `DELETE FROM findings WHERE at < ?`, now.Add(-keepFindings).Unix()); err != nil {
		return err
	}
	_, err := q.db.ExecContext(ctx, `INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?, ?)`, j.Repository, j.Number, head,
		file, now.Unix())
	return err
}

// Kept returns the file of findings of a head, or nil if it is not there.
func (q *Queue) Kept(ctx context.Context, j Job, head string) (file []byte, err error) {
	err = q.db.QueryRowContext(ctx, `SELECT file FROM findings WHERE repository = ? AND number = ? AND head = ?`,
		j.Repository, j.Number, head).Scan(&file)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return file, err
}
