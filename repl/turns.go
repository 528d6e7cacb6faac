package repl

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/simdb/simdb/engine"
)

// turns chooses the database on which each statement of a session runs. A session has the database
// open read-only; a statement that writes opens it for writing, together with other processes.
//
// A session that waits for a statement for the time of idle closes the database that it writes, and
// files that another process has removed: a prompt may stay open for days.
type turns struct {
	reader *engine.DB
	open   func() (*engine.DB, error) // nil if the session cannot open the database for writing

	mu     sync.Mutex  // held while a statement runs
	writer *engine.DB  // nil until a statement writes, and after rest
	idle   *time.Timer // calls rest
	closed bool
	err    error // of closing writer
}

// idle is how long a session waits for a statement before it rests, and how often it then looks for
// removed files.
const idle = 500 * time.Millisecond

// begin returns the database for a statement. The caller must call end after the statement.
func (t *turns) begin(ctx context.Context, writes bool) (*engine.DB, error) {
	t.mu.Lock()
	db, err := t.database(ctx, writes)
	if err != nil {
		t.mu.Unlock()
	}
	return db, err
}

func (t *turns) database(ctx context.Context, writes bool) (db *engine.DB, err error) {
	if t.open == nil {
		return t.reader, t.reader.Refresh(ctx)
	}
	if err := t.err; err != nil {
		t.err = nil
		return nil, err
	}
	if t.writer == nil && !writes {
		return t.reader, t.reader.Refresh(ctx)
	}
	if t.writer == nil {
		if t.writer, err = t.open(); err != nil {
			return nil, err
		}
	}
	return t.writer, nil
}

func (t *turns) end() {
	t.waitLocked()
	t.mu.Unlock()
}

// wait starts the timer between statements. It is also called before the first statement.
func (t *turns) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waitLocked()
}

func (t *turns) waitLocked() {
	if t.idle == nil {
		t.idle = time.AfterFunc(idle, t.rest)
	} else {
		t.idle.Reset(idle)
	}
}

func (t *turns) releaseLocked() {
	if t.writer != nil {
		t.err = errors.Join(t.err, t.writer.Close())
		t.writer = nil
	}
}

// rest closes the writer and releases removed files. It runs again as long as the session waits and still has files open.
func (t *turns) rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.releaseLocked()
	if holds, err := t.reader.ReleaseDeleted(); holds || err != nil { // if it fails, the next statement fails, too
		t.idle.Reset(idle)
	}
}

// close ends the last turn.
func (t *turns) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.idle != nil {
		t.idle.Stop()
	}
	t.releaseLocked()
	return t.err
}
