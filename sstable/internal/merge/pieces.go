package merge

import (
	"slices"

	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// A Stream is a part of a key run whose keys ascend after they have been rotated to the left: all
// of a run that is not rotated, or the keys of a rotated one that have the same leading bits.
type Stream struct {
	Input  int // which the caller calls it
	Run    *keyrun.Run
	From   int // positions [From, To) of the run
	To     int
	Rotate int    // bits
	Lead   uint64 // the Rotate leading bits of the keys
	Add    uint64 // is added to each key, modulo 2^64; 0 if Rotate is not

	Renumber *Renumber // the keys end with numbers of documents, which get new ones; else nil
}

// Whole returns the stream of all keys of a run.
func Whole(input int, run *keyrun.Run) Stream { return Stream{Input: input, Run: run, To: run.Len()} }

// Rotated returns the streams of a run whose keys are to be rotated to the left by some bits: one
// for each value of the leading bits.
func Rotated(input int, run *keyrun.Run, rotate int) (streams []Stream, err error) {
	if rotate == 0 {
		return []Stream{Whole(input, run)}, nil
	}
	from := 0
	for lead := range uint64(1) << rotate {
		to := run.Len()
		if lead+1 < 1<<rotate {
			if to, err = run.LowerBound((lead + 1) << (64 - rotate)); err != nil {
				return nil, err
			}
		}
		if from < to {
			streams = append(streams, Stream{Input: input, Run: run, From: from, To: to, Rotate: rotate, Lead: lead})
		}
		from = to
	}
	return streams, nil
}

func (s *Stream) rotated(key uint64) uint64 {
	if s.Renumber != nil {
		return s.Renumber.key(key)
	}
	key += s.Add
	return key<<uint(s.Rotate) | key>>uint(64-s.Rotate)
}

// lowerBound returns the first position of the stream whose key, as the stream has it, is not less
// than bound.
func (s *Stream) lowerBound(bound uint64) (int, error) {
	if s.Renumber != nil {
		return s.Run.LowerBound(s.Renumber.least(bound))
	}
	key := s.Lead<<uint(64-s.Rotate) | bound>>uint(s.Rotate)
	if s.Rotate > 0 && s.Lead < bound&(1<<uint(s.Rotate)-1) {
		if key++; key>>uint(64-s.Rotate) != s.Lead {
			return s.To, nil // all are less
		}
	}
	if s.Add != 0 && s.Run.Len() > 0 { // added modulo 2^64, which keeps the order of the sums
		switch {
		case key <= s.Run.Base(0)+s.Add:
			return s.From, nil
		case key > s.Run.Greatest()+s.Add:
			return s.To, nil
		}
	}
	at, err := s.Run.LowerBound(key - s.Add)
	return min(max(at, s.From), s.To), err
}

// Append appends the keys of a span, as the stream has them.
func (s *Stream) Append(dst []uint64, span Span) ([]uint64, error) {
	at := len(dst)
	dst, err := s.Run.AppendKeys(dst, int(span.From), int(span.To))
	switch {
	case err != nil:
	case s.Renumber != nil:
		return s.Renumber.keys(s.Run, dst, at)
	case s.Rotate > 0 || s.Add != 0:
		for i := range dst[at:] {
			dst[at+i] = s.rotated(dst[at+i])
		}
	}
	return dst, err
}

// A Span is what a piece has of a stream: positions [From, To) of its run. There may be thousands a
// piece.
type Span struct{ Stream, From, To uint32 }

// A Piece is spans whose merged keys follow those of the piece before. A piece of one key that is
// there very often has spans that only follow each other, so that any number of them can be cut.
type Piece struct {
	Spans []Span
	Keys  int    // of all spans together
	Limit uint64 // all keys are less, or if it is 0, anything
}

// Cut cuts streams into pieces of about the given number of keys. There may be equal keys on both
// sides of a cut only if they are of one piece's worth and more. Each calls do with 0..n-1, in any
// number of goroutines, and returns the first error: there may be thousands of streams, and each
// place of a cut is searched for in each.
func Cut(streams []Stream, size int, each func(n int, do func(i int) error) error) (pieces []Piece, err error) {
	c := cutter{streams: streams, size: size, at: make([]int, len(streams)), ends: make([][]uint32, len(streams))}
	for i := range streams {
		c.at[i] = streams[i].From
	}
	bounds := c.bounds()
	together := min(max(endsTogether/max(len(streams), 1), 1), boundsTogether)
	for from := 0; from < len(bounds); from += together {
		group := bounds[from:min(from+together, len(bounds))]
		if err := each(len(streams), func(i int) error { return c.find(i, group) }); err != nil {
			return nil, err
		}
		for i, bound := range group {
			if from+i > 0 && bound == bounds[from+i-1] {
				// The key is the first of two blocks or more: it may be there any number of times.
				if err := c.repeated(bound); err != nil {
					return nil, err
				}
				continue
			}
			c.upTo(i, bound)
		}
	}
	c.rest()
	return c.pieces, nil
}

// boundsTogether is how many bounds are looked for at a time in every stream, if those are no more
// than endsTogether places.
const boundsTogether, endsTogether = 256, 1 << 19

// cutter is a run of Cut.
type cutter struct {
	streams []Stream
	size    int
	at      []int      // of each stream, the first position that is not in a piece
	ends    [][]uint32 // of each stream, where it reaches the bounds that were looked for
	pieces  []Piece
}

// bounds returns the keys that pieces may begin with, ascending: first keys of blocks, with as many
// keys between as a piece has. A key twice in it is the first key of many blocks.
func (c *cutter) bounds() []uint64 {
	var firsts []uint64
	for i := range c.streams {
		s := &c.streams[i]
		for b := s.From>>keyrun.BlockShift + 1; b<<keyrun.BlockShift < s.To; b++ {
			firsts = append(firsts, s.rotated(s.Run.Base(b)))
		}
	}
	slices.Sort(firsts)
	var bounds []uint64
	step := max(c.size>>keyrun.BlockShift, 1)
	for i := step; i < len(firsts); i += step {
		bounds = append(bounds, firsts[i])
	}
	return bounds
}

// find sets ends of stream i for some bounds.
func (c *cutter) find(i int, bounds []uint64) error {
	c.ends[i] = c.ends[i][:0]
	for _, bound := range bounds {
		to, err := c.streams[i].lowerBound(bound)
		if err != nil {
			return err
		}
		c.ends[i] = append(c.ends[i], uint32(to))
	}
	return nil
}

// upTo makes a piece of all keys that are less than a bound, the b-th of those that were looked
// for, and in no piece.
func (c *cutter) upTo(b int, bound uint64) {
	n := 0
	for i := range c.streams {
		if int(c.ends[i][b]) > c.at[i] {
			n++
		}
	}
	p := Piece{Spans: make([]Span, 0, n)} // no more, as there may be thousands of pieces, too
	for i := range c.streams {
		c.take(&p, i, int(c.ends[i][b]))
	}
	p.Limit = bound
	c.add(p)
}

// repeated makes pieces of the keys that are equal to key, one span after the other.
func (c *cutter) repeated(key uint64) error {
	for i := range c.streams {
		to := c.streams[i].To
		if key != ^uint64(0) {
			var err error
			if to, err = c.streams[i].lowerBound(key + 1); err != nil {
				return err
			}
		}
		for c.at[i] < to {
			p := Piece{Limit: key + 1}
			c.take(&p, i, min(to, c.at[i]+c.size))
			c.add(p)
		}
	}
	return nil
}

// rest makes a piece of what is in none.
func (c *cutter) rest() {
	var p Piece
	for i := range c.streams {
		c.take(&p, i, c.streams[i].To)
	}
	c.add(p)
}

// take moves the keys of stream i up to position to into p.
func (c *cutter) take(p *Piece, i, to int) {
	if from := c.at[i]; from < to {
		p.Spans = append(p.Spans, Span{Stream: uint32(i), From: uint32(from), To: uint32(to)})
		p.Keys += to - from
		c.at[i] = to
	}
}

func (c *cutter) add(p Piece) {
	if p.Keys > 0 {
		c.pieces = append(c.pieces, p)
	}
}
