package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/table"
)

// An Operation is a put of doc, or a delete of doc.ID.
type Operation struct {
	del     bool
	version *uint64 // delete only the version with this sequence number; nil for any
	doc     view.Doc
}

// Put returns the operation that stores d.
func Put(d view.Doc) Operation { return Operation{doc: d} }

// Delete returns the operation that deletes the document with an ID. If there is none, it does
// nothing.
func Delete(id string) Operation { return Operation{del: true, doc: view.Doc{ID: id}} }

// DeleteVersion returns the operation that deletes one version of a document: seq is the number of
// its write. If the document has been replaced since, or deleted and stored again, it does nothing.
func DeleteVersion(id string, seq uint64) Operation {
	return Operation{del: true, version: &seq, doc: view.Doc{ID: id}}
}

// A Need is a requirement of a write on the document with an ID: that the write with the number
// Version stored it, that any write did if Version is view.Latest, or that there is no document if
// Version is 0. If All is set, it is the requirement that the last write has the number Version.
type Need struct {
	ID      string
	Version uint64
	All     bool
}

// prepare checks operations and computes the records to store, outside all locks.
func (db *Store) prepare(ctx context.Context, ops []Operation) ([]wal.Record, error) {
	if err := cmp.Or(ctx.Err(), db.Writable()); err != nil {
		return nil, err
	}
	return db.records(ops)
}

// records is prepare for operations that are not yet written.
func (db *Store) records(ops []Operation) ([]wal.Record, error) {
	size := 0 // total size of the arguments to copy, which share one allocation
	for i := range ops {
		size += len(ops[i].doc.ID)
		if db.Params.StoreText {
			size += len(ops[i].doc.Text) + len(ops[i].doc.Fields)
		}
	}
	buf := make([]byte, 0, size)
	recs := make([]wal.Record, 0, len(ops))
	for i := range ops {
		op := &ops[i]
		r := wal.Record{Delete: op.del, Version: op.version}
		if op.del {
			if err := view.CheckID(op.doc.ID); err != nil {
				return nil, err
			}
			r.Doc.ID = keep(&buf, op.doc.ID)
			recs = append(recs, r)
			continue
		}
		d := op.doc
		if err := db.settle(&d); err != nil {
			return nil, err
		}
		db.encodeDoc(&r.Doc, &d, &buf)
		recs = append(recs, r)
		for _, code := range d.Codes() {
			var r wal.Record
			db.encodeDoc(&r.Doc, &code, &buf)
			recs = append(recs, r)
		}
	}
	return recs, nil
}

// keep appends a copy of s to buf and returns the copy.
func keep[S string | json.RawMessage](buf *[]byte, s S) []byte {
	if len(s) == 0 {
		return nil
	}
	from := len(*buf)
	*buf = append(*buf, s...)
	return (*buf)[from:len(*buf):len(*buf)]
}

// settle checks that a document can be stored, and sets its fingerprints and its time.
func (db *Store) settle(d *view.Doc) error {
	if err := cmp.Or(view.CheckDoc(d), db.CheckText(d.Text), db.SettleFingerprints(d)); err != nil {
		return err
	}
	if d.Time.IsZero() {
		d.Time = db.Now()
	}
	return nil
}

// encodeDoc sets s to the stored form of d, with its fingerprint. It appends copies to buf.
func (db *Store) encodeDoc(s *table.Document, d *view.Doc, buf *[]byte) {
	*s = table.Document{ID: keep(buf, d.ID), Time: d.Time.UnixMicro(), Expires: table.Expiry(d.Expires)}
	if d.Fingerprint != nil {
		s.Fingerprint, s.Rest, s.HasFingerprint = *d.Fingerprint, slices.Clone(d.Rest), true
	}
	db.Texts.Fill(s, d.Text)
	if db.Params.StoreText {
		s.Text, s.Fields = keep(buf, d.Text), keep(buf, d.Fields)
	}
}
