package engine

import "context"

// A Tx is a transaction: it reads the state of the database when it began, with its own writes,
// which nobody else sees before Commit. One goroutine at a time may write, also while results are
// iterated; reads may be concurrent.
//
// Transactions are serializable, without locks. Commit fails with ErrConflict if others have
// changed a document that the transaction has read by its ID (Get, Lookup, Compare, Delete,
// requirements), missing ones included. If it has read in any other way (searches, ranges, counts,
// PutNovel), Commit fails if others have written anything since it began. What it has written
// without reading replaces the writes of others. A transaction that only reads never fails.
// SetAllowed and expiry by age are no writes. More than 65,536 reads by ID count as a search.
//
// Doc.Seq of a document that the transaction has written is provisional. A Tx holds its writes in
// memory: ErrTooLarge beyond Options.Memory or 1 GiB.
type Tx struct {
	Reader
	Writer
}

// Update carries out fn in a transaction, and commits it if fn returns nil. Otherwise nothing is
// written, and Update returns the error of fn. After ErrConflict the program may call it again.
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

// Begin begins a transaction, which the caller must close. Update is simpler. The error is ErrClosed.
func (db *DB) Begin() (*Tx, error) {
	in, err := db.s.Begin()
	if err != nil {
		return nil, err
	}
	tx := &Tx{Reader: Reader{db: db, tx: in}}
	tx.Writer.r = &tx.Reader
	return tx, nil
}

// Commit carries out the writes of a transaction as one, all or none, and ends it. It may have begun
// on another DB of the same database, for example one that is open read-only. After ErrConflict it
// has ended, too; after other errors, which are those of Apply, it is as before.
func (db *DB) Commit(ctx context.Context, tx *Tx) error { return tx.tx.Commit(ctx, db.s) }

// Close ends the transaction, if it has not ended. It always returns nil.
func (tx *Tx) Close() error {
	tx.tx.Close()
	return nil
}
