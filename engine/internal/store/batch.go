package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// An Operation is a put of doc, or a delete of doc.ID.
type Operation struct {
	del     bool
	version *uint64 // delete only the version with this sequence number; nil for any
	doc     view.Doc
}

// Put returns the storing of d.
func Put(d view.Doc) Operation { return Operation{doc: d} }

// Delete returns the delete of the document with an ID; deleting what is not stored does nothing.
func Delete(id string) Operation { return Operation{del: true, doc: view.Doc{ID: id}} }

// DeleteVersion returns the delete of a document as it was seen: seq is the number of its write. If
// it has been replaced since, or deleted and stored again, the delete does nothing.
func DeleteVersion(id string, seq uint64) Operation {
	return Operation{del: true, version: &seq, doc: view.Doc{ID: id}}
}

// A record is a write as the log has it, its fingerprint computed. The log has no version: it gets
// only deletes that remove something.
type record struct {
	del     bool
	version *uint64 // as in operation
	doc     sstable.Document
}

// The payload of a log frame is one batch:
//
//	+-----------+---------+------------------------------- count times -------------------------------------------+
//	| first seq | count   | kind | id length | id | fingerprint | sketch | time   | text length | text | fields   |
//	| uint64    | uvarint | byte | uvarint   |    | uint64      |        | varint | uvarint     |      | likewise |
//	+-----------+---------+---------------------------------------------------------------------------------------+
//
// Kind is 0 for a delete, after whose id nothing follows. Of a put it is 1, plus 2 if there is a
// fingerprint, plus 4 if there is a sketch (as minhash.Sketch.AppendEncoded writes it). Write i of
// the batch has the sequence number first seq + i. The first frame of a log has first seq 0, count
// 0 and then the number of the log before it (uvarint, 0 for none), so that a log that is missing
// is noticed.
const (
	kindDelete      = 0
	kindPut         = 1
	withFingerprint = 2
	withSketch      = 4
)

const firstSeqBytes = 8

// encodeBatch appends records, encoded as a frame's payload with room for the first sequence number
// in front, to b, which is empty.
func encodeBatch(b []byte, recs []record) []byte {
	n := firstSeqBytes + binary.MaxVarintLen64
	for _, r := range recs {
		n += 1 + 4*binary.MaxVarintLen64 + base.FingerprintBytes + len(r.doc.ID) + len(r.doc.Text) + len(r.doc.Fields) + 4*len(r.doc.Sketch)
	}
	b = slices.Grow(b, n)[:firstSeqBytes]
	b = binary.AppendUvarint(b, uint64(len(recs)))
	for _, r := range recs {
		if r.del {
			b = appendBytes(append(b, kindDelete), r.doc.ID)
			continue
		}
		kind := byte(kindPut)
		if r.doc.HasFingerprint {
			kind |= withFingerprint
		}
		if len(r.doc.Sketch) > 0 {
			kind |= withSketch
		}
		b = appendBytes(append(b, kind), r.doc.ID)
		if r.doc.HasFingerprint {
			b = base.AppendFingerprint(b, r.doc.Fingerprint)
		}
		if len(r.doc.Sketch) > 0 {
			b = minhash.Sketch(r.doc.Sketch).AppendEncoded(b)
		}
		b = binary.AppendVarint(b, r.doc.Time)
		b = appendBytes(b, r.doc.Text)
		b = appendBytes(b, r.doc.Fields)
	}
	return b
}

// encodeLogStart encodes the payload of a log's first frame.
func encodeLogStart(before uint64) []byte {
	return binary.AppendUvarint(make([]byte, firstSeqBytes+1), before)
}

func appendBytes(b, s []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }

var errBatch = errors.New("malformed batch")

// decodeBatch calls fn for each write of a payload, in order, and start for the payload of a log's
// first frame. The record is a copy of its own.
func decodeBatch(p []byte, start func(before uint64) error, fn func(record) error) error {
	if len(p) < firstSeqBytes {
		return errBatch
	}
	d := decoder{p: append([]byte(nil), p...)}
	first := d.uint64()
	n := d.uvarint()
	if n == 0 {
		before := d.uvarint()
		if d.bad || first != 0 || len(d.p) > 0 {
			return fmt.Errorf("%w: no writes", errBatch)
		}
		return start(before)
	}
	for i := range n {
		var r record
		kind := d.byte()
		r.doc.Seq = first + i
		r.doc.ID = d.bytes()
		switch {
		case kind == kindDelete:
			r.del = true
		case kind&kindPut != 0 && kind < 2*withSketch:
			if r.doc.HasFingerprint = kind&withFingerprint != 0; r.doc.HasFingerprint {
				r.doc.Fingerprint = d.fingerprint()
			}
			if kind&withSketch != 0 {
				r.doc.Sketch = d.sketch()
			}
			r.doc.Time = d.varint()
			r.doc.Text = d.bytes()
			r.doc.Fields = d.bytes()
		default:
			return fmt.Errorf("%w: write of kind %d", errBatch, kind)
		}
		if d.bad {
			return fmt.Errorf("%w: ends in write %d of %d", errBatch, i, n)
		}
		if err := fn(r); err != nil {
			return err
		}
	}
	if len(d.p) > 0 {
		return fmt.Errorf("%w: %d bytes behind its last write", errBatch, len(d.p))
	}
	return nil
}

// EachWrite calls fn for each write in the payload of a log's frame, in order: a delete has an ID
// and a number alone. For the first frame of a log it calls start with the number of the log before
// it, 0 for none. What is malformed is an error.
func EachWrite(payload []byte, start func(before uint64) error, fn func(d *sstable.Document, deleted bool) error) error {
	return decodeBatch(payload, start, func(r record) error { return fn(&r.doc, r.del) })
}

// A decoder takes values off the front of p; bad is set, and zero values are returned, once p is
// too short.
type decoder struct {
	p   []byte
	bad bool
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.p)) {
		d.bad, d.p = true, nil
		return nil
	}
	b := d.p[:n:n]
	d.p = d.p[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) fingerprint() (fp base.Fingerprint) {
	if b := d.take(base.FingerprintBytes); b != nil {
		fp = base.DecodeFingerprint(b)
	}
	return fp
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.p)
	if n <= 0 {
		d.bad, n = true, 0
	}
	d.take(uint64(n))
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.p)
	if n <= 0 {
		d.bad, n = true, 0
	}
	d.take(uint64(n))
	return v
}

func (d *decoder) sketch() []uint32 {
	s, rest, err := minhash.Decode(nil, d.p)
	if err != nil {
		d.bad, rest = true, nil
	}
	d.p = rest
	return s
}

func (d *decoder) bytes() []byte {
	b := d.take(d.uvarint())
	if len(b) == 0 {
		return nil
	}
	return b
}
