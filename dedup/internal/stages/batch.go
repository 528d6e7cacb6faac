package stages

import (
	"encoding/binary"
	"math"
	"slices"
)

// Small messages cost more to pack and to group than to make, so those to one key are batched. A
// batch is one message: each document in it is the difference from the one before.

// batchBytes is the size of a batch; batches that are not full hold heldBytes at most.
const (
	batchBytes = 16 << 10
	heldBytes  = 8 << 20
)

// Batches collect small messages by key.
type Batches struct {
	send func(key uint64, message []byte) error
	of   map[uint64]*batch
	held int
}

type batch struct {
	b    []byte
	last uint64 // document
}

// NewBatches returns empty Batches, which send what they collect.
func NewBatches(send func(key uint64, message []byte) error) *Batches {
	return &Batches{send: send, of: map[uint64]*batch{}}
}

// open returns the batch of a key, after the number of a document that it appends.
func (x *Batches) open(key, doc uint64) *batch {
	to := x.of[key]
	if to == nil {
		to = &batch{}
		x.of[key] = to
	}
	x.held -= len(to.b)
	to.b, to.last = binary.AppendUvarint(to.b, doc-to.last), doc
	return to
}

// close sends a batch that is full.
func (x *Batches) close(key uint64, to *batch) error {
	x.held += len(to.b)
	switch {
	case x.held > heldBytes:
		return x.Flush()
	case len(to.b) < batchBytes:
		return nil
	}
	x.held -= len(to.b)
	err := x.send(key, to.b)
	to.b, to.last = to.b[:0], 0
	return err
}

// Flush sends all batches.
func (x *Batches) Flush() error {
	for key, to := range x.of {
		if len(to.b) > 0 {
			if err := x.send(key, to.b); err != nil {
				return err
			}
		}
	}
	clear(x.of)
	x.held = 0
	return nil
}

// AddPosting adds a Posting without a known component.
func (x *Batches) AddPosting(group uint64, p Posting) error {
	to := x.open(group, p.Doc)
	to.b = binary.AppendUvarint(binary.AppendUvarint(to.b, uint64(p.Size)), uint64(p.Size-p.Rest))
	to.b = binary.LittleEndian.AppendUint64(to.b, p.Key)
	return x.close(group, to)
}

// AppendPostings appends the Postings of a batch to dst.
func AppendPostings(dst []Posting, b []byte) ([]Posting, error) {
	if cap(dst)-len(dst) < len(b)/11 { // append would grow by less, and copy more often
		dst = slices.Grow(dst, max(len(dst), len(b)/11))
	}
	d, doc := decoder{rest: b}, uint64(0)
	for len(d.rest) > 0 {
		doc += d.number()
		size, before := d.number(), d.number()
		if before > size || size > math.MaxInt32 {
			return dst, errMessage
		}
		dst = append(dst, Posting{d.fixed(), doc, int(size), int(size - before), doc})
	}
	return dst, d.end()
}

// AddPrints adds a document with its fingerprints.
func (x *Batches) AddPrints(group uint64, s Set) error {
	to := x.open(group, s.Doc)
	to.b = appendWords(binary.AppendUvarint(to.b, uint64(len(s.Fingerprints))), s.Fingerprints)
	return x.close(group, to)
}

// Add adds the documents of a batch.
func (x *Prints) Add(b []byte) error {
	d, doc := decoder{rest: b}, uint64(0)
	for len(d.rest) > 0 {
		doc += d.number()
		n := d.number()
		if n == 0 || n%uint64(x.Words) != 0 || n > uint64(len(d.rest)/8) {
			return errMessage
		}
		for range n {
			x.words = append(x.words, d.fixed())
		}
		x.docs, x.ends = append(x.docs, doc), append(x.ends, len(x.words))
	}
	return d.end()
}

// AddAsk adds an Ask for a shard.
func (x *Batches) AddAsk(shard uint64, a Ask) error {
	to := x.open(shard, a.Doc)
	to.b = binary.AppendUvarint(binary.AppendUvarint(to.b, a.Group), uint64(a.Cell))
	return x.close(shard, to)
}

// AppendAsks appends the Asks of a batch to dst.
func AppendAsks(dst []Ask, b []byte) ([]Ask, error) {
	d, doc := decoder{rest: b}, uint64(0)
	for len(d.rest) > 0 {
		doc += d.number()
		dst = append(dst, Ask{doc, Asked{d.number(), d.small()}})
	}
	return dst, d.end()
}
