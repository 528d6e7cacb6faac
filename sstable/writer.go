package sstable

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/sstable/internal/hamming"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
)

// Writer writes a table in one pass. It keeps about 32 bytes a document in memory: fingerprint,
// hash of the ID, time and sequence number, then room to sort; beside that, one block of each kind.
// While a segment with sketches, of 2^19 documents at most, is not complete, it keeps 68 bytes a
// document of it and 4 a posting. It must not be used concurrently.
type Writer struct {
	tableFile
	last   Document // the one added last, without its slices
	closed bool

	fingerprints []uint64 // in document order
	ids          []uint64 // HashID of IDs, in document order
	seqs         []uint64 // in document order
	times        []uint64 // orderedTime of times, in document order
}

// NewWriter returns a writer of a table to w, which is left to the caller to sync and close.
func NewWriter(w io.Writer, p Params, o WriterOptions) (*Writer, error) {
	t := &Writer{}
	if err := t.init(w, p, o); err != nil {
		return nil, err
	}
	expected := int(min(int64(max(o.Docs, 0)), MaxDocs))
	for _, a := range []*[]uint64{&t.fingerprints, &t.ids, &t.seqs, &t.times} {
		*a = make([]uint64, 0, expected)
	}
	return t, nil
}

// Add appends a document. They come in the order of Document.Compare, with IDs unique in the table
// (which Verify checks, not Add). Text and Fields are ignored unless Params.StoreText. d and its
// slices may be reused.
func (t *Writer) Add(d *Document) error {
	if t.err != nil {
		return t.err
	}
	if t.closed {
		return errors.New("sstable: Add after Close")
	}
	err := d.check()
	if err == nil && t.sketches != nil {
		err = sketchidx.CheckSketch(d.Sketch, t.params.Sketch)
	}
	if err != nil {
		return fmt.Errorf("sstable: %w", err)
	}
	if t.info.Docs > 0 && d.Compare(&t.last) < 0 {
		return fmt.Errorf("sstable: document %q: %w", d.ID, ErrOrder)
	}
	if t.info.Docs == MaxDocs {
		return fmt.Errorf("sstable: more than %d documents: %w", uint32(MaxDocs), ErrTooLarge)
	}
	if t.sketches != nil {
		t.addSketch(d.Sketch, nil)
	}
	t.index(d)
	if t.params.StoreText {
		t.addRecord(d.Text, d.Fields)
	}
	t.addName(d.ID)
	return t.fail(t.out.err)
}

// index keeps what is indexed of a document.
func (t *Writer) index(d *Document) {
	t.last = Document{HasFingerprint: d.HasFingerprint, Fingerprint: d.Fingerprint}
	t.ids = append(t.ids, HashID(d.ID))
	t.times = append(t.times, orderedTime(d.Time))
	t.seqs = append(t.seqs, d.Seq)
	i := &t.info
	i.Docs++
	i.MinTime, i.MaxTime = min(i.MinTime, d.Time), max(i.MaxTime, d.Time)
	i.MinSeq, i.MaxSeq = min(i.MinSeq, d.Seq), max(i.MaxSeq, d.Seq)
	if !d.HasFingerprint {
		return
	}
	if n := len(t.fingerprints); n == 0 || t.fingerprints[n-1] != d.Fingerprint {
		i.Distinct++
	}
	i.Fingerprints++
	t.fingerprints = append(t.fingerprints, d.Fingerprint)
}

// orderedTime maps times to numbers of the same order, as a column stores them.
func orderedTime(t int64) uint64 { return uint64(t) ^ 1<<63 }

// timeOf is the inverse of orderedTime.
func timeOf(v uint64) int64 { return int64(v ^ 1<<63) }

// Close writes the indexes, directory and trailer, and returns what the table says of itself. It
// neither syncs nor closes the underlying writer. A writer is of no use after it.
func (t *Writer) Close() (Info, error) {
	if t.closed {
		return t.info, t.err
	}
	t.closed = true
	if t.err != nil {
		return Info{}, t.err
	}
	t.endBlocks()
	t.writeRun(0, t.fingerprints)
	spare := t.writeOrder()
	t.writeEarly()
	spare = t.writePermuted(spare)
	t.writeIDs(spare)
	return t.finish()
}

// writePermuted writes the key runs of the permuted tables but the first: the distinct fingerprints
// in other orders, from the last table to the first (see hamming.NextOrder). It takes and returns
// an array for reuse.
func (t *Writer) writePermuted(spare []uint64) []uint64 {
	keys := distinct(t.fingerprints)
	t.fingerprints = nil
	tmp := slices.Grow(spare[:0], len(keys))[:len(keys)]
	for from, to := 0, t.params.Layout.Tables()-1; to > 0; from, to = to, to-1 {
		keys, tmp = hamming.NextOrder(hamming.Layout(t.params.Layout), from, to, keys, tmp, 1)
		t.writeRun(to, keys)
	}
	if cap(keys) > cap(tmp) {
		return keys
	}
	return tmp
}

// distinct removes repetitions from sorted keys, in place.
func distinct(keys []uint64) []uint64 {
	n := 0
	for _, k := range keys {
		if n == 0 || keys[n-1] != k {
			keys[n] = k
			n++
		}
	}
	return keys[:n]
}

// writeRun writes one key run.
func (t *Writer) writeRun(table int, keys []uint64) {
	t.out.begin(KindRun, uint16(table))
	w := keyrun.NewPartsWriter(&t.out)
	err := w.AddKeys(keys)
	dir, e := w.Finish()
	t.out.endWithDir(len(keys), dir, cmp.Or(err, e))
}

// sorted returns the positions of keys in ascending order of the keys, stable, and an array for
// reuse, with the keys sorted. spare is for reuse too.
func sorted(keys, spare []uint64) (p radix.Pairs, tmp []uint64) {
	n := len(keys)
	if cap(spare) < n {
		spare = make([]uint64, n)
	}
	from := radix.Pairs{Keys: keys, Vals: make([]uint32, n)}
	for i := range from.Vals {
		from.Vals[i] = uint32(i)
	}
	p = radix.SortPairs(from, radix.Pairs{Keys: spare[:n], Vals: make([]uint32, n)})
	if n > 0 && &p.Keys[0] == &keys[0] {
		return p, spare
	}
	return p, keys
}

// writeIDs writes the run of hashes of IDs with their documents.
func (t *Writer) writeIDs(spare []uint64) {
	p, _ := sorted(t.ids, spare)
	t.ids = nil
	t.out.begin(KindIDs, 0)
	w := keyrun.NewPairWriter(&t.out, max(t.info.Docs, 1)-1)
	var err error
	for i, key := range p.Keys {
		err = cmp.Or(err, w.AddPair(key>>(64-idBits), p.Vals[i]))
	}
	dir, e := w.Finish()
	t.out.endWithDir(len(p.Keys), dir, cmp.Or(err, e))
}

// writeOrder writes ranks, seqs and times. It returns an array for reuse.
func (t *Writer) writeOrder() (spare []uint64) {
	identity := slices.IsSorted(t.seqs)
	p, spare := sorted(t.seqs, nil)
	t.seqs = nil
	if !identity {
		ranks := make([]uint32, len(p.Vals))
		for rank, doc := range p.Vals {
			ranks[doc] = uint32(rank)
		}
		t.out.begin(KindRanks, 0)
		w := keyrun.NewColumnWriter(&t.out)
		for _, rank := range ranks {
			w.Add(uint64(rank)) // its error comes back from Finish
		}
		dir, err := w.Finish()
		t.out.endWithDir(len(ranks), dir, err)
	}
	t.writeSeqs(p.Keys)
	w := t.newTimesWriter(len(p.Vals))
	for _, doc := range p.Vals {
		w.add(t.times[doc])
	}
	w.finish()
	t.times = nil
	return spare
}
