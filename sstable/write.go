package sstable

import (
	"context"
	"io"

	"github.com/simdb/simdb/sstable/internal/write"
)

// WriterOptions are the options of all that write tables. The zero value is a good default:
//
//	type WriterOptions struct {
//		BlockSize int      // bytes of texts and fields compressed together; 0 means 24 KiB
//		Level     Level    // of compression
//		Identity  Identity // is kept with the table
//		Note      []byte   // is kept for the table's owner, and returned by Reader.Note
//		...                // what tests set
//	}
type WriterOptions = write.WriterOptions

// Level is how hard a writer compresses.
type Level = write.Level

// Compression levels. Readers need not know which was used. Merges copy blocks unchanged, so
// the level of a text is chosen once.
const (
	LevelDefault = write.LevelDefault // zstd's default
	LevelFastest = write.LevelFastest // half the time, 5 % more bytes
	LevelBetter  = write.LevelBetter  // twice the time, 3 % fewer bytes
)

// A Batch is the documents of a table, in columns. Of documents with equal IDs the last counts, and
// the others are left out. A document takes 12 bytes and its ID, and with text and sketch 8 bytes
// more:
//
//	type Batch struct {
//		Seqs     []uint64 // sequence number of each document; nil: FirstSeq + i
//		FirstSeq uint64
//
//		Fingerprints []uint64     // of each document; any value for those in Bare
//		Rest         [][]uint64   // the other words of fingerprints: a column a word
//		Bare         []uint64     // without one: bit i%64 of word i/64; may be short
//		IDs          []uint32     // of each document, the number of its ID in Strings
//		Strings      *Arena       // has the IDs
//
//		Times []int64 // of each document, microseconds since the Unix epoch; nil: all are Time
//		Time  int64
//
//		Records  []uint32     // of each, what AddRecords counted, or NoRecord; nil: none has one
//		Sketches []uint32     // of each, the number of its sketch in Codes; nil: none has one
//		Codes    *Arena       // has the encoded sketches, an empty string for none
//	}
type Batch = write.Batch

// Arena keeps many byte strings in few large blocks, each under a number of 32 bits (AddString,
// Get).
type Arena = write.Arena

// Limits of a Batch.
const (
	MaxBatch = write.MaxBatch // documents
	NoRecord = write.NoRecord // is in the place of a record's number for a document that has none
)

// BatchWriter writes the table of a Batch, on all processors. In addition to the batch it takes
// about 32 bytes of memory per document, and with sketches those of a segment. Records are
// written before the batch, as they come, and then take no memory: a table may have more texts
// than fit in memory.
//
//	w, err := sstable.NewBatchWriter(ctx, out, p, o)
//	defer w.Close()
//	first, err := w.AddRecords(...)		// any number of times
//	info, err := w.Write(batch)
type BatchWriter struct{ w *write.BatchWriter }

// BatchOptions are the options of NewBatchWriter, and BatchRoom memory for one writer after the
// other. The zero values are good defaults:
//
//	type BatchOptions struct {
//		WriterOptions
//		Workers int                  // goroutines that work at a time; 0 means GOMAXPROCS
//		Room    *BatchRoom           // if not nil, memory for this writer and the next
//		Layout  func(n int64) Layout // for a table of n fingerprints; nil: that of the parameters
//	}
type (
	BatchOptions = write.BatchOptions
	BatchRoom    = write.BatchRoom
)

// NewBatchWriter returns a writer of a table to w, which the caller must sync and close. The
// layout of p may be LayoutBySize. Close must be called at the end. When ctx ends, the work
// stops with its error.
func NewBatchWriter(ctx context.Context, w io.Writer, p Params, o BatchOptions) (*BatchWriter, error) {
	b, err := write.NewBatchWriter(ctx, write.NewAsyncWriter(w), p, o)
	if err != nil {
		return nil, err
	}
	return &BatchWriter{b}, nil
}

// AddRecords writes n records, given by number from 0, whose texts and fields lie side by side
// in blocks. It returns the number of the first record in the table; the others follow. Nothing
// is written if the table keeps no texts. alike says how many of the records are
// near-duplicates of one shortly before.
func (t *BatchWriter) AddRecords(n, alike int, record func(i int) (text, fields []byte)) (first uint32, err error) {
	return t.w.AddRecords(n, alike, record)
}

// Write writes the documents of a batch, and completes the table. It returns the Info of the
// table; its number of documents does not include those left out.
func (t *BatchWriter) Write(b *Batch) (Info, error) { return t.w.Write(b) }

// IndexBytes returns how much memory the writer needs for the sets and the indexed fields of the
// records so far, if the table has such indexes.
func (t *BatchWriter) IndexBytes() int64 { return t.w.IndexBytes() }

// Close frees the resources of the writer. If Write has not been called, the table is incomplete.
func (t *BatchWriter) Close() { t.w.Close() }
