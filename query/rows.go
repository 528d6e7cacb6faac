package query

import (
	"iter"
	"reflect"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/record"
)

// Row is one row of a result, with a value for each column. Values have the types string (ids,
// texts), int (distances, clusters, words, places), int64 (counts, and integer fields), uint64
// (fingerprints, and nothing else), float64 (scores), bool, time.Time, json.RawMessage (sequence
// numbers, all fields of a document, and other numbers, lists and objects in fields), or are nil.
type Row []any

// Rows is the result of a statement: rows, or a message such as "stored".
//
// The rows are computed while they are read, from the state of the database when the statement
// began. A Rows pins that state until it has been read completely or closed.
type Rows struct {
	columns []string
	message string
	search  bool // an empty result means "no"
	seq     iter.Seq2[Row, error]
	snap    *engine.Snapshot // to close
	scope   *predicate.Scope
	warned  []string

	stats engine.QueryStats
	count int64 // rows that have been read
	ended bool

	showFirst int64 // Session.ShowFirst
}

// Columns returns the names of the columns. It is empty if the result is a message.
func (r *Rows) Columns() []string { return r.columns }

// Message returns the message of a statement without rows, such as "stored" or "deleted 3
// documents"; "" if there are rows.
func (r *Rows) Message() string { return r.message }

// Stats returns the work that the statement has done so far.
func (r *Rows) Stats() engine.QueryStats { return r.stats }

// Warnings returns doubts about the result, once its rows have been read or closed: fields that no
// document has, a search by text among documents without texts, a fingerprint that may be decimal.
func (r *Rows) Warnings() []string { return r.warned }

// All yields the rows, then closes r. An error ends the rows.
func (r *Rows) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		defer r.Close()
		if r.seq == nil || r.ended {
			return
		}
		r.seq(func(row Row, err error) bool {
			if err == nil {
				r.count++
			}
			return yield(row, err) && err == nil
		})
	}
}

// Scan yields the rows as values of T, then closes rows. T is a struct with a field for each
// column: the field's tag `query:"name"` or `json:"name"` names the column, or its name equals the
// column's name, ignoring case. If rows have one column, T may be another type. Null becomes the
// zero value, or a nil pointer; lists, objects and fields of documents are decoded as JSON. An
// error ends the sequence.
func Scan[T any](rows *Rows) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		defer rows.Close()
		var v T
		r, err := record.New(reflect.TypeFor[T](), rows.Columns())
		if err != nil {
			yield(v, err)
			return
		}
		for row, err := range rows.All() {
			var v T
			if err == nil {
				err = r.Read(reflect.ValueOf(&v).Elem(), row)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Close releases the state that r pins. It always returns nil. A second Close does nothing.
func (r *Rows) Close() error {
	if r.ended {
		return nil
	}
	r.ended = true
	if r.scope != nil {
		r.warned = r.scope.Doubts(r.count, r.search)
	}
	r.snap.Close()
	return nil
}

// fixed yields the given rows.
func fixed(rows ...Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}
