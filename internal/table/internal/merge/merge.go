package merge

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"

	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// Merge writes a table with the documents of other tables. Their parameters must be Compatible with
// p, whose layout may be LayoutBySize. Their IDs must differ, except those of documents that Keep
// leaves out. Merge returns the Info of the table and the new numbers of the documents. Documents
// with equal fingerprints are in the order of their inputs.
//
// Every index of the result is merged from the inputs' indexes, one range of keys at a time.
// Nothing is sorted unless the layout of an input cannot be used for the layout of the result.
// Compressed records and encoded sketches are copied; a block of records is rewritten only if less
// than three quarters of its records, or of their bytes, remain. For k inputs, Merge needs twice
// log2 k bits a document, and for its new number 2 + log2 k bits, or 11 up to 64 Mi documents; twice that
// if documents are left out or the sequence numbers of inputs interleave; and some tens of
// megabytes. sketchidx.Writer says how much memory a segment of sketches needs in addition.
func Merge(ctx context.Context, w io.Writer, p format.Params, inputs []Input, o Options) (format.Info, *Renumbering, error) {
	m := &merger{
		ctx: ctx, o: o, progress: o.Progress, workers: o.Workers,
		piece: cmp.Or(o.Piece, keyPiece), sorted: cmp.Or(o.Sorted, sortedTogether), goneMost: cmp.Or(o.Sorted, goneTogether),
		erase: o.Erase, spare: cmp.Or(o.Spare, math.MaxUint32), chunkBytes: cmp.Or(o.Chunk, chunkBytes),
	}
	if m.workers <= 0 {
		m.workers = runtime.GOMAXPROCS(0)
	}
	for _, in := range inputs {
		if !in.Params.Compatible(p) {
			return format.Info{}, nil, fmt.Errorf("sstable: merge %s: made with %s", in.File, in.Params.Diff(p))
		}
		m.inputs = append(m.inputs, &mergeInput{Input: in})
		m.tables = append(m.tables, in.Table)
		defer in.Pages.Sequential()()
	}
	fingerprints, err := int64(0), m.guarded(func() error {
		for _, in := range inputs {
			in.Table.Whole()
		}
		return m.count()
	})
	for _, in := range m.inputs {
		fingerprints += int64(in.keptFP)
	}
	if err == nil {
		p = p.ForTable(fingerprints)
		out := write.NewAsyncWriter(w)
		defer out.Close() // repeats the error of a write, or has been checked before
		m.file, m.o = out, o
		err = m.Init(out, p, o.WriterOptions)
		if err == nil && p.Sketch > 0 {
			err = m.beginSketches()
		}
	}
	if err != nil {
		return format.Info{}, nil, err
	}
	for _, in := range m.inputs {
		m.total += int64(in.Info.Docs) * int64(8+p.NumWords()*p.Layout.Tables())
		if in.Expiries != nil {
			m.total += int64(in.Info.Docs)
		}
		if p.Sets {
			m.total += int64(in.Info.Docs) + int64(in.Table.Sets.Keys.Len())
		}
		for i := range in.Table.Fields {
			m.total += int64(in.Table.Fields[i].Docs.Len())
		}
	}
	for _, step := range mergeSteps {
		if err := m.Fail(m.guarded(func() error { return step(m) })); err != nil {
			return format.Info{}, nil, err
		}
	}
	info, err := m.Finish()
	if err == nil {
		err = m.Fail(m.file.Close())
	}
	if err != nil {
		return format.Info{}, nil, err
	}
	m.report(m.total)
	r := &Renumbering{}
	for _, in := range m.inputs {
		r.inputs = append(r.inputs, renumbered{in.numbers, in.dead})
	}
	return info, r, nil
}

// mergeSteps are the steps of a merge, in order: later ones use data that earlier ones leave in
// memory.
var mergeSteps = []func(*merger) error{
	(*merger).orderIDs, (*merger).copyRecords, (*merger).mergeFingerprints, (*merger).mergeSeqs, (*merger).mergeTimes, (*merger).mergeRanks,
	(*merger).mergePlaces, (*merger).mergeWords, (*merger).mergeBlocks, (*merger).mergeRuns, (*merger).mergeWordRuns,
	(*merger).mergeIDs, (*merger).mergeIDOrder, (*merger).mergeSets, (*merger).mergeFields,
}

// Renumbering maps the documents of merged tables to their numbers in the resulting table.
type Renumbering struct{ inputs []renumbered }

type renumbered struct {
	numbers *Mapping
	dead    write.Bitset
}

// New returns the new number of document doc of an input, and false if it was left out.
func (r *Renumbering) New(input int, doc uint32) (number uint32, kept bool) {
	in := r.inputs[input]
	if in.dead.Has(doc) {
		return 0, false
	}
	return in.numbers.Get(doc), true
}

// count finds the documents that are left out, and counts the others.
func (m *merger) count() error {
	docs := int64(0)
	for _, in := range m.inputs {
		if err := in.findDead(m); err != nil {
			return err
		}
	}
	for _, in := range m.inputs {
		docs += int64(in.kept)
	}
	if docs > format.MaxDocs {
		return fmt.Errorf("sstable: merge %d documents into one table; the limit is %d: %w", docs, uint32(format.MaxDocs), format.ErrTooLarge)
	}
	m.docs = uint32(docs)
	return nil
}

// findDead finds the documents that Keep leaves out.
func (in *mergeInput) findDead(m *merger) error {
	n := in.Info.Docs
	in.kept, in.keptFP = n, in.Info.Fingerprints
	if in.Keep == nil {
		return nil
	}
	dead := write.NewBitset(n)
	chunks := int((uint64(n) + docChunk - 1) / docChunk)
	err := pipeline.Ordered(m.ctx, chunks, m.workers, func(i int) (none struct{}, err error) {
		defer format.UnguardAny(m.tables, format.Guard(), &err)
		from, to := chunkOf(i, n)
		for doc := from; doc < to; doc++ {
			keep, err := in.Keep(doc)
			if err != nil {
				return none, err
			}
			if !keep {
				dead.Add(doc) // safe, since chunks have whole words of the bit set
			}
		}
		return none, nil
	}, func(int, struct{}) error { return nil })
	in.kept -= dead.Count(0, n)
	in.keptFP -= dead.Count(0, in.keptFP)
	if in.kept < n {
		in.dead = dead
	}
	return err
}
