package write

import (
	"cmp"
	"encoding/binary"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/table"
)

// A table of two parts or more keeps the order of its IDs as an IDOrder has it: the IDs at which
// parts begin, and for each stretch of documents a key run of
//
//	part << w | document of the stretch
//
// where w is the bits of the greatest such document. That is 12 bits a document of a stretch of
// 2^22 in 1,024 parts, and 15.5 in 2^14. A stretch is what is in memory at a time while the table
// is written. Its section lies between two of blocks, as those of a segment do.
const (
	stretchDocs = 1 << 22 // documents of a stretch
	// PartDocs is about how many documents a part has, unless there would be more than
	// table.MaxIDParts parts. Their IDs are in as many places, and a query checks the block of
	// each.
	PartDocs = 1 << 11
	// SampledIDs is how many IDs a part are sampled to decide where it begins.
	SampledIDs = 16
)

// idPartsWriter writes the order of IDs.
type idPartsWriter struct {
	Divider *table.IDDivider
	workers int
	stretch int      // documents of a stretch
	index   uint16   // of the stretch that is being filled
	parts   []uint16 // of its documents
	docs    []uint32 // scratch
	found   []uint16 // scratch
}

// NumIDParts returns how many parts a table of docs documents has in the order that it keeps, less
// than 2 if it keeps none.
func NumIDParts(docs int, o WriterOptions) int {
	return min(docs/cmp.Or(o.PartDocs, PartDocs), table.MaxIDParts)
}

// DivideIDs begins the order of IDs, in a number of parts of about as many IDs each as a sample
// tells, which is not empty. It sorts the sample.
func (t *File) DivideIDs(sample [][]byte, parts int, o WriterOptions, workers int) {
	t.IDParts = &idPartsWriter{
		Divider: table.NewIDDivider(sample, parts), workers: workers, stretch: cmp.Or(o.StretchDocs, stretchDocs),
	}
}

// addPartsOf adds the parts of the IDs of the next documents, if the table keeps the order of IDs.
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
	t.Out.Begin(table.KindIDParts, w.index)
	t.Out.sections[len(t.Out.sections)-1].Optional = true
	run := keyrun.NewParallelWriter(keyrun.NewWriter(&t.Out), w.workers)
	err := w.write(run)
	dir, e := run.Finish()
	t.Out.EndWithDir(run.Len(), dir, cmp.Or(err, e))
	w.index, w.parts = w.index+1, w.parts[:0]
}

// write writes the keys of a stretch: its documents sorted by their parts.
func (w *idPartsWriter) write(run *keyrun.ParallelWriter) error {
	next := make([]uint32, w.Divider.Parts()+1) // of each part, where its next document goes
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
	shift := table.IDPartShift(len(w.parts))
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

// endIDParts writes what remains of the order of IDs, after all blocks.
func (t *File) endIDParts() {
	w := t.IDParts
	if w == nil {
		return
	}
	if len(w.parts) > 0 {
		t.endStretch()
	}
	t.Out.Begin(table.KindIDBounds, 0)
	t.Out.sections[len(t.Out.sections)-1].Optional = true
	var b []byte
	for _, bound := range w.Divider.Bounds() {
		b = append(append(b, byte(len(bound))), bound...)
	}
	t.Out.write(binary.LittleEndian.AppendUint32(b, kernel.CRC32C(0, b)))
	t.Out.end(uint64(len(w.Divider.Bounds())))
	t.IDParts = nil
}
