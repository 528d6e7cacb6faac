package query

import (
	"iter"
	"time"

	"github.com/simdb/simdb/engine"
)

// Row is one row of a result, a value for each column. Values have the types string (ids, texts), int (distances,
// clusters), int64 (counts), uint64 (fingerprints), float64 (scores), bool, time.Time, json.RawMessage (fields), or
// are nil.
type Row []any

// Rows is the result of a statement: rows, or a message such as "stored".
//
// The rows are computed while they are read, from the database as it was when the statement began; so a Rows holds on
// to that state until it has been read to its end or closed. Read it either with All or with Next.
type Rows struct {
	columns []string
	message string
	search  bool
	damage  bool
	wrote   bool
	seq     iter.Seq2[Row, error]
	release func()

	stats   engine.QueryStats
	started time.Time
	elapsed time.Duration
	count   int64
	ended   bool

	next func() (Row, error, bool) // of iter.Pull2, once Next has been called
	stop func()
	row  Row
	err  error
}

// Columns returns the names of the columns; none if the result is a message.
func (r *Rows) Columns() []string { return r.columns }

// Message is what a statement has to say that has no rows: "stored", "deleted 3 documents"; "" if there are rows.
func (r *Rows) Message() string { return r.message }

// Search says whether the statement looks for documents that match, so that finding none is an answer of "no".
func (r *Rows) Search() bool { return r.search }

// Wrote says whether the statement may have changed the database, so that running it again is not the same.
func (r *Rows) Wrote() bool { return r.wrote }

// Damage says whether the rows are problems that CHECK found.
func (r *Rows) Damage() bool { return r.damage }

// Stats is the work that the statement has done so far.
func (r *Rows) Stats() engine.QueryStats { return r.stats }

// Elapsed is how long the statement took, or has been taking; it includes the time that the reader took for the rows.
func (r *Rows) Elapsed() time.Duration {
	if r.ended {
		return r.elapsed
	}
	return time.Since(r.started)
}

// Count is how many rows have been read.
func (r *Rows) Count() int64 { return r.count }

// All yields the rows, then closes r. An error is the last thing it yields.
func (r *Rows) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		defer r.Close()
		if r.seq == nil || r.ended {
			return
		}
		for row, err := range r.seq {
			if err == nil {
				r.count++
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// Next moves to the next row; false at the end of the rows, or at an error, which Err tells.
func (r *Rows) Next() bool {
	if r.ended || r.seq == nil {
		return false
	}
	if r.next == nil {
		r.next, r.stop = iter.Pull2(r.seq)
	}
	var ok bool
	if r.row, r.err, ok = r.next(); !ok || r.err != nil {
		r.Close()
		return false
	}
	r.count++
	return true
}

// Row returns the row that Next moved to.
func (r *Rows) Row() Row { return r.row }

// Err returns the error that ended Next, nil if there was none.
func (r *Rows) Err() error { return r.err }

// Close releases what r holds. A second Close does nothing; it always returns nil.
func (r *Rows) Close() error {
	if r.ended {
		return nil
	}
	r.elapsed = time.Since(r.started)
	r.ended = true
	if r.stop != nil {
		r.stop()
	}
	if r.release != nil {
		r.release()
	}
	return nil
}

// fixed yields rows that are known.
func fixed(rows ...Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}
