package compaction

import (
	"context"
	"io"

	"github.com/simdb/simdb/sstable"
)

// Input is a table to merge, with the documents to leave out and what to add to its sequence
// numbers.
type Input = sstable.MergeInput

// Merge writes to w a table of the inputs' documents, made with p (see sstable.Merge). It chooses
// the hot hashes of the sketches for it. It returns what the table says of itself, and the numbers
// that the inputs' documents have in it.
func Merge(ctx context.Context, w io.Writer, p sstable.Params, inputs []Input, o sstable.MergeOptions) (sstable.Info, *sstable.Renumbering, error) {
	readers := make([]*sstable.Reader, len(inputs))
	for i, in := range inputs {
		readers[i] = in.Reader
	}
	hot, err := sstable.MergedHot(readers...)
	if err != nil {
		return sstable.Info{}, nil, err
	}
	o.Hot = hot
	return sstable.Merge(ctx, w, p, inputs, o)
}
