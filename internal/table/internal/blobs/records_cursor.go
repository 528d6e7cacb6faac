package blobs

// cursorBytes is how many bytes of decoded blocks a cursor caches, plus one block, unless records
// are read in order.
const cursorBytes = 32 << 20

// A RecordCursor reads the records of documents in the order of their numbers. A merged table has
// blocks from each of its inputs, and only blocks of the same input are in the order of documents.
// So the cursor follows many series of blocks at a time: it caches the last blocks and the position
// in each, and it decodes each block once as long as there are no more series than cached blocks.
// It uses blocks of a Cache, but adds none, because it does not return to them.
type RecordCursor struct {
	records *Records
	most    int          // maximum size of cached blocks, not counting the last one
	keep    bool         // decoded blocks are added to the Cache
	last    *cursorBlock // the block of the last record, nil at first
	blocks  map[int]*cursorBlock
	queue   []*cursorBlock // in the order in which they were decoded
	size    int            // total size of the cached blocks
}

// cursorBlock is a block with the number of records that Next has returned.
type cursorBlock struct {
	Block
	passed uint32
	starts []uint32 // of records, if it is a block of the Cache
}

// Cursor returns a cursor. It holds nothing that has to be released.
func (d *Records) Cursor() *RecordCursor { return d.CursorWithin(cursorBytes) }

// CursorWithin is Cursor with another size of cached blocks in bytes, at least 1.
func (d *Records) CursorWithin(most int) *RecordCursor {
	return &RecordCursor{records: d, most: most, blocks: map[int]*cursorBlock{}}
}

// CursorInOrder returns a cursor for records in ascending order, which holds only one block. If keep
// is set, it adds blocks to the Cache.
func (d *Records) CursorInOrder(keep bool) *RecordCursor {
	return &RecordCursor{records: d, most: 1, keep: keep, blocks: map[int]*cursorBlock{}}
}

// Get returns text and fields of a record, which must exist. They are parts of a decoded block,
// valid until the next call.
func (c *RecordCursor) Get(record uint32) (text, fields []byte, err error) {
	d := c.records
	if len(d.dir.Data) == 0 {
		return nil, nil, nil
	}
	blk := c.last
	if blk == nil || record-blk.first >= blk.count { // also true if record is less
		b := d.BlockOf(record)
		if blk = c.blocks[b]; blk == nil {
			if blk, err = c.decode(b, record); err != nil {
				return nil, nil, err
			}
		}
		if c.last = blk; record-blk.first >= blk.count {
			c.last = nil
			return nil, nil, d.misplaced(record, &blk.Block)
		}
	}
	at := record - blk.first
	if blk.starts != nil {
		blk.rest, blk.passed = blk.data[blk.starts[at]:], at
	} else if at < blk.passed {
		blk.rest, blk.passed = blk.data, 0
	}
	for blk.passed <= at {
		if text, fields, err = blk.Next(); err != nil {
			return nil, nil, err
		}
		blk.passed++
	}
	return text, fields, nil
}

// decode decodes block b, which should have a record. If the cache is full, it replaces the blocks
// that were decoded first.
func (c *RecordCursor) decode(b int, record uint32) (_ *cursorBlock, err error) {
	blk := new(cursorBlock)
	c.last = nil
	for c.size >= c.most {
		blk, c.queue = c.queue[0], c.queue[1:]
		delete(c.blocks, blk.number)
		c.size -= len(blk.data)
	}
	cached := c.records.inCache(b)
	if c.keep {
		if cached, err = c.records.block(record); err != nil {
			return nil, err
		}
	}
	if blk.starts = nil; cached != nil {
		blk.share(&cached.Block)
		blk.starts = cached.starts
	} else if err := c.records.Decode(b, &blk.Block); err != nil {
		return nil, err
	}
	blk.passed = 0
	c.blocks[b], c.queue, c.size = blk, append(c.queue, blk), c.size+len(blk.data)
	return blk, nil
}
