package merge

import (
	"slices"

	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// A Stream is a part of a key run whose keys ascend after rotation to the left: the whole run if it
// is not rotated, or the keys of a rotated run that have the same leading bits.
type Stream struct {
	Input  int // the caller's number of the input
	Run    *keyrun.Run
	From   int // positions [From, To) of the run
	To     int
	Rotate int    // bits by which keys are rotated
	Lead   uint64 // the Rotate leading bits of all keys
	Add    uint64 // added to each key, modulo 2^64; 0 if keys are rotated

	Renumber *Renumber // if not nil, replaces the document numbers at the ends of keys
}

// Whole returns the stream of all keys of a run.
func Whole(input int, run *keyrun.Run) Stream { return Stream{Input: input, Run: run, To: run.Len()} }

// Rotated returns the streams of a run whose keys must be rotated to the left by some bits: one
// stream for each value of the leading bits.
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

// lowerBound returns the first position in the stream whose transformed key is not less than bound.
func (s *Stream) lowerBound(bound uint64) (int, error) {
	if s.Renumber != nil {
		return s.Run.LowerBound(s.Renumber.least(bound))
	}
	key := s.Lead<<uint(64-s.Rotate) | bound>>uint(s.Rotate)
	if s.Rotate > 0 && s.Lead < bound&(1<<uint(s.Rotate)-1) {
		if key++; key>>uint(64-s.Rotate) != s.Lead {
			return s.To, nil // all keys are less
		}
	}
	if s.Add != 0 && s.Run.Len() > 0 { // added modulo 2^64, which preserves the order of the sums
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

// Append appends the transformed keys of a span.
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

// A Span is the part of a piece in one stream: positions [From, To) of its run. A piece may have
// thousands of spans.
type Span struct{ Stream, From, To uint32 }

// A Piece is a set of spans whose merged keys follow those of the previous piece. A key that occurs
// very often gets pieces of its own, each of one span, so it can be cut into any number of pieces.
type Piece struct {
	Spans []Span
	Keys  int    // total number of keys
	Limit uint64 // all keys are less; 0 means no limit
}

// Cut cuts streams into pieces of about size keys. Equal keys are in different pieces only if there
// are enough to fill whole pieces. each must call do with 0..n-1, in any number of goroutines, and
// return the first error: there may be thousands of streams, and the position of each cut is
// searched for in each stream.
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
				// The key is the first of at least two blocks, so it may occur any number of times.
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

// boundsTogether is how many bounds are searched for at a time in every stream, as long as this
// gives at most endsTogether positions.
const boundsTogether, endsTogether = 256, 1 << 19

// cutter has the state of one call of Cut.
type cutter struct {
	streams []Stream
	size    int
	at      []int      // by stream: the first position that is not in a piece
	ends    [][]uint32 // by stream: the positions of the current bounds
	pieces  []Piece
}

// bounds returns possible first keys of pieces, ascending. They are first keys of blocks, with
// about as many keys in between as a piece has. A key that is listed twice is the first key of many
// blocks.
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

// upTo makes a piece of all keys that are not in a piece yet and less than bound, the b-th of the
// current bounds.
func (c *cutter) upTo(b int, bound uint64) {
	n := 0
	for i := range c.streams {
		if int(c.ends[i][b]) > c.at[i] {
			n++
		}
	}
	p := Piece{Spans: make([]Span, 0, n)} // exact: there may be thousands of pieces
	for i := range c.streams {
		c.take(&p, i, int(c.ends[i][b]))
	}
	p.Limit = bound
	c.add(p)
}

// repeated makes pieces of the keys that equal key, one span at a time.
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

// rest makes a piece of all remaining keys.
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
