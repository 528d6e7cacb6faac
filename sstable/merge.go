package sstable

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"

	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/merge"
)

// MergeInput is a table to merge.
type MergeInput struct {
	*Reader
	// Keep reports whether the merged table gets document doc; nil keeps all. It is called from
	// several goroutines, once for each document.
	Keep func(doc uint32) (bool, error)
	// SeqShift is added to the sequence numbers, modulo 2^64; the order of the sums must be that of
	// the numbers.
	SeqShift uint64
}

// MergeOptions are the options of Merge. The zero value is a good default.
type MergeOptions struct {
	WriterOptions     // Docs is ignored; Level is for records that are written anew
	Workers       int // goroutines that work at a time; 0 means GOMAXPROCS
	// Erase leaves no text of a document that is left out in the result: blocks of records that have
	// one are written anew, however few are dead. Otherwise some stay, out of reach.
	Erase bool
	// Progress, if not nil, gets the number of documents done, and their total. It is called from
	// one goroutine at a time.
	Progress func(done, total int64)

	piece, sorted int    // keys merged, and sorted, at a time; 0 means keyPiece and sortedTogether
	spare         uint32 // records that no document has; 0 means as many as there are numbers for
	chunk         int    // bytes of IDs and sketches at a time; 0 means chunkBytes
}

// Merge writes a table with the documents of other tables, whose parameters must be Compatible with
// p (whose layout may be LayoutBySize) and whose IDs must differ, but for documents that Keep
// leaves out. It returns what the table says of itself and the new numbers of the documents.
// Documents with equal fingerprints are in the order of their inputs.
//
// Every index of the result is merged from those of the inputs, piece by piece of the keys: nothing
// is sorted but where the layout of an input is no help for that of the result. Compressed records
// and encoded sketches are copied; a block of records is written anew only if less than three
// quarters are left of its records, or of their bytes. Memory: a bit or two a document and what
// remembering the new numbers takes, 2 + log2 k bits twice for k inputs of equal sizes, and some
// tens of megabytes. With sketches, Writer says what a segment takes.
func Merge(ctx context.Context, w io.Writer, p Params, inputs []MergeInput, o MergeOptions) (Info, *Renumbering, error) {
	m := &merger{
		ctx: ctx, progress: o.Progress, workers: o.Workers,
		piece: cmp.Or(o.piece, keyPiece), sorted: cmp.Or(o.sorted, sortedTogether), goneMost: cmp.Or(o.sorted, goneTogether),
		erase: o.Erase, spare: cmp.Or(o.spare, math.MaxUint32), chunkBytes: cmp.Or(o.chunk, chunkBytes),
	}
	if m.workers <= 0 {
		m.workers = runtime.GOMAXPROCS(0)
	}
	for _, in := range inputs {
		if !in.params.Compatible(p) {
			return Info{}, nil, fmt.Errorf("sstable: merge %s: made with %s", in.file, in.params.Diff(p))
		}
		if hash := idHashes[FormatVersion](nil); in.idHash != hash {
			return Info{}, nil, fmt.Errorf("sstable: merge %s: it hashes IDs by %+v, and the result by %+v: %w", in.file, in.idHash, hash, ErrUnsupported)
		}
		m.inputs = append(m.inputs, &mergeInput{MergeInput: in})
		m.readers = append(m.readers, in.Reader)
	}
	fingerprints, err := int64(0), m.guarded(m.count)
	for _, in := range m.inputs {
		fingerprints += int64(in.keptFP)
	}
	if err == nil {
		p, o.WriterOptions.Docs = p.ForTable(fingerprints), int(m.docs)
		err = m.init(w, p, o.WriterOptions)
	}
	if err != nil {
		return Info{}, nil, err
	}
	for _, in := range m.inputs {
		m.total += int64(in.NumDocs()) * int64(6+p.Layout.Tables())
	}
	for _, step := range []func() error{
		m.copyRecords, m.mergeFingerprints, m.mergeSeqs, m.mergeTimes, m.mergeRanks, m.mergePlaces, m.mergeRuns, m.mergeIDs, m.mergeBlocks,
	} {
		if err := m.fail(m.guarded(step)); err != nil {
			return Info{}, nil, err
		}
	}
	info, err := m.finish()
	if err != nil {
		return Info{}, nil, err
	}
	m.report(m.total)
	r := &Renumbering{}
	for _, in := range m.inputs {
		r.inputs = append(r.inputs, renumbered{in.numbers, in.dead})
	}
	return info, r, nil
}

// Renumbering says which numbers the documents of merged tables have in the table that they were
// merged to.
type Renumbering struct{ inputs []renumbered }

type renumbered struct {
	numbers *merge.Mapping
	dead    bitset
}

// New returns the new number of document doc of an input, and false if it was left out.
func (r *Renumbering) New(input int, doc uint32) (number uint32, kept bool) {
	in := r.inputs[input]
	if in.dead.has(doc) {
		return 0, false
	}
	return in.numbers.Get(doc), true
}

// merger is a merge that goes on.
type merger struct {
	tableFile
	ctx      context.Context
	workers  int
	piece    int // keys merged at a time
	sorted   int // keys sorted at a time
	goneMost int // keys taken out at a time

	chunkBytes int // of IDs and sketches, read at a time
	progress   func(done, total int64)
	done       int64 // keys, of total
	total      int64

	keys   spares[uint64]
	vals   spares[uint32]
	chunks sync.Pool // of *blockChunk

	inputs  []*mergeInput
	readers []*Reader
	docs    uint32         // of the result
	sources *merge.Sources // of the documents of the result
	starts  [][]uint32     // of each chunk of docChunk documents, the first of each input
	gone    int            // fingerprints that no document has any more
	placed  uint32         // records of the result
	carried uint32         // of them, those of copied blocks that no document has
	spare   uint32         // at most so many may be
	erase   bool           // none may be
	block   blobs.Block    // that was decoded last

	// the same of ranks, until the times are merged
	rankSources *merge.Sources
	rankStarts  [][]uint32
}

// mergeInput is an input of a merge.
type mergeInput struct {
	MergeInput
	dead    bitset // documents that are left out; nil if none is
	kept    uint32 // documents
	keptFP  uint32 // documents with a fingerprint
	numbers *merge.Mapping
	ranks   *merge.Mapping // of old ranks; nil when it is not needed any more
	gone    bitset         // positions of run 0 whose fingerprint no document of the result has

	living    bitset       // records that documents of the result have; nil stands for all
	blocks    []movedBlock // of records
	deadRanks bitset       // ranks of dead; until the times are merged
}

// bitset is a set of numbers; nil is empty.
type bitset []uint64

func newBitset(n uint32) bitset { return make(bitset, (uint64(n)+63)/64) }

func (b bitset) has(i uint32) bool { return b != nil && b[i>>6]>>(i&63)&1 != 0 }

func (b bitset) add(i uint32) { b[i>>6] |= 1 << (i & 63) }

// guarded calls step, and makes its error what went wrong with a mapped file.
func (m *merger) guarded(step func() error) (err error) {
	defer unguardAny(m.readers, guard(), &err)
	return step()
}

// docChunk is how many documents are worked on at a time; a multiple of 64.
const docChunk = 1 << 12

// Keys are merged in pieces of about keyPiece; tests take others.
const keyPiece = 1 << 16

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

// count finds out which documents are left out, and how many are not.
func (m *merger) count() error {
	docs := int64(0)
	for _, in := range m.inputs {
		if err := in.findDead(m); err != nil {
			return err
		}
		docs += int64(in.kept)
	}
	if docs > MaxDocs {
		return fmt.Errorf("sstable: merge %d documents into one table, limit %d: %w", docs, uint32(MaxDocs), ErrTooLarge)
	}
	m.docs = uint32(docs)
	return nil
}

// findDead asks for all documents whether they are kept.
func (in *mergeInput) findDead(m *merger) error {
	n := in.NumDocs()
	in.kept, in.keptFP = n, in.NumFingerprints()
	if in.Keep == nil {
		return nil
	}
	dead := newBitset(n)
	chunks := int((uint64(n) + docChunk - 1) / docChunk)
	err := merge.Ordered(m.ctx, chunks, m.workers, func(i int) (none struct{}, err error) {
		defer unguardAny(m.readers, guard(), &err)
		from, to := chunkOf(i, n)
		for doc := from; doc < to; doc++ {
			keep, err := in.Keep(doc)
			if err != nil {
				return none, err
			}
			if !keep {
				dead.add(doc) // chunks have whole words
			}
		}
		return none, nil
	}, func(int, struct{}) error { return nil })
	in.kept -= dead.count(0, n)
	in.keptFP -= dead.count(0, in.keptFP)
	if in.kept < n {
		in.dead = dead
	}
	return err
}

// chunkOf returns the documents [from, to) of chunk i of n documents.
func chunkOf(i int, n uint32) (from, to uint32) {
	return uint32(i) * docChunk, uint32(min(uint64(i+1)*docChunk, uint64(n)))
}

// number gives the next document of the result, document doc of input i.
func (m *merger) number(i int, next []uint32) {
	if at := m.sources.Len(); at%docChunk == 0 {
		m.starts = append(m.starts, append([]uint32(nil), next...))
	}
	m.sources.Append(i)
}

// mergeFingerprints writes run 0, and so gives all documents their numbers.
func (m *merger) mergeFingerprints() error {
	m.sources = merge.NewSources(int(m.docs), len(m.inputs))
	var streams []merge.Stream
	for i, in := range m.inputs {
		in.numbers = merge.NewMapping(in.NumDocs(), m.docs+1)
		if in.dead != nil {
			in.gone = newBitset(in.NumFingerprints())
		}
		streams = append(streams, merge.Whole(i, in.runs[0]))
	}
	pieces, err := merge.Cut(streams, m.piece)
	if err != nil {
		return err
	}
	m.out.begin(KindRun, 0)
	n := &numbering{merger: m, run: keyrun.NewWriter(&m.out), next: make([]uint32, len(m.inputs))}
	err = merge.Ordered(m.ctx, len(pieces), m.workers, func(i int) (p merge.Pairs, err error) {
		defer unguardAny(m.readers, guard(), &err)
		return m.mergedPiece(streams, pieces[i], (*mergeInput).deadDocs)
	}, func(_ int, p merge.Pairs) error {
		defer m.putPairs(p)
		m.pass(len(p.Keys))
		return n.add(p)
	})
	n.endGroup()
	dir, e := n.run.Finish()
	m.out.endWithDir(n.run.Len(), dir, e)
	m.info.Fingerprints = uint32(n.run.Len())
	n.addBare()
	m.info.Docs = uint32(m.sources.Len())
	return err
}

// deadFlag marks a merged key whose document is left out; the other bits say its input.
const deadFlag = 1 << 31

// mergedPiece returns the keys of a piece, merged, with the inputs that they are from; dead gives
// the positions of an input's run whose documents are left out.
func (m *merger) mergedPiece(streams []merge.Stream, piece merge.Piece, dead func(in *mergeInput) bitset) (p merge.Pairs, err error) {
	p = m.getPairs(piece.Keys)
	p.Keys, p.Vals = p.Keys[:0], p.Vals[:0]
	var ends []int
	for _, span := range piece.Spans {
		s := &streams[span.Stream]
		if p.Keys, err = s.Append(p.Keys, span.From, span.To); err != nil {
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
func (m *merger) sortedPairs(p merge.Pairs, ends []int) merge.Pairs {
	if len(ends) < 2 {
		return p
	}
	tmp := m.getPairs(len(p.Keys))
	p, tmp = merge.SortedPairs(p, tmp, ends)
	m.putPairs(tmp)
	return p
}

// getPairs returns n pairs with any content.
func (m *merger) getPairs(n int) merge.Pairs {
	return merge.Pairs{Keys: m.keys.get(n), Vals: m.vals.get(n)}
}

// putPairs keeps pairs for reuse.
func (m *merger) putPairs(p merge.Pairs) {
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
	return make([]T, n)
}

func (s *spares[T]) put(a []T) { s.pool.Put(&a) }

// numbering numbers documents in the order of their fingerprints.
type numbering struct {
	*merger
	run  *keyrun.Writer
	next []uint32 // of each input, the document that comes next

	// the documents with one fingerprint
	any   bool
	key   uint64
	kept  bool   // one of them is
	input int    // of the first
	at    uint32 // its number there
}

// add numbers the documents of a piece.
func (n *numbering) add(p merge.Pairs) error {
	keys := p.Keys[:0] // of documents that are kept
	for j, key := range p.Keys {
		i := int(p.Vals[j] &^ deadFlag)
		in := n.inputs[i]
		dead := p.Vals[j]&deadFlag != 0
		if !n.any || key != n.key {
			n.endGroup()
			n.any, n.key, n.kept, n.input, n.at = true, key, false, i, n.next[i]
		}
		in.numbers.Append(uint32(n.sources.Len()))
		if !dead {
			if !n.kept {
				n.kept = true
				n.info.Distinct++
			}
			n.number(i, n.next)
			keys = append(keys, key)
		}
		n.next[i]++
	}
	return n.run.AddKeys(keys)
}

// endGroup ends the documents with one fingerprint. If none of them is kept, the runs of the result
// must not have it.
func (n *numbering) endGroup() {
	if n.any && !n.kept {
		n.inputs[n.input].gone.add(n.at)
		n.gone++
	}
	n.any = false
}

// addBare numbers the documents without a fingerprint.
func (n *numbering) addBare() {
	for i, in := range n.inputs {
		for ; n.next[i] < in.NumDocs(); n.next[i]++ {
			in.numbers.Append(uint32(n.sources.Len()))
			if !in.dead.has(n.next[i]) {
				n.number(i, n.next)
			}
		}
	}
}
