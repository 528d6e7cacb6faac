package engine

import "context"

// A Tx is a transaction. It reads the state of the database when it began together with its own
// writes, by every method of Reader, and writes by the methods of Writer, which return only errors
// of the documents: nobody else sees a write before Commit. Reads may run concurrently, and while a
// result is being iterated the transaction may write.
//
// Transactions are serializable, without locks: Commit fails with ErrConflict if a document that
// the transaction has read by its ID (Get, Lookup, Contents, Compare, Delete, requirements) is not
// the same any more, or if it was missing and is not now. If the transaction has read in any other
// way (searches, ranges, counts, PutNovel), Commit fails if others have written anything since it
// began. Documents that it has written without reading them replace those of others. A transaction
// that only reads never fails. SetAllowed and expiry by age are no writes.
//
// Until commit, Doc.Seq of a document that the transaction has written is a provisional number. The
// transaction holds in memory its writes, and the IDs it has read: ErrTooLarge beyond
// Options.Memory or 1 GiB.
type Tx struct {
	Reader
	Writer
}

// Update carries out fn in a transaction, and commits it if fn returns nil. Otherwise nothing is
// written, and Update returns the error of fn. It does not try again after ErrConflict: fn may have
// effects outside of the database, and a transaction that searches may fail again and again while
// others write.
func (db *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Close()
	if err := fn(tx); err != nil {
		return err
	}
	return db.Commit(ctx, tx)
}

// Begin begins a transaction. It ends when Commit succeeds or fails with ErrConflict, or with Close,
// which the caller must call in any case. Update is simpler. The error is ErrClosed.
func (db *DB) Begin() (*Tx, error) {
	in, err := db.s.Begin()
	if err != nil {
		return nil, err
	}
	tx := &Tx{Reader: Reader{db: db, tx: in}}
	tx.Writer.r = &tx.Reader
	return tx, nil
}

// Commit carries out the writes of a transaction as one, all or none, and ends it. The transaction
// may have begun on another DB of the same database, for example one that is open read-only. After
// ErrConflict nothing is written, and the transaction has ended. After other errors, which are those
// of Apply, it is as before.
func (db *DB) Commit(ctx context.Context, tx *Tx) error { return tx.tx.Commit(ctx, db.s) }

// Close ends the transaction without writing anything, unless it has ended. It always returns nil.
func (tx *Tx) Close() error {
	tx.tx.Close()
	return nil
}
