// Package serve receives webhooks and queues a job for each head of a request, in a file that survives the process: a
// job that was begun and not finished is done again. Reviews are keyed by the forge itself, so that nothing is posted
// twice. The server runs no code of strangers by itself: a [Worker] does the work.
package serve

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// Job is one head of a request that is to be reviewed, or a comment that asks for the patches of a review.
type Job struct {
	Repository string // owner/name
	Number     int
	Head       string // commit; "" for a comment
	Comment    int64  // id; 0 for a head
	Author     string // of the comment
	Tries      int    // that have failed
	Saved      string // by an earlier try

	id int64 // in the queue
}

// String returns the job as logs name it.
func (j Job) String() string {
	if j.Comment != 0 {
		return fmt.Sprintf("%s#%d, comment %d", j.Repository, j.Number, j.Comment)
	}
	return fmt.Sprintf("%s#%d at %.12s", j.Repository, j.Number, j.Head)
}

// Queue is a queue of jobs in a file.
type Queue struct{ db *sql.DB }

// States of jobs.
const (
	queued  = "queued"
	running = "running"
	done    = "done"
	failed  = "failed"
)

// Open opens the file of a queue, or creates it. One server has it at a time; jobs that the one before was working on
// are due again.
func Open(ctx context.Context, file string) (*Queue, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: url.Values{"_txlock": {"immediate"},
		"_pragma": {"locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(FULL)"}}.Encode()}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // writers of one process wait here, not in SQLite
	if err := create(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the queue %s: %w", file, err), db.Close())
	}
	if _, err := db.ExecContext(ctx, `UPDATE jobs SET state = ? WHERE state = ?`, queued, running); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the queue %s: %w", file, err), db.Close())
	}
	return &Queue{db}, nil
}

// Close closes the file.
func (q *Queue) Close() error { return q.db.Close() }

// keepDeliveries is how long a delivery is refused when it comes again.
const keepDeliveries = 365 * 24 * time.Hour

// Add queues a job for a delivery, unless the delivery has come before. A head that was reviewed is queued again, as
// the request may have gone back to it; one that is queued or at work stays as it is. A comment is answered once.
func (q *Queue) Add(ctx context.Context, digest string, j Job) (isNew bool, err error) {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	now := time.Now()
	if _, err := tx.ExecContext(ctx, `DELETE FROM deliveries WHERE at < ?`, now.Add(-keepDeliveries).Unix()); err != nil {
		return false, err
	}
	r, err := tx.ExecContext(ctx, `INSERT INTO deliveries VALUES (?, ?) ON CONFLICT DO NOTHING`, digest, now.Unix())
	if err != nil {
		return false, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO jobs (repository, number, head, comment, author, state, due)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET state = excluded.state, due = excluded.due, tries = 0, note = ''
		WHERE state IN ('done', 'failed') AND comment = 0`,
		j.Repository, j.Number, j.Head, j.Comment, j.Author, queued, now.Unix())
	if err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// Take returns the oldest job that is due, and marks it as being worked on; false if there is none.
func (q *Queue) Take(ctx context.Context) (j Job, ok bool, err error) {
	row := q.db.QueryRowContext(ctx, `UPDATE jobs SET state = ? WHERE id =
		(SELECT id FROM jobs WHERE state = ? AND due <= ? ORDER BY due, id LIMIT 1)
		RETURNING id, repository, number, head, comment, author, tries, saved`, running, queued, time.Now().Unix())
	err = row.Scan(&j.id, &j.Repository, &j.Number, &j.Head, &j.Comment, &j.Author, &j.Tries, &j.Saved)
	if errors.Is(err, sql.ErrNoRows) {
		return Job{}, false, nil
	}
	return j, err == nil, err
}

// Finish marks a job as done.
func (q *Queue) Finish(ctx context.Context, j Job, note string) error {
	return q.set(ctx, j, done, time.Now(), note)
}

// A job is tried so often, with twice the wait each time: for about four hours.
const (
	maxTries  = 10
	firstWait = 15 * time.Second
)

// Retry puts a job back that has failed, to be tried later, or marks it as failed.
func (q *Queue) Retry(ctx context.Context, j Job, reason string) error {
	state := queued
	if j.Tries++; j.Tries >= maxTries {
		state = failed
	}
	return q.set(ctx, j, state, time.Now().Add(firstWait<<(j.Tries-1)), reason)
}

func (q *Queue) set(ctx context.Context, j Job, state string, due time.Time, note string) error {
	_, err := q.db.ExecContext(ctx, `UPDATE jobs SET state = ?, tries = ?, due = ?, note = ? WHERE id = ?`,
		state, j.Tries, due.Unix(), note, j.id)
	return err
}

// Counts returns the number of jobs by state.
func (q *Queue) Counts(ctx context.Context) (map[string]int, error) {
	rows, err := q.db.QueryContext(ctx, `SELECT state, count(*) FROM jobs GROUP BY state`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return nil, err
		}
		counts[state] = n
	}
	return counts, rows.Err()
}
