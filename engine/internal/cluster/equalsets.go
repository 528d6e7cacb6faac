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

// eachOf calls fn for every item of group i, or, by sets, from item i on for those of its set, until
// it returns false, and says whether it has not.
func (j *joinSet) eachOf(i uint32, fn func(i uint32) bool) bool {
	if j.next == nil {
		lo, hi := j.span(i)
		for lo < hi && fn(lo) {
			lo++
		}
		return lo == hi
	}
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

// sizes returns what says how many items a group has, or a set by its first item.
func (j *joinSet) sizes() func(g uint32) int64 {
	if j.next == nil {
		return func(g uint32) int64 {
			lo, hi := j.span(g)
			return int64(hi - lo)
		}
	}
	sizes := make([]uint32, j.items)
	for _, first := range j.sets {
		sizes[first]++
	}
	return func(g uint32) int64 { return int64(sizes[g]) }
}
