package write

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/contain"
	"github.com/simdb/simdb/internal/table/internal/fieldidx"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/hamming"
)

// BatchWriter writes the table of a Batch, on all processors. It needs about 44 bytes of memory per
// document, and with sketches the memory of a segment (sketchidx.Writer). Records are written
// before the batch, and need no memory afterwards: a table may have more texts than fit in memory.
//
//	w, err := table.NewBatchWriter(ctx, out, p, o)
//	first, err := w.AddRecords(...)		// any number of times
//	info, err := w.Write(batch)
type BatchWriter struct {
	File
	ctx     context.Context
	o       BatchOptions
	file    io.WriteCloser
	batch   *BatchOrder
	placed  uint32 // number of records
	columns sync.Pool
	sets    contain.Sets // sets of the records; empty unless Params.Sets
	hashers sync.Pool    // of *features.SetHasher
	indexed [][]string   // paths of the indexed fields
	values  fieldidx.Values
}

// BatchOptions are the options of NewBatchWriter. The zero value is a good default.
type BatchOptions struct {
	WriterOptions
	Workers int // goroutines that work at a time; 0 means GOMAXPROCS
	// Buffers, if not nil, is memory that Write uses and leaves for the next writer.
	Buffers *BatchBuffers
	// Layout returns the layout for a table of n fingerprints; nil means Params.Layout.
	Layout func(n int64) hamming.Layout
}

// NewBatchWriter returns a writer of a table to a file, which Close closes. The layout of p may be
// LayoutBySize. When ctx ends, the writer stops with its error.
func NewBatchWriter(ctx context.Context, file io.WriteCloser, p format.Params, o BatchOptions) (*BatchWriter, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	t := &BatchWriter{ctx: ctx, o: o, file: file}
	if err := t.Init(t.file, p.ForTable(0), o.WriterOptions); err != nil {
		t.Close()
		return nil, err
	}
	t.Params = p
	t.hashers.New = func() any { return p.NewSetHasher() }
	t.indexed = p.Indexed()
	return t, nil
}

// Close frees the resources of the writer. If Write has not been called, the table is incomplete.
func (t *BatchWriter) Close() { t.file.Close() }

// AddRecords writes n records; record(i) returns the i-th, counted from 0. It returns the number of
// the first record in the table; the others follow. It writes nothing if the table stores no texts.
// alike is the number of records that are near-duplicates of a preceding one.
func (t *BatchWriter) AddRecords(n, alike int, record func(i int) (text, fields []byte)) (first uint32, err error) {
	if t.Err != nil || !t.Params.StoreText {
		return 0, t.Err
	}
	first = t.Records.Len()
	if uint64(first)+uint64(n) > format.MaxDocs {
		return 0, t.Fail(fmt.Errorf("more than %d records: %w", uint32(format.MaxDocs), format.ErrTooLarge))
	}
	var ends []int // ends of the blocks
	size, begin := 0, 0
	for i := range n {
		text, fields := record(i)
		if len(text) > blobs.MaxRecord || len(fields) > blobs.MaxRecord-len(text) {
			return 0, t.Fail(fmt.Errorf("text and fields of %d bytes; the limit is %d: %w", len(text)+len(fields), blobs.MaxRecord, format.ErrTooLarge))
		}
		size += len(text) + len(fields)
		if i+1 == n || blobs.BlockEnds(t.o.BlockSize, size, i+1-begin) {
			ends, size, begin = append(ends, i+1), 0, i+1
		}
	}
	start := func(block int) int {
		if block == 0 {
			return 0
		}
		return ends[block-1]
	}
	raw := func(dst []byte, block int) ([]byte, int) {
		for j := start(block); j < ends[block]; j++ {
			text, fields := record(j)
			dst = blobs.AppendRecord(dst, text, fields)
		}
		return dst, ends[block] - start(block)
	}
	level := t.o.Level
	if level == LevelDefault && alike > 0 && alike >= n/leastAlike {
		level = t.sampleLevel(len(ends), raw)
	}
	return first, t.Fail(t.addBlocks(len(ends), raw, func(block int) ([]contain.Group, fieldidx.Groups) {
		return t.setsOf(start(block), ends[block], record), t.fieldsOf(start(block), ends[block], record)
	}, level))
}

// addBlocks writes n blocks of records. raw appends the records of a block in the format of
// AppendRecord and returns their number; index returns the entries of the block for indexes.
func (t *BatchWriter) addBlocks(n int, raw func(dst []byte, block int) ([]byte, int), index func(block int) ([]contain.Group, fieldidx.Groups), level Level) error {
	buffers := sync.Pool{New: func() any { return new([2][]byte) }} // raw and stored
	type block struct {
		blobs.Encoded
		buffer *[2][]byte
		sets   []contain.Group
		values fieldidx.Groups
	}
	return pipeline.Ordered(t.ctx, n, t.o.Workers, func(i int) (block, error) {
		b, count := buffers.Get().(*[2][]byte), 0
		b[0], count = raw(b[0][:0], i)
		e := blobs.Encode(int(level), b[1][:0], b[0], count)
		b[1] = e.Stored
		sets, values := index(i)
		return block{e, b, sets, values}, nil
	}, func(_ int, b block) error {
		t.sets.Add(b.sets)
		t.values.Add(b.values)
		t.Records.AddEncoded(b.Encoded)
		buffers.Put(b.buffer)
		t.FlushRecords()
		return t.Out.Err
	})
}

const (
	// If at least 1/leastAlike of the records are near-duplicates, the fastest level pays: they
	// make blocks smaller by as much as the level makes them larger.
	leastAlike = 8
	// The fastest level may make blocks larger by 1/mostLarger.
	mostLarger = 16
	// About sampled blocks are compressed with both levels, but at most every sampledOf-th.
	sampled, sampledOf = 8, 32
)

// sampleLevel returns the fastest level, unless it makes a sample of the blocks much larger.
func (t *BatchWriter) sampleLevel(blocks int, raw func(dst []byte, block int) ([]byte, int)) Level {
	var b, stored []byte
	fastest, other := 0, 0
	step := max(blocks/sampled, sampledOf)
	for i := min(step/2, blocks/2); i < blocks; i += step {
		var count int
		b, count = raw(b[:0], i)
		stored = blobs.Encode(blobs.LevelFastest, stored[:0], b, count).Stored
		fastest += len(stored)
		stored = blobs.Encode(blobs.LevelDefault, stored[:0], b, count).Stored
		other += len(stored)
	}
	if fastest > other+other/mostLarger {
		return LevelDefault
	}
	return LevelFastest
}

// Write writes the documents of a batch and completes the table. It returns the Info of the table,
// whose number of documents does not include those left out.
func (t *BatchWriter) Write(b *Batch) (format.Info, error) {
	if _, err := t.Order(b); err != nil {
		return format.Info{}, err
	}
	return t.WriteOrdered()
}

// WriteOrdered is the second half of Write: it writes the documents that Order has sorted.
func (t *BatchWriter) WriteOrdered() (format.Info, error) {
	for _, step := range []func() error{
		t.writeFingerprints, t.writeBatchSeqs, t.writeBatchTimes, t.writeRanks, t.writePlaces, t.writeWords, t.writeNames, t.writePermuted, t.writeWordRuns, t.writeBatchIDs, t.writeIDOrder,
		t.writeSets, t.writeFields,
	} {
		if err := t.Fail(cmp.Or(step(), t.ctx.Err())); err != nil {
			return format.Info{}, err
		}
	}
	info, err := t.Finish()
	if err == nil {
		err = t.Fail(t.file.Close())
	}
	return info, err
}

// Order is the first half of Write: it ends the records, and sorts the documents into the order of
// the table.
func (t *BatchWriter) Order(b *Batch) (o *BatchOrder, err error) {
	if t.Err != nil {
		return nil, t.Err
	}
	if b.Len() > MaxBatch {
		return nil, t.Fail(fmt.Errorf("a batch of %d documents; the limit is %d: %w", b.Len(), MaxBatch, format.ErrTooLarge))
	}
	t.Records.EndBlock()
	t.FlushRecords()
	if t.Records.NumBlocks() > 0 {
		t.placed = t.Records.Len()
	}
	t.EndBlocksSection()
	if t.batch, err = inOrder(t.ctx, b, &t.o.WriterOptions, t.o.Workers, cmp.Or(t.o.Buffers, &BatchBuffers{})); err != nil {
		return nil, t.Fail(err)
	}
	if t.Params.Layout == hamming.LayoutBySize && t.o.Layout != nil {
		t.Params.Layout = t.o.Layout(int64(len(t.batch.fps)))
	}
	t.Params = t.Params.ForTable(int64(len(t.batch.fps)))
	return t.batch, nil
}
