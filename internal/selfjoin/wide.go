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
// Each word j gets a radius k_j >= -1 with sum(k_j + 1) >= k + 1 (radii.go), so that for a pair
// within k bits some word j is within k_j: the generalised pigeonhole principle. For each word
// with k_j >= 0, a pass joins the values of the word within k_j bits by a 64-bit join, and
// compares the fingerprints that have the two values of each pair found. Fingerprints with the
// same value of the word are joined by passes for the other words. A pair is reported only by the
// first pass whose word is within its radius.
type wide struct {
	ctx    context.Context
	fps    Columns
	k      int
	opts   Options
	marked []bool   // see pairs
	label  []uint32 // see pairs
	emit   func(i, j uint32, distance int) bool
	plan   *planner

	costWord float64 // of comparing; tests raise it, so that passes pay for few fingerprints

	// The conditions on pairs of the current pass, in addition to the distance: at least this
	// many bits of each word differ, since other passes report pairs with fewer.
	least [base.MaxWords]int
}

func newWide(ctx context.Context, fps Columns, k int, o Options, marked []bool, label []uint32, emit func(i, j uint32, distance int) bool) *wide {
	plan := newPlanner(max(fps.Len(), 1), min(k, base.FingerprintBits))
	return &wide{ctx: ctx, fps: fps, k: k, opts: o, marked: marked, label: label, emit: emit, plan: plan, costWord: costWord}
}

// run joins all fingerprints. From here on, slices of fingerprints start with the marked ones.
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

// isMarked reports whether all pairs of fingerprint i are wanted.
func (j *wide) isMarked(i uint32) bool { return j.marked == nil || j.marked[i] }

// join reports the wanted pairs of some fingerprints that agree in all other words than those
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

// pass reports those pairs of join that no earlier pass has found.
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

// wordValues are the values of a word, in ascending order, with the fingerprints that have them.
type wordValues struct {
	values []base.Fingerprint
	start  []uint32 // by value: where its fingerprints start in having; and the end
	having []uint32
	marked []bool   // by value: a marked fingerprint has it; nil if all are marked
	label  []uint32 // by value: the common label of its fingerprints, or a unique label; nil without labels
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

// labelOf returns the label of the first of some fingerprints, and whether all have it.
func (j *wide) labelOf(some []uint32) (label uint32, one bool) {
	if j.label == nil {
		return 0, false
	}
	label = j.label[some[0]]
	return label, !slices.ContainsFunc(some, func(f uint32) bool { return j.label[f] != label })
}

// compareAll reports the wanted pairs of some fingerprints by comparing all pairs.
func (j *wide) compareAll(some []uint32, words []int) error {
	for i := range some {
		if err := j.compare(some[i:i+1], some[i+1:], words); err != nil {
			return err
		}
	}
	return nil
}

// compare reports the wanted pairs between some fingerprints and others.
func (j *wide) compare(some, others []uint32, words []int) error {
	for _, a := range some {
		if err := j.ctx.Err(); err != nil {
			return err
		}
		for _, b := range others {
			if !j.isMarked(a) && !j.isMarked(b) {
				break // the following ones are not marked either
			}
			if d, ok := j.accepts(a, b, words); ok && !j.emit(min(a, b), max(a, b), d) {
				return errStopped
			}
		}
	}
	return nil
}

// accepts returns the distance of a pair, and whether the pair is wanted and this pass has to
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
