package blobs

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/internal/kernel"
)

// RecordsWriter collects blocks of records. It numbers records in the order of Add. Finished blocks
// wait in memory until Flush.
type RecordsWriter struct {
	enc    *zstd.Encoder
	size   int    // of blocks: see BlockEnds
	raw    []byte // records of the block being filled
	count  uint32 // records of the block being filled
	any    bool   // whether one of them is not empty
	n      uint32 // records in finished blocks; without entries, all are empty
	blocks blockDir
}

// NewRecordsWriter returns a writer that compresses blocks of about size bytes (see BlockEnds) at a
// level for which ValidLevel is true.
func NewRecordsWriter(level, size int) *RecordsWriter {
	return &RecordsWriter{enc: encoders[level](), size: size, blocks: blockDir{entry: RecordsEntry}}
}

// Len returns the number of records so far, which is the number of the next one. There may be at
// most 1<<32 - 1; the caller of Add must ensure this.
func (w *RecordsWriter) Len() uint32 { return w.n + w.count }

// Directory returns the entries of all finished blocks, which are final once the blocks have been
// flushed. It is empty if all records are empty.
func (w *RecordsWriter) Directory() []byte { return w.blocks.entries }

// NumBlocks returns the number of finished blocks in the directory.
func (w *RecordsWriter) NumBlocks() int { return len(w.blocks.entries) / RecordsEntry }

// Add appends a record and reports whether there are blocks to flush.
func (w *RecordsWriter) Add(text, fields []byte) (full bool) {
	w.any = w.any || len(text) > 0 || len(fields) > 0
	w.raw = AppendRecord(w.raw, text, fields)
	w.count++
	if BlockEnds(w.size, len(w.raw), int(w.count)) {
		w.EndBlock()
	}
	return len(w.blocks.chunk) > 0
}

// BlockEnds reports whether a block ends after count records of a number of bytes. size is the size
// of blocks, 0 for the default: blocks of small records are smaller, because reading one of them
// decodes all.
func BlockEnds(size, bytes, count int) bool {
	switch {
	case count == MaxBlockRecords:
		return true
	case size > 0:
		return bytes >= size
	}
	return bytes >= blockSize || bytes >= smallBlockSize && count >= smallRecords
}

// AppendRecord appends a record in the format of a block before compression.
func AppendRecord(raw, text, fields []byte) []byte {
	raw = binary.AppendUvarint(raw, uint64(len(text)))
	raw = binary.AppendUvarint(raw, uint64(len(fields)))
	raw = append(raw, text...)
	return append(raw, fields...)
}

// Encoded is a block of records, encoded by Encode.
type Encoded struct {
	Stored          []byte
	raw, count, sum uint32
}

// Encode encodes count records, 1 to MaxBlockRecords, as a block at a level, and appends its bytes
// to dst. raw comes from AppendRecord. Several goroutines may call it at once.
func Encode(level int, dst, raw []byte, count int) Encoded {
	stored := compress(encoders[level](), dst, raw)[len(dst):]
	return Encoded{Stored: stored, raw: uint32(len(raw)), count: uint32(count), sum: kernel.CRC32C(0, stored)}
}

// AddEncoded ends the current block and appends an encoded one. Its records get consecutive
// numbers, starting with first.
func (w *RecordsWriter) AddEncoded(e Encoded) (first uint32) {
	w.EndBlock()
	first = w.n
	w.addBlock(e.Stored, e.sum, e.raw, e.count)
	return first
}

// AddBlock ends the current block, verifies the checksum of block b of r and appends the block
// unchanged. Its records get consecutive numbers, starting with first.
func (w *RecordsWriter) AddBlock(r *Records, b int) (first uint32, err error) {
	e, stored, sum, err := r.extent(b)
	if err != nil {
		return 0, err
	}
	w.EndBlock()
	if e.count > math.MaxUint32-w.n {
		return 0, fmt.Errorf("more than %d records", uint32(math.MaxUint32))
	}
	first = w.n
	w.addBlock(stored, sum, e.raw, e.count)
	return first, nil
}

// EndBlock ends the current block.
func (w *RecordsWriter) EndBlock() {
	if w.count == 0 {
		return
	}
	if !w.any {
		w.addBlock(nil, 0, 0, w.count)
	} else {
		w.startDirectory()
		d, start := &w.blocks, len(w.blocks.chunk)
		d.chunk = compress(w.enc, d.chunk, w.raw)
		block := d.chunk[start:]
		w.addEntry(start, kernel.CRC32C(0, block), uint32(len(w.raw)), w.count)
	}
	w.count, w.any, w.raw = 0, false, w.raw[:0]
}

// addBlock appends a stored block with its checksum.
func (w *RecordsWriter) addBlock(stored []byte, sum, raw, count uint32) {
	if raw == 0 && len(w.blocks.entries) == 0 {
		w.n += count // there is no directory until a record has bytes
		return
	}
	w.startDirectory()
	start := len(w.blocks.chunk)
	w.blocks.chunk = append(w.blocks.chunk, stored...)
	w.addEntry(start, sum, raw, count)
}

// startDirectory appends the entries of the empty records before the first that has bytes, unless
// it has done so.
func (w *RecordsWriter) startDirectory() {
	if len(w.blocks.entries) > 0 {
		return
	}
	n := w.n
	w.n = 0
	for w.n < n {
		w.addEntry(0, 0, 0, min(MaxBlockRecords, n-w.n))
	}
}

// addEntry appends the entry of the block that starts at start in the chunk and has the checksum
// sum. Its records follow those of the previous blocks.
func (w *RecordsWriter) addEntry(start int, sum, raw, count uint32) {
	e := extent{
		offset: uint64(start), count: count, stored: uint32(len(w.blocks.chunk) - start), raw: raw, first: w.n, sum: sum,
	}
	w.blocks.entries = e.append(w.blocks.entries)
	w.n += count
}

// Flush returns the finished blocks, which are about to be written at offset of the area. The
// returned slice is valid until the next block ends.
func (w *RecordsWriter) Flush(offset int64) []byte { return w.blocks.flush(offset) }
