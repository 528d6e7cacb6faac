// Package write writes tables: a File has the parts common to all tables that are written, section
// after section, and a BatchWriter writes the documents of a Batch. Package merge writes a File
// from other tables.
package write

import (
	"bufio"
	"fmt"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/sketchidx"
)

// Sections writes a file of sections and records the first error. It holds the directories of key
// runs and columns in memory, 20 bytes for 512 values, and writes them side by side after all other
// sections, so that opening a table reads one part of the file.
type Sections struct {
	w        *bufio.Writer
	off      int64 // bytes written
	sum      uint32
	sections []format.Section // the last one may be open
	dirs     []pendingDir
	Err      error
}

// pendingDir is a directory to be written.
type pendingDir struct {
	kind  format.Kind
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

// write is Write for callers that check Err later.
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
	var zero [format.Alignment]byte
	f.write(zero[:format.Align(f.off)-f.off])
}

// Begin starts a section.
func (f *Sections) Begin(kind format.Kind, index uint16) {
	f.pad()
	f.sections = append(f.sections, format.Section{Kind: kind, Index: index, Offset: f.off})
	f.sum = 0
}

// offset returns the number of bytes in the open section.
func (f *Sections) offset() int64 { return f.off - f.sections[len(f.sections)-1].Offset }

// end ends the open section, which has count entries or values.
func (f *Sections) end(count uint64) {
	s := &f.sections[len(f.sections)-1]
	s.Length, s.Count, s.Checksum = f.offset(), count, f.sum
}

// EndWithDir ends the open section, a key run or a column of count values, and stores its directory
// until writeDirs.
func (f *Sections) EndWithDir(count int, dir []byte, err error) {
	if f.Err == nil {
		f.Err = err
	}
	f.end(uint64(count))
	s := &f.sections[len(f.sections)-1]
	f.keep(s.Kind|format.DirFlag, s.Index, uint64(count), dir)
}

// MakeOptional marks the last section optional.
func (f *Sections) MakeOptional() { f.sections[len(f.sections)-1].Optional = true }

// keep stores a directory of count entries or values until writeDirs.
func (f *Sections) keep(kind format.Kind, index uint16, count uint64, data []byte) {
	f.dirs = append(f.dirs, pendingDir{kind, index, count, data})
}

func (f *Sections) writeDirs() {
	for _, d := range f.dirs {
		f.Begin(d.kind, d.index)
		kind := d.kind &^ format.DirFlag
		f.sections[len(f.sections)-1].Optional = kind == format.KindIDOrder
		f.write(d.data)
		f.end(d.count)
	}
	f.writeSummaries()
	f.dirs = nil
}

// writeSummaries writes the summaries of the directories, if one of them has several pages.
func (f *Sections) writeSummaries() {
	var b []byte
	count, several := uint64(0), false
	for _, d := range f.dirs {
		if (format.Section{Kind: d.kind}).IsSummarized() {
			several = several || keyrun.HasPages(int64(len(d.data)))
			b, count = keyrun.AppendTop(b, d.data), count+1
		}
	}
	if !several {
		return
	}
	f.Begin(format.KindSummaries, 0)
	f.MakeOptional()
	f.write(b)
	f.end(count)
}

// File is a table that is being written. It has the parts common to tables made from documents
// (BatchWriter) and from other tables (Merge).
type File struct {
	Out    Sections
	Params format.Params
	note   []byte
	Info   format.Info
	Err    error // the first error, after which the writer must not be used

	Names        *blobs.ListWriter
	Records      *blobs.RecordsWriter
	Sketches     *sketchidx.Writer // nil if Params.Sketch is 0
	segment      uint16            // index of the current segment
	areas        uint16            // number of sections of blocks that have been started
	blocks       int               // number of blocks in finished sections of blocks
	recordBlocks int               // blocks of records

	earlySum uint32 // checksum of the directory of the early section
	// numbers of blocks of names and of sketches that have been written
	writtenNames, writtenSketches int
}

// BeginBlocks starts another section of blocks.
func (t *File) BeginBlocks() {
	t.Out.Begin(format.KindBlocks, t.areas)
	t.areas++
}

// Fail records the first error.
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

// FlushNames writes the finished blocks of names.
func (t *File) FlushNames() { t.writeList(format.KindNames, t.Names, &t.writtenNames) }

// FlushRecords writes the finished blocks of records.
func (t *File) FlushRecords() { t.Out.write(t.Records.Flush(t.blockOffset())) }

// blockOffset returns the offset of the next block, relative to the first section of blocks.
func (t *File) blockOffset() int64 { return t.Out.off - t.Out.sections[0].Offset }

// writeList writes the finished blocks of a list, after a spare with their entries; done is the
// number of blocks written before.
func (t *File) writeList(kind format.Kind, w *blobs.ListWriter, done *int) {
	first, n := *done, w.NumBlocks()
	*done = n
	if first == n {
		return
	}
	blocks := w.Flush(t.blockOffset() + int64(format.SpareSize+(n-first)*blobs.ListEntry))
	t.Out.write(format.AppendSpare(nil, t.earlySum, kind, first, w.Directory()[first*blobs.ListEntry:]))
	t.Out.write(blocks)
}
