package selfjoin

import (
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/ordered"
)

// wide is a join of fingerprints of several words.
//
// It gives each word j a radius k_j >= -1 with sum(k_j + 1) >= k + 1 (radii.go), so that a pair
// within k bits has a word j within k_j: the generalised pigeonhole principle. A pass for each
// word with k_j >= 0 joins the values that the word has in the fingerprints, by a join of 64 bits
// within k_j; every two fingerprints that have one value of a pair each are compared. Fingerprints
// that have the same value in the word are joined by passes for the other words. A pair is
// reported by the first pass whose word is within its radius, and by no other.
type wide struct {
	ctx    context.Context
	fps    Columns
	k      int
	opts   Options
	marked []bool   // as for pairs
	label  []uint32 // as for pairs
	emit   func(i, j uint32, distance int) bool
	plan   *planner

	costWord float64 // of comparing; tests raise it, so that few fingerprints are worth a pass

	// The conditions on pairs of the current pass, in addition to the distance: at least that many
	// bits of each word differ, as other passes report those with fewer.
	least [base.MaxWords]int
}

func newWide(ctx context.Context, fps Columns, k int, o Options, marked []bool, label []uint32, emit func(i, j uint32, distance int) bool) *wide {
	plan := newPlanner(max(fps.Len(), 1), min(k, base.FingerprintBits))
	return &wide{ctx: ctx, fps: fps, k: k, opts: o, marked: marked, label: label, emit: emit, plan: plan, costWord: costWord}
}

// run joins all fingerprints. From here on marked ones come first wherever there are several.
func (j *wide) run() error {
	all, words := make([]uint32, 0, j.fps.Len()), make([]int, len(j.fps))
	for _, mark := range []bool{true, false} {
		for i := range uint32(j.fps.Len()) {
			if j.isMarked(i) == mark {
				all = append(all, i)
			}
		}
	}
	for w := range words {
		words[w] = w
	}
	return cmp.Or(j.join(all, words, j.opts.Progress), j.ctx.Err())
}

// isMarked reports whether pairs of fingerprint i are wanted whatever the other side is.
func (j *wide) isMarked(i uint32) bool { return j.marked == nil || j.marked[i] }

// join reports the wanted pairs of some fingerprints, which differ in no other words than those
// given.
func (j *wide) join(some []uint32, words []int, progress func(done, total int64)) error {
	if len(some) < 2 || !j.isMarked(some[0]) {
		return nil
	}
	if _, one := j.labelOf(some); one {
		return nil
	}
	steps, ok := j.steps(some, words)
	n, done := int64(len(some)), int64(0)
	report := func(share, of int64) {
		if progress != nil {
			progress(done+n*share/of, n*int64(max(len(steps), 1)))
		}
	}
	if !ok {
		steps = nil
		if err := j.compareAll(some, words); err != nil {
			return err
		}
		report(1, 1)
	}
	least := j.least
	for _, s := range steps {
		if err := j.pass(some, words, s, report); err != nil {
			return err
		}
		report(1, 1)
		done += n
		j.least[s.word] = s.radius + 1
	}
	j.least = least
	return nil
}

// pass reports those pairs of join that no pass before has found.
func (j *wide) pass(some []uint32, words []int, s step, progress func(done, total int64)) error {
	v, o := j.values(some, s.word), j.opts
	o.Progress = progress
	var failed error
	err := pairsOfWord(j.ctx, v.values, s.radius, o, v.marked, v.label, func(x, y uint32, _ int) bool {
		failed = j.compare(v.of(x), v.of(y), words)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err != nil || j.least[s.word] > 0 {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(words), func(w int) bool { return w == s.word })
	for x := range uint32(len(v.values)) {
		if err := j.join(v.of(x), others, nil); err != nil {
			return err
		}
	}
	return nil
}

// wordValues are the values of a word, ascending, and the fingerprints that have them.
type wordValues struct {
	values []base.Fingerprint
	start  []uint32 // of the fingerprints of each, and one more
	having []uint32
	marked []bool   // those that a marked fingerprint has; nil if all are
	label  []uint32 // the label of all fingerprints that have it, or one that no other value has; nil without labels
}

func (v *wordValues) of(x uint32) []uint32 { return v.having[v.start[x]:v.start[x+1]] }

func (j *wide) values(some []uint32, w int) *wordValues {
	p := ordered.Pairs{Keys: make([]uint64, len(some)), Vals: slices.Clone(some)}
	for i, f := range some {
		p.Keys[i] = j.fps[w][f]
	}
	p = ordered.SortPairs(p, ordered.MakePairs(len(some)))
	v := &wordValues{values: p.Keys[:0], having: p.Vals}
	for i, x := range p.Keys {
		if i == 0 || x != v.values[len(v.values)-1] {
			v.values, v.start = append(v.values, x), append(v.start, uint32(i))
		}
	}
	v.start = append(v.start, uint32(len(some)))
	for x := range uint32(len(v.values)) {
		if j.marked != nil {
			v.marked = append(v.marked, j.marked[v.of(x)[0]])
		}
		if j.label != nil {
			label, one := j.labelOf(v.of(x))
			if !one {
				label = markBit | x
			}
			v.label = append(v.label, label)
		}
	}
	return v
}

// labelOf returns the label of the first of some fingerprints and whether it is that of all.
func (j *wide) labelOf(some []uint32) (label uint32, one bool) {
	if j.label == nil {
		return 0, false
	}
	label = j.label[some[0]]
	return label, !slices.ContainsFunc(some, func(f uint32) bool { return j.label[f] != label })
}

// compareAll reports the wanted pairs of some fingerprints by looking at each.
func (j *wide) compareAll(some []uint32, words []int) error {
	for i := range some {
		if err := j.compare(some[i:i+1], some[i+1:], words); err != nil {
			return err
		}
	}
	return nil
}

// compare reports the wanted pairs of one of some fingerprints and one of others.
func (j *wide) compare(some, others []uint32, words []int) error {
	for _, a := range some {
		if err := j.ctx.Err(); err != nil {
			return err
		}
		for _, b := range others {
			if !j.isMarked(a) && !j.isMarked(b) {
				break // nor are those after it
			}
			if d, ok := j.accepts(a, b, words); ok && !j.emit(min(a, b), max(a, b), d) {
				return errStopped
			}
		}
	}
	return nil
}

// accepts returns the distance of a pair, and whether it is wanted and this pass is the one to
// report it.
func (j *wide) accepts(a, b uint32, words []int) (distance int, ok bool) {
	if j.label != nil && j.label[a] == j.label[b] {
		return 0, false
	}
	for _, w := range words {
		d := base.Distance(j.fps[w][a], j.fps[w][b])
		if distance += d; distance > j.k || d < j.least[w] {
			return 0, false
		}
	}
	return distance, true
}
