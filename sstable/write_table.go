package sstable

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/simdb/simdb/sstable/internal/blobs"
)

// fileBuffer is how many bytes of a table are collected before they are written.
const fileBuffer = 256 << 10

// init begins a table.
func (t *tableFile) init(w io.Writer, p Params, o WriterOptions) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("sstable: %w", err)
	}
	if o.BlockSize == 0 {
		o.BlockSize = blobs.DefaultBlockSize
	}
	if o.BlockSize < 0 || o.BlockSize > blobs.MaxBlockSize {
		return fmt.Errorf("sstable: block size %d is not in 1..%d", o.BlockSize, blobs.MaxBlockSize)
	}
	if !blobs.ValidLevel(int(o.Level)) {
		return fmt.Errorf("sstable: unknown compression level %d", o.Level)
	}
	t.params, t.note, t.out = p, o.Note, fileWriter{w: bufio.NewWriterSize(w, fileBuffer)}
	t.names, t.records = blobs.NewListWriter(blobs.IDs), blobs.NewRecordsWriter(int(o.Level), o.BlockSize)
	t.info.Version, t.info.Identity = cmp.Or(o.version, FormatVersion), o.Identity
	t.info.MinTime, t.info.MaxTime, t.info.MinSeq = math.MaxInt64, math.MinInt64, math.MaxUint64
	t.out.write(appendHeader(nil, t.info.Version))
	t.beginBlocks()
	return nil
}

// endBlocks ends the area of blocks.
func (t *tableFile) endBlocks() {
	t.names.EndBlock()
	t.flushNames()
	if t.sketches != nil {
		t.sketches.Blocks().EndBlock()
		t.flushSketches()
		if t.sketches.None() { // so that none is not taken for lost
			t.out.write(appendSpare(nil, t.earlySum, KindSketches, 0, nil))
		}
	}
	t.endBlocksSection()
	t.endIDParts()
	t.out.keep(KindNames, 0, uint64(t.names.NumBlocks()), t.names.Directory())
	t.keepRecords()
	t.names = nil
	t.endSketches()
}

// keepRecords keeps the directory of the blocks of records, which have all been flushed, unless it
// has been kept.
func (t *tableFile) keepRecords() {
	if t.records != nil && t.records.NumBlocks() > 0 {
		t.out.keep(KindRecords, 0, uint64(t.records.Len()), t.records.Directory())
	}
	t.records = nil
}

// finish writes note, directories, and trailer.
func (t *tableFile) finish() (Info, error) {
	t.writeNote()
	t.out.writeDirs()
	t.writeFooter()
	if err := t.fail(t.out.err); err != nil {
		return Info{}, err
	}
	return t.info, nil
}

// writeNote writes the owner's note, if there is one.
func (t *tableFile) writeNote() {
	if len(t.note) == 0 {
		return
	}
	t.out.begin(KindNote, 0)
	t.out.sections[len(t.out.sections)-1].Optional = true
	t.out.write(t.note)
	t.out.end(uint64(len(t.note)))
}

// setExtremes sets the extremes of a table without documents to zero.
func (t *tableFile) setExtremes() {
	if t.info.Docs == 0 {
		t.info.MinTime, t.info.MaxTime, t.info.MinSeq = 0, 0, 0
	}
}

// writeFooter writes directory and trailer.
func (t *tableFile) writeFooter() {
	t.setExtremes()
	t.out.pad()
	t.info.Sections = t.out.sections
	t.out.write(appendFooter(nil, t.out.off, t.params, &t.info))
	t.info.Size = t.out.off
	if t.out.err == nil {
		t.out.err = t.out.w.Flush()
	}
}
