package table

import (
	"context"
	"io"

	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// WriterOptions are the options of everything that writes tables. The zero value is a good default.
type WriterOptions = write.WriterOptions

// Level is how hard a writer compresses.
type Level = write.Level

// Compression levels. Readers need not know which one was used. Merges copy blocks unchanged, so
// the level of a text is chosen when it is first written.
const (
	LevelDefault = write.LevelDefault // zstd's default
	LevelFastest = write.LevelFastest // half the time, 5 % more bytes
	LevelBetter  = write.LevelBetter  // twice the time, 3 % fewer bytes
)

// A Batch has the documents of a table, in columns. If several documents have the same ID, the last
// one wins and the others are left out. A document occupies 12 bytes plus its ID, and 8 bytes more
// with a text and a sketch.
type Batch = write.Batch

// Arena stores many byte strings in a few large blocks and numbers them with 32 bits (AddString,
// Get).
type Arena = write.Arena

// AppendOdd appends an odd sketch in the form in which it stands before an encoded sketch in
// Batch.Codes.
func AppendOdd(dst []byte, odd *oddsketch.Sketch) []byte { return write.AppendOdd(dst, odd) }

// Limits of a Batch.
const (
	MaxBatch = write.MaxBatch // documents
	NoRecord = write.NoRecord // stands for the record number of a document that has none
)

// BatchWriter writes the table of a Batch, on all processors. In addition to the batch it needs
// about 44 bytes of memory per document, and with sketches the memory of a segment. Records are
// written before the batch, as they arrive, and need no memory afterwards: a table may have more
// texts than fit in memory.
//
//	w, err := table.NewBatchWriter(ctx, out, p, o)
//	defer w.Close()
//	first, err := w.AddRecords(...)		// any number of times
//	info, err := w.Write(batch)
type BatchWriter struct{ w *write.BatchWriter }

// BatchOptions are the options of NewBatchWriter. A BatchBuffers holds memory that successive writers
// reuse. The zero values are good defaults.
type (
	BatchOptions = write.BatchOptions
	BatchBuffers = write.BatchBuffers
)

// NewBatchWriter returns a writer of a table to w, which the caller must sync and close. The layout
// of p may be LayoutBySize. Close must be called at the end. When ctx ends, the writer stops and
// returns the context's error.
func NewBatchWriter(ctx context.Context, w io.Writer, p Params, o BatchOptions) (*BatchWriter, error) {
	b, err := write.NewBatchWriter(ctx, write.NewAsyncWriter(w), p, o)
	if err != nil {
		return nil, err
	}
	return &BatchWriter{b}, nil
}

// AddRecords writes n records, whose texts and fields are stored side by side in blocks; record(i)
// returns the i-th, counted from 0. It returns the number of the first record in the table; the
// others follow. It writes nothing if the table stores no texts. alike is the number of records
// that are near-duplicates of a preceding one.
func (t *BatchWriter) AddRecords(n, alike int, record func(i int) (text, fields []byte)) (first uint32, err error) {
	return t.w.AddRecords(n, alike, record)
}

// Write writes the documents of a batch and completes the table. It returns the Info of the table,
// whose number of documents does not include those left out.
func (t *BatchWriter) Write(b *Batch) (Info, error) { return t.w.Write(b) }

// IndexBytes returns how much memory the writer needs for the sets and the indexed fields of the
// records so far, if the table has such indexes.
func (t *BatchWriter) IndexBytes() int64 { return t.w.IndexBytes() }

// Close frees the resources of the writer. If Write has not been called, the table is incomplete.
func (t *BatchWriter) Close() { t.w.Close() }
