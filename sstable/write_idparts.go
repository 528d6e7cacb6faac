package sstable

import (
	"cmp"
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/idparts"
	"github.com/simdb/simdb/sstable/internal/keyrun"
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
	// partDocs is about how many documents a part has, unless there would be more than idparts.Most
	// parts. Their IDs are in as many places, and a query checks the block of each.
	partDocs = 1 << 11
	// sampledIDs is how many IDs a part are sampled to decide where it begins.
	sampledIDs = 16
)

// idPartsWriter writes the order of IDs.
type idPartsWriter struct {
	divider *idparts.Divider
	workers int
	stretch int      // documents of a stretch
	index   uint16   // of the stretch that is being filled
	parts   []uint16 // of its documents
	docs    []uint32 // scratch
	found   []uint16 // scratch
}

// numIDParts returns how many parts a table of docs documents has in the order that it keeps, less
// than 2 if it keeps none.
func numIDParts(docs int, o WriterOptions) int {
	return min(docs/cmp.Or(o.partDocs, partDocs), idparts.Most)
}

// divideIDs begins the order of IDs, in a number of parts of about as many IDs each as a sample
// tells, which is not empty. It sorts the sample.
func (t *tableFile) divideIDs(sample [][]byte, parts int, o WriterOptions, workers int) {
	t.idParts = &idPartsWriter{
		divider: idparts.NewDivider(sample, parts), workers: workers, stretch: cmp.Or(o.stretchDocs, stretchDocs),
	}
}

// divideBatch begins the order of IDs, if the table keeps it.
func (t *BatchWriter) divideBatch() {
	b := t.batch
	parts := numIDParts(len(b.docs), t.o.WriterOptions)
	if parts < 2 {
		return
	}
	sample := make([][]byte, sampledIDs*parts)
	for i := range sample {
		sample[i] = b.id(b.docs[uint64(i)*uint64(len(b.docs))/uint64(len(sample))])
	}
	t.divideIDs(sample, parts, t.o.WriterOptions, t.o.Workers)
}

// divideInputs begins the order of IDs of the result, if it keeps one.
func (m *merger) divideInputs() error {
	parts := numIDParts(int(m.docs), m.o.WriterOptions)
	if parts < 2 {
		return nil
	}
	docs := uint64(0)
	for _, in := range m.inputs {
		docs += uint64(in.NumDocs())
	}
	var sample [][]byte
	wanted, sampled, first := uint64(sampledIDs*parts), uint64(0), uint64(0)
	for _, in := range m.inputs {
		end := first + uint64(in.NumDocs())
		for ; sampled < wanted && sampled*docs/wanted < end; sampled++ {
			doc := uint32(sampled*docs/wanted - first)
			if in.dead.has(doc) {
				continue
			}
			id, err := in.names.Get(doc)
			if err != nil {
				return err
			}
			sample = append(sample, id)
		}
		first = end
	}
	if len(sample) > 0 {
		m.divideIDs(sample, parts, m.o.WriterOptions, m.workers)
	}
	return nil
}

// addPartsOf adds the parts of the IDs of the next documents, if the table keeps the order of IDs.
func (t *tableFile) addPartsOf(ids [][]byte) {
	if w := t.idParts; w != nil {
		w.found = w.divider.AppendParts(w.found[:0], ids)
		t.addIDParts(w.found)
	}
}

// addIDParts adds the parts of the next documents.
func (t *tableFile) addIDParts(parts []uint16) {
	for len(parts) > 0 {
		w := t.idParts
		n := min(len(parts), w.stretch-len(w.parts))
		w.parts, parts = append(w.parts, parts[:n]...), parts[n:]
		if len(w.parts) == w.stretch {
			t.flushNames()
			if t.sketches != nil {
				t.flushSketches()
			}
			t.endBlocksSection()
			t.endStretch()
			t.beginBlocks()
		}
	}
}

// endStretch writes the section of a stretch.
func (t *tableFile) endStretch() {
	w := t.idParts
	t.out.begin(KindIDParts, w.index)
	t.out.sections[len(t.out.sections)-1].Optional = true
	run := keyrun.NewParallelWriter(keyrun.NewWriter(&t.out), w.workers)
	err := w.write(run)
	dir, e := run.Finish()
	t.out.endWithDir(run.Len(), dir, cmp.Or(err, e))
	w.index, w.parts = w.index+1, w.parts[:0]
}

// write writes the keys of a stretch: its documents sorted by their parts.
func (w *idPartsWriter) write(run *keyrun.ParallelWriter) error {
	next := make([]uint32, w.divider.Parts()+1) // of each part, where its next document goes
	for _, p := range w.parts {
		next[p+1]++
	}
	for p := range w.divider.Parts() {
		next[p+1] += next[p]
	}
	w.docs = append(w.docs[:0], make([]uint32, len(w.parts))...)
	for doc, p := range w.parts {
		w.docs[next[p]] = uint32(doc)
		next[p]++
	}
	shift := idPartShift(len(w.parts))
	var keys [keyrun.BlockLen]uint64
	at := 0
	for p := range w.divider.Parts() {
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

// idPartShift returns how many bits of a key are the document, of a stretch of n.
func idPartShift(n int) int { return bits.Len(uint(n - 1)) }

// endIDParts writes what remains of the order of IDs, after all blocks.
func (t *tableFile) endIDParts() {
	w := t.idParts
	if w == nil {
		return
	}
	if len(w.parts) > 0 {
		t.endStretch()
	}
	t.out.begin(KindIDBounds, 0)
	t.out.sections[len(t.out.sections)-1].Optional = true
	var b []byte
	for _, bound := range w.divider.Bounds() {
		b = append(append(b, byte(len(bound))), bound...)
	}
	t.out.write(binary.LittleEndian.AppendUint32(b, crc.Sum(b)))
	t.out.end(uint64(len(w.divider.Bounds())))
	t.idParts = nil
}
