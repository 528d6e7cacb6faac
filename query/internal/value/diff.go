package value

import (
	"fmt"
	"slices"
	"strings"
)

// The words in which two texts differ are found with the greedy algorithm of Myers (An O(ND)
// difference algorithm and its variations, 1986). Only the words between the common prefix and the
// common suffix are compared. Texts that differ in more than maxEdits words show no runs: a user
// would learn little from them.
const (
	maxEdits    = 1000 // the trace needs at most maxEdits^2 numbers of 4 bytes
	shownRuns   = 5
	shownWords  = 8 // on each side of a run
	diffContext = 3 // words before and after a run
)

// Difference describes one difference between two texts.
type Difference struct{ Name, Text string }

// editRun says that b has the words b[b0:b1] where a has a[a0:a1].
type editRun struct{ a0, a1, b0, b1 int }

// Differences returns how many runs of words differ, and the first runs as
//
//	... the [-quick-] {+slow+} brown fox jumps ...
//
// where only a has [-...-] and only b has {+...+}.
func Differences(a, b []string) []Difference {
	runs, ok := diffWords(a, b)
	if !ok {
		return []Difference{{"runs of words that differ", fmt.Sprintf("not shown: more than %d words", maxEdits)}}
	}
	rows := []Difference{{"runs of words that differ", fmt.Sprint(len(runs))}}
	for i, r := range runs[:min(len(runs), shownRuns)] {
		rows = append(rows, Difference{fmt.Sprintf("run %d, at word %d of a", i+1, r.a0+1), showRun(a, b, r)})
	}
	return rows
}

// showRun writes a run with the words around it.
func showRun(a, b []string, r editRun) string {
	var out []string
	if r.a0 > diffContext {
		out = append(out, "...")
	}
	out = append(out, a[max(0, r.a0-diffContext):r.a0]...)
	for _, side := range []struct {
		words       []string
		open, close string
	}{{a[r.a0:r.a1], "[-", "-]"}, {b[r.b0:r.b1], "{+", "+}"}} {
		if n := len(side.words); n > shownWords {
			out = append(out, fmt.Sprintf("%s%s ... (%d words)%s", side.open, strings.Join(side.words[:shownWords], " "), n, side.close))
		} else if n > 0 {
			out = append(out, side.open+strings.Join(side.words, " ")+side.close)
		}
	}
	out = append(out, a[r.a1:min(len(a), r.a1+diffContext)]...)
	if r.a1+diffContext < len(a) {
		out = append(out, "...")
	}
	return strings.Join(out, " ")
}

// diffWords returns the runs that differ, in order, or false if they have more than maxEdits words.
func diffWords(a, b []string) ([]editRun, bool) {
	begin := 0
	for begin < len(a) && begin < len(b) && a[begin] == b[begin] {
		begin++
	}
	n, m := len(a), len(b)
	for n > begin && m > begin && a[n-1] == b[m-1] {
		n, m = n-1, m-1
	}
	trace, ok := shortestEdit(a[begin:n], b[begin:m])
	if !ok {
		return nil, false
	}
	var runs []editRun
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
			runs = append(runs, editRun{begin + px, begin + x, begin + py, begin + y})
		}
		x, y = px, py
	}
	slices.Reverse(runs)
	return joinRuns(runs), true
}

func joinRuns(runs []editRun) []editRun {
	joined := runs[:0]
	for _, r := range runs {
		if n := len(joined); n > 0 && joined[n-1].a1 == r.a0 && joined[n-1].b1 == r.b0 {
			joined[n-1].a1, joined[n-1].b1 = r.a1, r.b1
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
// number that turns a into b. It returns false if that number exceeds maxEdits.
func shortestEdit(a, b []string) (trace [][]int32, ok bool) {
	for d := range maxEdits + 1 {
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
