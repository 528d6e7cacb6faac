package repl

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/simdb/simdb/engine"
)

// turns gives each statement of a session the database to run on. A session that was given a way
// to open the database for writing has it open read-only otherwise, so that other processes can
// write it. A statement that writes opens it for writing, and what follows within the time of a
// turn runs there as well: a script that opened it for each of a thousand statements would read its
// log a thousand times.
//
// A session that waits for a statement keeps no file open that another process has removed, for
// longer than idle: a prompt may stay open for days.
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

// turn is how long the database stays open for writing after a statement that ran so, and idle how
// often a session that waits looks for files that are removed.
const (
	turn = 100 * time.Millisecond
	idle = 500 * time.Millisecond
)

// begin returns the database for a statement, which ends with a call of end.
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

// wait begins the time between statements. So it is called before the first, too.
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

// rest lets go of files that are removed, again and again while the session waits.
func (t *turns) rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	if holds, err := t.reader.ReleaseDeleted(); holds || err != nil { // what fails here fails the next statement, too
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
