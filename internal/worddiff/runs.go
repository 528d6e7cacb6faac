// Package worddiff compares two texts word by word: it finds the words that only one text has, by a
// shortest alignment, and the differences that recur in many pairs of texts.
//
//	runs.go   the alignment
//	show.go   differences as texts
//	tally.go  differences that recur, and their words
//	bag.go    differences of bags of words, without an order
package worddiff

import "slices"

// MaxEdits is the number of words beyond which texts are not aligned: a user would learn little
// from an alignment, and it needs up to MaxEdits^2 numbers of 4 bytes.
const MaxEdits = 1000

// A Run says that b has the words b[B0:B1] where a has a[A0:A1].
type Run struct{ A0, A1, B0, B1 int }

// Runs returns the runs that differ, in order, by a shortest alignment of two lists of words; false
// if they have more than most words. It is the greedy algorithm of Myers (An O(ND) difference
// algorithm and its variations, 1986), between the common beginning and the common end.
func Runs[W comparable](a, b []W, most int) ([]Run, bool) {
	begin := 0
	for begin < len(a) && begin < len(b) && a[begin] == b[begin] {
		begin++
	}
	n, m := len(a), len(b)
	for n > begin && m > begin && a[n-1] == b[m-1] {
		n, m = n-1, m-1
	}
	switch {
	case begin == n && begin == m:
		return nil, true
	case begin == n || begin == m:
		return []Run{{begin, n, begin, m}}, n+m-2*begin <= most
	}
	if small := n+m-2*begin <= few; small && apart(a[begin:n], b[begin:m]) {
		return []Run{{begin, n, begin, m}}, n+m-2*begin <= most
	}
	trace, ok := shortestEdit(a[begin:n], b[begin:m], most)
	if !ok {
		return nil, false
	}
	var runs []Run
	x, y := n-begin, m-begin
	for d := len(trace) - 1; d >= 0; d-- {
		px, py := 0, 0
		if d > 0 {
			k := x - y
			v := trace[d-1] // v[d-1+k] is the largest x on diagonal k after d-1 edits
			if k == -d || k != d && furthest(v, d-1, k-1) < furthest(v, d-1, k+1) {
				px = furthest(v, d-1, k+1)
				py = px - k - 1
				x, y = min(x, px), min(y, py+1)
			} else {
				px = furthest(v, d-1, k-1)
				py = px - k + 1
				x, y = min(x, px+1), min(y, py)
			}
			runs = append(runs, Run{begin + px, begin + x, begin + py, begin + y})
		}
		x, y = px, py
	}
	slices.Reverse(runs)
	return joinRuns(runs), true
}

// few is the number of words up to which a comparison of all words is fast.
const few = 12

// apart reports whether two lists have no word in common.
func apart[W comparable](a, b []W) bool {
	for _, w := range a {
		if slices.Contains(b, w) {
			return false
		}
	}
	return true
}

func joinRuns(runs []Run) []Run {
	joined := runs[:0]
	for _, r := range runs {
		if n := len(joined); n > 0 && joined[n-1].A1 == r.A0 && joined[n-1].B1 == r.B0 {
			joined[n-1].A1, joined[n-1].B1 = r.A1, r.B1
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

// furthest returns the largest x on diagonal k = x - y after d edits, or -1 if k is not in -d..d.
func furthest(v []int32, d, k int) int {
	if k < -d || k > d {
		return -1
	}
	return int(v[d+k])
}

// shortestEdit returns the largest x on each diagonal for each number of edits, up to the smallest
// number that turns a into b. It returns false if that number exceeds most.
func shortestEdit[W comparable](a, b []W, most int) (trace [][]int32, ok bool) {
	if max(len(a), len(b))-min(len(a), len(b)) > most {
		return nil, false
	}
	for d := range most + 1 {
		v := make([]int32, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				before := trace[d-1]
				if x = furthest(before, d-1, k-1) + 1; k == -d || k != d && x <= furthest(before, d-1, k+1) {
					x = furthest(before, d-1, k+1)
				}
			}
			y := x - k
			for x < len(a) && y < len(b) && x >= 0 && y >= 0 && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[d+k] = int32(x)
			if x >= len(a) && y >= len(b) {
				return append(trace, v), true
			}
		}
		trace = append(trace, v)
	}
	return nil, false
}
