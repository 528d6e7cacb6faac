package merge

import (
	"context"
	"sync"

	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/table"
	"github.com/simdb/simdb/sstable/internal/write"
)

// Input is a table to merge.
type Input struct {
	*table.Table
	// Keep reports whether the merged table gets document doc; nil keeps all. It is called from
	// several goroutines, once for each document.
	Keep func(doc uint32) (bool, error)
	// SeqShift is added to the sequence numbers, modulo 2^64; the order of the sums must be that of
	// the numbers.
	SeqShift uint64
}

// Options are the options of Merge. The zero value is a good default.
type Options struct {
	write.WriterOptions     // Level is for records that are rewritten
	Workers             int // goroutines that work at a time; 0 means GOMAXPROCS
	// Erase leaves no text of a document that is left out in the result: blocks of records that
	// have one are rewritten, however few are dead. Otherwise some stay, out of reach.
	Erase bool
	// Progress, if not nil, gets the number of documents done, and their total. It is called from
	// one goroutine at a time.
	Progress func(done, total int64)

	Piece, Sorted int    // keys merged, and sorted, at a time; 0 means keyPiece and sortedTogether
	Spare         uint32 // records that no document has; 0 means as many as there are numbers for
	Chunk         int    // bytes of IDs and sketches at a time; 0 means chunkBytes
}

// merger is a merge that is running.
type merger struct {
	write.File
	file     *write.AsyncWriter // what the table is written to
	ctx      context.Context
	o        Options
	workers  int
	piece    int // keys merged at a time
	sorted   int // keys sorted at a time
	goneMost int // keys taken out at a time

	chunkBytes int // of IDs and sketches, read at a time
	progress   func(done, total int64)
	done       int64 // keys, of total
	total      int64

	keys    spares[uint64]
	vals    spares[uint32]
	chunks  sync.Pool // of *blockChunk
	columns sync.Pool // of *keyrun.ColumnWriter without an output

	inputs  []*mergeInput
	tables  []*table.Table
	docs    uint32      // of the result
	sources *Sources    // of the documents of the result
	starts  [][]uint32  // of each chunk of docChunk documents, the first of each input
	word    int         // whose runs are merged
	gone    int         // keys of it that no document has any more
	placed  uint32      // records of the result
	carried uint32      // of them, those of copied blocks that no document has
	spare   uint32      // the most that may be
	erase   bool        // none may be
	block   blobs.Block // that was decoded last

	// the same of ranks, until the times are merged
	rankSources *Sources
	rankStarts  [][]uint32
}

type mergeInput struct {
	Input
	dead    write.Bitset // documents that are left out; nil if none is
	kept    uint32       // documents
	keptFP  uint32       // documents with a fingerprint
	numbers *Mapping
	ranks   *Mapping // of old ranks; nil when it is not needed any more

	// of the word whose runs are merged
	runs   []*keyrun.Run
	deadAt write.Bitset // positions of run 0 whose documents are left out; nil if none is
	gone   write.Bitset // those whose key no document of the result has; nil if there are none

	living    write.Bitset // records that documents of the result have; nil stands for all
	blocks    []movedBlock // of records
	deadRanks write.Bitset // ranks of dead; until the times are merged
}

// guarded calls step, and turns a fault in a mapped input into an error.
func (m *merger) guarded(step func() error) (err error) {
	defer table.UnguardAny(m.tables, table.Guard(), &err)
	return step()
}

// Keys are merged in pieces of about keyPiece; tests take others.
const keyPiece = 1 << 16

// docChunk is how many documents are worked on at a time; a multiple of 64.
const docChunk = 1 << 13

// pass counts n keys as done.
func (m *merger) pass(n int) {
	m.done += int64(n)
	m.report(m.done)
}

// report tells the caller how far the merge is, in documents.
func (m *merger) report(done int64) {
	if m.progress != nil && m.total > 0 {
		docs := int64(m.docs)
		m.progress(int64(float64(done)/float64(m.total)*float64(docs)), docs)
	}
}

// movedBlock says where the records of a block went.
type movedBlock struct {
	first uint32 // number, in the result, of the block's first record; of the first living one if it was rewritten
	anew  bool
}

// positionsDead returns the positions of run 0 whose documents are left out.
func (in *mergeInput) positionsDead() write.Bitset { return in.deadAt }

// deadDocs returns the documents that are left out.
func (in *mergeInput) deadDocs() write.Bitset { return in.dead }

// deadFlag marks a merged key whose document is left out; the other bits say its input.
const deadFlag = 1 << 31

// mergedPiece returns the keys of a piece, merged, with the inputs that they are from; dead gives
// the positions of an input's run whose documents are left out.
func (m *merger) mergedPiece(streams []Stream, piece Piece, dead func(in *mergeInput) write.Bitset) (p Pairs, err error) {
	p = m.getPairs(piece.Keys)
	p.Keys, p.Vals = p.Keys[:0], p.Vals[:0]
	var ends []int
	for _, span := range piece.Spans {
		s := &streams[span.Stream]
		if p.Keys, err = s.Append(p.Keys, span); err != nil {
			return p, err
		}
		from := uint32(s.Input)
		if left := dead(m.inputs[s.Input]); left == nil {
			for range span.To - span.From {
				p.Vals = append(p.Vals, from)
			}
		} else {
			for pos := span.From; pos < span.To; pos++ {
				p.Vals = append(p.Vals, from|uint32(left[pos>>6]>>(pos&63)&1)<<31)
			}
		}
		ends = append(ends, len(p.Keys))
	}
	return m.sortedPairs(p, ends), nil
}

// sortedPairs merges pairs, and keeps what is left for reuse.
func (m *merger) sortedPairs(p Pairs, ends []int) Pairs {
	if len(ends) < 2 {
		return p
	}
	tmp := m.getPairs(len(p.Keys))
	p, tmp = SortedPairs(p, tmp, ends)
	m.putPairs(tmp)
	return p
}

// cut cuts streams into pieces of about the given number of keys.
func (m *merger) cut(streams []Stream, size int) ([]Piece, error) {
	return Cut(streams, size, func(n int, do func(i int) error) error {
		return pipeline.Ordered(m.ctx, n, m.workers, func(i int) (none struct{}, err error) {
			defer table.UnguardAny(m.tables, table.Guard(), &err)
			return none, do(i)
		}, func(int, struct{}) error { return nil })
	})
}

// runWriter returns a writer of a run of a permuted table.
func (m *merger) runWriter() *keyrun.ParallelWriter {
	return keyrun.NewParallelWriter(keyrun.NewPartsWriter(&m.Out), m.workers)
}

// getPairs returns n pairs with any content.
func (m *merger) getPairs(n int) Pairs {
	return Pairs{Keys: m.keys.get(n), Vals: m.vals.get(n)}
}

// putPairs keeps pairs for reuse.
func (m *merger) putPairs(p Pairs) {
	m.keys.put(p.Keys)
	m.vals.put(p.Vals)
}

// spares are arrays for reuse, so that a merge leaves little garbage.
type spares[T any] struct{ pool sync.Pool }

// get returns n elements with any content.
func (s *spares[T]) get(n int) []T {
	if a, ok := s.pool.Get().(*[]T); ok && cap(*a) >= n {
		return (*a)[:n]
	}
	return make([]T, n, max(n+n/8, docChunk)) // the next may be a bit longer
}

func (s *spares[T]) put(a []T) { s.pool.Put(&a) }
