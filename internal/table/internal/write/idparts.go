package write

import (
	"cmp"
	"encoding/binary"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// A table of at least two parts stores the order of its IDs for IDOrder: the first IDs of parts,
// and for each stretch of documents a key run of
//
//	part << w | document of the stretch
//
// where w is the number of bits of the greatest such document. That needs 12 bits per document of a
// stretch of 2^22 in 1,024 parts, and 15.5 in 2^14. While the table is written, one stretch is in
// memory at a time. Its section lies between two sections of blocks, like those of a segment.
const (
	stretchDocs = 1 << 22 // documents of a stretch
	// PartDocs is about how many documents a part has, unless that would give more than
	// format.MaxIDParts parts. The IDs of a part are in as many places, and a query verifies the
	// block of each.
	PartDocs = 1 << 11
	// SampledIDs is how many IDs per part are sampled to determine the bounds of parts.
	SampledIDs = 16
)

// idPartsWriter writes the order of IDs.
type idPartsWriter struct {
	Divider *format.IDDivider
	workers int
	stretch int      // documents per stretch
	index   uint16   // index of the current stretch
	parts   []uint16 // parts of its documents
	docs    []uint32 // buffer
	found   []uint16 // buffer
}

// NumIDParts returns how many parts the order of IDs of a table of docs documents has. If it
// returns less than 2, the table has no order of IDs.
func NumIDParts(docs int, o WriterOptions) int {
	return min(docs/cmp.Or(o.PartDocs, PartDocs), format.MaxIDParts)
}

// DivideIDs starts the order of IDs, with the given number of parts of about equal size, estimated
// from a non-empty sample. It sorts the sample.
func (t *File) DivideIDs(sample [][]byte, parts int, o WriterOptions, workers int) {
	t.IDParts = &idPartsWriter{
		Divider: format.NewIDDivider(sample, parts), workers: workers, stretch: cmp.Or(o.StretchDocs, stretchDocs),
	}
}

// addPartsOf adds the parts of the IDs of the next documents, if the table has an order of IDs.
func (t *File) addPartsOf(ids [][]byte) {
	if w := t.IDParts; w != nil {
		w.found = w.Divider.AppendParts(w.found[:0], ids)
		t.AddIDParts(w.found)
	}
}

// AddIDParts adds the parts of the next documents.
func (t *File) AddIDParts(parts []uint16) {
	for len(parts) > 0 {
		w := t.IDParts
		n := min(len(parts), w.stretch-len(w.parts))
		w.parts, parts = append(w.parts, parts[:n]...), parts[n:]
		if len(w.parts) == w.stretch {
			t.FlushNames()
			if t.Sketches != nil {
				t.flushSketches()
			}
			t.EndBlocksSection()
			t.endStretch()
			t.BeginBlocks()
		}
	}
}

func (t *File) endStretch() {
	w := t.IDParts
	t.Out.Begin(format.KindIDParts, w.index)
	t.Out.sections[len(t.Out.sections)-1].Optional = true
	run := keyrun.NewParallelWriter(keyrun.NewWriter(&t.Out), w.workers)
	err := w.write(run)
	dir, e := run.Finish()
	t.Out.EndWithDir(run.Len(), dir, cmp.Or(err, e))
	w.index, w.parts = w.index+1, w.parts[:0]
}

// write writes the keys of a stretch: its documents sorted by their parts.
func (w *idPartsWriter) write(run *keyrun.ParallelWriter) error {
	next := make([]uint32, w.Divider.Parts()+1) // by part: the position of its next document
	for _, p := range w.parts {
		next[p+1]++
	}
	for p := range w.Divider.Parts() {
		next[p+1] += next[p]
	}
	w.docs = append(w.docs[:0], make([]uint32, len(w.parts))...)
	for doc, p := range w.parts {
		w.docs[next[p]] = uint32(doc)
		next[p]++
	}
	shift := format.IDPartShift(len(w.parts))
	var keys [keyrun.BlockLen]uint64
	at := 0
	for p := range w.Divider.Parts() {
		for rest := w.docs[at:next[p]]; len(rest) > 0; {
			n := min(len(rest), len(keys))
			for i, doc := range rest[:n] {
				keys[i] = uint64(p)<<shift | uint64(doc)
			}
			if err := run.AddKeys(keys[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		at = int(next[p])
	}
	return nil
}

// endIDParts writes the rest of the order of IDs, after all blocks.
func (t *File) endIDParts() {
	w := t.IDParts
	if w == nil {
		return
	}
	if len(w.parts) > 0 {
		t.endStretch()
	}
	t.Out.Begin(format.KindIDBounds, 0)
	t.Out.sections[len(t.Out.sections)-1].Optional = true
	var b []byte
	for _, bound := range w.Divider.Bounds() {
		b = append(append(b, byte(len(bound))), bound...)
	}
	t.Out.write(binary.LittleEndian.AppendUint32(b, kernel.CRC32C(0, b)))
	t.Out.end(uint64(len(w.Divider.Bounds())))
	t.IDParts = nil
}
