package selfjoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/ordered"
)

// Documents lists documents in the order of preference with their fingerprints, which are numbers
// of Columns. A document has one or more: document p has Codes[Ends[p-1]:Ends[p]], or without
// Ends only Codes[p]. Several documents may share a fingerprint.
type Documents struct {
	Codes []uint32
	Ends  []uint32 // nil: each document has one fingerprint
	Known int      // number of the first documents, which are keepers of star clusters in any case
}

// Len returns the number of documents.
func (d *Documents) Len() int {
	if d.Ends != nil {
		return len(d.Ends)
	}
	return len(d.Codes)
}

// Of returns the fingerprints of document p.
func (d *Documents) Of(p uint32) []uint32 {
	from, to := p, p+1
	if d.Ends != nil {
		if from, to = 0, d.Ends[p]; p > 0 {
			from = d.Ends[p-1]
		}
	}
	return d.Codes[from:to]
}

// codes returns the fingerprints of some documents, in ascending order.
func (d Documents) codes(some []uint32) (codes []uint32) {
	for _, p := range some {
		codes = append(codes, d.Of(p)...)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Having returns, for each of n fingerprints, its documents in order: fingerprint f has
// docs[start[f]:start[f+1]].
func (d Documents) Having(n int) (start, docs []uint32) {
	start, docs = make([]uint32, n+2), make([]uint32, len(d.Codes))
	for _, f := range d.Codes {
		start[f+2]++
	}
	for i := 2; i < len(start); i++ {
		start[i] += start[i-1]
	}
	for p := range uint32(d.Len()) {
		for _, f := range d.Of(p) {
			docs[start[f+1]] = p
			start[f+1]++
		}
	}
	return start, docs
}

// Pairs calls fn once for every two documents with fingerprints within k bits, as places a < b
// with their least distance, until fn returns false. fps is as for Stars, and no document may
// repeat a fingerprint.
func (d Documents) Pairs(ctx context.Context, fps Columns, k int, o Options, fn func(a, b uint32, distance int) bool) error {
	start, having := d.Having(fps.Len())
	calls := 0
	pairs := func(i, j uint32, distance int) bool {
		for _, a := range having[start[i]:start[i+1]] {
			for _, b := range having[start[j]:start[j+1]] {
				if calls++; calls%(1<<14) == 0 && ctx.Err() != nil {
					return false
				}
				if a == b || i == j && a > b || d.nearer(fps, a, b, i, j, distance) {
					continue
				}
				if !fn(min(a, b), max(a, b), distance) {
					return false
				}
			}
		}
		return true
	}
	for f := range uint32(fps.Len()) {
		if start[f+1]-start[f] > 1 && !pairs(f, f, 0) {
			return ctx.Err()
		}
	}
	return cmp.Or(Pairs(ctx, fps, k, o, pairs), ctx.Err())
}

// nearer reports whether documents a and b have two fingerprints that are nearer than i <= j, or
// as near and precede them: this is false for exactly one of their pairs.
func (d Documents) nearer(fps Columns, a, b, i, j uint32, distance int) bool {
	for _, f := range d.Of(a) {
		for _, g := range d.Of(b) {
			if other := fps.Distance(f, g); cmp.Or(cmp.Compare(other, distance), cmp.Compare(min(f, g), i), cmp.Compare(max(f, g), j)) < 0 {
				return true
			}
		}
	}
	return false
}

// Assignment holds the result of a star clustering. Documents are identified by their position in
// the order of preference.
type Assignment struct {
	Keeper   []uint32 // by document; a keeper is its own keeper
	Distance []uint16 // by document: distance to its keeper, in bits
}

// Stars forms star clusters. Each document in turn joins the nearest keeper so far within k bits,
// the earlier of two equally near ones, or becomes a keeper. The distance of two documents is the
// least distance of their fingerprints. fps must be ascending and distinct.
//
// If there are few pairs within k bits, Stars stores them and processes them once in the order of
// preference. If there are many (a cluster of n fingerprints has n^2/2), it first finds only the
// keepers, in stretches of the order of preference that are short enough to store their pairs.
// Then one more join, of keepers with everything, streams its pairs to find the nearest keepers.
// Memory is O(fps.Len() + len(docs.Codes)) in any case. Options.Progress restarts for each join.
func Stars(ctx context.Context, fps Columns, docs Documents, k int, o Options) (Assignment, error) {
	return stars(ctx, fps, docs, k, o, 4*fps.Len()+1<<20)
}

// none stands for no document.
const none = ^uint32(0)

// errManyPairs means that there are more pairs than the budget.
var errManyPairs = errors.New("too many pairs to keep")

// stars is Stars with at most budget pairs in memory.
func stars(ctx context.Context, fps Columns, docs Documents, k int, o Options, budget int) (Assignment, error) {
	if err := fps.check(k); err != nil {
		return Assignment{}, err
	}
	for _, f := range docs.Codes {
		if int(f) >= fps.Len() {
			return Assignment{}, fmt.Errorf("selfjoin: a document has fingerprint %d of %d", f, fps.Len())
		}
	}
	s := newClustering(fps, docs, k, o)
	if o.OnlyKnown {
		err := s.joinKeepers(ctx)
		for p, q := range s.Keeper {
			if q == none {
				s.Keeper[p] = uint32(p)
			}
		}
		return s.Assignment, err
	}
	near, err := s.neighbours(ctx, fps, s.label(), budget)
	switch {
	case err == nil:
		s.assign(near)
	case errors.Is(err, errManyPairs):
		if err := s.findKeepers(ctx, budget); err != nil {
			return Assignment{}, err
		}
		if err := s.joinKeepers(ctx); err != nil {
			return Assignment{}, err
		}
	default:
		return Assignment{}, err
	}
	return s.Assignment, nil
}

// clustering is a star clustering in progress.
type clustering struct {
	fps  Columns
	docs Documents
	k    int
	opts Options
	// keeper is, for each fingerprint, the first keeper that has it, or none. As two keepers are
	// never near each other, there is only one, except for known documents.
	keeper []uint32
	Assignment
}

func newClustering(fps Columns, docs Documents, k int, o Options) *clustering {
	s := &clustering{fps: fps, docs: docs, k: k, opts: o, keeper: make([]uint32, fps.Len())}
	for i := range s.keeper {
		s.keeper[i] = none
	}
	s.Keeper, s.Distance = make([]uint32, docs.Len()), make([]uint16, docs.Len())
	for p := range s.Keeper {
		s.Keeper[p] = none
	}
	for p := range uint32(docs.Known) {
		s.Keeper[p] = p
		s.keep(p)
	}
	return s
}

// label returns labels that exclude pairs between fingerprints of known documents; nil if there
// are no known documents.
func (s *clustering) label() []uint32 {
	if s.docs.Known == 0 {
		return nil
	}
	label := make([]uint32, s.fps.Len())
	for f, q := range s.keeper {
		if q >= uint32(s.docs.Known) { // or none
			label[f] = uint32(f) + 1
		}
	}
	return label
}

// neighbours lists the neighbours of each fingerprint: fingerprint i has
// near[start[i]:start[i+1]].
type neighbours struct {
	start []uint64
	near  []neighbour
}

type neighbour struct {
	fp       uint32
	distance uint16
}

func (n *neighbours) of(fp uint32) []neighbour { return n.near[n.start[fp]:n.start[fp+1]] }

// neighbours finds the pairs of fps with different labels, or returns errManyPairs if there are
// more than budget.
func (s *clustering) neighbours(ctx context.Context, fps Columns, label []uint32, budget int) (*neighbours, error) {
	var found []pair
	fits := true
	err := pairs(ctx, fps, s.k, s.opts, nil, label, func(i, j uint32, d int) bool {
		if fits = len(found) < budget; fits {
			found = append(found, pair{i, j, uint16(d)})
		}
		return fits
	})
	if err != nil {
		return nil, err
	}
	if !fits {
		return nil, errManyPairs
	}
	n := &neighbours{start: make([]uint64, fps.Len()+2), near: make([]neighbour, 2*len(found))}
	for _, p := range found {
		n.start[p.i+2]++
		n.start[p.j+2]++
	}
	for i := 2; i < len(n.start); i++ {
		n.start[i] += n.start[i-1]
	}
	for _, p := range found {
		n.near[n.start[p.i+1]] = neighbour{p.j, p.distance}
		n.near[n.start[p.j+1]] = neighbour{p.i, p.distance}
		n.start[p.i+1]++
		n.start[p.j+1]++
	}
	return n, nil
}

// assign processes the documents in the order of preference, given all neighbours.
func (s *clustering) assign(n *neighbours) {
	const ahead = 16 // fingerprints to prefetch: their data is scattered in memory
	taken := 0
	for p := uint32(s.docs.Known); p < uint32(s.docs.Len()); p++ {
		codes := s.docs.Of(p)
		for range codes {
			if taken++; taken+ahead < len(s.docs.Codes) {
				f := s.docs.Codes[taken+ahead]
				kernel.PrefetchAt(unsafe.Pointer(&s.keeper[f]), 1)
				kernel.PrefetchAt(unsafe.Pointer(&n.start[f]), 1)
			}
		}
		for _, f := range codes {
			if q := s.keeper[f]; q != none {
				s.offer(p, q, 0)
			}
		}
		if s.Keeper[p] == none {
			for _, f := range codes {
				for _, x := range n.of(f) {
					if q := s.keeper[x.fp]; q != none {
						s.offer(p, q, x.distance)
					}
				}
			}
		}
		if s.Keeper[p] == none {
			s.Keeper[p] = p
			s.keep(p)
		}
	}
}

func (s *clustering) keep(p uint32) {
	for _, f := range s.docs.Of(p) {
		if s.keeper[f] == none {
			s.keeper[f] = p
		}
	}
}

// offer assigns document p to keeper q if q is nearer than p's keeper so far, or as near and
// earlier.
func (s *clustering) offer(p, q uint32, distance uint16) {
	switch have := s.Keeper[p]; {
	case have == none, distance < s.Distance[p], distance == s.Distance[p] && q < have:
		s.Keeper[p], s.Distance[p] = q, distance
	}
}

// findKeepers sets s.keeper, one stretch of the order of preference at a time.
func (s *clustering) findKeepers(ctx context.Context, budget int) error {
	rest := ordered.Numbers(s.docs.Len()) // undecided documents
	if known := s.docs.Known; known > 0 {
		var err error
		if rest, err = s.uncovered(ctx, rest[:known], rest[known:]); err != nil {
			return err
		}
	}
	for size := 1 << 16; len(rest) > 0; {
		size = min(size, len(rest))
		keepers, pairs, err := s.stretch(ctx, rest[:size], budget)
		if errors.Is(err, errManyPairs) {
			size = max(size/4, 1)
			continue
		}
		if err != nil {
			return err
		}
		if rest, err = s.uncovered(ctx, keepers, rest[size:]); err != nil {
			return err
		}
		if pairs < budget/16 {
			size *= 4
		}
	}
	return nil
}

// stretch decides which of some documents become keepers. They are in the order of preference and
// not covered by any earlier keeper. It returns the keepers and the number of pairs. A single
// document always becomes a keeper, even if its own fingerprints are pairs.
func (s *clustering) stretch(ctx context.Context, some []uint32, budget int) (keepers []uint32, pairs int, err error) {
	if len(some) == 1 {
		s.keep(some[0])
		return some, 0, nil
	}
	codes := s.docs.codes(some)
	n, err := s.neighbours(ctx, s.fps.pick(codes), nil, max(budget, 1))
	if err != nil {
		return nil, 0, err
	}
	covered := make([]bool, len(codes))
	for _, p := range some {
		if s.covered(p, codes, covered) {
			continue
		}
		s.keep(p)
		keepers = append(keepers, p)
		for _, f := range s.docs.Of(p) {
			i, _ := slices.BinarySearch(codes, f)
			covered[i] = true
			for _, x := range n.of(uint32(i)) {
				covered[x.fp] = true
			}
		}
	}
	return keepers, len(n.near) / 2, nil
}

// covered reports whether a fingerprint of document p is covered, given all fingerprints in
// codes.
func (s *clustering) covered(p uint32, codes []uint32, covered []bool) bool {
	return slices.ContainsFunc(s.docs.Of(p), func(f uint32) bool {
		i, _ := slices.BinarySearch(codes, f)
		return covered[i]
	})
}

// uncovered returns the documents of rest that are within k bits of no keeper, in their order.
func (s *clustering) uncovered(ctx context.Context, keepers, rest []uint32) ([]uint32, error) {
	if len(rest) == 0 {
		return nil, nil
	}
	codes := s.docs.codes(slices.Concat(keepers, rest))
	marked, covered, label := make([]bool, len(codes)), make([]bool, len(codes)), make([]uint32, len(codes))
	for i := range label {
		label[i] = uint32(i) + 1
	}
	for _, f := range s.docs.codes(keepers) {
		i, _ := slices.BinarySearch(codes, f)
		marked[i], covered[i], label[i] = true, true, 0
	}
	err := pairs(ctx, s.fps.pick(codes), s.k, s.opts, marked, label, func(i, j uint32, _ int) bool {
		covered[i], covered[j] = true, true
		return true
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rest, func(p uint32) bool { return s.covered(p, codes, covered) }), nil
}

// joinKeepers assigns every document, given s.keeper.
func (s *clustering) joinKeepers(ctx context.Context) error {
	start, having := s.docs.Having(s.fps.Len())
	offer := func(keeper, f uint32, distance int) {
		q := s.keeper[keeper]
		for _, p := range having[start[f]:start[f+1]] {
			if q <= p && int(p) >= s.docs.Known {
				s.offer(p, q, uint16(distance))
			}
		}
	}
	marked := make([]bool, s.fps.Len())
	for f, q := range s.keeper {
		if marked[f] = q != none; marked[f] {
			offer(uint32(f), uint32(f), 0)
		}
	}
	return pairs(ctx, s.fps, s.k, s.opts, marked, s.label(), func(i, j uint32, d int) bool {
		if marked[i] {
			offer(i, j, d)
		}
		if marked[j] {
			offer(j, i, d)
		}
		return true
	})
}
