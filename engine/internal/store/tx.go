package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/option"
)

// A Tx is a transaction: it reads the state at its beginning with its own writes over it, and
// Commit carries these out as one write if what it has read is unchanged. One goroutine at a time
// writes; reads may be concurrent.
type Tx struct {
	db   *Store
	over view.Overlay
	recs []wal.Record

	mu       sync.Mutex
	read     map[string]uint64 // by ID: number of the write that stored the document, 0 if there was none
	searched bool              // it depends on all documents
	bytes    int64             // memory of recs and read
}

// Begin begins a transaction. The caller must close it.
func (db *Store) Begin() (*Tx, error) {
	tx := &Tx{db: db, read: map[string]uint64{}}
	return tx, tx.over.Begin(db.TakeView)
}

// Close ends the transaction. Closing it again does nothing.
func (tx *Tx) Close() { tx.over.Close() }

// TakeView makes v, which must be new or closed, a view of what the transaction reads now.
func (tx *Tx) TakeView(v *view.View) error { return v.Copy(&tx.over.View) }

// Searched makes the transaction depend on all documents.
func (tx *Tx) Searched() {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.searched = true
}

// Read makes the transaction depend on the document with an ID, which it has found at p, or on its
// absence. The caller runs it within Safely.
func (tx *Tx) Read(id string, p view.Place, found bool) (err error) {
	if !found { // there is none, or the transaction has deleted it
		if p, found, err = tx.over.Began.Find([]byte(id)); err != nil {
			return err
		}
	}
	seq := uint64(0)
	if found {
		if seq, err = p.Seq(); err != nil || seq >= view.Uncommitted { // it depends on its own writes in any case
			return err
		}
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if _, known := tx.read[id]; known || tx.searched {
		return nil
	}
	tx.read[id] = seq
	return tx.holdLocked(opBytes + len(id))
}

// opBytes estimates the memory of a write or a dependency, without the ID and the document.
const opBytes = 256

// holdLocked accounts for memory. The caller holds mu.
func (tx *Tx) holdLocked(bytes int) error {
	if most := min(tx.db.Memory, wal.MaxPayload); tx.bytes+int64(bytes) > most {
		return fmt.Errorf("the transaction exceeds %d bytes, the limit of %s: %w", most, option.Name("Memory"), files.ErrTooLarge)
	}
	tx.bytes += int64(bytes)
	return nil
}

// Write is Store.Write in the transaction. After an error nothing is written.
func (tx *Tx) Write(ctx context.Context, ops []Operation, needs ...Need) (deleted int, err error) {
	if err := tx.over.Usable(ctx); err != nil || len(ops)+len(needs) == 0 {
		return 0, err
	}
	recs, err := tx.db.records(ops)
	if err != nil {
		return 0, err
	}
	return tx.write(ctx, recs, needs)
}

func (tx *Tx) write(ctx context.Context, recs []wal.Record, needs []Need) (deleted int, err error) {
	tx.over.Prepare()
	l := tx.db.newLookup(recs, needs)
	defer l.release()
	if err = tx.over.Safely(ctx, func() error { return tx.find(l) }); err == nil {
		err = l.checkLocked()
	}
	if err == nil {
		deleted, err = l.effectiveLocked()
	}
	if err != nil {
		return 0, err
	}
	bytes := 0
	for i := range l.recs {
		r := &l.recs[i]
		r.Version = nil // it has been found
		bytes += opBytes + len(r.Doc.ID) + len(r.Doc.Text) + len(r.Doc.Fields) + 8*len(r.Doc.Rest) + 4*len(r.Doc.Sketch)
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if err := tx.holdLocked(bytes); err != nil {
		return 0, err
	}
	tx.over.Write(l.recs, l.found)
	tx.recs = append(tx.recs, l.recs...)
	return deleted, nil
}

// find sets the places of a lookup. The transaction depends on what it deletes and requires.
func (tx *Tx) find(l *lookup) error {
	for i := range l.found {
		p, found, err := tx.over.Find(l.id(i))
		if err == nil && (i >= len(l.recs) || l.recs[i].Delete) {
			err = tx.Read(string(l.id(i)), p, found)
		}
		if err != nil {
			return err
		}
		l.found[i] = p
	}
	return nil
}

// PutEachUnless is Store.PutEachUnless in the transaction.
func (tx *Tx) PutEachUnless(ctx context.Context, n int, doc func(i int) view.Doc, match MatchFunc) (decided int, err error) {
	tx.Searched()
	for err = tx.over.Usable(ctx); err == nil && decided < n; {
		var recs []wal.Record
		found := false
		if recs, err = tx.db.records([]Operation{Put(doc(decided))}); err == nil {
			_, found, err = match(decided, &tx.over.View, &recs[0].Doc)
		}
		if err == nil && !found {
			_, err = tx.write(ctx, recs, nil)
		}
		if err == nil {
			decided++
		}
	}
	return decided, err
}

// Commit carries out the writes in on, an open Store of the same database. If what the transaction
// has read has changed, the error is ErrConflict. Then, as after a commit, the transaction has
// ended; after another error it is unchanged.
func (tx *Tx) Commit(ctx context.Context, on *Store) error {
	err := cmp.Or(tx.over.Usable(ctx), on.Writable())
	if err == nil && on.UUID != tx.db.UUID {
		err = fmt.Errorf("a transaction of %s is committed in %s: %w", tx.db.Path, on.Path, files.ErrInvalid)
	}
	if err == nil && len(tx.recs) > 0 {
		_, err = on.writeRecords(ctx, tx.recs, tx.needs())
	}
	if c, ok := errors.AsType[*files.Conflict](err); ok {
		what := "others have written"
		if c.ID != "" {
			what = fmt.Sprintf("document %s has changed", files.QuoteID(c.ID))
		}
		err = fmt.Errorf("%w: %s since the transaction began", files.ErrConflict, what)
	}
	if err == nil || errors.Is(err, files.ErrConflict) {
		tx.Close()
	}
	return err
}

// needs returns what the transaction depends on.
func (tx *Tx) needs() (needs []Need) {
	if tx.searched {
		return []Need{{All: true, Version: tx.over.Began.Seq}}
	}
	for id, seq := range tx.read {
		needs = append(needs, Need{ID: id, Version: seq})
	}
	return needs
}
