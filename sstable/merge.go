package sstable

import (
	"context"
	"io"

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

// MergeOptions are the options of Merge. The zero value is a good default:
//
//	type MergeOptions struct {
//		WriterOptions // Level is for records that are rewritten
//		Workers int   // goroutines that work at a time; 0 means GOMAXPROCS
//		Erase   bool  // no text of a document that is left out stays in the result
//		// Progress, if not nil, gets the number of documents done, and their total. It is called
//		// from one goroutine at a time.
//		Progress func(done, total int64)
//	}
//
// Without Erase, blocks of records are copied with some dead ones, out of reach.
type MergeOptions = merge.Options

// Renumbering says which numbers the documents of merged tables have in the table that they were
// merged to:
//
//	func (r *Renumbering) New(input int, doc uint32) (number uint32, kept bool)
type Renumbering = merge.Renumbering

// Merge writes a table with the documents of other tables, whose parameters must be Compatible
// with p (whose layout may be LayoutBySize) and whose IDs must differ, except those of
// documents that Keep leaves out. It returns the Info of the table and the new numbers of the
// documents. Documents with equal fingerprints are in the order of their inputs.
//
// Every index of the result is merged from those of the inputs, one part of the keys after the
// other: nothing is sorted unless the layout of an input cannot be used for that of the result.
// Compressed records and encoded sketches are copied; a block of records is rewritten only if
// less than three quarters of its records, or of their bytes, are left. Memory, of k inputs:
// log2 k bits a document and its new number, in 2 + log2 k bits, or 11 up to 64 Mi documents;
// where documents are left out or the sequence numbers of inputs interleave, twice that; and
// some tens of megabytes. With sketches, the bitmaps and postings of a segment come on top.
func Merge(ctx context.Context, w io.Writer, p Params, inputs []MergeInput, o MergeOptions) (Info, *Renumbering, error) {
	tables := make([]merge.Input, len(inputs))
	for i, in := range inputs {
		tables[i] = merge.Input{Table: in.t, Keep: in.Keep, SeqShift: in.SeqShift}
	}
	return merge.Merge(ctx, w, p, tables, o)
}
