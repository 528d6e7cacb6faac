package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// A Record is a write, with its fingerprint computed. The log does not store Version: only deletes
// that remove something are logged.
type Record struct {
	Delete   bool
	Version  *uint64 // the version to delete; nil for any
	Replaces Replaced
	Doc      table.Document
}

// A Replaced says where a write found the document that it replaces, before its batch.
type Replaced struct {
	Where Where
	Table uint64 // if InTable: number of the table, at least 1
	Doc   uint32 // if InTable: number of the document in the table
	Seq   uint64 // if Earlier: number of the document's write
}

// A Where is one of the places in which a write finds a document.
type Where byte

const (
	Unknown Where = iota // not recorded: a replay looks the ID up
	NoTable              // in no table: there was none, or it is in the memtable of this log
	InTable              // in a table
	Earlier              // in an earlier memtable, which may be a table by now
)

// The payload of a log frame is one batch:
//
//	+-----------+---------+---------------+
//	| first seq | count   | count records |
//	| uint64    | uvarint |               |
//	+-----------+---------+---------------+
//
//	+------+----------+-----------+----+-------------+--------+--------+-------------+------+----------+
//	| kind | replaced | id length | id | fingerprint | sketch | times  | text length | text | fields   |
//	| byte | see below| uvarint   |    | see below   |        | varint | uvarint     |      | likewise |
//	+------+----------+-----------+----+-------------+--------+--------+-------------+------+----------+
//
// Kind is 0 for a delete, which ends after its id. For a put it is 1, plus 2 if there is a
// fingerprint, plus 4 if there is a sketch (in the encoding of minhash.Sketch.AppendEncoded), plus
// 8 if the fingerprint has several words. A fingerprint is a uint64. A fingerprint of several words
// is their number minus one, in a byte, followed by a uint64 for each. times is the time and, if
// kind has 64, the time when the document expires, which is not 0 (varint). Write i of the batch has the
// sequence number first seq + i. The first frame of a log has first seq 0, count 0 and then the
// number of the previous log (uvarint, 0 for none), which reveals a missing log.
//
// For both, kind also says what the write replaces, as it was before the batch: plus 16 if no table
// has it, plus 32 if a table has it, plus 48 if an earlier memtable has it; 0 if that is not
// recorded. replaced is then nothing, or the numbers of the table and of the document (uvarints), or
// the sequence number of the document (uvarint). Why a replay may rely on it: see store.replayed.
const (
	kindDelete      = 0
	kindPut         = 1
	withFingerprint = 2
	withSketch      = 4
	withRest        = 8
	whereShift      = 4 // of the two bits with Where
	whereMask       = 3
	withExpiry      = 1 << 6
	kindLimit       = 1 << 7
)

const firstSeqBytes = 8

// Encode appends records, encoded as a frame's payload, to b, which must be empty. SetFirst fills
// in the first sequence number later.
func Encode(b []byte, recs []Record) []byte {
	n := firstSeqBytes + binary.MaxVarintLen64
	for _, r := range recs {
		n += 1 + 7*binary.MaxVarintLen64 + base.FingerprintBytes*(2+len(r.Doc.Rest)) + len(r.Doc.ID) + len(r.Doc.Text) + len(r.Doc.Fields) + 4*len(r.Doc.Sketch)
	}
	b = slices.Grow(b, n)[:firstSeqBytes]
	b = binary.AppendUvarint(b, uint64(len(recs)))
	for _, r := range recs {
		kind := byte(r.Replaces.Where) << whereShift
		if r.Delete {
			b = appendBytes(appendReplaced(append(b, kind|kindDelete), &r.Replaces), r.Doc.ID)
			continue
		}
		kind |= kindPut
		if r.Doc.HasFingerprint {
			kind |= withFingerprint
		}
		if r.Doc.Expires != 0 {
			kind |= withExpiry
		}
		if len(r.Doc.Sketch) > 0 {
			kind |= withSketch
		}
		rest := r.Doc.Rest
		if !r.Doc.HasFingerprint {
			rest = nil
		}
		if len(rest) > 0 {
			kind |= withRest
		}
		b = appendBytes(appendReplaced(append(b, kind), &r.Replaces), r.Doc.ID)
		if len(rest) > 0 {
			b = append(b, byte(len(rest)))
		}
		if r.Doc.HasFingerprint {
			b = base.AppendFingerprint(b, r.Doc.Fingerprint)
		}
		for _, word := range rest {
			b = base.AppendFingerprint(b, word)
		}
		if len(r.Doc.Sketch) > 0 {
			b = minhash.Sketch(r.Doc.Sketch).AppendEncoded(b)
		}
		if b = binary.AppendVarint(b, r.Doc.Time); r.Doc.Expires != 0 {
			b = binary.AppendVarint(b, r.Doc.Expires)
		}
		b = appendBytes(b, r.Doc.Text)
		b = appendBytes(b, r.Doc.Fields)
	}
	return b
}

func appendReplaced(b []byte, r *Replaced) []byte {
	switch r.Where {
	case InTable:
		b = binary.AppendUvarint(binary.AppendUvarint(b, r.Table), uint64(r.Doc))
	case Earlier:
		b = binary.AppendUvarint(b, r.Seq)
	}
	return b
}

// SetFirst sets the sequence number of the first write in a payload made by Encode.
func SetFirst(payload []byte, seq uint64) { binary.LittleEndian.PutUint64(payload, seq) }

// EncodeStart encodes the payload of a log's first frame.
func EncodeStart(before uint64) []byte {
	return binary.AppendUvarint(make([]byte, firstSeqBytes+1), before)
}

func appendBytes(b, s []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }

// ErrMalformed is the error for a payload that Encode cannot have written.
var ErrMalformed = errors.New("malformed batch")

// Decode calls fn for each write of a payload, in order. For the payload of a log's first frame it
// calls start with the number of the previous log, 0 for none. Records do not alias p. A delete has
// only an ID, a sequence number and what it replaces. A malformed payload is ErrMalformed.
func Decode(p []byte, start func(before uint64) error, fn func(Record) error) error {
	if len(p) < firstSeqBytes {
		return ErrMalformed
	}
	d := decoder{p: append([]byte(nil), p...)}
	first := d.uint64()
	n := d.uvarint()
	if n == 0 {
		before := d.uvarint()
		if d.bad || first != 0 || len(d.p) > 0 {
			return fmt.Errorf("%w: no writes", ErrMalformed)
		}
		return start(before)
	}
	for i := range n {
		var r Record
		kind := d.byte()
		if kind >= kindLimit {
			return fmt.Errorf("%w: write of kind %d", ErrMalformed, kind)
		}
		r.Doc.Seq = first + i
		if r.Replaces = d.replaced(Where(kind >> whereShift & whereMask)); r.Replaces.Where == InTable && r.Replaces.Table == 0 {
			return fmt.Errorf("%w: write %d of %d replaces a document of no table", ErrMalformed, i, n)
		}
		r.Doc.ID = d.bytes()
		switch kind &^= whereMask << whereShift; {
		case kind == kindDelete:
			r.Delete = true
		case kind&kindPut != 0 && kind&(withRest|withFingerprint) != withRest:
			words := byte(0)
			if kind&withRest != 0 {
				if words = d.byte(); words == 0 || words >= table.MaxWords {
					return fmt.Errorf("%w: a fingerprint of %d more words", ErrMalformed, words)
				}
			}
			if r.Doc.HasFingerprint = kind&withFingerprint != 0; r.Doc.HasFingerprint {
				r.Doc.Fingerprint = d.fingerprint()
			}
			for range words {
				r.Doc.Rest = append(r.Doc.Rest, d.fingerprint())
			}
			if kind&withSketch != 0 {
				r.Doc.Sketch = d.sketch()
			}
			if r.Doc.Time = d.varint(); kind&withExpiry != 0 {
				r.Doc.Expires = d.varint()
				d.bad = d.bad || r.Doc.Expires == 0
			}
			r.Doc.Text = d.bytes()
			r.Doc.Fields = d.bytes()
		default:
			return fmt.Errorf("%w: write of kind %d", ErrMalformed, kind)
		}
		if d.bad {
			return fmt.Errorf("%w: ends in write %d of %d", ErrMalformed, i, n)
		}
		if err := fn(r); err != nil {
			return err
		}
	}
	if len(d.p) > 0 {
		return fmt.Errorf("%w: %d bytes after the last write", ErrMalformed, len(d.p))
	}
	return nil
}

// A decoder reads values from the front of p. Once p is too short, it sets bad and returns zero
// values.
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

func (d *decoder) replaced(where Where) (r Replaced) {
	r.Where = where
	switch where {
	case InTable:
		r.Table = d.uvarint()
		doc := d.uvarint()
		r.Doc = uint32(doc)
		d.bad = d.bad || doc > math.MaxUint32
	case Earlier:
		r.Seq = d.uvarint()
	}
	return r
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
