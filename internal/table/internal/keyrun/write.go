package keyrun

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
)

// writeChunk is how many bytes a section writer collects before it writes them.
const writeChunk = 64 << 10

// Writer encodes a key run as keys are added. It needs 20 bytes of memory for every 512 keys until
// Finish.
type Writer struct {
	body
	keys   [BlockLen]uint64
	values []uint64 // values of keys; nil if they have none
}

// body is the encoded data so far.
type body struct {
	w     io.Writer // if nil, everything stays in out
	frame frameWriter
	fill  int // number of keys or values that are not encoded yet
	count uint64
	out   []byte
	err   error
}

// NewWriter returns a writer of the body of a section, which must start on a 64-byte boundary of
// the file.
func NewWriter(w io.Writer) *Writer {
	return &Writer{body: body{w: w, frame: frameWriter{tag: tagKeyRun}}}
}

// NewPartsWriter is NewWriter for a run in parts: when a search first reads a block, it need not
// verify the whole block.
func NewPartsWriter(w io.Writer) *Writer {
	return &Writer{body: body{w: w, frame: frameWriter{tag: tagParts}}}
}

// NewPairWriter is NewWriter for keys with values of at most greatest.
func NewPairWriter(w io.Writer, greatest uint32) *Writer {
	k := NewWriter(w)
	k.frame.vwidth = kernel.RoundWidth(bits.Len32(greatest))
	k.values = make([]uint64, BlockLen)
	return k
}

// Add appends a key, which must not be less than the last one.
func (k *Writer) Add(key uint64) error { return k.AddPair(key, 0) }

// AddPair appends a key with a value.
func (k *Writer) AddPair(key uint64, value uint32) error {
	if k.fill == BlockLen {
		k.flushBlock()
	}
	if k.count > 0 && key < k.last() {
		return k.outOfOrder(key)
	}
	if k.values != nil {
		k.values[k.fill] = uint64(value)
	}
	k.keys[k.fill] = key
	k.fill++
	k.count++
	return k.err
}

// AddKeys appends ascending keys; the first must not be less than the last one added.
func (k *Writer) AddKeys(keys []uint64) error { return k.AddPairs(keys, nil) }

// AddPairs appends ascending keys with values; the first key must not be less than the last one
// added. values are nil if the run has none.
func (k *Writer) AddPairs(keys []uint64, values []uint32) error {
	for i, key := range keys {
		if i > 0 && key < keys[i-1] {
			return fmt.Errorf("key run: key %016x after %016x", key, keys[i-1])
		}
	}
	if len(keys) > 0 && k.count > 0 && keys[0] < k.last() {
		return k.outOfOrder(keys[0])
	}
	for len(keys) > 0 {
		if k.fill == BlockLen {
			k.flushBlock()
		}
		n := copy(k.keys[k.fill:], keys)
		if values != nil {
			for i, v := range values[:n] {
				k.values[k.fill+i] = uint64(v)
			}
			values = values[n:]
		}
		k.fill, k.count, keys = k.fill+n, k.count+uint64(n), keys[n:]
	}
	return k.err
}

func (k *Writer) outOfOrder(key uint64) error {
	return fmt.Errorf("key run: key %016x after %016x", key, k.last())
}

// Last returns the last key added; there must be one.
func (k *Writer) Last() uint64 { return k.last() }

// last returns the last key added, if any. The keys of a flushed block stay in place until they are
// overwritten.
func (k *Writer) last() uint64 { return k.keys[(k.fill-1)&(BlockLen-1)] }

// Len returns the number of keys so far.
func (k *Writer) Len() int { return int(k.count) }

// Finish writes the rest of the body and returns the directory.
func (k *Writer) Finish() (dir []byte, err error) {
	var last uint64
	if k.count > 0 {
		last = k.last()
	}
	if k.fill > 0 {
		k.flushBlock()
	}
	k.flush()
	return k.frame.directory(k.count, last), k.err
}

func (k *Writer) flushBlock() {
	keys := k.keys[:k.fill]
	width := keyWidth(keys)
	start := len(k.out)
	high := unaryWords(keys, width)
	if k.frame.tag == tagParts {
		k.out = append(k.out, make([]byte, sumsSize)...) // addBlock fills them in
	}
	k.out = appendUnary(k.out, keys, width, high)
	at := len(k.out)
	k.out = appendPacked(k.out, keys, width)
	low := len(k.out) - at
	if k.values != nil {
		k.out = appendPacked(k.out, k.values[:k.fill], k.frame.vwidth)
	}
	k.frame.addBlock(k.out[start:], keys[0], high, low, width)
	k.fill = 0
	if len(k.out) >= writeChunk {
		k.flush()
	}
}

func (k *body) flush() {
	if k.w == nil {
		return
	}
	if k.err == nil {
		_, k.err = k.w.Write(k.out)
	}
	k.out = k.out[:0]
}

// Encode encodes ascending keys as a run in parts. The body has a capacity of kernel.Slack more
// bytes, as Section requires.
func Encode(keys []uint64) (body, dir []byte) {
	k := NewPartsWriter(nil)
	if err := k.AddKeys(keys); err != nil {
		panic(err) // the caller's mistake: without an output nothing else can fail
	}
	dir, _ = k.Finish()
	return slices.Grow(k.out, kernel.Slack), dir
}

// InMemory returns a section with ascending keys. Errors call it name.
func InMemory(name string, keys []uint64) Section {
	body, dir := Encode(keys)
	return Section{File: "memory", Name: name, Body: body, Dir: dir}
}

// keyWidth returns the supported width around log2(span/n) for which a block of keys is smallest.
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

// unaryWords returns the number of 64-bit words for the prefixes: a one per key, and a zero for
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
