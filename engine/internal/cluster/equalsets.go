package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/simdb/simdb/engine/internal/texts"
	"github.com/simdb/simdb/minhash"
)

// Documents of equal shingle sets are joined as one. Their sketches are equal, and for estimates
// that is enough. Where texts decide, documents of equal sketches are distinguished by a digest of
// the text and, if that is new, by one of the whole set.

// sketchTable finds equal sketches: a hash table with linear probing, at most half full, of
// hash<<32 | item + 1.
type sketchTable struct {
	slots []uint64
	n     int
}

func newSketchTable() *sketchTable { return &sketchTable{slots: make([]uint64, 1<<10)} }

// sketchHash mixes all hashes of a sketch.
func sketchHash(s []uint32) uint32 {
	h := uint64(len(s))
	for _, v := range s {
		h = (h ^ uint64(v)) * 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
		h ^= h >> 29
	}
	return uint32(h >> 32)
}

// first returns the item added before whose sketch is equal; if there is none it adds item i, and
// returns that.
func (t *sketchTable) first(sketches []minhash.Sketch, sketch []uint32, i uint32) uint32 {
	if 2*t.n >= len(t.slots) {
		t.grow()
	}
	hash := sketchHash(sketch)
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		if item := uint32(t.slots[at]) - 1; uint32(t.slots[at]>>32) == hash && slices.Equal(sketches[item], sketch) {
			return item
		}
	}
	t.slots[at] = uint64(hash)<<32 | uint64(i+1)
	t.n++
	return i
}

func (t *sketchTable) grow() {
	old := t.slots
	t.slots = make([]uint64, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := uint32(slot>>32) & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = slot
	}
}

// textDigest is SHA-256 of a text or a set, and of the first item with its sketch.
type textDigest [sha256.Size]byte

// textSets tells documents of equal sketches apart.
type textSets struct {
	shingles *texts.Shingler
	byDigest map[textDigest]uint32 // the first item with the text, or the set
	key      []byte                // the first item with the sketch, and text, of the call before
	same     uint32                // its result
	set      []byte                // scratch memory
}

// firstOf returns the first item whose set is that of item i, of those given with the same first
// item of equal sketch. Tables have equal texts next to each other, so the text is compared with
// the one before.
func (x *textSets) firstOf(first, i uint32, text []byte) uint32 {
	const head = 5 // bytes of a key before the text
	if len(x.key) > 0 && binary.LittleEndian.Uint32(x.key) == first && bytes.Equal(x.key[head:], text) {
		return x.same
	}
	x.key = append(binary.LittleEndian.AppendUint32(x.key[:0], first), 't')
	x.key = append(x.key, text...)
	ofText := textDigest(sha256.Sum256(x.key))
	var ok bool
	if x.same, ok = x.byDigest[ofText]; ok {
		return x.same
	}
	x.set = append(binary.LittleEndian.AppendUint32(x.set[:0], first), 's')
	for _, h := range x.shingles.Set(text) {
		x.set = binary.LittleEndian.AppendUint64(x.set, h)
	}
	ofSet := textDigest(sha256.Sum256(x.set))
	if x.same, ok = x.byDigest[ofSet]; !ok {
		x.same = i
		x.byDigest[ofSet] = i
	}
	x.byDigest[ofText] = x.same
	return x.same
}

// splitByText leaves in j.sets, which says where sketches are equal, only what is equal by the
// texts.
func (j *joinSet) splitByText(ctx context.Context) error {
	several := newItemSet(j.items) // first items that are not alone
	for i, first := range j.sets {
		if first != uint32(i) {
			several.add(first)
		}
	}
	sets := textSets{shingles: j.v.Texts.Shingler(), byDigest: map[textDigest]uint32{}}
	var scratch []byte
	for i, first := range j.sets {
		if !several.has(first) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := j.place(uint32(i)).Text(&scratch)
		if err != nil {
			return err
		}
		j.sets[i] = sets.firstOf(first, uint32(i), text)
	}
	return nil
}

// linkSets makes j.next from j.sets.
func (j *joinSet) linkSets() {
	last := make([]uint32, j.items) // of each set, by its first item
	j.next = make([]uint32, j.items)
	for i, first := range j.sets {
		j.next[i], last[i] = uint32(i), uint32(i)
		if first != uint32(i) {
			j.next[last[first]] = uint32(i)
			last[first] = uint32(i)
		}
	}
}

// eachOfSet calls fn for every item whose set is that of item i, the first of them, until it
// returns false.
func (j *joinSet) eachOfSet(i uint32, fn func(i uint32) bool) bool {
	for {
		if !fn(i) {
			return false
		}
		if j.next[i] == i {
			return true
		}
		i = j.next[i]
	}
}

// distinct returns the items that are the first of their set.
func (j *joinSet) distinct() (firsts []uint32) {
	for i, first := range j.sets {
		if first == uint32(i) {
			firsts = append(firsts, first)
		}
	}
	return firsts
}

// setSizes returns how many items each set has, by its first item.
func (j *joinSet) setSizes() []uint32 {
	sizes := make([]uint32, j.items)
	for _, first := range j.sets {
		sizes[first]++
	}
	return sizes
}
