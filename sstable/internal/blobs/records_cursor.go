package blobs

// cursorBytes is how many bytes of decoded blocks a cursor keeps, one block at the least, unless
// records come in order.
const cursorBytes = 32 << 20

// A RecordCursor reads the records of documents in the order of their numbers. A table that was
// merged has blocks of each table that it was made from, in the order of documents each, so the
// cursor goes through many series of blocks at a time: it keeps the blocks that it read last and
// where in each it is, and decodes a block once while there are not more series than blocks kept.
type RecordCursor struct {
	records *Records
	most    int // bytes of blocks that are kept, and one block more
	blocks  map[int]*cursorBlock
	queue   []*cursorBlock // in the order of decoding
	size    int            // bytes of the blocks
}

// cursorBlock is a block with the number of records that Next has returned.
type cursorBlock struct {
	Block
	passed uint32
}

// Cursor returns a cursor. It holds nothing that has to be released.
func (d *Records) Cursor() *RecordCursor {
	return &RecordCursor{records: d, most: cursorBytes, blocks: map[int]*cursorBlock{}}
}

// CursorInOrder returns a cursor for records in ascending order, which keeps one block.
func (d *Records) CursorInOrder() *RecordCursor {
	return &RecordCursor{records: d, most: 1, blocks: map[int]*cursorBlock{}}
}

// Get returns text and fields of a record, which must exist. They are parts of a decoded block,
// valid until the next call.
func (c *RecordCursor) Get(record uint32) (text, fields []byte, err error) {
	d := c.records
	if len(d.dir.Data) == 0 {
		return nil, nil, nil
	}
	b := d.BlockOf(record)
	blk := c.blocks[b]
	if blk == nil {
		if blk, err = c.decode(b); err != nil {
			return nil, nil, err
		}
	}
	at := record - blk.first
	if at >= blk.count { // also if record is less
		return nil, nil, d.misplaced(record, &blk.Block)
	}
	if at < blk.passed {
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

// decode decodes block b in the place of those that were decoded first, if there are enough.
func (c *RecordCursor) decode(b int) (*cursorBlock, error) {
	blk := new(cursorBlock)
	for c.size >= c.most {
		blk, c.queue = c.queue[0], c.queue[1:]
		delete(c.blocks, blk.number)
		c.size -= len(blk.data)
	}
	if err := c.records.Decode(b, &blk.Block); err != nil {
		return nil, err
	}
	blk.passed = 0
	c.blocks[b], c.queue, c.size = blk, append(c.queue, blk), c.size+len(blk.data)
	return blk, nil
}
