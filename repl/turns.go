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
type turns struct {
	reader *engine.DB
	open   func() (*engine.DB, error) // nil if the session does not take turns

	mu     sync.Mutex // held while a statement runs
	writer *engine.DB // nil between turns
	timer  *time.Timer
	err    error // of closing writer
}

// turn is how long the database stays open for writing after a statement that ran so.
const turn = 100 * time.Millisecond

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

// end ends a statement.
func (t *turns) end() {
	switch {
	case t.writer == nil:
	case t.timer == nil:
		t.timer = time.AfterFunc(turn, t.release)
	default:
		t.timer.Reset(turn)
	}
	t.mu.Unlock()
}

// release ends a turn.
func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.writer != nil {
		t.err = errors.Join(t.err, t.writer.Close())
		t.writer = nil
	}
}

// close ends the last turn.
func (t *turns) close() error {
	t.release()
	return t.err
}
