// Package write writes tables: a File has what all tables are written by, section after section,
// and a BatchWriter writes the documents of a Batch. Package merge writes a File from other tables.
package write

import (
	"bufio"
	"fmt"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
	"github.com/simdb/simdb/sstable/internal/table"
)

// Sections writes a file of sections and keeps the first error. Directories of key runs and
// columns are kept in memory, 20 bytes for 512 values, and written side by side after all other
// sections, so that opening a table reads one part of the file.
type Sections struct {
	w        *bufio.Writer
	off      int64 // bytes written
	sum      uint32
	sections []table.Section // the last may be open
	dirs     []pendingDir
	Err      error
}

// pendingDir is a directory that is to be written.
type pendingDir struct {
	kind  table.Kind
	index uint16
	count uint64
	data  []byte
}

// Write appends to the open section.
func (f *Sections) Write(p []byte) (int, error) {
	f.write(p)
	if f.Err != nil {
		return 0, f.Err
	}
	return len(p), nil
}

// write is Write for callers that look at err later.
func (f *Sections) write(p []byte) {
	if f.Err != nil {
		return
	}
	_, f.Err = f.w.Write(p)
	f.sum = kernel.CRC32C(f.sum, p)
	f.off += int64(len(p))
}

// pad appends zero bytes up to the next possible start of a section.
func (f *Sections) pad() {
	var zero [table.Alignment]byte
	f.write(zero[:table.Align(f.off)-f.off])
}

// Begin starts a section.
func (f *Sections) Begin(kind table.Kind, index uint16) {
	f.pad()
	f.sections = append(f.sections, table.Section{Kind: kind, Index: index, Offset: f.off})
	f.sum = 0
}

// offset returns the number of bytes in the open section.
func (f *Sections) offset() int64 { return f.off - f.sections[len(f.sections)-1].Offset }

// end ends the open section, which holds count things.
func (f *Sections) end(count uint64) {
	s := &f.sections[len(f.sections)-1]
	s.Length, s.Count, s.Checksum = f.offset(), count, f.sum
}

// EndWithDir ends the open section, a key run or a column of count values, and keeps its directory.
func (f *Sections) EndWithDir(count int, dir []byte, err error) {
	if f.Err == nil {
		f.Err = err
	}
	f.end(uint64(count))
	s := &f.sections[len(f.sections)-1]
	f.keep(s.Kind|table.DirFlag, s.Index, uint64(count), dir)
}

// keep keeps a directory of count entries or values until writeDirs.
func (f *Sections) keep(kind table.Kind, index uint16, count uint64, data []byte) {
	f.dirs = append(f.dirs, pendingDir{kind, index, count, data})
}

func (f *Sections) writeDirs() {
	for _, d := range f.dirs {
		f.Begin(d.kind, d.index)
		kind := d.kind &^ table.DirFlag
		f.sections[len(f.sections)-1].Optional = kind == table.KindIDParts
		f.write(d.data)
		f.end(d.count)
	}
	f.dirs = nil
}

// File is a table that is being written: what writing one from documents (Writer) and from
// other tables (Merge) have in common.
type File struct {
	Out    Sections
	Params table.Params
	note   []byte
	Info   table.Info
	Err    error // the first error: the writer must not be used after it

	Names        *blobs.ListWriter
	IDParts      *idPartsWriter // nil if the table keeps no order of IDs
	Records      *blobs.RecordsWriter
	Sketches     *sketchidx.Writer // nil if Params.Sketch is 0
	segment      uint16            // that is being written
	areas        uint16            // sections of blocks that have begun
	blocks       int               // in sections of blocks that have ended
	recordBlocks int               // of them, those of records

	earlySum uint32 // checksum of the directory of the early section
	// blocks of names and of sketches that have been written
	writtenNames, writtenSketches int
}

// BeginBlocks begins another section of blocks.
func (t *File) BeginBlocks() {
	t.Out.Begin(table.KindBlocks, t.areas)
	t.areas++
}

// Fail remembers the first error.
func (t *File) Fail(err error) error {
	if t.Err == nil && err != nil {
		t.Err = fmt.Errorf("sstable: write a table: %w", err)
	}
	return t.Err
}

// addName adds the ID of the next document.
func (t *File) addName(id []byte) {
	if t.Names.Add(id) {
		t.FlushNames()
	}
}

// AddRecord adds the next record.
func (t *File) AddRecord(text, fields []byte) {
	if t.Records.Add(text, fields) {
		t.FlushRecords()
	}
}

// FlushNames writes the block of names that has been begun.
func (t *File) FlushNames() { t.writeList(table.KindNames, t.Names, &t.writtenNames) }

// FlushRecords writes the block of records that has been begun.
func (t *File) FlushRecords() { t.Out.write(t.Records.Flush(t.blockOffset())) }

// blockOffset returns where the next block goes, counted from the start of the first section of
// blocks.
func (t *File) blockOffset() int64 { return t.Out.off - t.Out.sections[0].Offset }

// writeList writes the blocks of a list that have ended, after a spare with their entries; done is
// how many blocks were written before.
func (t *File) writeList(kind table.Kind, w *blobs.ListWriter, done *int) {
	first, n := *done, w.NumBlocks()
	*done = n
	if first == n {
		return
	}
	blocks := w.Flush(t.blockOffset() + int64(table.SpareSize+(n-first)*blobs.ListEntry))
	t.Out.write(table.AppendSpare(nil, t.earlySum, kind, first, w.Directory()[first*blobs.ListEntry:]))
	t.Out.write(blocks)
}
