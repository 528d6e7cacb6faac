package main

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
)

// huffman is the index of Manku, Jain and Das Sarma (WWW 2007): permuted tables, sorted, in blocks
// of 1 KiB. A block begins with its first key; each further key is XORed with the one before, the
// position of the highest differing bit is Huffman-coded, and the bits below it follow as they are.
// The paper finds documents elsewhere; here the first table has their numbers beside it, and hits
// of the others are looked up in it.
type huffman struct {
	rotations
	tables []huffmanTable
	docs   []uint32 // in the order of table 0
}

// blockBytes is the size of a block. Blocks are followed by 8 bytes that the decoder may read.
const blockBytes = 1024

type huffmanTable struct {
	data   []byte
	first  []uint64 // key of each block
	before []uint32 // keys before each block, and all keys
	code   huffmanCode
}

func buildHuffman(_ string, fps []uint64, k int) (index, error) {
	h := &huffman{rotations: forDistance(k)}
	for t := range h.bits {
		es := h.sorted(t, fps)
		if t == 0 {
			for _, e := range es {
				h.docs = append(h.docs, e.doc)
			}
		} else { // later tables need each key once
			es = slices.CompactFunc(es, func(a, b entry) bool { return a.key == b.key })
		}
		h.tables = append(h.tables, encodeHuffman(es))
	}
	return h, nil
}

func encodeHuffman(es []entry) huffmanTable {
	var freq [65]int
	for i := 1; i < len(es); i++ {
		freq[bits.LeadingZeros64(es[i].key^es[i-1].key)]++
	}
	t := huffmanTable{code: newHuffmanCode(freq)}
	var w bitWriter
	for i, e := range es {
		if i > 0 {
			delta := e.key ^ es[i-1].key
			sym := bits.LeadingZeros64(delta)
			tail := max(63-sym, 0)
			if w.bits+int(t.code.length[sym])+tail <= 8*blockBytes {
				w.write(t.code.code[sym], int(t.code.length[sym]))
				w.write(delta&(1<<tail-1), tail)
				continue
			}
		}
		t.data = w.finish(t.data)
		t.first, t.before = append(t.first, e.key), append(t.before, uint32(i))
		w.write(e.key, 64)
	}
	t.data = append(w.finish(t.data), make([]byte, 8)...)
	t.before = append(t.before, uint32(len(es)))
	return t
}

// scan calls f with the keys in [first, last] and their positions.
func (t *huffmanTable) scan(first, last uint64, f func(pos int, key uint64)) {
	b := max(0, sort.Search(len(t.first), func(b int) bool { return t.first[b] >= first })-1)
	for ; b < len(t.first) && t.first[b] <= last; b++ {
		r := bitReader{data: t.data[b*blockBytes : (b+1)*blockBytes+8], at: 64}
		key := t.first[b]
		for pos := t.before[b]; ; {
			if key > last {
				return
			}
			if key >= first {
				f(int(pos), key)
			}
			if pos++; pos == t.before[b+1] {
				break
			}
			if sym := r.symbol(&t.code); sym < 64 {
				tail := 63 - sym
				key ^= 1<<tail | r.read(tail)
			}
		}
	}
}

func (h *huffman) Near(q uint64, k int, found func(uint32)) (n int, err error) {
	report := func(pos int, _ uint64) {
		n++
		if found != nil {
			found(h.docs[pos])
		}
	}
	for t := range h.tables {
		first, last := h.rangeOf(t, q)
		h.tables[t].scan(first, last, func(pos int, key uint64) {
			fp := bits.RotateLeft64(key, -h.offset[t])
			switch x := fp ^ q; {
			case bits.OnesCount64(x) > k || !h.firstFoundIn(t, x):
			case t == 0:
				report(pos, key)
			default:
				h.tables[0].scan(fp, fp, report)
			}
		})
	}
	return n, nil
}

func (h *huffman) Bytes() (n int64, err error) {
	for _, t := range h.tables {
		n += int64(len(t.data) + 8*len(t.first) + 4*len(t.before))
	}
	return n + int64(4*len(h.docs)), nil
}

func (h *huffman) Close() error { return nil }

// huffmanCode is a canonical code of the positions 0..63 of the highest differing bit, and 64 for
// equal keys.
type huffmanCode struct {
	length [65]uint8
	code   [65]uint64
	lookup [1 << lookupBits]uint16 // by the next bits: symbol<<8 | length, 0 for longer codes
}

const lookupBits = 11

func newHuffmanCode(freq [65]int) (c huffmanCode) {
	type tree struct {
		weight  int
		symbols []int
	}
	var trees []tree
	for s, f := range freq {
		if f > 0 {
			trees = append(trees, tree{f, []int{s}})
		}
	}
	if len(trees) == 1 {
		c.length[trees[0].symbols[0]] = 1
	}
	for len(trees) > 1 {
		slices.SortStableFunc(trees, func(a, b tree) int { return cmp.Compare(b.weight, a.weight) })
		last := len(trees) - 1
		both := slices.Concat(trees[last].symbols, trees[last-1].symbols)
		for _, s := range both {
			c.length[s]++
		}
		trees = append(trees[:last-1], tree{trees[last].weight + trees[last-1].weight, both})
	}
	c.assign()
	return c
}

// assign gives codes of equal length consecutive values.
func (c *huffmanCode) assign() {
	code := uint64(0)
	for n := uint8(1); n <= 64; n++ {
		for s, l := range c.length {
			if l != n {
				continue
			}
			c.code[s] = code
			if n <= lookupBits {
				for i := range 1 << (lookupBits - n) {
					c.lookup[int(code)<<(lookupBits-n)|i] = uint16(s)<<8 | uint16(n)
				}
			}
			code++
		}
		code <<= 1
	}
}

// bitWriter writes bits, the highest first.
type bitWriter struct {
	out  []byte
	bits int
}

func (w *bitWriter) write(v uint64, n int) {
	for n > 0 {
		if w.bits&7 == 0 {
			w.out = append(w.out, 0)
		}
		room := 8 - w.bits&7
		take := min(room, n)
		n -= take
		w.out[len(w.out)-1] |= byte(v >> n & (1<<take - 1) << (room - take))
		w.bits += take
	}
}

// finish appends the block written, if any, to dst, and begins the next.
func (w *bitWriter) finish(dst []byte) []byte {
	if w.bits == 0 {
		return dst
	}
	dst = append(dst, w.out...)
	dst = append(dst, make([]byte, blockBytes-len(w.out))...)
	w.out, w.bits = w.out[:0], 0
	return dst
}

type bitReader struct {
	data []byte
	at   int // in bits
}

// peek returns the next 57 bits or more at the top of a word.
func (r *bitReader) peek() uint64 {
	return binary.BigEndian.Uint64(r.data[r.at>>3:]) << (r.at & 7)
}

func (r *bitReader) read(n int) uint64 {
	if n > 57 {
		high := r.read(n - 32)
		return high<<32 | r.read(32)
	}
	v := r.peek() >> 1 >> (63 - n)
	r.at += n
	return v
}

func (r *bitReader) symbol(c *huffmanCode) int {
	next := r.peek()
	if e := c.lookup[next>>(64-lookupBits)]; e != 0 {
		r.at += int(e & 255)
		return int(e >> 8)
	}
	for s, l := range c.length { // rare symbols alone have codes this long
		if l > lookupBits && next>>(64-l) == c.code[s] {
			r.at += int(l)
			return s
		}
	}
	panic("a code that was not written")
}
