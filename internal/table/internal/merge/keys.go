package merge

import "math/bits"

// Keys merges sorted parts, which are consecutive in keys and end at ends. tmp must be as long as
// keys. It returns the merged keys and the other array. Equal keys are in the order of their parts.
//
// Parts are merged two by two, in log2 rounds of their number, in arrays that fit into a near
// cache, and without a branch that depends on the order of keys.
func Keys(keys, tmp []uint64, ends []int) (merged, spare []uint64) {
	for len(ends) > 1 {
		n, from := 0, 0
		for i := 0; i < len(ends); i += 2 {
			if i+1 == len(ends) {
				copy(tmp[from:ends[i]], keys[from:ends[i]])
				ends[n] = ends[i]
			} else {
				mergeKeys(tmp[from:ends[i+1]], keys[from:ends[i]], keys[ends[i]:ends[i+1]])
				ends[n] = ends[i+1]
			}
			from = ends[n]
			n++
		}
		ends = ends[:n]
		keys, tmp = tmp, keys
	}
	return keys, tmp
}

// mergeKeys merges a and b into dst, which must be as long as both together.
func mergeKeys(dst, a, b []uint64) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		_, less := bits.Sub64(y, x, 0) // 1 if y < x
		dst[i+j] = x ^ (x^y)&-less
		j += int(less)
		i += 1 - int(less)
	}
	rest := dst[i+j:]
	copy(rest[copy(rest, a[i:]):], b[j:])
}

// Pairs are keys with values.
type Pairs struct {
	Keys []uint64
	Vals []uint32
}

// slice returns the pairs [from, to).
func (p Pairs) slice(from, to int) Pairs { return Pairs{p.Keys[from:to], p.Vals[from:to]} }

// SortedPairs is Keys for pairs: equal keys are in the order of their parts, whatever their values.
func SortedPairs(p, tmp Pairs, ends []int) (merged, spare Pairs) {
	for len(ends) > 1 {
		n, from := 0, 0
		for i := 0; i < len(ends); i += 2 {
			if i+1 == len(ends) {
				copy(tmp.Keys[from:ends[i]], p.Keys[from:ends[i]])
				copy(tmp.Vals[from:ends[i]], p.Vals[from:ends[i]])
				ends[n] = ends[i]
			} else {
				mergePairs(tmp.slice(from, ends[i+1]), p.slice(from, ends[i]), p.slice(ends[i], ends[i+1]))
				ends[n] = ends[i+1]
			}
			from = ends[n]
			n++
		}
		ends = ends[:n]
		p, tmp = tmp, p
	}
	return p, tmp
}

// mergePairs merges a and b into dst, which must be as long as both together.
func mergePairs(dst, a, b Pairs) {
	i, j := 0, 0
	keys, vals := dst.Keys, dst.Vals[:len(dst.Keys)]
	aVals, bVals := a.Vals[:len(a.Keys)], b.Vals[:len(b.Keys)]
	n := 0
	for i < len(a.Keys) && j < len(b.Keys) {
		x, y := a.Keys[i], b.Keys[j]
		v, w := aVals[i], bVals[j]
		_, less := bits.Sub64(y, x, 0)
		keys[n] = x ^ (x^y)&-less
		vals[n] = v ^ (v^w)&uint32(-less)
		n++
		j += int(less)
		i += 1 - int(less)
	}
	n += copy(keys[n:], a.Keys[i:])
	copy(keys[n:], b.Keys[j:])
	n -= len(a.Keys) - i
	n += copy(vals[n:], aVals[i:])
	copy(vals[n:], bVals[j:])
}
