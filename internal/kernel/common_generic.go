package kernel

import (
	"math/bits"
	"slices"
)

// commonGo is Common in pure Go, for lists that are not empty. If there are fewer than need common
// elements, it returns any number less than need. The elements from i to p and from j to q have not
// been compared yet.
//
// Results of comparisons are added instead of branching on them: they are unpredictable, and the
// compiler would generate branches.
func commonGo(a, b []uint32, need int) (n int) {
	i, p := 0, len(a)-1
	j, q := 0, len(b)-1
	for {
		left := min(p-i, q-j) + 1
		if n+left < need {
			return -1
		}
		// A step consumes at most two elements of either list.
		steps := min(left/2, 8)
		if steps == 0 {
			return n + merge(a[i:p+1], b[j:q+1])
		}
		for range steps {
			x, y := uint64(a[i]), uint64(b[j])
			less, more := int((x-y)>>63), int((y-x)>>63)
			i += 1 - more
			j += 1 - less
			n += 1 - less - more
			x, y = uint64(a[p]), uint64(b[q])
			less, more = int((x-y)>>63), int((y-x)>>63)
			p -= 1 - less
			q -= 1 - more
			n += 1 - less - more
		}
	}
}

// merge counts common elements one by one.
func merge(a, b []uint32) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := uint64(a[i]), uint64(b[j])
		less, more := int((x-y)>>63), int((y-x)>>63)
		i += 1 - more
		j += 1 - less
		n += 1 - less - more
	}
	return n
}

// filterGo is FilterBitmaps in pure Go; first is the index of the first bitmap. It does not branch on
// the bitmaps.
func filterGo(dst []uint32, q *[4]uint64, bitmaps [][4]uint64, max, first int) []uint32 {
	n := len(dst)
	dst = slices.Grow(dst, len(bitmaps))[:n+len(bitmaps)]
	q0, q1, q2, q3 := q[0], q[1], q[2], q[3]
	for i := range bitmaps {
		b := &bitmaps[i]
		lack := bits.OnesCount64(q0&^b[0]) + bits.OnesCount64(q1&^b[1]) + bits.OnesCount64(q2&^b[2]) + bits.OnesCount64(q3&^b[3])
		dst[n] = uint32(first + i)
		n += int(uint64(lack-max-1) >> 63)
	}
	return dst[:n]
}
