package sstable

import (
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/merge"
)

// mergeSeqs writes the sequence numbers of the result, and so gives all documents their ranks.
func (m *merger) mergeSeqs() error {
	m.rankSources, m.rankStarts = merge.NewSources(int(m.docs), len(m.inputs)), nil
	var streams []merge.Stream
	for i, in := range m.inputs {
		if in.seqs.Len() > 0 && in.seqs.Base(0)+in.SeqShift > in.seqs.Greatest()+in.SeqShift {
			return in.seqs.Corrupt(0, "numbers %d to %d change their order when %d is added", in.seqs.Base(0), in.seqs.Greatest(), in.SeqShift)
		}
		if err := in.findDeadRanks(); err != nil {
			return err
		}
		in.ranks = merge.NewMapping(in.NumDocs(), m.docs+1)
		s := merge.Whole(i, in.seqs)
		s.Add = in.SeqShift
		streams = append(streams, s)
	}
	pieces, err := merge.Cut(streams, m.piece)
	if err != nil {
		return err
	}
	m.out.begin(KindSeqs, 0)
	run, next := keyrun.NewWriter(&m.out), make([]uint32, len(m.inputs))
	err = merge.Ordered(m.ctx, len(pieces), m.workers, func(i int) (p merge.Pairs, err error) {
		defer unguardAny(m.readers, guard(), &err)
		return m.mergedPiece(streams, pieces[i], func(in *mergeInput) bitset { return in.deadRanks })
	}, func(_ int, p merge.Pairs) error {
		defer m.putPairs(p)
		m.pass(len(p.Keys))
		return m.rank(p, next, run)
	})
	dir, e := run.Finish()
	m.out.endWithDir(run.Len(), dir, e)
	return err
}

// rank ranks the documents of a piece, and writes their sequence numbers.
func (m *merger) rank(p merge.Pairs, next []uint32, run *keyrun.Writer) error {
	seqs := p.Keys[:0] // of documents that are kept
	for j, seq := range p.Keys {
		i := int(p.Vals[j] &^ deadFlag)
		m.inputs[i].ranks.Append(uint32(m.rankSources.Len()))
		if p.Vals[j]&deadFlag == 0 {
			if m.rankSources.Len()%docChunk == 0 {
				m.rankStarts = append(m.rankStarts, append([]uint32(nil), next...))
			}
			m.rankSources.Append(i)
			m.info.MinSeq, m.info.MaxSeq = min(m.info.MinSeq, seq), seq
			seqs = append(seqs, seq)
		}
		next[i]++
	}
	return run.AddKeys(seqs)
}

// findDeadRanks finds the ranks of the documents that are left out. They stay until the times have
// been merged.
func (in *mergeInput) findDeadRanks() error {
	if in.dead == nil {
		return nil
	}
	in.deadRanks = newBitset(in.NumDocs())
	for doc := range in.NumDocs() {
		if !in.dead.has(doc) {
			continue
		}
		rank, err := in.rank(doc)
		if err != nil {
			return err
		}
		if in.deadRanks.has(uint32(rank)) { // more would be left than there is room for
			return in.Reader.ranks.Corrupt(0, "rank %d is there twice", rank)
		}
		in.deadRanks.add(uint32(rank))
	}
	return nil
}

// mergeTimes writes the times of the result.
func (m *merger) mergeTimes() error {
	w := m.newTimesWriter(int(m.docs))
	err := m.eachChunk(m.rankSources, m.rankStarts, func(c *docsChunk) error {
		return c.columns(func(in *mergeInput) *keyrun.Column { return in.times }, func(in *mergeInput) bitset { return in.deadRanks })
	}, func(c *docsChunk) error {
		for _, v := range c.values {
			w.add(v)
		}
		return nil
	})
	w.finish()
	if m.docs > 0 {
		m.info.MinTime, m.info.MaxTime = timeOf(w.sample.least), timeOf(w.sample.greatest)
	}
	m.rankSources, m.rankStarts = nil, nil
	for _, in := range m.inputs {
		in.deadRanks = nil
	}
	return err
}

// mergeRanks writes the ranks of the documents of the result.
func (m *merger) mergeRanks() error {
	if len(m.inputs) == 1 && m.inputs[0].Reader.ranks == nil {
		return nil // left out or not, the others are in the order of writing
	}
	m.out.begin(KindRanks, 0)
	w := keyrun.NewColumnWriter(&m.out)
	err := m.eachChunk(m.sources, m.starts, func(c *docsChunk) error {
		if err := c.columns(func(in *mergeInput) *keyrun.Column { return in.Reader.ranks }, (*mergeInput).deadDocs); err != nil {
			return err
		}
		c.rankAll()
		return nil
	}, func(c *docsChunk) error {
		for _, v := range c.values {
			w.Add(v) // its error comes back from Finish
		}
		return nil
	})
	dir, e := w.Finish()
	m.out.endWithDir(w.Len(), dir, e)
	for _, in := range m.inputs {
		in.ranks = nil
	}
	return err
}

// rankAll replaces the old ranks in values by new ones, input after input.
func (c *docsChunk) rankAll() {
	byInput := make([][]uint32, len(c.next))
	for j, old := range c.values {
		byInput[c.inputs[j]] = append(byInput[c.inputs[j]], uint32(old))
	}
	for i, old := range byInput {
		c.merger.inputs[i].ranks.GetAll(old)
	}
	for j, i := range c.inputs {
		c.values[j] = uint64(byInput[i][0])
		byInput[i] = byInput[i][1:]
	}
}

// docsChunk is a chunk of the elements of the result: documents, or ranks.
type docsChunk struct {
	*merger
	first  int      // element
	inputs []uint32 // of each element, where it comes from
	next   []uint32 // of each input, the element to come
	values []uint64 // of each element, what the pass is about
	blocks *blockChunk
}

// eachChunk calls produce for chunks of docChunk elements, in several goroutines, and consume for
// each, in order.
func (m *merger) eachChunk(sources *merge.Sources, starts [][]uint32, produce, consume func(c *docsChunk) error) error {
	return merge.Ordered(m.ctx, len(starts), m.workers, func(i int) (c *docsChunk, err error) {
		defer unguardAny(m.readers, guard(), &err)
		c = &docsChunk{merger: m, first: i * docChunk, next: append([]uint32(nil), starts[i]...)}
		n := min(docChunk, sources.Len()-c.first)
		c.inputs = make([]uint32, n)
		for j := range c.inputs {
			c.inputs[j] = uint32(sources.Get(c.first + j))
		}
		return c, produce(c)
	}, func(_ int, c *docsChunk) error {
		m.pass(len(c.inputs))
		return consume(c)
	})
}

// deadDocs returns the documents that are left out.
func (in *mergeInput) deadDocs() bitset { return in.dead }

// old returns the element of its input that element j is; it is called with all j in order.
func (c *docsChunk) old(j int, dead func(*mergeInput) bitset) uint32 {
	i := c.inputs[j]
	if d := dead(c.merger.inputs[i]); d != nil {
		for d.has(c.next[i]) {
			c.next[i]++
		}
	}
	c.next[i]++
	return c.next[i] - 1
}

// columns sets values to what columns of the inputs have for the elements; a column that is nil
// has their numbers.
func (c *docsChunk) columns(column func(*mergeInput) *keyrun.Column, dead func(*mergeInput) bitset) error {
	c.values = make([]uint64, len(c.inputs))
	type block struct {
		number int
		values [keyrun.BlockLen]uint64
	}
	blocks := make([]*block, len(c.next)) // the last that was decoded, of each input
	for j, i := range c.inputs {
		old := c.old(j, dead)
		from := column(c.merger.inputs[i])
		if from == nil {
			c.values[j] = uint64(old)
			continue
		}
		b := blocks[i]
		if b == nil || b.number != int(old>>keyrun.BlockShift) {
			if b == nil {
				b = new(block)
				blocks[i] = b
			}
			b.number = int(old >> keyrun.BlockShift)
			if _, err := from.Block(b.number, b.values[:]); err != nil {
				return err
			}
		}
		c.values[j] = b.values[old&(keyrun.BlockLen-1)]
	}
	return nil
}
