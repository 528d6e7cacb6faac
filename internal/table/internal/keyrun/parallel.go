package keyrun

import (
	"cmp"
	"fmt"
)

// shareLen is how many keys a goroutine encodes at a time: whole blocks.
const shareLen = 64 * BlockLen

// ParallelWriter is a Writer that encodes in several goroutines: it collects keys in shares of
// whole blocks, which are encoded in parallel and appended to the run in order. Finish must be
// called, even after an error, because it waits for the goroutines.
type ParallelWriter struct {
	run     *Writer
	newPart func() *Writer
	workers int
	filling *runShare
	handed  []*runShare // being encoded, in order
	free    []*runShare
	count   int
	last    uint64 // last key
	err     error
}

// A runShare has the keys that one goroutine encodes.
type runShare struct {
	keys   []uint64
	values []uint32 // nil if the keys have none
	part   *Writer
	done   chan error
}

// NewParallelWriter returns a writer that appends to run. It encodes in up to workers goroutines,
// or in the caller's if workers is at most 1.
func NewParallelWriter(run *Writer, workers int) *ParallelWriter {
	return &ParallelWriter{run: run, workers: workers, newPart: func() *Writer {
		part := NewWriter(nil)
		part.frame.tag = run.frame.tag
		if run.values != nil {
			part.values, part.frame.vwidth = make([]uint64, BlockLen), run.frame.vwidth
		}
		return part
	}}
}

// AddKeys is Writer.AddKeys. An error may come from an earlier call.
func (p *ParallelWriter) AddKeys(keys []uint64) error { return p.AddPairs(keys, nil) }

// AddPairs is Writer.AddPairs; values are nil if the run has none. An error may come from an
// earlier call.
func (p *ParallelWriter) AddPairs(keys []uint64, values []uint32) error {
	if (values != nil) != (p.run.values != nil) && len(keys) > 0 {
		return fmt.Errorf("key run: keys with values for a run without values, or the reverse")
	}
	for len(keys) > 0 && p.err == nil {
		if p.filling == nil {
			p.filling = p.share()
		}
		s := p.filling
		n := min(len(keys), shareLen-len(s.keys))
		s.keys, keys = append(s.keys, keys[:n]...), keys[n:]
		if values != nil {
			s.values, values = append(s.values, values[:n]...), values[n:]
		}
		p.count, p.last = p.count+n, s.keys[len(s.keys)-1]
		if len(s.keys) == shareLen {
			p.hand()
		}
	}
	return p.err
}

// Last returns the last key added; there must be one.
func (p *ParallelWriter) Last() uint64 { return p.last }

// Len returns the number of keys so far.
func (p *ParallelWriter) Len() int { return p.count }

// Finish is Writer.Finish.
func (p *ParallelWriter) Finish() (dir []byte, err error) {
	if p.filling != nil {
		p.hand()
	}
	for len(p.handed) > 0 {
		p.take()
	}
	dir, err = p.run.Finish()
	return dir, cmp.Or(p.err, err)
}

func (p *ParallelWriter) share() *runShare {
	if n := len(p.free) - 1; n >= 0 {
		s := p.free[n]
		p.free = p.free[:n]
		return s
	}
	s := &runShare{part: p.newPart(), done: make(chan error, 1)}
	if p.count > 0 { // the run exceeds one share, so later shares are likely to be full
		s.keys = make([]uint64, 0, shareLen)
	}
	return s
}

// hand starts encoding the share that is being filled.
func (p *ParallelWriter) hand() {
	s := p.filling
	p.filling, p.handed = nil, append(p.handed, s)
	if p.workers > 1 {
		go s.encode()
	} else {
		s.encode()
	}
	if len(p.handed) >= max(p.workers, 1) {
		p.take()
	}
}

func (s *runShare) encode() {
	if s.part.values != nil {
		s.done <- s.part.AddPairs(s.keys, s.values)
	} else {
		s.done <- s.part.AddKeys(s.keys)
	}
}

// take waits for the oldest share being encoded and appends it.
func (p *ParallelWriter) take() {
	s := p.handed[0]
	p.handed = append(p.handed[:0], p.handed[1:]...)
	err := <-s.done
	if p.err == nil && err == nil {
		err = p.run.Append(s.part)
	}
	p.err = cmp.Or(p.err, err)
	s.keys, s.values = s.keys[:0], s.values[:0]
	p.free = append(p.free, s)
}
