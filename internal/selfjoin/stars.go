package selfjoin

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Assignment says which keeper each document of a star clustering has joined. Documents are named
// by their position in the order of preference.
type Assignment struct {
	Keeper   []uint32 // of each document; a keeper is its own
	Distance []uint16 // of each document to its keeper, in bits
}

// Stars forms star clusters. order lists documents by their fingerprint, an index into fps, in
// order of preference: each document in turn joins the nearest keeper within k bits among those so
// far, the earlier keeper where two are equally near, or becomes a keeper itself. fps must be
// ascending and distinct; any number of documents may have the same fingerprint.
//
// Where the pairs within k bits are few, they are kept and looked through once in the order of
// preference. Where they are many (a cluster of n fingerprints has n^2/2), only the keepers are
// found first, a stretch of the order of preference at a time, each stretch short enough that its
// pairs can be kept; then one more join, of keepers with everything, streams past to find the
// nearest. Memory is O(fps.Len() + len(order)) in every case. Options.Progress starts again for
// each join.
func Stars(ctx context.Context, fps Columns, order []uint32, k int, o Options) (Assignment, error) {
	return stars(ctx, fps, order, k, o, 4*fps.Len()+1<<20)
}

// none stands for no document.
const none = ^uint32(0)

// errManyPairs says that there are more pairs than may be kept.
var errManyPairs = errors.New("too many pairs to keep")

// stars is Stars, keeping at most budget pairs at a time.
func stars(ctx context.Context, fps Columns, order []uint32, k int, o Options, budget int) (Assignment, error) {
	if err := fps.check(k); err != nil {
		return Assignment{}, err
	}
	s := newClustering(fps, order, k, o)
	for p, f := range order {
		if int(f) >= fps.Len() {
			return Assignment{}, fmt.Errorf("selfjoin: document %d has fingerprint %d of %d", p, f, fps.Len())
		}
		if s.first[f] == none {
			s.first[f] = uint32(p)
		}
	}
	near, err := s.neighbours(ctx, fps, budget)
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

// clustering is a star clustering in the making.
type clustering struct {
	fps   Columns
	order []uint32
	k     int
	opts  Options
	first []uint32 // first document of each fingerprint, or none
	// keeper is, for each fingerprint, the document that is a keeper with it, or none. It can only
	// be the first.
	keeper []uint32
	Assignment
}

func newClustering(fps Columns, order []uint32, k int, o Options) *clustering {
	s := &clustering{fps: fps, order: order, k: k, opts: o, first: make([]uint32, fps.Len()), keeper: make([]uint32, fps.Len())}
	for i := range fps.Len() {
		s.first[i], s.keeper[i] = none, none
	}
	s.Keeper, s.Distance = make([]uint32, len(order)), make([]uint16, len(order))
	for p := range order {
		s.Keeper[p] = none
	}
	return s
}

// neighbours is the neighbourhood of each fingerprint: those of fingerprint i are
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

// neighbours finds the pairs of fps, or returns errManyPairs if there are more than budget.
func (s *clustering) neighbours(ctx context.Context, fps Columns, budget int) (*neighbours, error) {
	var found []pair
	fits := true
	err := Pairs(ctx, fps, s.k, s.opts, func(i, j uint32, d int) bool {
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

// assign takes the documents in order of preference, given all neighbours.
func (s *clustering) assign(n *neighbours) {
	for p, f := range s.order {
		if s.keeper[f] != none {
			s.Keeper[p] = s.keeper[f]
			continue
		}
		s.offerAll(uint32(p), n.of(f))
		if s.Keeper[p] == none {
			s.Keeper[p], s.keeper[f] = uint32(p), uint32(p)
		}
	}
}

// offerAll lets document p join the nearest keeper among the fingerprints of near.
func (s *clustering) offerAll(p uint32, near []neighbour) {
	for _, x := range near {
		if q := s.keeper[x.fp]; q != none {
			s.offer(p, q, x.distance)
		}
	}
}

// offer lets document p join keeper q if that is nearer than what it has joined so far, or as near
// and earlier.
func (s *clustering) offer(p, q uint32, distance uint16) {
	switch have := s.Keeper[p]; {
	case have == none, distance < s.Distance[p], distance == s.Distance[p] && q < have:
		s.Keeper[p], s.Distance[p] = q, distance
	}
}

// findKeepers sets s.keeper, a stretch of the order of preference at a time.
func (s *clustering) findKeepers(ctx context.Context, budget int) error {
	var rest []uint32 // fingerprints that are not decided on, by first document
	for p, f := range s.order {
		if s.first[f] == uint32(p) {
			rest = append(rest, f)
		}
	}
	for size := 1 << 16; len(rest) > 0; {
		size = min(size, len(rest))
		keepers, pairs, err := s.stretch(ctx, rest[:size], budget)
		if errors.Is(err, errManyPairs) {
			size = max(size/4, 2) // no more than one pair, which is within any budget
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

// stretch decides which of some fingerprints, given in order of preference and not covered by any
// earlier keeper, become keepers. It returns them and the number of pairs there were.
func (s *clustering) stretch(ctx context.Context, some []uint32, budget int) (keepers []uint32, pairs int, err error) {
	sub := slices.Clone(some)
	slices.Sort(sub)
	n, err := s.neighbours(ctx, s.fps.pick(sub), max(budget, 1))
	if err != nil {
		return nil, 0, err
	}
	covered := make([]bool, len(sub))
	for _, f := range some {
		i, _ := slices.BinarySearch(sub, f)
		if covered[i] {
			continue
		}
		s.keeper[f] = s.first[f]
		keepers = append(keepers, f)
		for _, x := range n.of(uint32(i)) {
			covered[x.fp] = true
		}
	}
	return keepers, len(n.near) / 2, nil
}

// uncovered returns those of rest that are within k bits of no keeper, in their order.
func (s *clustering) uncovered(ctx context.Context, keepers, rest []uint32) ([]uint32, error) {
	if len(rest) == 0 {
		return nil, nil
	}
	sub := slices.Concat(keepers, rest)
	slices.Sort(sub)
	marked, covered := make([]bool, len(sub)), make([]bool, len(sub))
	for _, f := range keepers {
		i, _ := slices.BinarySearch(sub, f)
		marked[i] = true
	}
	err := pairs(ctx, s.fps.pick(sub), s.k, s.opts, marked, nil, func(i, j uint32, _ int) bool {
		covered[i], covered[j] = true, true // keepers are not near each other
		return true
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rest, func(f uint32) bool {
		i, _ := slices.BinarySearch(sub, f)
		return covered[i]
	}), nil
}

// joinKeepers assigns every document, given s.keeper.
func (s *clustering) joinKeepers(ctx context.Context) error {
	next := s.sameFingerprint()
	marked := make([]bool, s.fps.Len())
	for f, q := range s.keeper {
		marked[f] = q != none
		for p := q; p != none; p = next[p] {
			s.offer(p, q, 0)
		}
	}
	offer := func(keeper, f uint32, distance int) {
		q := s.keeper[keeper]
		if q == none || s.keeper[f] != none {
			return
		}
		for p := s.first[f]; p != none; p = next[p] {
			if q < p {
				s.offer(p, q, uint16(distance))
			}
		}
	}
	return pairs(ctx, s.fps, s.k, s.opts, marked, nil, func(i, j uint32, d int) bool {
		offer(i, j, d)
		offer(j, i, d)
		return true
	})
}

// sameFingerprint returns, for each document, the next one with the same fingerprint, or none.
func (s *clustering) sameFingerprint() []uint32 {
	next := make([]uint32, len(s.order))
	last := make([]uint32, s.fps.Len())
	for p, f := range s.order {
		next[p] = none
		if s.first[f] != uint32(p) {
			next[last[f]] = uint32(p)
		}
		last[f] = uint32(p)
	}
	return next
}
