package table

import (
	"context"
	"io"

	"github.com/simdb/simdb/internal/table/internal/merge"
)

// MergeInput is a table to merge.
type MergeInput struct {
	*Reader
	// Keep reports whether document doc goes into the merged table; nil means that all do. It is
	// called from several goroutines, once for each document.
	Keep func(doc uint32) (bool, error)
	// SeqShift is added to the sequence numbers, modulo 2^64. The sums must have the same order as
	// the numbers.
	SeqShift uint64
}

// MergeOptions are the options of Merge. The zero value is a good default. Without Erase,
// copied blocks of records may contain records of dropped documents, which nothing refers to.
type MergeOptions = merge.Options

// Renumbering maps the documents of merged tables to their numbers in the resulting table.
type Renumbering = merge.Renumbering

// Merge writes a table with the documents of other tables. Their parameters must be Compatible with
// p, whose layout may be LayoutBySize. Their IDs must differ, except those of documents that Keep
// leaves out. Merge returns the Info of the table and the new numbers of the documents. Documents
// with equal fingerprints are in the order of their inputs.
//
// Every index of the result is merged from the inputs' indexes, one part of the keys after the
// other. Nothing is sorted unless the layout of an input cannot be used for the layout of the
// result. Compressed records and encoded sketches are copied; a block of records is rewritten only
// if less than three quarters of its records, or of their bytes, remain. For k inputs, Merge needs
// log2 k bits a document, and for its new number 2 + log2 k bits, or 11 up to 64 Mi documents;
// twice that if documents are left out or the sequence numbers of inputs interleave; and some tens
// of megabytes. With sketches, the bitmaps and postings of a segment are added to that.
func Merge(ctx context.Context, w io.Writer, p Params, inputs []MergeInput, o MergeOptions) (Info, *Renumbering, error) {
	tables := make([]merge.Input, len(inputs))
	for i, in := range inputs {
		tables[i] = merge.Input{Table: in.t, Keep: in.Keep, SeqShift: in.SeqShift}
	}
	return merge.Merge(ctx, w, p, tables, o)
}
