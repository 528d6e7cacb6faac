package merge

import (
	"context"
	"sync"

	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// Input is a table to merge.
type Input struct {
	*format.Table
	// Keep reports whether document doc goes into the merged table; nil means that all do. It is
	// called from several goroutines, once for each document.
	Keep func(doc uint32) (bool, error)
	// SeqShift is added to the sequence numbers, modulo 2^64. The sums must have the same order as
	// the numbers.
	SeqShift uint64
}

// Options are the options of Merge. The zero value is a good default.
type Options struct {
	write.WriterOptions     // Level applies to records that are rewritten
	Workers             int // goroutines that work at a time; 0 means GOMAXPROCS
	// Erase ensures that no text of a document that is left out remains in the result: blocks of
	// records with such texts are rewritten, however few are dead. Otherwise some remain, but
	// nothing refers to them.
	Erase bool
	// Progress, if not nil, is called with the number of documents done and their total, from one
	// goroutine at a time.
	Progress func(done, total int64)

	Piece, Sorted int    // keys merged, and sorted, at a time; 0 means keyPiece and sortedTogether
	Spare         uint32 // maximum of records without a document; 0: as numbers allow
	Chunk         int    // bytes of IDs and sketches at a time; 0 means chunkBytes
}

// merger has the state of one call of Merge.
type merger struct {
	write.File
	file     *write.AsyncWriter // output
	ctx      context.Context
	o        Options
	workers  int
	piece    int // keys merged at a time
	sorted   int // keys sorted at a time
	goneMost int // deleted keys sorted at a time

	chunkBytes int // bytes of IDs and sketches read at a time
	progress   func(done, total int64)
	done       int64 // keys processed, out of total
	total      int64

	keys    spares[uint64]
	vals    spares[uint32]
	chunks  sync.Pool // of *blockChunk
	columns sync.Pool // of *keyrun.ColumnWriter without an output

	inputs  []*mergeInput
	tables  []*format.Table
	docs    uint32      // documents of the result
	sources *Sources    // inputs of the documents of the result
	starts  [][]uint32  // for each chunk of docChunk documents, the first document of each input
	word    int         // index of the word whose runs are being merged
	gone    int         // number of its keys that no document has any more
	placed  uint32      // records of the result
	carried uint32      // those in copied blocks that belong to no document
	spare   uint32      // maximum of carried
	erase   bool        // carried must be 0
	block   blobs.Block // the block that was decoded last

	// sources and starts in the order of IDs, and the sources of the documents without a fingerprint
	named, bare *Sources
	namedStarts [][]uint32
	ordered     bool // documents without a fingerprint are numbered in the order of their IDs
	inOrder     bool // there are no others
	laid        bool // record i belongs to document i

	// sources and starts by rank, until the times have been merged
	rankSources *Sources
	rankStarts  [][]uint32
}

type mergeInput struct {
	Input
	dead    write.Bitset // documents that are left out; nil if none is
	kept    uint32       // documents that are not left out
	keptFP  uint32       // those with a fingerprint
	numbers *Mapping
	ranks   *Mapping // by old rank; nil when no longer needed

	// for the current word
	runs   []*keyrun.Run
	deadAt write.Bitset // positions in run 0 of documents that are left out; nil if none are
	gone   write.Bitset // positions in run 0 of keys that no document has any more; nil if none

	order     *format.IDOrder
	deadNamed write.Bitset // positions in the order of IDs of documents that are left out; nil if none are

	living    write.Bitset // records that belong to documents of the result; nil means all
	blocks    []movedBlock // by block of records
	deadRanks write.Bitset // ranks of dead, until the times have been merged
}

// guarded calls step, and turns a fault in a mapped input into an error.
func (m *merger) guarded(step func() error) (err error) {
	defer format.UnguardAny(m.tables, format.Guard(), &err)
	return step()
}

// keyPiece is about how many keys are merged at a time; tests set other numbers.
const keyPiece = 1 << 16

// docChunk is how many documents are processed at a time; a multiple of 64.
const docChunk = 1 << 13

// pass counts n keys as done.
func (m *merger) pass(n int) {
	m.done += int64(n)
	m.report(m.done)
}

// report reports the progress of the merge to the caller, in documents.
func (m *merger) report(done int64) {
	if m.progress != nil && m.total > 0 {
		docs := int64(m.docs)
		m.progress(int64(float64(done)/float64(m.total)*float64(docs)), docs)
	}
}

// movedBlock is the new position of the records of a block.
type movedBlock struct {
	first uint32 // new number of the block's first record (if rewritten: first living record)
	anew  bool
}

// positionsDead returns the positions of run 0 whose documents are left out.
func (in *mergeInput) positionsDead() write.Bitset { return in.deadAt }

// deadDocs returns the documents that are left out.
func (in *mergeInput) deadDocs() write.Bitset { return in.dead }

// deadFlag marks a merged key whose document is left out; the other bits are its input.
const deadFlag = 1 << 31

// mergedPiece returns the merged keys of a piece, with their inputs as values. dead returns the
// positions in an input's run of documents that are left out.
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

// sortedPairs merges pairs, and recycles the spare arrays.
func (m *merger) sortedPairs(p Pairs, ends []int) Pairs {
	if len(ends) < 2 {
		return p
	}
	tmp := m.getPairs(len(p.Keys))
	p, tmp = SortedPairs(p, tmp, ends)
	m.putPairs(tmp)
	return p
}

// cut cuts streams into pieces of about size keys.
func (m *merger) cut(streams []Stream, size int) ([]Piece, error) {
	return Cut(streams, size, func(n int, do func(i int) error) error {
		return pipeline.Ordered(m.ctx, n, m.workers, func(i int) (none struct{}, err error) {
			defer format.UnguardAny(m.tables, format.Guard(), &err)
			return none, do(i)
		}, func(int, struct{}) error { return nil })
	})
}

// runWriter returns a writer of a run of a permuted table.
func (m *merger) runWriter() *keyrun.ParallelWriter {
	return keyrun.NewParallelWriter(keyrun.NewPartsWriter(&m.Out), m.workers)
}

// getPairs returns n pairs with arbitrary content.
func (m *merger) getPairs(n int) Pairs {
	return Pairs{Keys: m.keys.get(n), Vals: m.vals.get(n)}
}

// putPairs makes the arrays of pairs available for reuse.
func (m *merger) putPairs(p Pairs) {
	m.keys.put(p.Keys)
	m.vals.put(p.Vals)
}

// spares is a pool of arrays, so that a merge creates little garbage.
type spares[T any] struct{ pool sync.Pool }

// get returns n elements with arbitrary content.
func (s *spares[T]) get(n int) []T {
	if a, ok := s.pool.Get().(*[]T); ok && cap(*a) >= n {
		return (*a)[:n]
	}
	return make([]T, n, max(n+n/8, docChunk)) // the next one may be slightly longer
}

func (s *spares[T]) put(a []T) { s.pool.Put(&a) }
