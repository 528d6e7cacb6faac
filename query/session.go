package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
)

// A Session runs statements one after another, which may include a transaction, an [engine.Tx]:
// statements between BEGIN and COMMIT read the database as it was at BEGIN, with their own writes.
// If others have changed what they have read, COMMIT is an [engine.ErrConflict], and nothing is
// written; after any other error the transaction is as before. The zero value is ready. One
// goroutine at a time may use a Session.
type Session struct {
	// Progress, if not nil, receives the progress of statements, while Run works and while the Rows
	// are read. It is called from any goroutine, but never concurrently.
	Progress func(engine.Progress)
	// ShowFirst, if not 0, makes SHOW read documents only for that many rows of each statement; in
	// later rows the columns that show parts of documents are nil.
	ShowFirst int64

	tx *transaction
}

// A transaction has its writes so far.
type transaction struct {
	*engine.Tx
	stored, deleted int
}

// Run runs one statement, as the function [Run] does. Each call may pass a different DB of the same
// database.
func (s *Session) Run(ctx context.Context, db *engine.DB, text string, args ...any) (*Rows, error) {
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, db, p, args)
}

// Pending returns the number of writes that wait for COMMIT, and whether there is a transaction.
func (s *Session) Pending() (writes int, open bool) {
	if s.tx == nil {
		return 0, false
	}
	return s.tx.writes(), true
}

// Close ends the transaction, if there is one, as ROLLBACK does. It always returns nil.
func (s *Session) Close() error {
	if s.tx != nil {
		s.tx.Close()
		s.tx = nil
	}
	return nil
}

// errNoSession is the error of Run for a statement about transactions.
var errNoSession = errors.New("a transaction needs a Session, or DB.Update of package engine")

func (x *run) begin() error {
	switch {
	case x.session == nil:
		return errNoSession
	case x.tx != nil:
		return errors.New("a transaction is open already: end it with COMMIT or ROLLBACK")
	}
	tx, err := x.DB.Begin()
	if err != nil {
		return err
	}
	x.session.tx = &transaction{Tx: tx}
	x.say("begun")
	return nil
}

// commit runs COMMIT. After an error other than a conflict, the transaction is unchanged.
func (x *run) commit() error {
	tx, err := x.openTx()
	if err != nil {
		return err
	}
	if err := x.DB.Commit(x.Ctx, tx.Tx); err != nil {
		if errors.Is(err, engine.ErrConflict) {
			x.session.Close()
			err = fmt.Errorf("%w: rolled back %s", err, quantity.Plain(tx.writes(), "write", "writes"))
		}
		return err
	}
	x.say("committed: stored %s, deleted %d", quantity.Plain(tx.stored, "document", "documents"), tx.deleted)
	return x.session.Close()
}

func (x *run) rollback() error {
	tx, err := x.openTx()
	if err != nil {
		return err
	}
	x.say("rolled back %s", quantity.Plain(tx.writes(), "write", "writes"))
	return x.session.Close()
}

// openTx returns the open transaction for a statement that ends it.
func (x *run) openTx() (*transaction, error) {
	if x.tx != nil {
		return x.tx, nil
	}
	if x.session == nil {
		return nil, errNoSession
	}
	return nil, errors.New("no transaction is open: BEGIN opens one")
}

// wrote counts documents that a statement has stored and deleted.
func (x *run) wrote(stored, deleted int) {
	if x.tx != nil {
		x.tx.stored += stored
		x.tx.deleted += deleted
	}
}

func (tx *transaction) writes() int { return tx.stored + tx.deleted }
