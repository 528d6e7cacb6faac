package compaction

import (
	"container/heap"
	"context"
	"fmt"
	"math"

	"github.com/simdb/simdb/sstable"
)

// Dropped is the new number of a document that the merged table does not hold.
const Dropped = ^uint32(0)

// Input is a table to merge.
type Input struct {
	*sstable.Reader
	// Keep reports whether the merged table gets document doc; nil keeps all.
	Keep func(doc uint32) (bool, error)
	// Seq, if not nil, gives the sequence number to write instead of the one stored.
	Seq func(stored uint64) uint64
}

// Merge merges the inputs into one table: it is a Merger with one output. It returns the new number
// of each input's documents, Dropped for those not kept.
func Merge(ctx context.Context, w *sstable.Writer, inputs []Input, progress func(done, total int64)) (renumber [][]uint32, err error) {
	m, err := NewMerger(ctx, inputs, progress)
	if err == nil {
		err = m.Fill(w, math.MaxUint32)
	}
	if err != nil {
		return nil, err
	}
	return m.Renumber(), nil
}

// A Merger merges tables into one or several: the documents of all inputs in fingerprint order, by
// a heap of one iterator per input, so that every byte is read and written once. Documents with
// equal keys come in the order of their inputs.
//
//	m, err := NewMerger(ctx, inputs, nil)
//	for err == nil && m.More() {
//		err = writeTable(func(w *sstable.Writer) error { return m.Fill(w, most) })
//	}
//
// At least one of the inputs must stay open until the writers are closed. Memory: 4 bytes a
// document for the new numbers, a block of documents per input, and what the writers need.
type Merger struct {
	ctx      context.Context
	progress func(done, total int64)
	inputs   []Input
	renumber [][]uint32
	heap     cursors
	next     uint32 // number of the next document written
	read     int64  // documents, of total
	total    int64
}

// NewMerger starts a merge. Progress, if not nil, gets the number of documents read and their
// total. An error of an input, or of ctx, ends the merge in NewMerger or Fill.
func NewMerger(ctx context.Context, inputs []Input, progress func(done, total int64)) (*Merger, error) {
	m := &Merger{ctx: ctx, progress: progress, inputs: inputs, renumber: make([][]uint32, len(inputs))}
	for _, in := range inputs {
		m.total += int64(in.NumDocs())
	}
	for i, in := range inputs {
		m.renumber[i] = make([]uint32, in.NumDocs())
		c := &cursor{input: i, it: in.Iter()}
		more, err := m.advance(c)
		if err != nil {
			return nil, err
		}
		if more {
			m.heap = append(m.heap, c)
		}
	}
	heap.Init(&m.heap)
	return m, nil
}

// More reports whether documents are left for another output.
func (m *Merger) More() bool { return len(m.heap) > 0 }

// Fill adds the next documents to w, at most the given number.
func (m *Merger) Fill(w *sstable.Writer, most uint32) error {
	for ; len(m.heap) > 0 && most > 0; most-- {
		c := m.heap[0]
		if err := w.Add(c.it.Document()); err != nil {
			return err
		}
		m.renumber[c.input][c.it.Doc()] = m.next
		m.next++
		more, err := m.advance(c)
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&m.heap, 0)
		} else {
			heap.Pop(&m.heap)
		}
	}
	if m.progress != nil && len(m.heap) == 0 {
		m.progress(m.total, m.total)
	}
	return nil
}

// Renumber returns the new number of each input's documents, Dropped for those not kept. Numbers go
// on from one output to the next: with outputs of 10 documents, number 12 is document 2 of the
// second. The result is complete when More returns false.
func (m *Merger) Renumber() [][]uint32 { return m.renumber }

// advance moves c to its input's next document to keep, and reports whether there is one.
func (m *Merger) advance(c *cursor) (more bool, err error) {
	in := m.inputs[c.input]
	for c.it.Next() {
		if m.read%4096 == 0 {
			if err := m.ctx.Err(); err != nil {
				return false, err
			}
			if m.progress != nil {
				m.progress(m.read, m.total)
			}
		}
		m.read++
		doc := c.it.Doc()
		keep := true
		if in.Keep != nil {
			if keep, err = in.Keep(doc); err != nil {
				return false, err
			}
		}
		if !keep {
			m.renumber[c.input][doc] = Dropped
			continue
		}
		d := c.it.Document()
		if in.Seq != nil {
			d.Seq = in.Seq(d.Seq)
		}
		c.fingerprint, c.none = d.Fingerprint, !d.HasFingerprint
		return true, nil
	}
	if err := c.it.Err(); err != nil {
		return false, fmt.Errorf("reading a table to merge: %w", err)
	}
	return false, nil
}

// A cursor stands on a document of an input.
type cursor struct {
	input       int
	it          *sstable.Iter
	fingerprint uint64 // of the document
	none        bool   // it has no fingerprint, and comes after those that have
}

// cursors is a heap: the document that comes first in the merged table on top (see
// sstable.Document.Compare).
type cursors []*cursor

func (h cursors) Len() int { return len(h) }
func (h cursors) Less(i, j int) bool {
	a, b := h[i], h[j]
	switch {
	case a.none != b.none:
		return b.none
	case !a.none && a.fingerprint != b.fingerprint:
		return a.fingerprint < b.fingerprint
	}
	return a.input < b.input
}
func (h cursors) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *cursors) Push(x any)   { *h = append(*h, x.(*cursor)) }
func (h *cursors) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
