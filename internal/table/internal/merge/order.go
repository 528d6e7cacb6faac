package merge

import (
	"slices"

	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// mergeSeqs writes the sequence numbers of the result, and so assigns ranks to all documents.
func (m *merger) mergeSeqs() error {
	m.rankSources, m.rankStarts = NewSources(int(m.docs), len(m.inputs)), nil
	var streams []Stream
	for i, in := range m.inputs {
		if in.Seqs.Len() > 0 && in.Seqs.Base(0)+in.SeqShift > in.Seqs.Greatest()+in.SeqShift {
			return in.Seqs.Corrupt(0, "numbers %d to %d change their order when %d is added", in.Seqs.Base(0), in.Seqs.Greatest(), in.SeqShift)
		}
		if err := in.findDeadRanks(m); err != nil {
			return err
		}
		in.ranks = NewMapping(in.Info.Docs, m.docs+1)
		s := Whole(i, in.Seqs)
		s.Add = in.SeqShift
		streams = append(streams, s)
	}
	pieces, err := m.cut(streams, m.piece)
	if err != nil {
		return err
	}
	m.Out.Begin(format.KindSeqs, 0)
	run, next := keyrun.NewParallelWriter(keyrun.NewWriter(&m.Out), m.workers), make([]uint32, len(m.inputs))
	err = pipeline.Ordered(m.ctx, len(pieces), m.workers, func(i int) (p Pairs, err error) {
		defer format.UnguardAny(m.tables, format.Guard(), &err)
		return m.mergedPiece(streams, pieces[i], func(in *mergeInput) write.Bitset { return in.deadRanks })
	}, func(_ int, p Pairs) error {
		defer m.putPairs(p)
		m.pass(len(p.Keys))
		return m.rank(p, next, run)
	})
	dir, e := run.Finish()
	m.Out.EndWithDir(run.Len(), dir, e)
	return err
}

// rank ranks the documents of a piece, and writes their sequence numbers.
func (m *merger) rank(p Pairs, next []uint32, run *keyrun.ParallelWriter) error {
	if n := len(p.Vals); n > 0 && p.Vals[0]&deadFlag == 0 && !slices.ContainsFunc(p.Vals, func(v uint32) bool { return v != p.Vals[0] }) {
		m.rankRun(int(p.Vals[0]), n, next) // tables written one after the other
		m.Info.MinSeq, m.Info.MaxSeq = min(m.Info.MinSeq, p.Keys[0]), p.Keys[n-1]
		return run.AddKeys(p.Keys)
	}
	seqs := p.Keys[:0] // of documents that are not left out
	for j, seq := range p.Keys {
		i := int(p.Vals[j] &^ deadFlag)
		m.inputs[i].ranks.Append(uint32(m.rankSources.Len()))
		if p.Vals[j]&deadFlag == 0 {
			if m.rankSources.Len()%docChunk == 0 {
				m.rankStarts = append(m.rankStarts, append([]uint32(nil), next...))
			}
			m.rankSources.Append(i)
			m.Info.MinSeq, m.Info.MaxSeq = min(m.Info.MinSeq, seq), seq
			seqs = append(seqs, seq)
		}
		next[i]++
	}
	return run.AddKeys(seqs)
}

// rankRun ranks the next n documents of input i.
func (m *merger) rankRun(i, n int, next []uint32) {
	m.inputs[i].ranks.AppendRun(uint32(m.rankSources.Len()), uint32(n))
	for n > 0 {
		at := m.rankSources.Len() % docChunk
		if at == 0 {
			m.rankStarts = append(m.rankStarts, append([]uint32(nil), next...))
		}
		some := min(n, docChunk-at)
		m.rankSources.AppendRun(i, some)
		next[i] += uint32(some)
		n -= some
	}
}

// findDeadRanks finds the ranks of the documents that are left out. They are needed until the times
// have been merged.
func (in *mergeInput) findDeadRanks(m *merger) error {
	if in.dead == nil {
		return nil
	}
	in.deadRanks = write.NewBitset(in.Info.Docs)
	for doc := range in.Info.Docs {
		if doc%docChunk == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		if !in.dead.Has(doc) {
			continue
		}
		rank, err := in.Rank(doc)
		if err != nil {
			return err
		}
		if in.deadRanks.Has(uint32(rank)) { // else more would remain than counted
			return in.Table.Ranks.Corrupt(0, "rank %d occurs twice", rank)
		}
		in.deadRanks.Add(uint32(rank))
	}
	return nil
}

// mergeTimes writes the times of the result and, if an input has them, the expiries.
func (m *merger) mergeTimes() error {
	sample, err := m.mergeTimesOf(0, func(in *mergeInput) *keyrun.Column { return in.Times })
	if m.docs > 0 {
		m.Info.MinTime, m.Info.MaxTime = format.TimeOf(sample.Least), format.TimeOf(sample.Greatest)
	}
	if err == nil && slices.ContainsFunc(m.inputs, func(in *mergeInput) bool { return in.Expiries != nil }) {
		_, err = m.mergeTimesOf(format.Expiries, func(in *mergeInput) *keyrun.Column { return in.Expiries })
	}
	m.rankSources, m.rankStarts = nil, nil
	for _, in := range m.inputs {
		in.deadRanks = nil
	}
	return err
}

// mergeTimesOf writes a section of times, of which the inputs have a column. Where an input has
// none, its documents never expire.
func (m *merger) mergeTimesOf(index uint16, column func(*mergeInput) *keyrun.Column) (format.TimeSample, error) {
	w := m.NewTimesWriter(int(m.docs), index)
	never := func(in *mergeInput, values []uint64) error {
		for i := range values {
			if column(in) == nil {
				values[i] = format.OrderedExpiry(0)
			}
		}
		return nil
	}
	err := eachChunk(m, m.rankSources, m.rankStarts, func(c *docsChunk) (write.EncodedTimes, error) {
		err := c.columns(column, func(in *mergeInput) write.Bitset { return in.deadRanks }, never)
		if err != nil {
			return write.EncodedTimes{}, err
		}
		return w.SampleOf(c.first, c.values, m.encoded(c.values)), nil
	}, func(e write.EncodedTimes) error {
		defer m.columns.Put(e.Part)
		return w.Append(e)
	})
	w.Finish()
	return w.Sample, err
}

// mergeRanks writes the ranks of the documents of the result.
func (m *merger) mergeRanks() error {
	if len(m.inputs) == 1 && m.inputs[0].Table.Ranks == nil {
		return nil // whether or not some are left out, the others are in the order of writing
	}
	err := m.writeColumn(format.KindRanks, 0, func(c *docsChunk) ([]uint64, error) {
		err := c.columns(func(in *mergeInput) *keyrun.Column { return in.Table.Ranks }, (*mergeInput).deadDocs, m.newRanks)
		return c.values, err
	})
	for _, in := range m.inputs {
		in.ranks = nil
	}
	return err
}

// newRanks replaces ranks of an input by ranks of the result.
func (m *merger) newRanks(in *mergeInput, ranks []uint64) error {
	old := m.vals.get(len(ranks))
	defer m.vals.put(old)
	for j, r := range ranks {
		if r >= uint64(in.Info.Docs) {
			return in.Table.Ranks.Corrupt(0, "rank %d of %d", r, in.Info.Docs)
		}
		old[j] = uint32(r)
	}
	in.ranks.GetAll(old)
	for j, r := range old {
		ranks[j] = uint64(r)
	}
	return nil
}
