package query

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/quantity"
)

// A Session runs statements one after another, which may include a transaction: PUT and DELETE
// between BEGIN and COMMIT are held in memory, and COMMIT writes them as one batch, all or nothing.
// All statements between BEGIN and COMMIT read the database as of BEGIN, without these writes. The
// zero value is ready. One goroutine at a time may use a Session.
type Session struct {
	// Progress, if not nil, receives the progress of statements, while Run works and while the Rows
	// are read. It is called from any goroutine, but never concurrently.
	Progress func(engine.Progress)
	// ShowFirst, if not 0, makes SHOW read documents only for that many rows of each statement; in
	// later rows the columns that show parts of documents are nil.
	ShowFirst int64

	tx *transaction
}

// A transaction holds the writes since BEGIN.
type transaction struct {
	snap  *engine.Snapshot
	batch engine.Batch
	ids   map[string]bool // the ids it writes: true if the last write is a PUT
	bytes int64           // memory that it holds
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
	return s.tx.batch.Len(), true
}

// Close ends the transaction, if there is one, as ROLLBACK does. It always returns nil.
func (s *Session) Close() error {
	if s.tx != nil {
		s.tx.snap.Close()
		s.tx = nil
	}
	return nil
}

// errNoSession is the error of Run for a statement about transactions.
var errNoSession = errors.New("a transaction needs a Session, or engine.Batch")

func (x *run) begin() error {
	switch {
	case x.session == nil:
		return errNoSession
	case x.tx != nil:
		return errors.New("a transaction is open already: end it with COMMIT or ROLLBACK")
	}
	x.session.tx = &transaction{snap: x.Snap, ids: map[string]bool{}}
	x.rows.snap = nil // the snapshot belongs to the transaction
	x.say("begun")
	return nil
}

// commit runs COMMIT. If it fails, the transaction is unchanged.
func (x *run) commit() error {
	tx, err := x.openTx()
	if err != nil {
		return err
	}
	if tx.batch.Len() > 0 {
		if err := x.DB.Apply(x.Ctx, &tx.batch); err != nil {
			return err
		}
	}
	stored := 0
	for _, put := range tx.ids {
		if put {
			stored++
		}
	}
	x.say("committed: stored %s, deleted %d", quantity.Plain(stored, "document", "documents"), tx.batch.Deleted())
	return x.session.Close()
}

func (x *run) rollback() error {
	tx, err := x.openTx()
	if err != nil {
		return err
	}
	x.say("rolled back %s", quantity.Plain(tx.batch.Len(), "write", "writes"))
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

// writeBytes estimates the memory of a write in a transaction, without its document.
const writeBytes = 256

// hold accounts for bytes more of memory in the transaction. The bound of 1 GiB is the bound of a
// batch in the log.
func (tx *transaction) hold(x *run, bytes int) error {
	if most := min(x.DB.Metrics().Memory, 1<<30); tx.bytes+int64(bytes) > most {
		return fmt.Errorf("the transaction exceeds %d bytes, the limit of %s: %w", most, option.Name("Memory"), engine.ErrTooLarge)
	}
	tx.bytes += int64(bytes)
	return nil
}

// put adds a document to the transaction. It checks the document now, because COMMIT would fail
// with an invalid one, however often it is tried.
func (tx *transaction) put(x *run, d engine.Doc) error {
	err := x.DB.CheckDoc(d)
	if err == nil {
		err = tx.hold(x, writeBytes*(1+len(d.Fingerprints))+4*x.DB.Options().Sketch+len(d.ID)+len(d.Text)+len(d.Fields))
	}
	if err == nil {
		tx.batch.Put(d)
		tx.ids[d.ID] = true
	}
	return err
}

// delete adds the delete of a document that exists in the database or was put by the transaction.
func (tx *transaction) delete(x *run, id string) error {
	there, own := tx.ids[id]
	if !own {
		if _, err := x.Snap.Lookup(x.Ctx, id); err != nil {
			return err
		}
	} else if !there {
		return fmt.Errorf("the transaction has deleted it: %w", engine.ErrNotFound)
	}
	if err := tx.hold(x, writeBytes); err != nil {
		return err
	}
	tx.batch.Delete(id)
	tx.ids[id] = false
	return nil
}

// deleteVersions adds deletes of documents that a statement has found. It skips IDs that the
// transaction has written: statements do not see documents that the transaction has put.
func (tx *transaction) deleteVersions(x *run, found []version) (deleted int, err error) {
	found = slices.DeleteFunc(found, func(v version) bool { _, own := tx.ids[v.id]; return own })
	if err := tx.hold(x, len(found)*writeBytes); err != nil {
		return 0, err
	}
	for _, v := range found {
		tx.batch.DeleteVersion(v.id, v.seq)
		tx.ids[v.id] = false
	}
	return len(found), nil
}

// A version identifies the version of a document that a statement has found.
type version struct {
	id  string
	seq uint64
}
