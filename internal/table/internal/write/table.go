package write

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// fileBuffer is how many bytes of a table are collected before they are written.
const fileBuffer = 256 << 10

// Init starts a table.
func (t *File) Init(w io.Writer, p format.Params, o WriterOptions) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("sstable: %w", err)
	}
	if o.BlockSize < 0 || o.BlockSize > blobs.MaxBlockSize {
		return fmt.Errorf("sstable: block size %d is not in 1..%d", o.BlockSize, blobs.MaxBlockSize)
	}
	if !blobs.ValidLevel(int(o.Level)) {
		return fmt.Errorf("sstable: unknown compression level %d", o.Level)
	}
	t.Params, t.note, t.Out = p, o.Note, Sections{w: bufio.NewWriterSize(w, fileBuffer)}
	t.Names, t.Records = blobs.NewListWriter(blobs.IDs), blobs.NewRecordsWriter(int(o.Level), o.BlockSize)
	t.Info.Version, t.Info.Identity = cmp.Or(o.Version, format.FormatVersion), o.Identity
	t.Info.MinTime, t.Info.MaxTime, t.Info.MinSeq = math.MaxInt64, math.MinInt64, math.MaxUint64
	t.Out.write(format.AppendHeader(nil, t.Info.Version))
	t.BeginBlocks()
	return nil
}

// EndBlocks ends the area of blocks.
func (t *File) EndBlocks() {
	t.Names.EndBlock()
	t.FlushNames()
	if t.Sketches != nil {
		t.Sketches.Blocks().EndBlock()
		t.flushSketches()
		if t.Sketches.None() { // otherwise Salvage would think that they are lost
			t.Out.write(format.AppendSpare(nil, t.earlySum, format.KindSketches, 0, nil))
		}
	}
	t.EndBlocksSection()
	t.Out.keep(format.KindNames, 0, uint64(t.Names.NumBlocks()), t.Names.Directory())
	t.KeepRecords()
	t.Names = nil
	t.endSketches()
}

// KeepRecords stores the directory of the blocks of records until writeDirs, unless it has been
// called before. All blocks must have been flushed.
func (t *File) KeepRecords() {
	if t.Records != nil && t.Records.NumBlocks() > 0 {
		t.Out.keep(format.KindRecords, 0, uint64(t.Records.Len()), t.Records.Directory())
	}
	t.Records = nil
}

// Finish writes the note, the directories and the trailer.
func (t *File) Finish() (format.Info, error) {
	t.writeNote()
	t.Out.writeDirs()
	t.writeFooter()
	if err := t.Fail(t.Out.Err); err != nil {
		return format.Info{}, err
	}
	return t.Info, nil
}

// writeNote writes the owner's note, if there is one.
func (t *File) writeNote() {
	if len(t.note) == 0 {
		return
	}
	t.Out.Begin(format.KindNote, 0)
	t.Out.MakeOptional()
	t.Out.write(t.note)
	t.Out.end(uint64(len(t.note)))
}

// setExtremes sets the extremes of a table without documents to zero.
func (t *File) setExtremes() {
	if t.Info.Docs == 0 {
		t.Info.MinTime, t.Info.MaxTime, t.Info.MinSeq = 0, 0, 0
	}
}

// writeFooter writes the directory and the trailer.
func (t *File) writeFooter() {
	t.setExtremes()
	t.Out.pad()
	t.Info.Sections = t.Out.sections
	t.Out.write(format.AppendFooter(nil, t.Out.off, t.Params, &t.Info))
	t.Info.Size = t.Out.off
	if t.Out.Err == nil {
		t.Out.Err = t.Out.w.Flush()
	}
}

// WriteEarly writes the early section.
func (t *File) WriteEarly() {
	t.setExtremes()
	info := t.Info
	info.Sections = slices.Clone(t.Out.sections)
	t.Out.Begin(format.KindEarly, 0)
	start := t.Out.off
	var b []byte
	for _, d := range t.Out.dirs {
		s := format.Section{Kind: d.kind, Index: d.index, Offset: start + int64(len(b)), Length: int64(len(d.data)), Count: d.count}
		if !s.IsCopied() {
			continue
		}
		s.Checksum = kernel.CRC32C(0, d.data)
		info.Sections = append(info.Sections, s)
		b = append(b, d.data...)
		b = append(b, make([]byte, format.Align(int64(len(b)))-int64(len(b)))...)
	}
	b = format.AppendFooter(b, start+int64(len(b)), t.Params, &info)
	copy(b[len(b)-len(format.EarlyMagic):], format.EarlyMagic)
	t.Out.write(b)
	t.Out.end(uint64(len(info.Sections)))
	t.earlySum = info.Checksum
}
