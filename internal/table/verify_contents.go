package table

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table/internal/contain"
	"github.com/simdb/simdb/internal/table/internal/fieldidx"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// checkSketches verifies that postings, and bitmaps of sketches, agree with the sketches. checkSets
// verifies odd sketches.
func (v *verifier) checkSketches() error {
	if v.t.Sketches == nil || v.t.Sketches.List() == nil {
		return nil
	}
	return v.t.Sketches.Verify(v.advance)
}

// checkSets verifies that odd sketches, and the index of sets, agree with the texts; the index by
// sums of hashes.
func (v *verifier) checkSets() error {
	x := v.t.Sets
	odd := v.t.Sketches != nil && v.t.Sketches.List() != nil && v.t.Params.Odd() && v.t.Params.NeedCompute() == nil
	if x == nil {
		if !odd {
			return nil
		}
		return v.eachSet(v.t.Sketches.VerifyOdd)
	}
	h, width := keyrun.NewSetHash(), contain.Width(v.t.Info.Docs)
	var got, want, prev uint64
	err := x.Keys.EachBlock(func(pos int, keys []uint64) error {
		for i, key := range keys {
			if pos+i > 0 && key == prev {
				return x.Keys.Corrupt(0, "key %016x occurs twice", key)
			}
			prev, got = key, got+h.Of(key)
		}
		return v.advance(int64(x.Keys.BlockSize(pos / keyrun.BlockLen)))
	})
	if err != nil {
		return err
	}
	err = v.eachSet(func(doc uint32, set []uint64) error {
		if odd {
			if err := v.t.Sketches.VerifyOdd(doc, set); err != nil {
				return err
			}
		}
		if size, err := x.Sizes.Get(int(doc)); err != nil || size != uint64(len(set)) {
			return cmp.Or(err, x.Sizes.Corrupt(0, "document %d has %d features, not %d", doc, len(set), size))
		}
		for i, hash := range set {
			if bin := contain.BinOf(hash); i == 0 || bin != contain.BinOf(set[i-1]) {
				want += h.Of(uint64(bin)<<width | uint64(doc))
			}
		}
		return nil
	})
	if err == nil && got != want {
		err = x.Keys.Corrupt(0, "a document is missing or repeated under a feature")
	}
	return err
}

// eachSet calls fn with the set of features of each text.
func (v *verifier) eachSet(fn func(doc uint32, set []uint64) error) error {
	sets, texts := v.t.Params.NewSetHasher(), v.Texts()
	return v.EachInTextOrder(v.ctx, func(doc uint32) error {
		text, _, err := texts.Get(doc)
		if err != nil {
			return err
		}
		return fn(doc, sets.LastSet(text))
	})
}

// checkFields verifies that the lists of indexed fields agree with the documents, by sums of
// hashes.
func (v *verifier) checkFields() error {
	paths := v.t.Params.Indexed()
	if len(paths) == 0 {
		return nil
	}
	h, got, want := keyrun.NewSetHash(), make([]uint64, len(v.t.Fields)), make([]uint64, len(v.t.Fields))
	hash := func(key []byte, doc uint32) uint64 { return h.Of(format.HashID(key) + uint64(doc)*0x9e3779b97f4a7c15) }
	for i := range v.t.Fields {
		l := &v.t.Fields[i]
		it := l.Iter()
		last, lastDoc := []byte(nil), uint32(0)
		for n := 0; ; n++ {
			ok, err := it.Next()
			if err != nil {
				return err
			} else if !ok {
				break
			}
			if n > 0 && fieldidx.Compare(last, lastDoc, it.Key, it.Doc) >= 0 {
				return v.corrupt(format.KindValues, 0, "value %d of list %d is not after the one before", n, i)
			}
			last, lastDoc, got[i] = it.Key, it.Doc, got[i]+hash(it.Key, it.Doc)
			if err := v.advance(int64(len(it.Key)) + 3); err != nil {
				return err
			}
		}
	}
	texts := v.Texts()
	err := v.EachInTextOrder(v.ctx, func(doc uint32) error {
		_, fields, err := texts.Get(doc)
		for i, path := range paths {
			fieldidx.Each(path, fields, func(list int, key []byte) { want[fieldidx.Lists*i+list] += hash(key, doc) })
		}
		return err
	})
	for i := range got {
		if err == nil && got[i] != want[i] {
			err = v.corrupt(format.KindValues, 0, "list %d lacks values of some documents", i)
		}
	}
	return err
}

// checkOrder verifies that every rank belongs to one document, that times and sequence numbers have
// the extremes stated in the info, and that the time sketch agrees with the times.
func (v *verifier) checkOrder() error {
	if v.t.Ranks != nil {
		if err := v.checkOnce(v.t.Ranks, int(v.t.Info.Docs)); err != nil {
			return err
		}
	}
	if err := v.t.Seqs.EachBlock(func(pos int, _ []uint64) error {
		return v.advance(int64(v.t.Seqs.BlockSize(pos / keyrun.BlockLen)))
	}); err != nil || v.t.Info.Docs == 0 {
		return err
	}
	lo, err := v.t.Seqs.Key(0)
	if err != nil {
		return err
	}
	if hi := v.t.Seqs.Greatest(); lo != v.t.Info.MinSeq || hi != v.t.Info.MaxSeq {
		return v.corrupt(format.KindSeqs, 0, "sequence numbers %d..%d, the info says %d..%d", lo, hi, v.t.Info.MinSeq, v.t.Info.MaxSeq)
	}
	if err := v.checkTimes(0, v.t.Times); err != nil || v.t.Expiries == nil {
		return err
	}
	return v.checkTimes(format.Expiries, v.t.Expiries)
}

// checkTimes verifies a column of times and its time sketch.
func (v *verifier) checkTimes(index uint16, column *keyrun.Column) error {
	sample := format.NewTimeSample(int(v.t.Info.Docs))
	var values [keyrun.BlockLen]uint64
	for b := range column.NumBlocks() {
		n, err := column.Block(b, values[:])
		if err != nil {
			return err
		}
		for _, t := range values[:n] {
			sample.Add(t)
		}
		if err := v.advance(int64(column.BlockSize(b))); err != nil {
			return err
		}
	}
	if lo, hi := format.TimeOf(sample.Least), format.TimeOf(sample.Greatest); index == 0 && (lo != v.t.Info.MinTime || hi != v.t.Info.MaxTime) {
		return v.corrupt(format.KindTimes, 0, "times %d..%d, the info says %d..%d", lo, hi, v.t.Info.MinTime, v.t.Info.MaxTime)
	}
	quantiles, err := v.timeSketch(index)
	if err != nil || quantiles == nil {
		return err
	}
	const sketch = format.KindTimeSketch
	corrupt := func(at int64, format string, args ...any) error {
		s := v.t.Section(sketch, index)
		return base.Corruptf(v.t.File, s.Name(), s.Offset+at, format, args...)
	}
	want := sample.Quantiles()
	if len(quantiles) != len(want) {
		return corrupt(0, "%d quantiles, not %d", len(quantiles), len(want))
	}
	for i, q := range want {
		if quantiles[i] != format.TimeOf(q) {
			return corrupt(int64(8*i), "quantile %d is %d, not %d", i, quantiles[i], format.TimeOf(q))
		}
	}
	return nil
}

// checkPlaces verifies that every record belongs to one document at most.
func (v *verifier) checkPlaces() error {
	if v.t.Places == nil {
		return nil
	}
	return v.checkOnce(v.t.Places, int(v.t.Records.Len()))
}

// checkOnce verifies that no value less than n occurs twice in a column.
func (v *verifier) checkOnce(c *keyrun.Column, n int) error {
	seen := make([]uint64, (n+63)/64)
	var values [keyrun.BlockLen]uint64
	for b := range c.NumBlocks() {
		count, err := c.Block(b, values[:])
		if err != nil {
			return err
		}
		for _, value := range values[:count] {
			if int(value) >= n {
				continue // in places, this means a document without a record
			}
			if bit := uint64(1) << (value & 63); seen[value>>6]&bit != 0 {
				return c.Corrupt(c.Info(b).Off, "%d occurs twice", value)
			} else {
				seen[value>>6] |= bit
			}
		}
		if err := v.advance(int64(c.BlockSize(b))); err != nil {
			return err
		}
	}
	return nil
}

// checkRuns verifies that all runs have the same fingerprints. It compares sums of keyed hashes,
// with random keys, so that no file can be made to pass with different sets.
func (v *verifier) checkRuns() error {
	h := keyrun.NewSetHash()
	for word := range v.t.Params.NumWords() {
		if err := v.checkWord(word, h); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) checkWord(word int, h keyrun.SetHash) error {
	var want uint64
	var distinct uint32
	for permuted := range v.t.Params.Layout.Tables() {
		sum, n, repeated, err := v.checkRun(word, permuted, h)
		if err != nil {
			return err
		}
		s := v.t.Section(format.KindRun, format.RunIndex(word, permuted))
		switch {
		case permuted == 0:
			want, distinct = sum, n
		case repeated:
			return base.Corruptf(v.t.File, s.Name(), s.Offset, "a fingerprint occurs twice")
		case sum != want:
			return base.Corruptf(v.t.File, s.Name(), s.Offset, "not the fingerprints of run 0")
		}
		if n != distinct || word == 0 && n != v.t.Info.Distinct {
			return base.Corruptf(v.t.File, s.Name(), s.Offset, "%d distinct fingerprints, not %d", n, v.t.Info.Distinct)
		}
	}
	if word > 0 {
		return v.checkWordDocs(word, h)
	}
	return nil
}

// checkWordDocs verifies that run 0 of a later word lists each document under its word.
func (v *verifier) checkWordDocs(word int, h keyrun.SetHash) error {
	var got, want uint64
	w := v.t.Words[word-1]
	it := w.Runs[0].Iter(0)
	for i := 0; it.Next(); i++ {
		doc, err := w.Runs[0].Value(i)
		if err != nil {
			return err
		}
		got += h.OfPair(it.Key(), uint32(doc))
	}
	if err := it.Err(); err != nil {
		return err
	}
	err := v.RestBlocks(word, func(first uint32, words []Fingerprint) error {
		for i, fp := range words {
			want += h.OfPair(fp, first+uint32(i))
		}
		return v.advance(int64(8 * len(words)))
	})
	if err == nil && got != want {
		err = w.Runs[0].Corrupt(0, "a document is missing or repeated under its word")
	}
	return err
}

// checkRun reads a key run. It returns the hash of the set of its fingerprints, their number, and
// whether any occurs more than once.
func (v *verifier) checkRun(word, permuted int, h keyrun.SetHash) (sum uint64, n uint32, repeated bool, err error) {
	run, prev := v.t.RunAt(format.RunIndex(word, permuted)), uint64(0)
	it := run.Iter(0)
	for i := 0; it.Next(); i++ {
		key := it.Key()
		if i > 0 && key < prev {
			s := v.t.Section(format.KindRun, format.RunIndex(word, permuted))
			return 0, 0, false, base.Corruptf(v.t.File, s.Name(), s.Offset, "key %016x after %016x", key, prev)
		}
		if i > 0 && key == prev {
			repeated = true
		} else {
			sum += h.Of(v.t.Params.Layout.Unpermute(permuted, key))
			n++
		}
		prev = key
		if i%keyrun.BlockLen == 0 {
			if err := v.advance(int64(run.BlockSize(i / keyrun.BlockLen))); err != nil {
				return 0, 0, false, err
			}
		}
	}
	return sum, n, repeated, it.Err()
}

// checkIDs verifies that the run of IDs lists every document once, under its hash, and that no ID
// occurs twice. The pairs of hash and document are read twice, by document and by hash; both passes
// are sequential and must give the same set.
func (v *verifier) checkIDs() error {
	h := keyrun.NewSetHash()
	want, err := v.sumNames(h)
	if err != nil {
		return err
	}
	var got, prev uint64
	var same []uint32 // documents whose IDs have the hash prev, ascending
	it := v.t.IDs.Iter(0)
	for i := 0; it.Next(); i++ {
		doc, err := v.t.DocAt(i)
		if err != nil {
			return err
		}
		got += h.OfPair(it.Key(), doc)
		if it.Key() != prev {
			if err := v.checkUnique(same); err != nil {
				return err
			}
			same, prev = same[:0], it.Key()
		}
		same = append(same, doc)
		if i%keyrun.BlockLen == 0 {
			if err := v.advance(int64(v.t.IDs.BlockSize(i / keyrun.BlockLen))); err != nil {
				return err
			}
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	if got != want {
		return v.corrupt(format.KindIDs, 0, "a document is missing or repeated under the hash of its ID")
	}
	return v.checkUnique(same)
}

// sumNames returns the hash of the set of all pairs of a document and the hash of its ID.
func (v *verifier) sumNames(h keyrun.SetHash) (sum uint64, err error) {
	for doc := range v.t.Info.Docs {
		id, err := v.t.Names.Get(doc)
		if err != nil {
			return 0, err
		}
		sum += h.OfPair(format.IDKey(id), doc)
		if b, first := v.t.Names.First(doc); first {
			_, length := v.t.Names.Extent(b)
			if err := v.advance(int64(length)); err != nil {
				return 0, err
			}
		}
	}
	return sum, nil
}

// checkUnique verifies that documents whose IDs have the same hash have different IDs.
func (v *verifier) checkUnique(docs []uint32) error {
	if len(docs) < 2 {
		return nil
	}
	ids := make([][]byte, len(docs))
	for i, doc := range docs {
		var err error
		if ids[i], err = v.t.Names.Get(doc); err != nil {
			return err
		}
	}
	slices.SortFunc(ids, bytes.Compare)
	for i, id := range ids[1:] {
		if bytes.Equal(id, ids[i]) {
			return v.corrupt(format.KindIDs, 0, "ID %.100q occurs twice", id)
		}
	}
	return nil
}

// checkIDOrder verifies that the order of IDs, if the table stores it, is the order of its IDs: they
// ascend, and are as many as there are documents, so that each document is in it once.
func (v *verifier) checkIDOrder() error {
	if v.t.Section(format.KindIDOrder, 0) == nil {
		return nil
	}
	o, err := v.t.IDOrder()
	if err != nil {
		return err
	}
	last := []byte(nil)
	for c := o.Cursor(0, o.Len(), 0); ; {
		ok, err := c.Next()
		if err != nil || !ok {
			return err
		}
		if bytes.Compare(c.ID, last) <= 0 {
			return o.Misplaced(c.Doc)
		}
		if last = c.ID; c.Doc%keyrun.BlockLen == 0 {
			if err := v.advance(keyrun.BlockLen * 3); err != nil { // about the size of the order
				return err
			}
		}
	}
}
