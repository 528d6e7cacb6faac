package table

import (
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Iter iterates over the documents of a table in the order of their numbers.
//
//	it := r.Iter()
//	for it.Next() {
//		use(it.Document())
//	}
//	return it.Err()
//
// An Iter must not be used concurrently; a Reader can have any number of Iters.
type Iter struct {
	r     *Reader
	texts bool // Text, Fields and Sketch are wanted
	doc   uint32
	next  uint32
	d     Document
	err   error

	run     *keyrun.Iter
	records *blobs.RecordCursor // nil if texts are not wanted, or there are none
}

// Iter returns an iterator before the first document. It caches up to 32 MiB of decoded texts, plus
// one block.
func (r *Reader) Iter() *Iter {
	it := r.Entries()
	if it.texts = true; r.t.Records != nil {
		it.records = r.t.Records.Cursor()
	}
	return it
}

// Entries is like Iter, but reads no Text, Fields or Sketch.
func (r *Reader) Entries() *Iter {
	return &Iter{r: r, run: r.t.Runs[0].Iter(0)}
}

// Next advances to the next document. It returns false at the end and after an error.
func (it *Iter) Next() bool {
	if it.err != nil || it.next >= it.r.t.Info.Docs {
		return false
	}
	it.doc = it.next
	it.next++
	it.err = it.load()
	return it.err == nil
}

// Doc returns the number of the current document.
func (it *Iter) Doc() uint32 { return it.doc }

// Document returns the current document, valid until the next call of Next. The bytes of its slices
// must not be changed.
func (it *Iter) Document() *Document { return &it.d }

// Err returns the error that ended the iteration, nil if all documents have been visited.
func (it *Iter) Err() error { return it.err }

// load reads document it.doc.
func (it *Iter) load() (err error) {
	r, d := it.r, &it.d
	defer r.t.Unguard(format.Guard(), &err)
	id, err := r.t.Names.Get(it.doc)
	if err != nil {
		return err
	}
	d.ID = append(d.ID[:0], id...)
	d.HasFingerprint, d.Fingerprint = it.doc < r.t.Info.Fingerprints, 0
	if d.HasFingerprint {
		if !it.run.Next() {
			return it.run.Err()
		}
		d.Fingerprint = it.run.Key()
		if d.Rest, err = r.t.AppendRest(d.Rest[:0], it.doc); err != nil {
			return err
		}
	}
	rank, err := r.t.Rank(it.doc)
	if err != nil {
		return err
	}
	t, err := r.t.TimeAt(rank)
	if err != nil {
		return err
	}
	d.Time = format.TimeOf(t)
	if d.Expires, err = r.t.ExpiryAt(rank); err != nil {
		return err
	}
	if d.Seq, err = r.t.Seqs.Key(rank); err != nil || !it.texts {
		return err
	}
	if d.Sketch = d.Sketch[:0]; r.t.Sketches != nil {
		if d.Sketch, err = r.t.Sketches.Sketch(it.doc, d.Sketch); err != nil {
			return err
		}
	}
	if d.Text, d.Fields = nil, nil; it.records == nil {
		return nil
	}
	place, err := r.t.Place(it.doc)
	if err != nil || place == r.t.Records.Len() {
		return err
	}
	d.Text, d.Fields, err = it.records.Get(place)
	return err
}
