package repl

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/simdb/simdb/engine"
)

// turns chooses the database on which each statement of a session runs. If the session can open the
// database for writing, it holds the database open read-only otherwise, so that other processes can
// write. A statement that writes opens the database for writing, and statements that follow within
// the time of a turn run there as well: a script that reopened it for each of a thousand statements
// would read its log a thousand times.
//
// A session that waits for a statement closes files that another process has removed, at most idle
// later: a prompt may stay open for days.
type turns struct {
	reader *engine.DB
	open   func() (*engine.DB, error) // nil if the session does not take turns

	mu     sync.Mutex // held while a statement runs
	writer *engine.DB // nil between turns
	timer  *time.Timer
	idle   *time.Timer // calls rest
	closed bool
	err    error // of closing writer
}

// turn is how long the database stays open for writing after a statement. idle is how often a
// waiting session looks for removed files.
const (
	turn = 100 * time.Millisecond
	idle = 500 * time.Millisecond
)

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
	switch {
	case t.writer == nil:
	case t.timer == nil:
		t.timer = time.AfterFunc(turn, t.release)
	default:
		t.timer.Reset(turn)
	}
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

func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseLocked()
}

func (t *turns) releaseLocked() {
	if t.writer != nil {
		t.err = errors.Join(t.err, t.writer.Close())
		t.writer = nil
	}
}

// rest releases removed files. It runs again as long as the session waits and still has files open.
func (t *turns) rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
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
