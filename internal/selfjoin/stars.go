package selfjoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
)

// Documents are documents in order of preference, by their fingerprints: numbers of Columns. A
// document has one or more: those of document p are Codes[Ends[p-1]:Ends[p]], or without Ends
// Codes[p] alone. Several documents may have the same.
type Documents struct {
	Codes []uint32
	Ends  []uint32 // nil: each document has one
	Known int      // the first documents are keepers of star clusters in any case, that many
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

// codes returns the fingerprints that some documents have, ascending.
func (d Documents) codes(some []uint32) (codes []uint32) {
	for _, p := range some {
		codes = append(codes, d.Of(p)...)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Having returns, for each of n fingerprints, the documents that have it, in order: those of
// fingerprint f are docs[start[f]:start[f+1]].
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

// Pairs calls fn for every two documents, of places a < b, that have fingerprints within k bits,
// once, at the distance of the nearest two, until it returns false. fps is as for Stars, and no
// document may have a fingerprint twice.
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

// nearer reports whether two fingerprints of documents a and b are nearer than i <= j, or as near
// and come before these: of all pairs of them one has none.
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

// Assignment says which keeper each document of a star clustering has joined. Documents are named
// by their position in the order of preference.
type Assignment struct {
	Keeper   []uint32 // of each document; a keeper is its own
	Distance []uint16 // of each document to its keeper, in bits
}

// Stars forms star clusters: each document in turn joins the nearest keeper within k bits among
// those so far, the earlier keeper where two are equally near, or becomes a keeper itself. The
// distance of two documents is that of the nearest two of their fingerprints. fps must be ascending
// and distinct.
//
// Where the pairs within k bits are few, they are kept and looked through once in the order of
// preference. Where they are many (a cluster of n fingerprints has n^2/2), only the keepers are
// found first, a stretch of the order of preference at a time, each stretch short enough that its
// pairs can be kept; then one more join, of keepers with everything, streams past to find the
// nearest. Memory is O(fps.Len() + len(docs.Codes)) in every case. Options.Progress starts again
// for each join.
func Stars(ctx context.Context, fps Columns, docs Documents, k int, o Options) (Assignment, error) {
	return stars(ctx, fps, docs, k, o, 4*fps.Len()+1<<20)
}

// none stands for no document.
const none = ^uint32(0)

// errManyPairs says that there are more pairs than may be kept.
var errManyPairs = errors.New("too many pairs to keep")

// stars is Stars, keeping at most budget pairs at a time.
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

// clustering is a star clustering in the making.
type clustering struct {
	fps  Columns
	docs Documents
	k    int
	opts Options
	// keeper is, for each fingerprint, the first keeper that has it, or none. Two keepers are not
	// near each other, so there is only one, unless they are known.
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

// label returns labels for pairs, which leave out those of fingerprints that known documents have;
// nil if there are none.
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

// neighbours finds the pairs of fps with other labels, or returns errManyPairs if there are more
// than budget.
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

// assign takes the documents in order of preference, given all neighbours.
func (s *clustering) assign(n *neighbours) {
	const ahead = 16 // fingerprints: what is read of them is anywhere in memory
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

// offer lets document p join keeper q if that is nearer than what p has joined so far, or as near
// and earlier.
func (s *clustering) offer(p, q uint32, distance uint16) {
	switch have := s.Keeper[p]; {
	case have == none, distance < s.Distance[p], distance == s.Distance[p] && q < have:
		s.Keeper[p], s.Distance[p] = q, distance
	}
}

// findKeepers sets s.keeper, a stretch of the order of preference at a time.
func (s *clustering) findKeepers(ctx context.Context, budget int) error {
	rest := make([]uint32, s.docs.Len()) // documents that are not decided on
	for p := range rest {
		rest[p] = uint32(p)
	}
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

// stretch decides which of some documents, given in order of preference and not covered by any
// earlier keeper, become keepers. It returns them and the number of pairs there were. A single
// document is one, whatever pairs its fingerprints are.
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

// covered reports whether some fingerprint of document p is covered; codes are all of them.
func (s *clustering) covered(p uint32, codes []uint32, covered []bool) bool {
	return slices.ContainsFunc(s.docs.Of(p), func(f uint32) bool {
		i, _ := slices.BinarySearch(codes, f)
		return covered[i]
	})
}

// uncovered returns those of rest that are within k bits of no keeper, in their order.
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
