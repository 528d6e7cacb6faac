package sstable

import (
	"bufio"
	"bytes"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
)

// fileWriter writes a file of sections and keeps the first error.
type fileWriter struct {
	w        *bufio.Writer
	off      int64 // bytes written
	sum      uint32
	sections []Section // the last may be open
	err      error
}

// Write appends to the open section.
func (f *fileWriter) Write(p []byte) (int, error) {
	f.write(p)
	if f.err != nil {
		return 0, f.err
	}
	return len(p), nil
}

// write is Write for callers that look at err later.
func (f *fileWriter) write(p []byte) {
	if f.err != nil {
		return
	}
	_, f.err = f.w.Write(p)
	f.sum = crc.Update(f.sum, p)
	f.off += int64(len(p))
}

// pad appends zero bytes up to the next possible start of a section.
func (f *fileWriter) pad() {
	var zero [alignment]byte
	f.write(zero[:align(f.off)-f.off])
}

// begin starts a section.
func (f *fileWriter) begin(kind Kind, index uint16) {
	f.pad()
	f.sections = append(f.sections, Section{Kind: kind, Index: index, Offset: f.off})
	f.sum = 0
}

// offset returns the number of bytes in the open section.
func (f *fileWriter) offset() int64 { return f.off - f.sections[len(f.sections)-1].Offset }

// end ends the open section, which holds count things.
func (f *fileWriter) end(count uint64) {
	s := &f.sections[len(f.sections)-1]
	s.Length, s.Count, s.Checksum = f.offset(), count, f.sum
}

// align returns n rounded up to a multiple of alignment.
func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// Writer writes a table in one pass. It keeps at most about 24 bytes a document in memory:
// fingerprint, hash of the ID, and first what times and sequence numbers compress to, then room to
// sort; beside that, one block of each kind. Sketches take 1 byte a document more, and while their
// segment, of 2^19 documents at most, is not complete, 68 bytes a document and 4 a posting. It must
// not be used concurrently.
type Writer struct {
	out    fileWriter
	params Params
	note   []byte
	info   Info
	last   Document // the one added last, without its slices
	err    error    // the first error: the writer is of no use after it
	closed bool

	names    *blobs.ListWriter
	docs     *blobs.RecordsWriter
	sketches *sketchidx.Writer // nil if Params.Sketch is 0
	segment  uint16            // that is being written
	blocks   int               // in sections of blocks that have ended

	fingerprints []uint64 // in document order
	ids          []uint64 // xxh3-64 of IDs, in document order
	times, seqs  buffered
}

// buffered is a column that is encoded in memory, until its turn to be written comes.
type buffered struct {
	*keyrun.ColumnWriter
	chunks [][]byte
}

// Write keeps a copy of p; it never fails.
func (b *buffered) Write(p []byte) (int, error) {
	b.chunks = append(b.chunks, bytes.Clone(p))
	return len(p), nil
}

// fail remembers the first error.
func (t *Writer) fail(err error) error {
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("sstable: write a table: %w", err)
	}
	return t.err
}

func (t *Writer) flushNames() { t.out.write(t.names.Flush(t.blockOffset())) }

func (t *Writer) flushDocs() { t.out.write(t.docs.Flush(t.blockOffset())) }

// blockOffset returns where the next block goes, counted from the start of the first section of
// blocks.
func (t *Writer) blockOffset() int64 { return t.out.off - t.out.sections[0].Offset }

// HashID returns the hash of an ID that KindIDs is sorted by: xxh3-64, seed 0. It is part of the
// format.
func HashID(id []byte) uint64 { return xxh3.Hash(id) }
