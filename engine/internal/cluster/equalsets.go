package cluster

import "crypto/sha256"

// Documents of equal sets are joined as one: by estimates those of equal sketches.

// setKey is the beginning of SHA-256 of a set, a sketch or a text.
type setKey [16]byte

func keyOf(b []byte) setKey {
	digest := sha256.Sum256(b)
	return setKey(digest[:])
}

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
