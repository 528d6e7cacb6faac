package jaccardjoin

import (
	"context"
	"math"

	"github.com/simdb/simdb/minhash"
)

// A Pair is two sketches, I before J, and their score.
type Pair struct {
	I, J  uint32
	Score float64
}

// StarOptions are the options of Stars. The zero value is fine.
type StarOptions struct {
	Options
	// Sets says for each sketch which set it is of, by a number less than that of the sketches;
	// sketches of one number must be equal, and count as one. Nil means that all sets differ.
	Sets []uint32
	// Accept, if not nil, says whether a pair may match.
	Accept func(i, j uint32) bool
	window int // sketches that are decided together at most; 0 means 2^16
}

// Assignment is what star clusters are: for each sketch its keeper, and the score of the two, which
// is 1 for a keeper.
type Assignment struct {
	Keeper []uint32
	Score  []float64
}

const (
	none        = math.MaxUint32
	leastWindow = 256
	mostWindow  = 1 << 16
	// A window ends when comparing its sketches with each other has taken more than windowWork
	// comparisons, plus windowPerItem for each sketch.
	windowWork    = 2048
	windowPerItem = 16
)

// Stars takes the sketches in their order. Each joins the keeper so far that it matches with the
// highest score, of equally similar ones the first, or becomes a keeper itself; so does one without
// hashes.
//
// # Outline
//
// The block's index has keepers only, so the members of a cluster, however many, are compared with
// its keeper and not with each other. Sketches are decided in windows:
//
//	probe    all sketches of the window, in parallel, against the keepers that were made before it
//	pair     those that match none are keepers, perhaps: add them to the index, and probe it for the pairs within the window
//	decide   in order; entries that are no keepers become dead ones
//
// A window ends early when its sketches are much like each other, as at the beginning of a large
// cluster. A few keepers are made of these, and the next windows, each up to twice as long, meet
// them in the index.
//
// Sketches after the block probe it when it is complete, and join keepers of later blocks if these
// are more similar. Equal sets probe once: a later one need only be compared with keepers that have
// been made since.
func Stars(ctx context.Context, s Sketches, t float64, o StarOptions) (Assignment, error) {
	j, err := newJoin(ctx, s, t, o.Options)
	if err != nil {
		return Assignment{}, err
	}
	if o.window <= 0 {
		o.window = mostWindow
	}
	x := &stars{join: j, o: o, window: min(leastWindow, o.window)}
	return x.run()
}

// stars is one run of Stars.
type stars struct {
	*join
	o   StarOptions
	out Assignment

	// Of each set: the keeper that its last sketch would join, or none; the score with it; how many
	// entries of the block it has been compared with; and its first sketch, the only one that may
	// become a keeper.
	keeper []uint32
	best   []float64
	seen   []uint32
	leader []uint32

	b       *block
	probers []*prober
	within  *prober // for the pairs within a window
	window  int     // sketches of the next window
	turns   []turn
	pairs   []Pair // within the window, ordered by J
}

func (x *stars) set(i int) uint32 {
	if x.o.Sets == nil {
		return uint32(i)
	}
	return x.o.Sets[i]
}

func (x *stars) run() (Assignment, error) {
	n := x.s.Len
	x.out = Assignment{make([]uint32, n), make([]float64, n)}
	x.keeper, x.best, x.seen, x.leader = make([]uint32, n), make([]float64, n), make([]uint32, n), make([]uint32, n)
	for i := range n {
		x.keeper[i], x.leader[i] = none, none
	}
	for i := range n {
		if g := x.set(i); x.leader[g] == none {
			x.leader[g] = uint32(i)
		}
	}
	x.emit = x.take
	defer x.start()()
	for first := 0; first < n && !x.stop.Load(); {
		x.b = x.newBlock(first, x.mayKeep)
		x.expect(x.b)
		x.probers, x.within = x.newProbers(x.b), x.newProber(x.b)
		clear(x.seen)
		first = x.b.end()
		x.decideBlock()
	}
	return x.out, x.ctx.Err()
}

// mayKeep reports whether sketch i may become a keeper as far as is known.
func (x *stars) mayKeep(i int) bool {
	g := x.set(i)
	return x.leader[g] == uint32(i) && x.keeper[g] == none
}

// decideBlock decides the sketches of the block and has those after it probe it.
func (x *stars) decideBlock() {
	for pos := x.b.first; pos < x.b.end() && !x.stop.Load(); {
		end := min(pos+x.window, x.b.end())
		known := len(x.b.entries)
		x.probe(pos, end)
		decided := x.pair(pos, end)
		x.decide(pos, decided, known)
		x.window = min(max(2*(decided-pos), leastWindow), x.o.window)
		x.advance(decided - pos)
		pos = decided
	}
	for pos := x.b.end(); pos < x.s.Len && !x.stop.Load(); {
		end := min(pos+mostWindow, x.s.Len)
		x.probe(pos, end)
		x.advance(end - pos)
		pos = end
	}
}

// probe compares sketches [from, to) with the entries that their sets have not been compared with.
// There are no others than keepers, all before from. A set that has a score of 1 can't get a better
// one.
func (x *stars) probe(from, to int) {
	known := uint32(len(x.b.entries))
	x.turns = x.turns[:0]
	for i := from; i < to; i++ {
		if g := x.set(i); x.seen[g] < known && x.best[g] < 1 {
			x.turns = append(x.turns, turn{i, x.seen[g], known})
			x.seen[g] = known
		}
	}
	x.probeBlock(x.b, x.probers, len(x.turns), func(i int) turn { return x.turns[i] }, func(int) {})
}

// take takes a pair of a keeper and a later sketch.
func (x *stars) take(i, j uint32, score minhash.Score) bool {
	if x.o.Accept == nil || x.o.Accept(i, j) {
		x.improve(Pair{i, j, score.Score})
	}
	return true
}

// improve has the set of a pair's later sketch join the earlier one, a keeper, if that is better
// than what it has.
func (x *stars) improve(p Pair) {
	g := x.set(int(p.J))
	if have := x.keeper[g]; have == none || p.Score > x.best[g] || p.Score == x.best[g] && p.I < have {
		x.keeper[g], x.best[g] = p.I, p.Score
	}
}

// open reports whether sketch i of the block becomes a keeper unless it matches one of its window.
func (x *stars) open(i int) bool {
	return x.keeper[x.set(i)] == none && len(x.b.prefix(i-x.b.first)) > 0
}

// pair makes entries of the open sketches from pos on, and leaves in x.pairs the pairs of all with
// these. It returns where the window ends.
func (x *stars) pair(pos, end int) int {
	x.pairs = x.pairs[:0]
	x.within.work = 0
	for i := pos; i < end && !x.stop.Load(); i++ {
		g := x.set(i)
		if x.best[g] == 1 {
			continue
		}
		x.within.out = x.within.out[:0]
		x.within.probe(turn{i, x.seen[g], uint32(len(x.b.entries))})
		for _, f := range x.within.out {
			if x.o.Accept == nil || x.o.Accept(f.i, f.j) {
				x.pairs = append(x.pairs, Pair{f.i, f.j, f.score.Score})
			}
		}
		if x.open(i) {
			x.b.add(i - x.b.first)
		}
		x.seen[g] = uint32(len(x.b.entries))
		if x.within.work > windowWork+windowPerItem*(i-pos) {
			return i + 1
		}
	}
	return end
}

// decide decides the sketches [pos, end) in their order, given the number of entries before them.
func (x *stars) decide(pos, end, entry int) {
	at := 0
	for i := pos; i < end; i++ {
		g := x.set(i)
		for ; at < len(x.pairs) && int(x.pairs[at].J) == i; at++ {
			if p := x.pairs[at]; x.out.Keeper[p.I] == p.I {
				x.improve(p)
			}
		}
		if x.keeper[g] == none {
			x.keeper[g], x.best[g] = uint32(i), 1
		}
		x.out.Keeper[i], x.out.Score[i] = x.keeper[g], x.best[g]
		if entry < len(x.b.entries) && int(x.b.entries[entry]) == i-x.b.first {
			if x.keeper[g] != uint32(i) {
				x.b.entries[entry] = dead
			}
			entry++
		}
	}
}
