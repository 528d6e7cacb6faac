package sstable

import (
	"bufio"
	"fmt"

	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
)

// fileWriter writes a file of sections and keeps the first error. Directories of key runs and
// columns are kept in memory, 20 bytes for 512 values, and written side by side after all other
// sections, so that opening a table reads one part of the file.
type fileWriter struct {
	w        *bufio.Writer
	off      int64 // bytes written
	sum      uint32
	sections []Section // the last may be open
	dirs     []pendingDir
	err      error
}

// pendingDir is a directory that is to be written.
type pendingDir struct {
	kind  Kind
	index uint16
	count uint64
	data  []byte
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

// endWithDir ends the open section, a key run or a column of count values, and keeps its directory.
func (f *fileWriter) endWithDir(count int, dir []byte, err error) {
	if f.err == nil {
		f.err = err
	}
	f.end(uint64(count))
	s := &f.sections[len(f.sections)-1]
	f.keep(s.Kind|dirFlag, s.Index, uint64(count), dir)
}

// keep keeps a directory of count entries or values until writeDirs.
func (f *fileWriter) keep(kind Kind, index uint16, count uint64, data []byte) {
	f.dirs = append(f.dirs, pendingDir{kind, index, count, data})
}

// writeDirs writes the directories.
func (f *fileWriter) writeDirs() {
	for _, d := range f.dirs {
		f.begin(d.kind, d.index)
		kind := d.kind &^ dirFlag
		f.sections[len(f.sections)-1].Optional = kind == KindIDParts
		f.write(d.data)
		f.end(d.count)
	}
	f.dirs = nil
}

// align returns n rounded up to a multiple of alignment.
func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// tableFile is a table that is being written: what writing one from documents (Writer) and from
// other tables (Merge) have in common.
type tableFile struct {
	out    fileWriter
	params Params
	note   []byte
	info   Info
	err    error // the first error: the writer must not be used after it

	names        *blobs.ListWriter
	idParts      *idPartsWriter // nil if the table keeps no order of IDs
	records      *blobs.RecordsWriter
	sketches     *sketchidx.Writer // nil if Params.Sketch is 0
	segment      uint16            // that is being written
	areas        uint16            // sections of blocks that have begun
	blocks       int               // in sections of blocks that have ended
	recordBlocks int               // of them, those of records

	earlySum uint32 // checksum of the directory of the early section
	// blocks of names and of sketches that have been written
	writtenNames, writtenSketches int
}

// beginBlocks begins another section of blocks.
func (t *tableFile) beginBlocks() {
	t.out.begin(KindBlocks, t.areas)
	t.areas++
}

// fail remembers the first error.
func (t *tableFile) fail(err error) error {
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("sstable: write a table: %w", err)
	}
	return t.err
}

// addName adds the ID of the next document.
func (t *tableFile) addName(id []byte) {
	if t.names.Add(id) {
		t.flushNames()
	}
}

// addRecord adds the next record.
func (t *tableFile) addRecord(text, fields []byte) {
	if t.records.Add(text, fields) {
		t.flushRecords()
	}
}

func (t *tableFile) flushNames() { t.writeList(KindNames, t.names, &t.writtenNames) }

func (t *tableFile) flushRecords() { t.out.write(t.records.Flush(t.blockOffset())) }

// blockOffset returns where the next block goes, counted from the start of the first section of
// blocks.
func (t *tableFile) blockOffset() int64 { return t.out.off - t.out.sections[0].Offset }
