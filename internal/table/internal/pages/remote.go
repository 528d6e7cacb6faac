package pages

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/internal/vfs"
	"golang.org/x/sync/errgroup"
)

// A table that is not on this machine is read into reserved memory, part by part, when a part is
// needed. Requests take tens of milliseconds, so few requests matter more than few bytes: parts that
// were announced by Fetch are read at the same time as the first one that is needed, near ones by one
// request, and more is read after parts that follow each other. What has been read stays in memory
// until the table is closed.
const (
	chunk     = 4 << 10  // the file is read in whole chunks, which start at multiples of this
	near      = 16 << 10 // parts with a smaller gap between them are read by one request
	mostAhead = 4 << 20  // bytes that are read ahead
	request   = 8 << 20  // maximum bytes of a request
	together  = 1 << 20  // maximum bytes of several parts that one request reads
	mostParts = 100      // parts of a request; servers refuse many, or send the whole file instead
	parallel  = 8        // requests at the same time
	sequences = 8        // places up to which parts were read in order that are remembered
	tail      = 60 << 10 // bytes of the end of the file that are read first; with a whole chunk, 64 KiB
)

// source reads the parts of a file that are needed.
type source struct {
	r    io.ReaderAt
	name string // for errors
	data []byte
	have []atomic.Uint64 // bit set of the chunks that have been read

	mu     sync.Mutex
	done   sync.Cond // signals the end of a request
	busy   []uint64  // bit set of the chunks that are being read
	wanted []span    // announced parts
	recent []sequence
}

// span is a part of the file, in chunks.
type span struct{ from, to int64 }

// sequence is a place up to which n chunks were read in order.
type sequence struct{ end, n int64 }

// Remote returns a Table that reads the file into data, reserved memory of its size, and reads the end
// of the file. Errors call the file name. r may be used from several goroutines.
func Remote(r io.ReaderAt, data []byte, name string) (t *Table, err error) {
	words := (int64(len(data))/chunk + 64) / 64
	if all := vfs.Memory(); all > 0 && words > all/1024 { // a server may claim any size
		return nil, fmt.Errorf("%s: a table of %d bytes is too large for %d bytes of memory", name, len(data), all)
	}
	s := &source{r: r, name: name, data: data, have: make([]atomic.Uint64, words), busy: make([]uint64, words)}
	s.done.L = &s.mu
	return &Table{data: data, src: s}, s.need(max(0, int64(len(data))-tail), int64(len(data)))
}

// IsRemote reports whether the file is not on this machine: data that Need has not read is zero.
func (t *Table) IsRemote() bool { return t != nil && t.src != nil }

// Need waits until data[from:to] has been read, if the file is not on this machine. It panics with a
// *vfs.Failure if that fails.
func (t *Table) Need(from, to int64) {
	if t == nil || t.src == nil || from >= to {
		return
	}
	if err := t.src.need(from, to); err != nil {
		panic(&vfs.Failure{Err: err})
	}
}

// Whole is Need for the whole file.
func (t *Table) Whole() {
	if t.IsRemote() {
		t.Need(0, int64(len(t.data)))
	}
}

// chunks returns the chunks of data[from:to].
func (s *source) chunks(from, to int64) span {
	return span{from / chunk, (min(to, int64(len(s.data))) + chunk - 1) / chunk}
}

// has reports whether a chunk has been read.
func (s *source) has(c int64) bool { return s.have[c>>6].Load()>>(c&63)&1 != 0 }

// misses reports whether a chunk has neither been read nor is being read.
func (s *source) misses(c int64) bool { return !s.has(c) && s.busy[c>>6]>>(c&63)&1 == 0 }

// want announces that data[from:to] will be needed.
func (s *source) want(from, to int64) {
	of := s.chunks(from, to)
	for of.from < of.to && s.has(of.from) {
		of.from++
	}
	if of.from >= of.to { // nothing would take it from the list
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = append(s.wanted, of)
}

// need reads data[from:to] and what was announced. If that fails, it reads data[from:to] alone: nobody may
// ever need the part that cannot be read.
func (s *source) need(from, to int64) error {
	of := s.chunks(from, to)
	alone := false
	for c := of.from; c < of.to; {
		if s.has(c) {
			c++
			continue
		}
		more, err := s.read(span{c, of.to}, alone)
		if err != nil && !more && !s.has(c) {
			return err
		}
		alone = alone || err != nil
	}
	return nil
}

// read reads what is missing of a part and, unless alone is set, of the announced ones, or waits for
// other goroutines that do so. The caller must check whether all has been read. more reports whether
// it has tried to read anything else than the part.
func (s *source) read(of span, alone bool) (more bool, err error) {
	s.mu.Lock()
	parts := []span{of}
	if !alone {
		parts = append(s.wanted, span{of.from, of.to + s.ahead(of)})
		s.wanted = s.wanted[:0]
	}
	batch := s.take(parts)
	if len(batch) == 0 && !s.has(of.from) { // another goroutine is reading it
		s.done.Wait()
	}
	s.mu.Unlock()
	for _, part := range batch {
		more = more || part.from < of.from || part.to > of.to
	}
	rest, failed := s.loadTogether(batch)
	all, ctx := errgroup.WithContext(context.Background())
	all.SetLimit(parallel)
	for _, part := range rest {
		all.Go(func() error {
			if err := cmp.Or(failed, ctx.Err()); err != nil { // one failure suffices: do not repeat it for each part of a large file
				s.deliver(part, nil, err)
				return err
			}
			return s.load(part)
		})
	}
	return more, cmp.Or(all.Wait(), failed)
}

// partsReader can read several parts by one request, unless it returns false.
type partsReader interface {
	ReadParts(parts [][]byte, offs []int64) (ok bool, err error)
}

// loadTogether loads parts by few requests, if that is possible, and returns those that remain.
func (s *source) loadTogether(batch []span) (rest []span, err error) {
	r, ok := s.r.(partsReader)
	if !ok || len(batch) < 2 {
		return batch, nil
	}
	var mu sync.Mutex // guards rest
	all, ctx := errgroup.WithContext(context.Background())
	all.SetLimit(parallel)
	for len(batch) > 0 {
		n, size := 1, batch[0].to-batch[0].from
		for ; n < len(batch) && n < mostParts && size+batch[n].to-batch[n].from <= together/chunk; n++ {
			size += batch[n].to - batch[n].from
		}
		some := batch[:n]
		batch = batch[n:]
		all.Go(func() error {
			switch done, err := false, error(nil); {
			case ctx.Err() != nil:
			case n == 1:
				return s.load(some[0])
			default:
				if done, err = s.loadParts(r, some); done {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			rest = append(rest, some...)
			return nil
		})
	}
	return rest, all.Wait()
}

// loadParts loads parts by one request, unless it returns false.
func (s *source) loadParts(r partsReader, batch []span) (done bool, err error) {
	var parts [][]byte
	var offs []int64
	for _, part := range batch {
		parts, offs = append(parts, s.buffer(part)), append(offs, part.from*chunk)
	}
	if done, err = r.ReadParts(parts, offs); done {
		for i, part := range batch {
			s.deliver(part, parts[i], err)
		}
	}
	return done, s.failed(offs[0], offs[len(offs)-1]+int64(len(parts[len(parts)-1])), err)
}

// take returns what is missing of some parts, near ones joined, and marks it as being read.
func (s *source) take(parts []span) (batch []span) {
	slices.SortFunc(parts, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	last := -1 // the part of the batch that the next chunk may extend
	for _, part := range parts {
		for c := part.from; c < part.to; c++ {
			if !s.misses(c) {
				continue
			}
			s.busy[c>>6] |= 1 << (c & 63)
			if last >= 0 && c-batch[last].to < near/chunk && c-batch[last].from < request/chunk {
				batch[last].to = c + 1
			} else {
				batch, last = append(batch, span{c, c + 1}), len(batch)
			}
		}
	}
	return batch
}

// ahead returns the number of chunks to read after a part: as many as were read in order before it.
func (s *source) ahead(of span) int64 {
	i := slices.IndexFunc(s.recent, func(q sequence) bool { return of.from-q.end >= 0 && of.from-q.end <= 1 })
	n := of.to - of.from
	more := int64(0)
	if i >= 0 {
		more = min(s.recent[i].n, mostAhead/chunk, int64(len(s.data)+chunk-1)/chunk-of.to)
		n += s.recent[i].n + more
		s.recent = slices.Delete(s.recent, i, i+1)
	}
	if len(s.recent) == sequences {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
	s.recent = append(s.recent, sequence{of.to + more, n})
	return more
}

// buffer returns memory for a part.
func (s *source) buffer(part span) []byte {
	return make([]byte, min(part.to*chunk, int64(len(s.data)))-part.from*chunk)
}

// load reads a part by one request.
func (s *source) load(part span) error {
	from, buf := part.from*chunk, s.buffer(part)
	n, err := s.r.ReadAt(buf, from)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if n == len(buf) {
		err = nil
	}
	s.deliver(part, buf, err)
	return s.failed(from, from+int64(len(buf)), err)
}

func (s *source) failed(from, to int64, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: bytes %d to %d can't be read: %w", s.name, from, to, err)
	}
	return err
}

// deliver ends the reading of a part, whose content is buf unless there was an error.
func (s *source) deliver(part span, buf []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := part.from; c < part.to; c++ {
		at := (c - part.from) * chunk
		if err == nil && !s.has(c) { // chunks between two parts may have been read before
			copy(s.data[c*chunk:], buf[at:min(at+chunk, int64(len(buf)))])
			s.have[c>>6].Or(1 << (c & 63))
		}
		s.busy[c>>6] &^= 1 << (c & 63)
	}
	s.done.Broadcast()
}
