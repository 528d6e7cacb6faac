package ordered

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Head returns the first 8 bytes of s, padded with zeros, as a number that preserves the order of
// strings, except that of strings with equal heads.
func Head(s []byte) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(s)
	}
	var word [8]byte
	copy(word[:], s)
	return binary.BigEndian.Uint64(word[:])
}

// CommonPrefix returns the length of the common prefix of a and b.
func CommonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if binary.BigEndian.Uint64(a[i:]) != binary.BigEndian.Uint64(b[i:]) {
			break
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// fewStrings is the number of strings up to which a comparison sort is faster than a radix sort by
// their heads.
const fewStrings = 128

// SortStrings sorts the numbers p.Vals by the strings that at returns for them, with the memory of
// p.Keys and of tmp, which has the same lengths. It returns the sorted numbers, which are p.Vals or
// tmp.Vals. Most strings are compared by the 8 bytes after the common prefix of all; those that
// agree in these are sorted again, by the 8 bytes after their own common prefix.
func SortStrings(p, tmp Pairs, at func(i uint32) []byte) []uint32 {
	return sortStrings(p, tmp, 0, at)
}

// sortStrings is SortStrings for strings that agree in the first skip bytes.
func sortStrings(p, tmp Pairs, skip int, at func(i uint32) []byte) []uint32 {
	if len(p.Vals) <= fewStrings {
		slices.SortFunc(p.Vals, func(a, b uint32) int { return bytes.Compare(at(a)[skip:], at(b)[skip:]) })
		return p.Vals
	}
	first := at(p.Vals[0])[skip:]
	for _, i := range p.Vals[1:] {
		if s := at(i)[skip:]; !bytes.HasPrefix(s, first) {
			first = first[:CommonPrefix(s, first)]
		}
	}
	skip += len(first)
	ascend := true
	for j, i := range p.Vals {
		p.Keys[j] = Head(at(i)[skip:])
		ascend = ascend && (j == 0 || p.Keys[j-1] <= p.Keys[j])
	}
	if !ascend {
		if sorted := SortPairs(p, tmp); &sorted.Keys[0] != &p.Keys[0] {
			p, tmp = sorted, p
		}
	}
	for from := 0; from < len(p.Vals); {
		to := from + 1
		for to < len(p.Vals) && p.Keys[to] == p.Keys[from] {
			to++
		}
		if group := p.Vals[from:to]; len(group) > 1 {
			if slices.ContainsFunc(group, func(i uint32) bool { return len(at(i)) < skip+8 }) { // their heads are padded
				slices.SortFunc(group, func(a, b uint32) int { return bytes.Compare(at(a)[skip:], at(b)[skip:]) })
			} else {
				copy(group, sortStrings(Pairs{p.Keys[from:to], group}, Pairs{tmp.Keys[from:to], tmp.Vals[from:to]}, skip+8, at))
			}
		}
		from = to
	}
	return p.Vals
}
