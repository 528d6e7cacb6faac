package cluster

import (
	"slices"

	"github.com/simdb/simdb/minhash"
)

// Documents of equal sets are joined as one: by estimates those of equal sketches.

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
