package loader

import (
	"bytes"
	"context"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table"
)

// A window holds the texts of some documents of a chunk. While one is filled, the previous one is
// processed: its texts are fingerprinted, ordered so that near-duplicates are in the same block,
// compressed and written. The memory for texts therefore does not grow with the table.
type window struct {
	docs   []windowDoc
	blocks [][]byte // blockBytes long, or longer for a longer document
	used   int      // number of blocks in use
	bytes  int      // size of the contents of blocks
	order  []uint32 // indexes in docs, in the order of arrange

	// Buffers of arrange.
	keys        [2][]uint64
	spare, lead []uint32
	leaders     map[uint32]uint32
}

// A windowDoc is a document in a window. Its text and fields are adjacent in a block; if it has
// neither text nor fingerprint, its ID follows.
type windowDoc struct {
	at           uint64 // block<<32 | offset
	text, fields uint32 // lengths in bytes
	id           uint32 // length of the ID in bytes, 0 if it is not there
	code         uint32 // length of the encoded sketch
	pos          uint32 // position in the chunk
	fp           uint64
	rest         []uint64 // other words of the fingerprint
	hasFP        bool
	least        [2]uint32 // the least hashes of the sketch, if code > 0
}

const (
	blockBytes = 1 << 20
	windowDocs = 128 // bytes per document in addition to its text, including the buffers of arrange
)

// add appends the text and the fields of a document, which has position pos in the chunk.
func (w *window) add(pos int, d *view.Doc) {
	id := d.ID
	if d.Fingerprint != nil || d.Text != "" {
		id = ""
	}
	n := len(d.Text) + len(d.Fields) + len(id)
	if w.used == 0 || cap(w.blocks[w.used-1])-len(w.blocks[w.used-1]) < n {
		w.nextBlock(n)
	}
	b := w.blocks[w.used-1]
	doc := windowDoc{
		at: uint64(w.used-1)<<32 | uint64(len(b)), text: uint32(len(d.Text)), fields: uint32(len(d.Fields)), id: uint32(len(id)), pos: uint32(pos),
	}
	if d.Fingerprint != nil {
		doc.fp, doc.hasFP = *d.Fingerprint, true // the chunk has the other words
	}
	w.blocks[w.used-1] = append(append(append(b, d.Text...), d.Fields...), id...)
	w.docs = append(w.docs, doc)
	w.bytes += n + windowDocs
}

// nextBlock starts a block with space for n bytes.
func (w *window) nextBlock(n int) {
	if w.used == len(w.blocks) {
		w.blocks = append(w.blocks, nil)
	}
	if size := max(blockBytes, n); cap(w.blocks[w.used]) < n || cap(w.blocks[w.used]) > 2*size {
		w.blocks[w.used] = make([]byte, 0, size)
	}
	w.used++
}

// reset removes all documents.
func (w *window) reset() {
	for i := range w.blocks[:w.used] {
		w.blocks[i] = w.blocks[i][:0]
	}
	w.docs, w.order, w.used, w.bytes = w.docs[:0], w.order[:0], 0, 0
}

func (w *window) text(d *windowDoc) []byte {
	at := uint32(d.at)
	return w.blocks[d.at>>32][at : at+d.text : at+d.text]
}

func (w *window) fieldsOf(d *windowDoc) []byte {
	at := uint32(d.at) + d.text
	return w.blocks[d.at>>32][at : at+d.fields : at+d.fields]
}

func (w *window) idOf(d *windowDoc) []byte {
	at := uint32(d.at) + d.text + d.fields
	return w.blocks[d.at>>32][at : at+d.id : at+d.id]
}

// A hasher computes fingerprints and sketches of the texts of windows, with several workers.
type hasher struct {
	texts   *view.Hasher
	workers int
	codes   [][]byte // for each share of a window, the encoded sketches of its documents
}

// windowShare is how many documents of a window a worker processes at a time.
const windowShare = 64

// sum computes the sketches, and the missing fingerprints.
func (h *hasher) sum(ctx context.Context, w *window) error {
	n := (len(w.docs) + windowShare - 1) / windowShare
	h.codes = slices.Grow(h.codes[:0], n)[:n]
	return pipeline.Each(ctx, n, h.workers, func(i int) error {
		h.codes[i] = h.sumShare(w, w.docs[i*windowShare:min((i+1)*windowShare, len(w.docs))], h.codes[i][:0])
		return nil
	})
}

// summed is a text with the results computed from it.
type summed struct {
	text []byte
	view.Sums
	code  []byte // encoded sketch
	least [2]uint32
}

// sumShare is sum for some documents. It appends their encoded sketches to codes. Equal texts are
// often adjacent in files: it computes one sketch for them.
func (h *hasher) sumShare(w *window, docs []windowDoc, codes []byte) []byte {
	var last summed
	for i := range docs {
		d := &docs[i]
		if d.text == 0 || d.hasFP && !h.texts.Sketches() {
			continue
		}
		if text := w.text(d); !bytes.Equal(text, last.text) {
			last.text = text
			h.texts.Sum(&last.Sums, unsafe.String(unsafe.SliceData(text), len(text)))
			sketch := last.Sketch
			if last.code = last.code[:0]; len(sketch) > 0 {
				if h.texts.Odd() {
					last.code = table.AppendOdd(last.code, &last.Odd)
				}
				last.code = sketch.AppendEncoded(last.code)
				last.least = [2]uint32{sketch[0], sketch[min(1, len(sketch)-1)]}
			}
		}
		if !d.hasFP {
			d.fp, d.rest, d.hasFP = last.Fingerprint, slices.Clone(last.Rest), last.Words
		}
		d.code, d.least = uint32(len(last.code)), last.least
		codes = append(codes, last.code...)
	}
	return codes
}

// arrange orders the documents by fingerprint, which is the order of their numbers in the table,
// but puts near-duplicates after the first of their group, their leader, so that compression finds
// what they share. It returns how many documents have a leader. A document that shares one of the
// two least hashes of its sketch with an earlier document joins the group of that document; if two
// documents have similarity J, each of the two hashes is equal with a probability of about J.
func (w *window) arrange() (alike int) {
	w.sort()
	if w.leaders == nil {
		w.leaders = map[uint32]uint32{}
	}
	// lead[i] is the index in order of the leader of document i, at most i.
	w.lead = slices.Grow(w.lead[:0], len(w.order))
	for i, at := range w.order {
		lead := uint32(i)
		if d := &w.docs[at]; d.code > 0 {
			first, found := w.leaders[d.least[0]]
			second, foundSecond := w.leaders[d.least[1]]
			switch {
			case found:
				lead = first
			case foundSecond:
				lead = second
			}
			if !found {
				w.leaders[d.least[0]] = lead
			}
			if !foundSecond {
				w.leaders[d.least[1]] = lead
			}
		}
		if w.lead = append(w.lead, lead); lead < uint32(i) {
			alike++
		}
	}
	clear(w.leaders)
	if alike > 0 {
		w.gather()
	}
	return alike
}

// sort sets order to the documents sorted by fingerprint, then those without one by ID: this is the
// order of their numbers, so the records of a load in the order of IDs are in this order, too.
func (w *window) sort() {
	p, bare := ordered.Pairs{Keys: w.keys[0][:0], Vals: w.order}, w.spare[:0]
	for i := range w.docs {
		if d := &w.docs[i]; d.hasFP {
			p.Keys, p.Vals = append(p.Keys, d.fp), append(p.Vals, uint32(i))
		} else {
			bare = append(bare, uint32(i))
		}
	}
	n := len(p.Keys)
	tmp := ordered.Pairs{Keys: slices.Grow(w.keys[1][:0], n)[:n], Vals: slices.Grow(w.lead[:0], n)[:n]}
	w.keys = [2][]uint64{p.Keys, tmp.Keys}
	tmpBare := ordered.MakePairs(len(bare))
	copy(bare, ordered.SortStrings(ordered.Pairs{Keys: make([]uint64, len(bare)), Vals: bare}, tmpBare, func(i uint32) []byte { return w.idOf(&w.docs[i]) }))
	w.spare = bare
	if sorted := ordered.SortPairs(p, tmp); n > 0 && &sorted.Vals[0] == &tmp.Vals[0] {
		p, tmp = tmp, p
	}
	w.order, w.lead = append(p.Vals, bare...), tmp.Vals
}

// gather moves each document after its leader. The members of a group stay in order.
func (w *window) gather() {
	ends := slices.Grow(w.spare[:0], len(w.order))[:len(w.order)] // next index for a member of each group
	clear(ends)
	for _, lead := range w.lead {
		ends[lead]++
	}
	at := uint32(0)
	for i, n := range ends {
		ends[i] = at
		at += n
	}
	for i, lead := range w.lead { // w.lead becomes the inverse of the new order
		w.lead[i] = ends[lead]
		ends[lead]++
	}
	for i, to := range w.lead {
		ends[to] = w.order[i]
	}
	w.order, w.spare = ends, w.order
}

// write writes the texts of a window, and stores the computed results in the chunk.
func (h *hasher) write(ctx context.Context, to *table.BatchWriter, w *window, c *chunk) error {
	if err := h.sum(ctx, w); err != nil {
		return err
	}
	alike := w.arrange()
	first, err := to.AddRecords(len(w.order), alike, func(i int) (text, fields []byte) {
		d := &w.docs[w.order[i]]
		return w.text(d), w.fieldsOf(d)
	})
	if err != nil {
		return err
	}
	c.sets.Store(to.IndexBytes())
	base := len(c.sums)
	for share, codes := range h.codes {
		for i := share * windowShare; i < min((share+1)*windowShare, len(w.docs)); i++ {
			d := &w.docs[i]
			s := summary{pos: d.pos, fp: d.fp, rest: d.rest, bare: !d.hasFP}
			if h.texts.Sketches() {
				if c.batch.Codes == nil {
					c.batch.Codes = &table.Arena{}
				}
				s.code = c.batch.Codes.Add(codes[:d.code])
				c.codes.Add(int64(d.code))
				codes = codes[d.code:]
			}
			c.sums = append(c.sums, s)
		}
	}
	for i, at := range w.order {
		c.sums[base+int(at)].record = first + uint32(i)
	}
	return nil
}
