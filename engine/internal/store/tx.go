package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/option"
)

// A Tx is a transaction: it reads the state at its beginning with its own writes over it, and
// Commit carries these out as one write if what it has read is unchanged. One goroutine at a time
// writes; reads may be concurrent.
type Tx struct {
	db    *Store
	over  view.Overlay
	recs  []wal.Record
	bytes int // memory of recs

	Searched atomic.Bool // it depends on all documents; otherwise on those of read
	mu       sync.Mutex
	read     map[string]uint64 // by ID: number of the write that stored the document, 0 if there was none
}

// mostRead limits Tx.read. A transaction that reads more by ID depends on all documents.
const mostRead = 1 << 16

// Begin begins a transaction. The caller must close it.
func (db *Store) Begin() (*Tx, error) {
	tx := &Tx{db: db, read: map[string]uint64{}}
	err := db.TakeView(&tx.over.Began)
	if err == nil {
		tx.over.Begin()
	}
	return tx, err
}

// Close ends the transaction. Closing it again does nothing.
func (tx *Tx) Close() { tx.over.Close() }

// TakeView makes v, which must be new or closed, a view of what the transaction reads now.
func (tx *Tx) TakeView(v *view.View) error { return v.Copy(&tx.over.View) }

// Read makes the transaction depend on the document with an ID, which it has found at p, or on its
// absence. The caller runs it within Safely.
func (tx *Tx) Read(id string, p view.Place, found bool) (err error) {
	if !found { // there is none, or the transaction has deleted it
		p, found, err = tx.over.Began.Find([]byte(id))
	}
	seq := uint64(0)
	if err == nil && found {
		seq, err = p.Seq()
	}
	if err != nil || seq >= view.Uncommitted || tx.Searched.Load() {
		return err
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if _, known := tx.read[id]; !known {
		tx.read[id] = seq
	}
	if len(tx.read) > mostRead {
		tx.Searched.Store(true)
	}
	return nil
}

// Write is Store.Write in the transaction. After an error nothing is written.
func (tx *Tx) Write(ctx context.Context, ops []Operation, needs ...Need) (deleted int, err error) {
	recs, err := tx.db.records(ops)
	if err != nil || len(recs)+len(needs) == 0 {
		return 0, err
	}
	return tx.write(ctx, recs, needs)
}

func (tx *Tx) write(ctx context.Context, recs []wal.Record, needs []Need) (deleted int, err error) {
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
	bytes := tx.bytes
	for i := range l.recs {
		r := &l.recs[i]
		r.Version = nil // it has been found
		bytes += 256 + len(r.Doc.ID) + len(r.Doc.Text) + len(r.Doc.Fields) + 8*len(r.Doc.Rest) + 4*len(r.Doc.Sketch)
	}
	if most := int(min(tx.db.Memory, wal.MaxPayload)); bytes > most {
		return 0, fmt.Errorf("the transaction exceeds %d bytes, the limit of %s: %w", most, option.Name("Memory"), files.ErrTooLarge)
	}
	tx.over.Write(l.recs, l.found)
	tx.recs, tx.bytes = append(tx.recs, l.recs...), bytes
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
	tx.Searched.Store(true)
	for ; decided < n; decided++ {
		recs, err := tx.db.records([]Operation{Put(doc(decided))})
		found := true
		if err == nil {
			_, found, err = match(decided, &tx.over.View, &recs[0].Doc)
		}
		if !found && err == nil {
			_, err = tx.write(ctx, recs, nil)
		}
		if err != nil {
			return decided, err
		}
	}
	return n, nil
}

// Commit carries out the writes in on, an open Store of the same database. Success and ErrConflict
// end the transaction; after another error it is unchanged.
func (tx *Tx) Commit(ctx context.Context, on *Store) error {
	err := tx.over.Usable(ctx)
	if err == nil && on.UUID != tx.db.UUID {
		err = fmt.Errorf("a transaction of %s is committed in %s: %w", tx.db.Path, on.Path, files.ErrInvalid)
	}
	if err == nil && len(tx.recs) > 0 {
		needs := []Need{{All: true, Version: tx.over.Began.Seq}}
		if !tx.Searched.Load() {
			needs = nil
			for id, seq := range tx.read {
				needs = append(needs, Need{ID: id, Version: seq})
			}
		}
		_, err = on.writeRecords(ctx, tx.recs, needs)
	}
	c, conflict := errors.AsType[*files.Conflict](err)
	if conflict {
		if err = files.ErrConflict; c.ID != "" {
			err = fmt.Errorf("%w: document %s", err, files.QuoteID(c.ID))
		}
	}
	if err == nil || conflict {
		tx.Close()
	}
	return err
}
