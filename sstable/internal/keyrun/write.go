package keyrun

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// writeChunk is how many bytes a section writer collects before it hands them on.
const writeChunk = 64 << 10

// Writer encodes a key run as the keys come. It keeps 20 bytes for every 512 keys until Finish.
type Writer struct {
	w     io.Writer // nil: everything stays in out
	frame frameWriter
	keys  [BlockLen]uint64
	fill  int
	count uint64
	out   []byte
	total int64 // bytes handed on
	err   error
}

// NewWriter returns a writer of one section. Sections start on a 64-byte boundary of the file.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, frame: frameWriter{tag: tagKeyRun}}
}

// Add appends a key, not less than the one before.
func (k *Writer) Add(key uint64) error {
	if k.fill == BlockLen {
		k.flushBlock()
	}
	if k.count > 0 && key < k.last() {
		return fmt.Errorf("key run: key %016x after %016x", key, k.last())
	}
	k.keys[k.fill] = key
	k.fill++
	k.count++
	return k.err
}

// last returns the key added last, if any; a flushed block's keys stay in place until they are
// overwritten.
func (k *Writer) last() uint64 { return k.keys[(k.fill-1)&(BlockLen-1)] }

// Finish writes what remains and returns the number of keys and of bytes.
func (k *Writer) Finish() (n int, bytes int64, err error) {
	var last uint64
	if k.count > 0 {
		last = k.last()
		k.flushBlock()
	}
	k.out = k.frame.appendEnd(k.out, k.count, last)
	k.flush()
	return int(k.count), k.total, k.err
}

func (k *Writer) flushBlock() {
	keys := k.keys[:k.fill]
	width := keyWidth(keys)
	start := len(k.out)
	high := unaryWords(keys, width)
	k.out = appendUnary(k.out, keys, width, high)
	k.out = appendPacked(k.out, keys, width)
	k.frame.addBlock(k.out[start:], keys[0], high, width)
	k.fill = 0
	if len(k.out) >= writeChunk {
		k.flush()
	}
}

func (k *Writer) flush() {
	if k.w == nil {
		return
	}
	if k.err == nil {
		_, k.err = k.w.Write(k.out)
	}
	k.total += int64(len(k.out))
	k.out = k.out[:0]
}

// Append appends the section of keys, which ascend.
func Append(dst []byte, keys []uint64) []byte {
	k := Writer{frame: frameWriter{tag: tagKeyRun}, out: dst}
	for _, key := range keys {
		if err := k.Add(key); err != nil {
			panic(err) // the caller's mistake: without a writer nothing else can fail
		}
	}
	k.Finish()
	return k.out
}

// keyWidth returns the width at which a block of keys is smallest, of the supported ones around
// log2(span/n).
func keyWidth(keys []uint64) int {
	span := keys[len(keys)-1] - keys[0]
	if span == 0 {
		return 0
	}
	guess := bits.Len64(span/uint64(len(keys))) - 1
	best, bestSize := 0, -1
	for w := min(guess+1, 64); w >= max(guess-1, 0); w-- {
		width := kernel.RoundWidth(w)
		size := 8*unaryWords(keys, width) + packedSize(len(keys), width)
		if bestSize < 0 || size < bestSize {
			best, bestSize = width, size
		}
	}
	return best
}

// unaryWords returns the number of 64-bit words that the prefixes take: a one a key, and a zero for
// each step of the prefix.
func unaryWords(keys []uint64, width int) int {
	steps := shr(keys[len(keys)-1], width) - shr(keys[0], width)
	return (len(keys) + int(steps) + 63) >> 6
}

func appendUnary(dst []byte, keys []uint64, width, words int) []byte {
	var unary [maxHighWords]uint64
	first := shr(keys[0], width)
	for i, key := range keys {
		bit := uint64(i) + shr(key, width) - first
		unary[bit>>6] |= 1 << (bit & 63)
	}
	for _, w := range unary[:words] {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}
