package sstable

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/hamming"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
)

// Level is how hard a writer compresses.
type Level int

// Compression levels. Readers need not know which was used.
const (
	LevelDefault Level = blobs.LevelDefault // zstd's default
	LevelFastest Level = blobs.LevelFastest // for tables that will be merged soon
	LevelBetter  Level = blobs.LevelBetter  // for tables that stay
)

// WriterOptions are the options of NewWriter. The zero value is a good default.
type WriterOptions struct {
	BlockSize int   // bytes of texts and fields compressed together; 0 means 32 KiB, at most 16 MiB
	Level     Level // of compression
	Docs      int   // how many documents are expected; saves memory and time, any number will do

	// Hot are the hot hashes of the table's sketches, ascending: what HotHashes or MergedHot found.
	// Any list gives right answers, a good one makes them fast. Ignored if Params.Sketch is 0.
	Hot []HotHash

	// Note is kept with the table for its owner, and returned by Reader.Note. Nil or empty
	// writes none.
	Note []byte

	segmentDocs int    // documents of a segment; 0 means 2^19
	version     uint32 // of the format; 0 means FormatVersion
}

// ErrOrder is in the error of Add for a document that belongs before the one added last.
var ErrOrder = errors.New("documents out of order")

// NewWriter returns a writer of a table to w, which is left to the caller to sync and close.
func NewWriter(w io.Writer, p Params, o WriterOptions) (*Writer, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("sstable: %w", err)
	}
	if o.BlockSize == 0 {
		o.BlockSize = blobs.DefaultBlockSize
	}
	if o.BlockSize < 0 || o.BlockSize > blobs.MaxBlockSize {
		return nil, fmt.Errorf("sstable: block size %d is not in 1..%d", o.BlockSize, blobs.MaxBlockSize)
	}
	if !blobs.ValidLevel(int(o.Level)) {
		return nil, fmt.Errorf("sstable: unknown compression level %d", o.Level)
	}
	t := &Writer{params: p, note: o.Note, out: fileWriter{w: bufio.NewWriterSize(w, 256<<10)}}
	t.names, t.docs = blobs.NewListWriter(blobs.IDs), blobs.NewRecordsWriter(int(o.Level), o.BlockSize)
	expected := int(min(int64(max(o.Docs, 0)), MaxDocs))
	t.fingerprints, t.ids = make([]uint64, 0, expected), make([]uint64, 0, expected)
	t.times.ColumnWriter = keyrun.NewColumnWriter(&t.times)
	t.seqs.ColumnWriter = keyrun.NewColumnWriter(&t.seqs)
	t.info.Version = cmp.Or(o.version, FormatVersion)
	t.info.MinTime, t.info.MaxTime, t.info.MinSeq = math.MaxInt64, math.MinInt64, math.MaxUint64
	t.out.write(appendHeader(nil, t.info.Version))
	t.out.begin(KindBlocks, 0)
	if err := t.initSketches(o); err != nil {
		return nil, err
	}
	return t, nil
}

// Add appends a document. They come in the order of Document.Compare, with IDs unique in the table
// (which Verify checks, not Add). Text and Fields are ignored unless Params.StoreText. d and its
// slices may be reused.
func (t *Writer) Add(d *Document) error {
	if t.err != nil {
		return t.err
	}
	if t.closed {
		return errors.New("sstable: Add after Close")
	}
	err := d.check()
	if err == nil && t.sketches != nil {
		err = sketchidx.CheckSketch(d.Sketch, t.params.Sketch)
	}
	if err != nil {
		return fmt.Errorf("sstable: %w", err)
	}
	if t.info.Docs > 0 && d.Compare(&t.last) < 0 {
		return fmt.Errorf("sstable: document %q: %w", d.ID, ErrOrder)
	}
	if t.info.Docs == MaxDocs {
		return fmt.Errorf("sstable: more than %d documents: %w", uint32(MaxDocs), ErrTooLarge)
	}
	if t.sketches != nil {
		t.addSketch(d.Sketch)
	}
	t.index(d)
	text, fields := d.Text, d.Fields
	if !t.params.StoreText {
		text, fields = nil, nil
	}
	if t.docs.Add(text, fields) {
		t.flushDocs()
	}
	if t.names.Add(d.ID) {
		t.flushNames()
	}
	return t.fail(t.out.err)
}

// index keeps what is indexed of a document.
func (t *Writer) index(d *Document) {
	t.last = Document{HasFingerprint: d.HasFingerprint, Fingerprint: d.Fingerprint}
	t.ids = append(t.ids, HashID(d.ID))
	t.times.Add(orderedTime(d.Time)) // a buffer does not fail
	t.seqs.Add(d.Seq)
	i := &t.info
	i.Docs++
	i.MinTime, i.MaxTime = min(i.MinTime, d.Time), max(i.MaxTime, d.Time)
	i.MinSeq, i.MaxSeq = min(i.MinSeq, d.Seq), max(i.MaxSeq, d.Seq)
	if !d.HasFingerprint {
		return
	}
	if n := len(t.fingerprints); n == 0 || t.fingerprints[n-1] != d.Fingerprint {
		i.Distinct++
	}
	i.Fingerprints++
	t.fingerprints = append(t.fingerprints, d.Fingerprint)
}

// orderedTime maps times to numbers of the same order, as a column stores them.
func orderedTime(t int64) uint64 { return uint64(t) ^ 1<<63 }

// Close writes the indexes, directory and trailer, and returns what the table says of itself. It
// neither syncs nor closes the underlying writer. A writer is of no use after it.
func (t *Writer) Close() (Info, error) {
	if t.closed {
		return t.info, t.err
	}
	t.closed = true
	if t.err != nil {
		return Info{}, t.err
	}
	t.endBlocks()
	t.writeColumn(KindTimes, &t.times)
	t.writeColumn(KindSeqs, &t.seqs)
	spare := t.writeRuns()
	t.writeIDs(spare)
	t.writeNote()
	t.writeFooter()
	if err := t.fail(t.out.err); err != nil {
		return Info{}, err
	}
	return t.info, nil
}

// endBlocks ends the section of blocks and writes those that say where they are.
func (t *Writer) endBlocks() {
	t.flushDocs()
	t.names.EndBlock()
	t.flushNames()
	if t.sketches != nil {
		t.sketches.Blocks().EndBlock()
		t.flushSketches()
	}
	t.endBlocksSection()
	t.out.begin(KindNames, 0)
	t.out.write(t.names.Directory())
	t.out.end(uint64(t.names.NumBlocks()))
	t.out.begin(KindDocs, 0)
	t.out.write(t.docs.Directory())
	t.out.end(uint64(t.docs.NumBlocks()))
	t.names, t.docs = nil, nil
	t.writeSketches()
}

// writeColumn writes a column that was encoded in memory.
func (t *Writer) writeColumn(kind Kind, c *buffered) {
	n, _, err := c.Finish()
	t.fail(err)
	t.out.begin(kind, 0)
	for _, chunk := range c.chunks {
		t.out.write(chunk)
	}
	t.out.end(uint64(n))
	*c = buffered{}
}

// writeRuns writes the key runs of the permuted tables: all fingerprints first, then the distinct
// ones in the other orders, from the last table to the first (see nextOrder). It returns arrays for
// reuse.
func (t *Writer) writeRuns() (spare []uint64) {
	t.writeRun(0, t.fingerprints)
	keys := distinct(t.fingerprints)
	t.fingerprints = nil
	tmp := make([]uint64, len(keys))
	for from, to := 0, t.params.Layout.Tables()-1; to > 0; from, to = to, to-1 {
		keys, tmp = hamming.NextOrder(hamming.Layout(t.params.Layout), from, to, keys, tmp)
		t.writeRun(to, keys)
	}
	if cap(keys) > cap(tmp) {
		return keys
	}
	return tmp
}

// distinct removes repetitions from sorted keys, in place.
func distinct(keys []uint64) []uint64 {
	n := 0
	for _, k := range keys {
		if n == 0 || keys[n-1] != k {
			keys[n] = k
			n++
		}
	}
	return keys[:n]
}

// writeRun writes one key run.
func (t *Writer) writeRun(table int, keys []uint64) {
	t.out.begin(KindRun, uint16(table))
	w := keyrun.NewWriter(&t.out)
	for _, k := range keys {
		if err := w.Add(k); err != nil {
			t.fail(err)
			return
		}
	}
	n, _, err := w.Finish()
	t.fail(err)
	t.out.end(uint64(n))
}

// writeIDs writes the run of hashes of IDs and the column of their documents.
func (t *Writer) writeIDs(spare []uint64) {
	n := len(t.ids)
	if cap(spare) < n {
		spare = make([]uint64, n)
	}
	p := radix.Pairs{Keys: t.ids, Vals: make([]uint32, n)}
	for i := range p.Vals {
		p.Vals[i] = uint32(i)
	}
	p = radix.SortPairs(p, radix.Pairs{Keys: spare[:n], Vals: make([]uint32, n)})
	t.ids = nil
	t.out.begin(KindIDs, 0)
	run := keyrun.NewWriter(&t.out)
	for _, k := range p.Keys {
		if err := run.Add(k); err != nil {
			t.fail(err)
			return
		}
	}
	_, _, err := run.Finish()
	t.fail(err)
	t.out.end(uint64(n))
	t.out.begin(KindIDDocs, 0)
	column := keyrun.NewColumnWriter(&t.out)
	for _, doc := range p.Vals {
		column.Add(uint64(doc)) // its error comes back from Finish
	}
	_, _, err = column.Finish()
	t.fail(err)
	t.out.end(uint64(n))
}

// writeNote writes the owner's note, if there is one.
func (t *Writer) writeNote() {
	if len(t.note) == 0 {
		return
	}
	t.out.begin(KindNote, 0)
	t.out.sections[len(t.out.sections)-1].Optional = true
	t.out.write(t.note)
	t.out.end(uint64(len(t.note)))
}

// writeFooter writes directory and trailer.
func (t *Writer) writeFooter() {
	if t.info.Docs == 0 {
		t.info.MinTime, t.info.MaxTime, t.info.MinSeq = 0, 0, 0
	}
	t.out.pad()
	t.info.Sections = t.out.sections
	t.out.write(appendFooter(nil, t.out.off, t.params, &t.info))
	t.info.Size = t.out.off
	if t.out.err == nil {
		t.out.err = t.out.w.Flush()
	}
}

// HotHash is a hash that many sketches of a table have:
//
//	type HotHash struct {
//		Hash      uint32
//		Documents uint32 // how many documents have it, about; at least 1
//	}
type HotHash = sketchidx.HotHash
