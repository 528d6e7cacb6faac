package write

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/hamming"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/minhash"
)

// encodeShare is how many values of a section are encoded at a time: whole blocks.
const encodeShare = 64 * keyrun.BlockLen

// encodeRun writes a section of n keys with writers from newWriter. fill adds the keys in [from,
// to) to a writer.
func (t *BatchWriter) encodeRun(kind format.Kind, index uint16, n int, newWriter func(w io.Writer) *keyrun.Writer, fill func(w *keyrun.Writer, from, to int) error) error {
	t.Out.Begin(kind, index)
	run := newWriter(&t.Out)
	var parts sync.Pool
	err := pipeline.Ordered(t.ctx, (n+encodeShare-1)/encodeShare, t.o.Workers, func(i int) (*keyrun.Writer, error) {
		part, ok := parts.Get().(*keyrun.Writer)
		if !ok {
			part = newWriter(nil)
		}
		return part, fill(part, i*encodeShare, min((i+1)*encodeShare, n))
	}, func(_ int, part *keyrun.Writer) error {
		defer parts.Put(part)
		return run.Append(part)
	})
	dir, e := run.Finish()
	t.Out.EndWithDir(n, dir, cmp.Or(err, e))
	return t.Out.Err
}

// encodeColumn writes a section of n values.
func (t *BatchWriter) encodeColumn(kind format.Kind, index uint16, n int, value func(i int) uint64) error {
	t.Out.Begin(kind, index)
	column := keyrun.NewColumnWriter(&t.Out)
	err := pipeline.Ordered(t.ctx, (n+encodeShare-1)/encodeShare, t.o.Workers, func(i int) (*keyrun.ColumnWriter, error) {
		part, ok := t.columns.Get().(*keyrun.ColumnWriter)
		if !ok {
			part = keyrun.NewColumnWriter(nil)
		}
		for j := i * encodeShare; j < min((i+1)*encodeShare, n); j++ {
			part.Add(value(j)) // cannot fail without an output
		}
		return part, nil
	}, func(_ int, part *keyrun.ColumnWriter) error {
		defer t.columns.Put(part)
		return column.Append(part)
	})
	dir, e := column.Finish()
	t.Out.EndWithDir(n, dir, cmp.Or(err, e))
	return t.Out.Err
}

// encodeKeys writes sorted keys as the run of a permuted table of a word.
func (t *BatchWriter) encodeKeys(word, index int, keys []uint64) error {
	return t.encodeRun(format.KindRun, format.RunIndex(word, index), len(keys), keyrun.NewPartsWriter, func(w *keyrun.Writer, from, to int) error {
		return w.AddKeys(keys[from:to])
	})
}

func (t *BatchWriter) writeFingerprints() error {
	fps := t.batch.fps
	t.Info.Docs, t.Info.Fingerprints = uint32(len(t.batch.docs)), uint32(len(fps))
	for i, fp := range fps {
		if i == 0 || fp != fps[i-1] {
			t.Info.Distinct++
		}
	}
	return t.encodeKeys(0, 0, fps)
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

// writePermuted writes the runs of the other permuted tables: the distinct fingerprints in other
// orders, from the last table to the first (see hamming.NextOrder).
func (t *BatchWriter) writePermuted() error {
	keys, tmp := t.batch.fps, t.batch.spare
	t.batch.fps, t.batch.spare = nil, nil
	return t.permute(0, keys, tmp)
}

// permute writes the runs after run 0 of a word. It overwrites keys, which must be sorted.
func (t *BatchWriter) permute(word int, keys, tmp []uint64) error {
	keys = distinct(keys)
	tmp = tmp[:len(keys)]
	for from, to := 0, t.Params.Layout.Tables()-1; to > 0; from, to = to, to-1 {
		keys, tmp = hamming.NextOrder(hamming.Layout(t.Params.Layout), from, to, keys, tmp, t.o.Workers)
		if err := t.encodeKeys(word, to, keys); err != nil {
			return err
		}
	}
	return t.Out.Err
}

// rest returns a later word of a document's fingerprint; 0 if it has no fingerprint.
func (b *BatchOrder) rest(word, doc int) uint64 {
	if pos := b.docs[doc]; !b.isBare(pos) {
		return b.Rest[word-1][pos]
	}
	return 0
}

// writeWords writes the later words of the fingerprints, by document.
func (t *BatchWriter) writeWords() error {
	for word := 1; word < t.Params.NumWords(); word++ {
		err := t.encodeColumn(format.KindWords, uint16(word), len(t.batch.docs), func(doc int) uint64 { return t.batch.rest(word, doc) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *BatchWriter) writeWordRuns() error {
	n := int(t.Info.Fingerprints)
	pairs := func(w io.Writer) *keyrun.Writer { return keyrun.NewPairWriter(w, uint32(max(n, 1)-1)) }
	if t.Params.NumWords() == 1 {
		return nil
	}
	p, tmp := ordered.MakePairs(n), ordered.MakePairs(n)
	for word := 1; word < t.Params.NumWords(); word++ {
		for doc := range n {
			p.Keys[doc], p.Vals[doc] = t.batch.rest(word, doc), uint32(doc)
		}
		if sorted := ordered.SortPairs(p, tmp); n > 0 && &sorted.Keys[0] != &p.Keys[0] {
			p, tmp = sorted, p
		}
		err := t.encodeRun(format.KindRun, format.RunIndex(word, 0), n, pairs, func(w *keyrun.Writer, from, to int) error {
			return w.AddPairs(p.Keys[from:to], p.Vals[from:to])
		})
		if err := cmp.Or(err, t.ctx.Err()); err != nil {
			return err
		}
		if err := t.permute(word, p.Keys, tmp.Keys); err != nil {
			return err
		}
	}
	return nil
}

// writeBatchSeqs writes the sequence numbers.
func (t *BatchWriter) writeBatchSeqs() error {
	b, n := t.batch, len(t.batch.docs)
	positions := b.inSeqOrder()
	seq := func(rank int) uint64 {
		pos := rank
		if positions != nil {
			pos = int(positions[rank])
		}
		if b.Seqs != nil {
			return b.Seqs[pos]
		}
		return b.FirstSeq + uint64(pos)
	}
	if n > 0 {
		t.Info.MinSeq, t.Info.MaxSeq = seq(0), seq(n-1)
	}
	return t.encodeRun(format.KindSeqs, 0, n, keyrun.NewWriter, func(w *keyrun.Writer, from, to int) error {
		for rank := from; rank < to; rank++ {
			if err := w.Add(seq(rank)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *BatchWriter) writeBatchTimes() error {
	b := t.batch
	sample := t.writeByRank(0, func(pos uint32) uint64 {
		if b.Times == nil {
			return format.OrderedTime(b.Time)
		}
		return format.OrderedTime(b.Times[pos])
	})
	if len(b.docs) > 0 {
		t.Info.MinTime, t.Info.MaxTime = format.TimeOf(sample.Least), format.TimeOf(sample.Greatest)
	}
	if slices.ContainsFunc(b.Expiries, func(at int64) bool { return at != 0 }) {
		t.writeByRank(format.Expiries, func(pos uint32) uint64 {
			if int(pos) >= len(b.Expiries) {
				return format.OrderedExpiry(0)
			}
			return format.OrderedExpiry(b.Expiries[pos])
		})
	}
	return t.Out.Err
}

// writeByRank writes a section of times; time returns that of the document at a position of the
// batch.
func (t *BatchWriter) writeByRank(index uint16, time func(pos uint32) uint64) format.TimeSample {
	b := t.batch
	w := t.NewTimesWriter(len(b.docs), index)
	for _, pos := range b.written {
		w.add(time(pos))
	}
	for pos := range uint32(b.Len()) {
		if b.written == nil && !b.dropped.Has(pos) {
			w.add(time(pos))
		}
	}
	w.Finish()
	return w.Sample
}

// writeRanks writes the ranks of the documents, unless they equal the document numbers.
func (t *BatchWriter) writeRanks() error {
	b := t.batch
	if b.written == nil && slices.IsSorted(b.docs) {
		return nil
	}
	return t.encodeColumn(format.KindRanks, 0, len(b.docs), func(doc int) uint64 { return uint64(b.rank(b.docs[doc])) })
}

// record returns the record number of a document, or NoRecord.
func (o *BatchOrder) record(doc int) uint32 {
	if o.Records == nil {
		return NoRecord
	}
	return o.Records[o.docs[doc]]
}

// writePlaces writes the record numbers of the documents, unless they equal the document numbers.
func (t *BatchWriter) writePlaces() error {
	b := t.batch
	if t.placed == 0 {
		return nil
	}
	place := func(doc int) uint64 { return min(uint64(b.record(doc)), uint64(t.placed)) }
	same := int(t.placed) == len(b.docs)
	for doc := 0; same && doc < len(b.docs); doc++ {
		same = place(doc) == uint64(doc)
	}
	if same {
		return nil
	}
	return t.encodeColumn(format.KindPlaces, 0, len(b.docs), place)
}

// writeBatchIDs writes the run of ID hashes with their documents.
func (t *BatchWriter) writeBatchIDs() error {
	b, n := t.batch, len(t.batch.docs)
	if b.dropped != nil {
		b.ByID = slices.DeleteFunc(b.ByID, func(k uint64) bool { return b.dropped.Has(uint32(k >> format.IDBits)) })
	}
	pairs := func(w io.Writer) *keyrun.Writer { return keyrun.NewPairWriter(w, uint32(max(n, 1)-1)) }
	return t.encodeRun(format.KindIDs, 0, n, pairs, func(w *keyrun.Writer, from, to int) error {
		var hashes [keyrun.BlockLen]uint64
		var docs [keyrun.BlockLen]uint32
		for rest := b.ByID[from:to]; len(rest) > 0; {
			n := min(len(rest), len(docs))
			for i, k := range rest[:n] { // nothing else: cache misses overlap
				hashes[i], docs[i] = k&LeadMask, b.numbers[k>>format.IDBits]
			}
			if err := w.AddPairs(hashes[:n], docs[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
}

// writeIDOrder writes the documents in the order of their IDs: see File.EndIDOrder.
func (t *BatchWriter) writeIDOrder() error {
	b := t.batch
	if !t.o.StoresIDOrder(len(b.docs)) {
		return nil
	}
	n := len(b.named)
	same := true
	for i := 0; same && i < n; i++ {
		same = b.numbers[b.named[i]] == uint32(i)
	}
	if same {
		n = 0
	}
	err := t.encodeColumn(format.KindIDOrder, 0, n, func(i int) uint64 { return uint64(b.numbers[b.named[i]]) })
	t.Out.MakeOptional()
	return err
}

// Together is how many documents are looked up together, so that their cache misses overlap.
const Together = 64

// writeNames writes the IDs and the sketches, with the indexes of the sketches.
func (t *BatchWriter) writeNames() error {
	b := t.batch
	if err := t.beginSketches(); err != nil {
		return err
	}
	t.KeepRecords()
	t.WriteEarly()
	t.BeginBlocks()
	var sketch minhash.Sketch
	for from := 0; from < len(b.docs); from += Together {
		if from%share == 0 && t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		b.prefetchIDs(from)
		for i, pos := range b.docs[from:min(from+Together, len(b.docs))] {
			b.prefetchCode(from + i + codesAhead)
			if t.Sketches != nil {
				var err error
				if sketch, err = t.addCode(pos, sketch); err != nil {
					return err
				}
			}
			t.addName(b.ID(pos))
		}
	}
	t.EndBlocks()
	return t.Out.Err
}

// prefetchIDs is called before the group of documents that starts at from is written. It prefetches
// the IDs of the next group, and the numbers of the IDs of the group after that.
func (o *BatchOrder) prefetchIDs(from int) {
	n := len(o.docs)
	for _, pos := range o.docs[min(from+Together, n):min(from+2*Together, n)] {
		o.Strings.Prefetch(o.IDs[pos])
	}
	if far := o.docs[min(from+2*Together, n):min(from+3*Together, n)]; len(far) > 0 {
		kernel.PrefetchEach(unsafe.Pointer(&o.IDs[0]), unsafe.Pointer(&far[0]), len(far), 4, 0, 2)
	}
}

const (
	codesAhead = 8   // a code is prefetched codesAhead documents before it is decoded
	codeBytes  = 448 // prefetched bytes of a code: almost always all of one with 128 hashes
)

// prefetchCode prefetches the encoded sketch of a document, if it exists.
func (o *BatchOrder) prefetchCode(doc int) {
	if doc < len(o.docs) && o.Sketches != nil {
		o.Codes.PrefetchBytes(o.Sketches[o.docs[doc]], codeBytes)
	}
}

// beginSketches chooses the hot hashes, and prepares for writing sketches if there are any.
func (t *BatchWriter) beginSketches() error {
	b := t.batch
	if t.Params.Sketch == 0 {
		return nil
	}
	hot := t.o.Hot
	if hot == nil && b.Sketches != nil {
		var sketch minhash.Sketch
		before, isOdd := 0, t.Params.Odd()
		hot = HotHashes(len(b.docs), func(doc int) []uint32 { // equally spaced documents
			b.prefetchCode(doc + codesAhead*max(doc-before, 0))
			before = doc
			sketch, _, _, _ = b.sketch(b.docs[doc], sketch, isOdd) // addCode will report an invalid code
			return sketch
		})
	}
	return t.InitSketches(hot, len(b.docs), t.o.WriterOptions)
}

// sketch decodes the sketch of the document at a position into dst, and the odd sketch before it if
// there is one.
func (b *Batch) sketch(pos uint32, dst minhash.Sketch, isOdd bool) (s minhash.Sketch, code []byte, odd oddsketch.Sketch, err error) {
	if code = b.Codes.Get(b.Sketches[pos]); len(code) == 0 {
		return dst[:0], nil, odd, nil
	}
	if isOdd {
		if len(code) < oddSize {
			return dst[:0], nil, odd, fmt.Errorf("an encoded sketch of %d bytes without an odd sketch", len(code))
		}
		for w := range odd {
			odd[w] = binary.LittleEndian.Uint64(code[8*w:])
		}
		code = code[oddSize:]
	}
	s, _, err = minhash.Decode(dst[:0], code)
	return s, code, odd, err
}

// addCode adds the sketch of the document at a position. It decodes it into dst.
func (t *BatchWriter) addCode(pos uint32, dst minhash.Sketch) (minhash.Sketch, error) {
	b := t.batch
	if b.Sketches == nil {
		t.AddSketch(nil, nil, oddsketch.Sketch{})
		return dst, nil
	}
	s, code, odd, err := b.sketch(pos, dst, t.Sketches.Odd())
	if err != nil {
		return dst, err
	}
	if len(s) > int(t.Params.Sketch) {
		return s, fmt.Errorf("a sketch of %d hashes, more than %d", len(s), t.Params.Sketch)
	}
	t.AddSketch(s, code, odd)
	return s, t.Err
}
