package merge

import (
	"cmp"
	"math"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/write"
	"github.com/simdb/simdb/minhash"
)

// Records are numbered in the order of the file. A merge copies blocks of records whole, input
// after input, and gives the documents their new places. Records of documents that are left out
// stay in these blocks, but belong to no document. A block is rewritten if less than
// liveShare/wholeShares of its records, or of their bytes, are left.
const (
	liveShare   = 3 // numerator
	wholeShares = 4
)

// copyRecords writes the records of the result: first the copied blocks, then the rest, so that
// rewritten records form full blocks.
func (m *merger) copyRecords() error {
	if m.laid = m.laysRecords(); m.laid {
		if err := m.layRecords(); err != nil {
			return err
		}
		return m.endRecords()
	}
	m.spare = min(m.spare, math.MaxUint32-m.docs)
	for _, in := range m.inputs {
		if in.Records == nil || in.kept == 0 {
			continue
		}
		if err := in.findLiving(m); err != nil {
			return err
		}
		in.blocks = make([]movedBlock, in.Records.NumBlocks())
	}
	for _, move := range []func(in *mergeInput, b int) error{m.copyBlock, m.rewriteBlock} {
		for _, in := range m.inputs {
			for b := range in.blocks {
				if b%64 == 0 && m.ctx.Err() != nil {
					return m.ctx.Err()
				}
				if err := move(in, b); err != nil {
					return err
				}
			}
		}
	}
	return m.endRecords()
}

// endRecords ends the blocks of records.
func (m *merger) endRecords() error {
	m.Records.EndBlock()
	m.FlushRecords()
	if m.Records.NumBlocks() > 0 {
		m.placed = m.Records.Len()
	}
	m.EndBlocksSection()
	return m.Fail(m.Out.Err)
}

// findLiving finds the records that belong to documents of the result; nil means all.
func (in *mergeInput) findLiving(m *merger) error {
	if in.dead == nil && in.Table.Places == nil {
		return nil
	}
	in.living = write.NewBitset(in.Records.Len())
	for doc := range in.Info.Docs {
		if doc%docChunk == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		if in.dead.Has(doc) {
			continue
		}
		place, err := in.Place(doc)
		if err != nil {
			return err
		}
		if place < in.Records.Len() {
			in.living.Add(place)
		}
	}
	return nil
}

// copyBlock copies a block of records, unless it should be rewritten.
func (m *merger) copyBlock(in *mergeInput, b int) error {
	first, n, err := in.Records.BlockRecords(b)
	if err != nil {
		return err
	}
	alive := n
	if in.living != nil {
		alive = in.living.Count(first, n)
	}
	whole, err := m.worthCopying(in, b, alive, n)
	if err != nil {
		return err
	}
	if !whole {
		in.blocks[b].anew = true
		return nil
	}
	m.carried += n - alive
	if in.blocks[b].first, err = m.Records.AddBlock(in.Records, b); err != nil {
		return err
	}
	m.FlushRecords()
	return m.Out.Err
}

// worthCopying reports whether a block with alive living records out of n is copied whole: enough
// records must be alive, and there must be enough numbers for the dead records.
func (m *merger) worthCopying(in *mergeInput, b int, alive, n uint32) (bool, error) {
	switch {
	case alive == n:
		return true, nil
	case m.erase || alive*wholeShares < n*liveShare || uint64(m.carried)+uint64(n-alive) > uint64(m.spare):
		return false, nil
	case in.dead == nil:
		return true, nil // nothing has died since the merge that last decided
	}
	// One text may be as long as all others together, so the sizes of texts matter, too.
	if err := in.Records.Decode(b, &m.block); err != nil {
		return false, err
	}
	living, all := 0, 0
	for record := m.block.First(); record < m.block.First()+n; record++ {
		text, fields, err := m.block.Next()
		if err != nil {
			return false, err
		}
		all += len(text) + len(fields)
		if in.living.Has(record) {
			living += len(text) + len(fields)
		}
	}
	return living*wholeShares >= all*liveShare, nil
}

// rewriteBlock writes the living records of a block that has not been copied.
func (m *merger) rewriteBlock(in *mergeInput, b int) error {
	if !in.blocks[b].anew {
		return nil
	}
	first, n, err := in.Records.BlockRecords(b)
	if err != nil {
		return err
	}
	in.blocks[b].first = m.Records.Len()
	if in.living.Count(first, n) == 0 {
		return nil
	}
	if err := in.Records.Decode(b, &m.block); err != nil {
		return err
	}
	for record := first; record < first+n; record++ {
		text, fields, err := m.block.Next()
		if err != nil {
			return err
		}
		if in.living.Has(record) {
			m.AddRecord(text, fields)
		}
	}
	return m.Out.Err
}

// mergePlaces writes the record number of each document of the result.
func (m *merger) mergePlaces() error {
	if m.placed == 0 || m.laid || len(m.inputs) == 1 && m.inputs[0].dead == nil && m.inputs[0].Table.Places == nil {
		return nil
	}
	err := m.writeColumn(format.KindPlaces, 0, func(c *docsChunk) ([]uint64, error) {
		err := c.columns(func(in *mergeInput) *keyrun.Column { return in.Table.Places }, (*mergeInput).deadDocs, m.newPlaces)
		return c.values, err
	})
	for _, in := range m.inputs {
		in.living, in.blocks = nil, nil
	}
	return err
}

// newPlaces replaces places of an input by places of the result.
func (m *merger) newPlaces(in *mergeInput, places []uint64) error {
	for j, old := range places {
		place, err := in.placeInResult(uint32(old), m.placed)
		if err != nil {
			return err
		}
		places[j] = uint64(place)
	}
	return nil
}

// placeInResult returns the new number of a record, or none if the record does not exist.
func (in *mergeInput) placeInResult(record, none uint32) (uint32, error) {
	if in.Records == nil || record >= in.Records.Len() {
		return none, nil
	}
	b := in.Records.BlockOf(record)
	first, n, err := in.Records.BlockRecords(b)
	switch {
	case err != nil:
		return 0, err
	case record-first >= n: // also true if record is less
		return 0, base.Corruptf(in.File, format.KindRecords.String(), 0, "record %d is not in block %d, which has %d from %d", record, b, n, first)
	case in.blocks[b].anew:
		return in.blocks[b].first + in.living.Count(first, record-first), nil
	}
	return in.blocks[b].first + record - first, nil
}

// blockChunk is a chunk of documents with the IDs and sketches of those that have been read.
type blockChunk struct {
	*docsChunk
	done     int               // number of documents of the chunk that have been read
	ids      []*nameIter       // by input
	names    *blobs.ListWriter // IDs that have been read
	inNames  int               // size of these IDs in bytes
	codes    []byte            // encoded sketches
	codeEnds []int
	odd      []oddsketch.Sketch
	sketches []uint32
	ends     []int // ends of the sketches
}

// chunkBytes is about how many bytes of IDs and sketches a chunk holds in memory. A larger chunk,
// of documents with IDs of thousands of bytes for example, is read in several steps while it is
// written.
const chunkBytes = 8 << 20

// namesOfBlock is the number of IDs in a block: a chunk is read in whole blocks.
var namesOfBlock = 1 << blobs.IDs.Shift

// mergeBlocks writes the IDs and the sketches of the result, with the indexes of the sketches.
func (m *merger) mergeBlocks() error {
	m.KeepRecords()
	m.WriteEarly()
	m.BeginBlocks()
	err := eachChunk(m, m.sources, m.starts, func(c *docsChunk) (*blockChunk, error) {
		b, ok := m.chunks.Get().(*blockChunk)
		if !ok {
			b = &blockChunk{names: blobs.NewListWriter(blobs.IDs)}
		}
		b.reset(c)
		return b, b.read()
	}, m.writeChunk)
	if err != nil {
		return err
	}
	m.EndBlocks()
	return m.Out.Err
}

// reset prepares c for another chunk.
func (c *blockChunk) reset(chunk *docsChunk) {
	*c = blockChunk{
		docsChunk: chunk, ids: make([]*nameIter, len(chunk.next)), names: c.names,
		codes: c.codes[:0], codeEnds: c.codeEnds[:0], odd: c.odd[:0], sketches: c.sketches[:0], ends: c.ends[:0],
	}
}

// read reads the next documents of the chunk from the inputs.
func (c *blockChunk) read() error {
	var sketch minhash.Sketch
	for ; c.done < len(c.inputs); c.done++ {
		if c.done%namesOfBlock == 0 && c.inNames+len(c.codes)+4*len(c.sketches) >= c.merger.chunkBytes {
			break
		}
		i := c.inputs[c.done]
		in := c.merger.inputs[i]
		doc := c.old(c.done, (*mergeInput).deadDocs)
		if c.ids[i] == nil {
			c.ids[i] = &nameIter{ListIter: in.Table.Names.Iter(doc), next: doc}
		}
		id, err := c.ids[i].get(doc)
		if err != nil {
			return err
		}
		c.names.Add(id) // not flushed before it is appended to the result
		c.inNames += len(id)
		if c.merger.Sketches == nil {
			continue
		}
		var odd oddsketch.Sketch
		code, s, err := in.Table.Sketches.Encoded(doc, sketch[:0], &odd)
		if err != nil {
			return err
		}
		sketch = s
		c.codes, c.sketches = append(c.codes, code...), append(c.sketches, s...)
		c.codeEnds, c.ends, c.odd = append(c.codeEnds, len(c.codes)), append(c.ends, len(c.sketches)), append(c.odd, odd)
	}
	return nil
}

// nameIter reads IDs in the order of documents, and skips some.
type nameIter struct {
	blobs.ListIter
	next uint32
}

// get returns the ID of a document, which must come after the document of the last call.
func (it *nameIter) get(doc uint32) (id []byte, err error) {
	for ; it.next <= doc && err == nil; it.next++ {
		id, err = it.Next()
	}
	return id, err
}

// writeChunk writes a chunk, and reads its rest if necessary.
func (m *merger) writeChunk(c *blockChunk) (err error) {
	defer format.UnguardAny(m.tables, format.Guard(), &err)
	for {
		m.writeBlocks(c)
		if err := cmp.Or(m.Fail(m.Out.Err), m.ctx.Err()); err != nil {
			return err
		}
		if c.done == len(c.inputs) {
			m.chunks.Put(c)
			return nil
		}
		c.inNames, c.codes, c.sketches = 0, c.codes[:0], c.sketches[:0]
		c.codeEnds, c.ends, c.odd = c.codeEnds[:0], c.ends[:0], c.odd[:0]
		if err := c.read(); err != nil {
			return err
		}
	}
}

// writeBlocks writes the documents of a chunk that were read last.
func (m *merger) writeBlocks(c *blockChunk) {
	code, sketch := 0, 0
	for j, end := range c.ends {
		m.AddSketch(c.sketches[sketch:end], c.codes[code:c.codeEnds[j]], c.odd[j])
		code, sketch = c.codeEnds[j], end
	}
	for m.Names.Append(c.names) {
		m.FlushNames()
	}
}
