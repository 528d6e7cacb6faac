package merge

import (
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/hamming"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// mergeRuns writes the runs of all permuted tables except the first. A run of the result has the
// distinct fingerprints of all documents that are not left out. If the inputs have a run in the
// same order, or in an order that differs by a rotation of a few bits, their keys are merged,
// without those that no document has any more. Otherwise the keys are sorted, one range at a time.
func (m *merger) mergeRuns() error {
	for index := 1; index < m.Params.Layout.Tables(); index++ {
		streams, err := m.streamsOf(index)
		if err != nil {
			return err
		}
		m.Out.Begin(format.KindRun, format.RunIndex(m.word, index))
		run := m.runWriter()
		if streams != nil {
			err = m.mergeRun(index, streams, run)
		} else {
			err = m.sortRun(index, run)
		}
		dir, e := run.Finish()
		m.Out.EndWithDir(run.Len(), dir, e)
		if err != nil {
			return err
		}
	}
	for _, in := range m.inputs {
		in.gone = nil
	}
	return nil
}

// mostRotated: the keys of a run are rotated by at most this many bits and merged; otherwise they
// are sorted: a piece is collected from as many places of an input as these bits have values. So
// that more than a few keys are used of each decoded block, a piece has keysOfStream keys from each
// place, up to mostPiece in all.
const (
	mostRotated  = 12
	keysOfStream = 256
	mostPiece    = 1 << 19
)

// streamsOf returns the streams to merge for run index of the result, nil if it must be sorted.
func (m *merger) streamsOf(index int) (streams []Stream, err error) {
	for i, in := range m.inputs {
		run, rotate := hamming.NearestRun(hamming.Layout(in.Params.Layout), hamming.Layout(m.Params.Layout), index)
		if run < 0 || rotate > mostRotated {
			return nil, nil
		}
		s, err := Rotated(i, in.runs[run], rotate)
		if err != nil {
			return nil, err
		}
		streams = append(streams, s...)
	}
	return streams, nil
}

func (m *merger) mergeRun(index int, streams []Stream, run *keyrun.ParallelWriter) error {
	pieces, err := m.cut(streams, max(m.piece, min(keysOfStream*len(streams), mostPiece)))
	if err != nil {
		return err
	}
	for from := 0; from < len(pieces); {
		to, gone, err := m.goneKeys(index, pieces, from)
		if err != nil {
			return err
		}
		part := pieces[from:to]
		var last uint64
		any := run.Len() > 0
		if any {
			last = run.Last()
		}
		err = pipeline.Ordered(m.ctx, len(part), m.workers, func(i int) (keys []uint64, err error) {
			defer format.UnguardAny(m.tables, format.Guard(), &err)
			return m.distinctPiece(streams, part[i], gone)
		}, func(i int, keys []uint64) error {
			defer m.keys.put(keys)
			m.pass(part[i].Keys)
			if any && len(keys) > 0 && keys[0] == last { // one key may be in two pieces
				keys = keys[1:]
			}
			if len(keys) > 0 {
				any, last = true, keys[len(keys)-1]
			}
			return run.AddKeys(keys)
		})
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// sortedParts is the maximum number of parts that are merged; the keys of more parts are sorted
// instead.
const sortedParts = 128

// distinctPiece returns the distinct keys of a piece, without those in gone, which must ascend.
func (m *merger) distinctPiece(streams []Stream, piece Piece, gone []uint64) (keys []uint64, err error) {
	keys = m.keys.get(piece.Keys)[:0]
	var ends []int
	for _, span := range piece.Spans {
		if keys, err = streams[span.Stream].Append(keys, span); err != nil {
			return nil, err
		}
		if len(piece.Spans) <= sortedParts {
			ends = append(ends, len(keys))
		}
	}
	if len(piece.Spans) > 1 {
		tmp := m.keys.get(piece.Keys)[:len(keys)]
		if len(piece.Spans) > sortedParts {
			keys, tmp = ordered.SortLeading(keys, tmp)
		} else {
			keys, tmp = Keys(keys, tmp, ends)
		}
		m.keys.put(tmp)
	}
	if len(keys) > 0 && len(gone) > 0 {
		at, _ := slices.BinarySearch(gone, keys[0])
		gone = gone[at:]
	}
	n := 0
	for i, k := range keys {
		if i > 0 && k == keys[i-1] {
			continue
		}
		for len(gone) > 0 && gone[0] < k {
			gone = gone[1:]
		}
		if len(gone) > 0 && gone[0] == k {
			continue
		}
		keys[n] = k
		n++
	}
	return keys[:n], nil
}

// goneTogether is about how many keys goneKeys returns at a time, which bounds the memory for them.
const goneTogether = 1 << 21

// goneKeys returns, ascending, the keys of run index in pieces[from:to] that no document has any
// more. It chooses to so that it returns about m.goneMost keys.
func (m *merger) goneKeys(index int, pieces []Piece, from int) (to int, keys []uint64, err error) {
	to = len(pieces)
	if m.gone == 0 {
		return to, nil, nil
	}
	if groups := (m.gone + m.goneMost - 1) / m.goneMost; groups > 1 {
		to = min(from+(len(pieces)+groups-1)/groups, to)
	}
	least, most := uint64(0), pieces[to-1].Limit-1 // without a limit, Limit is 0
	if from > 0 {
		least = pieces[from-1].Limit - 1 // a very frequent key is in pieces on both sides
	}
	for _, in := range m.inputs {
		if in.gone == nil {
			continue
		}
		err = in.eachFingerprint(in.gone, func(fps []uint64) error {
			for _, fp := range fps {
				if key := m.Params.Layout.Permute(index, fp); key >= least && key <= most {
					keys = append(keys, key)
				}
			}
			return m.ctx.Err()
		})
		if err != nil {
			return 0, nil, err
		}
	}
	keys, _ = ordered.SortLeading(keys, make([]uint64, len(keys)))
	return to, keys, nil
}

// eachFingerprint calls fn with the fingerprints of run 0 at the positions in a set, a block at a
// time. The slice is valid until fn returns.
func (in *mergeInput) eachFingerprint(set write.Bitset, fn func(fps []uint64) error) error {
	var some []uint64
	return in.runs[0].EachBlockOf(func(b int) bool {
		words := set[b*keyrun.BlockLen/64:]
		return slices.ContainsFunc(words[:min(len(words), keyrun.BlockLen/64)], func(w uint64) bool { return w != 0 })
	}, func(pos int, keys []uint64) error {
		some = some[:0]
		for from := 0; from < len(keys); from += 64 {
			for w := set[(pos+from)/64]; w != 0; w &= w - 1 {
				some = append(some, keys[from+bits.TrailingZeros64(w)])
			}
		}
		return fn(some)
	})
}

// sortedTogether is about how many keys of a range are sorted at a time.
const sortedTogether = 1 << 20

// sortRun writes a run from the fingerprints of the inputs: one range of keys at a time. To collect
// a range it reads all fingerprints.
func (m *merger) sortRun(index int, run *keyrun.ParallelWriter) error {
	var sample []uint64 // one of every keyrun.BlockLen keys
	total := 0
	for _, in := range m.inputs {
		for b := range in.runs[0].NumBlocks() {
			sample = append(sample, m.Params.Layout.Permute(index, in.runs[0].Base(b)))
		}
		total += in.runs[0].Len()
	}
	slices.Sort(sample)
	limits := []uint64{} // greatest key of each range
	step := max(m.sorted/keyrun.BlockLen, 1)
	for i := step; i < len(sample); i += step {
		if n := len(limits); n == 0 || limits[n-1] < sample[i] {
			limits = append(limits, sample[i])
		}
	}
	if n := len(limits); n == 0 || limits[n-1] != ^uint64(0) {
		limits = append(limits, ^uint64(0))
	}
	return pipeline.Ordered(m.ctx, len(limits), m.workers, func(i int) (keys []uint64, err error) {
		defer format.UnguardAny(m.tables, format.Guard(), &err)
		least := uint64(0)
		if i > 0 {
			least = limits[i-1] + 1
		}
		keys = m.keys.get(m.sorted)[:0]
		for _, in := range m.inputs {
			if keys, err = m.permuted(keys, in, index, least, limits[i]); err != nil {
				return nil, err
			}
		}
		keys, tmp := ordered.SortLeading(keys, m.keys.get(len(keys)))
		m.keys.put(tmp)
		return slices.Compact(keys), nil
	}, func(_ int, keys []uint64) error {
		defer m.keys.put(keys)
		m.pass(total / len(limits))
		return run.AddKeys(keys)
	})
}

// permuted appends the keys in [least, most] that run index of the result needs from an input,
// without the keys of omitted documents. The keys are distinct but not sorted.
func (m *merger) permuted(keys []uint64, in *mergeInput, index int, least, most uint64) ([]uint64, error) {
	any, last := false, uint64(0) // the last key appended; equal fingerprints follow each other
	err := in.runs[0].EachBlock(func(pos int, fps []uint64) error {
		for j, fp := range fps {
			key := m.Params.Layout.Permute(index, fp)
			if key < least || key > most || any && key == last || in.deadAt.Has(uint32(pos+j)) {
				continue
			}
			any, last = true, key
			keys = append(keys, key)
		}
		return m.ctx.Err()
	})
	return keys, err
}

// mergeIDs writes the run of ID hashes with their documents.
func (m *merger) mergeIDs() error {
	var streams []Stream
	for i, in := range m.inputs {
		streams = append(streams, Whole(i, in.IDs))
	}
	pieces, err := m.cut(streams, m.piece)
	if err != nil {
		return err
	}
	m.Out.Begin(format.KindIDs, 0)
	run := keyrun.NewParallelWriter(keyrun.NewPairWriter(&m.Out, max(m.docs, 1)-1), m.workers)
	err = pipeline.Ordered(m.ctx, len(pieces), m.workers, func(i int) (p Pairs, err error) {
		defer format.UnguardAny(m.tables, format.Guard(), &err)
		return m.idPiece(streams, pieces[i])
	}, func(i int, p Pairs) error {
		defer m.putPairs(p)
		m.pass(pieces[i].Keys)
		return run.AddPairs(p.Keys, p.Vals)
	})
	dir, e := run.Finish()
	m.Out.EndWithDir(run.Len(), dir, e)
	if err == nil && run.Len() != int(m.docs) {
		err = m.blameIDs()
	}
	return err
}

// blameIDs returns the error for ID hashes that do not list every document once.
func (m *merger) blameIDs() error {
	for _, in := range m.inputs {
		if err := blame(in.IDs, in.Info.Docs); err != nil {
			return err
		}
	}
	return nil
}

// blame returns the error for a run that does not list each of n documents once.
func blame(run *keyrun.Run, n uint32) error {
	seen := write.NewBitset(n)
	docs := docReader{run: run, most: n, block: -1}
	for i := range run.Len() {
		doc, err := docs.at(i)
		if err != nil {
			return err
		}
		if seen.Has(doc) {
			return run.Corrupt(0, "document %d occurs twice", doc)
		}
		seen.Add(doc)
	}
	return nil
}

// idPiece returns the merged ID hashes of a piece, with the new numbers of their documents.
func (m *merger) idPiece(streams []Stream, piece Piece) (p Pairs, err error) {
	p = m.getPairs(piece.Keys)
	p.Keys, p.Vals = p.Keys[:0], p.Vals[:0]
	var ends []int
	for _, span := range piece.Spans {
		s := &streams[span.Stream]
		in, at := m.inputs[s.Input], len(p.Keys)
		if p.Keys, err = s.Append(p.Keys, span); err != nil {
			return p, err
		}
		for from, to := int(span.From), int(span.To); from < to; { // verified by Append
			b := from >> keyrun.BlockShift
			first := b << keyrun.BlockShift
			end := min(to, first+keyrun.BlockLen)
			p.Vals = in.IDs.BlockValues(p.Vals, b, from-first, end-first)
			from = end
		}
		n := at
		for j, doc := range p.Vals[at:] {
			if doc >= in.Info.Docs {
				return p, in.IDs.Corrupt(0, "document %d of %d", doc, in.Info.Docs)
			}
			if !in.dead.Has(doc) {
				p.Keys[n], p.Vals[n] = p.Keys[at+j], doc
				n++
			}
		}
		in.numbers.GetAll(p.Vals[at:n])
		p.Keys, p.Vals = p.Keys[:n], p.Vals[:n]
		ends = append(ends, n)
	}
	return m.sortedPairs(p, ends), nil
}

// A docReader reads the documents of a run 0 by position, in order.
type docReader struct {
	run   *keyrun.Run
	most  uint32
	block int // block whose documents are in docs
	docs  []uint32
}

// at returns the document at a position.
func (r *docReader) at(pos int) (doc uint32, err error) {
	if b := pos >> keyrun.BlockShift; b != r.block {
		if err := r.run.Check(b); err != nil {
			return 0, err
		}
		r.block, r.docs = b, r.run.BlockValues(r.docs[:0], b, 0, r.run.Count(b))
	}
	if doc = r.docs[pos&(keyrun.BlockLen-1)]; doc >= r.most {
		err = r.run.Corrupt(0, "position %d has document %d of %d", pos, doc, r.most)
	}
	return doc, err
}
