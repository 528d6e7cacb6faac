package setjoin

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/internal/features"
)

// File stores sets that do not fit into memory. It is written sequentially, and then read at any
// offset by several goroutines.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// SetsOptions are the options of NewSets.
type SetsOptions struct {
	// Measure is the similarity that a join computes of its sets.
	Measure Measure
	// Memory limits the bytes of sets in memory; beyond it, sets go to a file. 0 means no limit.
	Memory int64
	// Counters is the number of bytes for the counters of elements while sets are added;
	// afterwards they need half. 0 means 1 MiB. A quarter of a byte for each element of all sets
	// suffices for a good order.
	Counters int64
	// NoJoin means that sets are only compared by Scores, which needs no counters.
	NoJoin bool
	// Create creates the file. It is called at most once. If it is nil, all sets stay in memory.
	Create func() (File, error)
	// Again, if not nil, returns a function for each Reader that recomputes set i and appends its
	// elements to a slice. Then added sets are only counted, and need 4 bytes each in memory.
	Again func() func(dst []uint64, i int) ([]uint64, error)
}

// Sets are sets of hashes, numbered from 0 in the order of adding. Add is not safe for concurrent
// use; once all sets are added, they are safe for concurrent reads.
type Sets struct {
	o      SetsOptions
	counts *counts
	starts []uint64 // by group of groupSets sets: number of elements before it
	ends   []uint32 // by set: its end, in elements from the beginning of its group
	n      uint64   // elements

	chunks [][]uint64 // elements from inFile on
	inFile uint64     // elements
	file   File
}

const (
	groupSets  = 32
	chunkElems = 1 << 14
)

// MaxSets is the maximum number of sets, and MaxElements the maximum number of elements in a set.
const (
	MaxSets     int64 = math.MaxUint32 - 1
	MaxElements       = math.MaxUint32 / groupSets
)

// NewSets returns empty Sets. Close frees their file.
func NewSets(o SetsOptions) *Sets {
	if o.Counters <= 0 {
		o.Counters = 1 << 20
	}
	s := &Sets{o: o}
	if !o.NoJoin {
		if s.counts = newCounts(o.Counters); o.Measure.Kind == Cosine {
			s.counts.skip = weightBits
		}
	}
	return s
}

// Weigh makes empty Sets of Kind Jaccard those of Kind Weighted.
func (s *Sets) Weigh() { s.o.Measure.Kind = Weighted }

// Len returns the number of sets.
func (s *Sets) Len() int { return len(s.ends) }

// Bytes returns the size of all sets' elements, in memory and in the file.
func (s *Sets) Bytes() int64 { return int64(s.n) * 8 }

// Spilled returns the part of Bytes that is in the file.
func (s *Sets) Spilled() int64 { return int64(s.inFile) * 8 }

// Add adds a copy of a set: its elements, strictly ascending, for Edits in their order, or for
// Weighted in its layout. An empty set matches nothing.
func (s *Sets) Add(set []uint64) error {
	if int64(len(s.ends)) >= MaxSets || len(set) > MaxElements {
		return fmt.Errorf("setjoin: set %d of %d elements: at most %d sets of %d elements can be joined", len(s.ends), len(set), MaxSets, MaxElements)
	}
	if s.counts != nil && s.counts.lines != nil {
		return errors.New("setjoin: a set was added after a join")
	}
	if len(s.ends)%groupSets == 0 {
		s.starts = append(s.starts, s.n)
	}
	if s.counts != nil && s.countsAtOnce() {
		hashes := set
		if s.o.Measure.Kind == Weighted {
			hashes = features.Weighted(set).Hashes()
		}
		s.counts.add(hashes)
	}
	if s.o.Again != nil {
		s.n += uint64(len(set))
		set = nil
	}
	for rest := set; len(rest) > 0; {
		at := int((s.n - s.inFile) / chunkElems)
		if at == len(s.chunks) {
			s.count()
			if err := s.spillIfFull(); err != nil {
				return err
			}
			at = int((s.n - s.inFile) / chunkElems)
			s.chunks = append(s.chunks, make([]uint64, 0, chunkElems))
		}
		c := s.chunks[at]
		n := min(chunkElems-len(c), len(rest))
		s.chunks[at] = append(c, rest[:n]...)
		s.n, rest = s.n+uint64(n), rest[n:]
	}
	s.ends = append(s.ends, uint32(s.n-s.starts[len(s.starts)-1]))
	return nil
}

// countsAtOnce reports whether the elements of a set are counted when it is added: chunks do not
// hold them, or hold weights, too.
func (s *Sets) countsAtOnce() bool { return s.o.Again != nil || s.o.Measure.Kind == Weighted }

// count counts the elements of the last chunk.
func (s *Sets) count() {
	if n := len(s.chunks); n > 0 && s.counts != nil && !s.countsAtOnce() {
		s.counts.addLater(s.chunks[n-1])
	}
}

func (s *Sets) endCounting() {
	if s.counts.lines != nil {
		return
	}
	s.count()
	s.counts.end()
}

// spillIfFull writes all chunks, which are full, to the file if another chunk does not fit into
// memory.
func (s *Sets) spillIfFull() (err error) {
	if s.o.Create == nil || s.o.Memory <= 0 || int64(len(s.chunks)+1)*chunkElems*8 <= s.o.Memory {
		return nil
	}
	if s.file == nil {
		if s.file, err = s.o.Create(); err != nil {
			return err
		}
	}
	for _, c := range s.chunks {
		if _, err := s.file.Write(bytesOf(c)); err != nil {
			return err
		}
	}
	// From here on each chunk is written as soon as it is full, so the memory of the others is
	// free.
	clear(s.chunks)
	s.inFile, s.chunks, s.o.Memory = s.n, s.chunks[:0], 1
	return nil
}

// bytesOf returns the memory of numbers. The file has the same bytes, as only this process reads
// it.
func bytesOf[T uint32 | uint64](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), int(unsafe.Sizeof(numbers[0]))*len(numbers))
}

// Close closes the file.
func (s *Sets) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// span returns the range of set i's elements: from lo up to hi.
func (s *Sets) span(i int) (lo, hi uint64) {
	start := s.starts[i/groupSets]
	if i%groupSets > 0 {
		lo = uint64(s.ends[i-1])
	}
	return start + lo, start + uint64(s.ends[i])
}

// Size returns the number of elements in set i.
func (s *Sets) Size(i int) int {
	lo, hi := s.span(i)
	return int(hi - lo)
}

// Reader returns a reader of sets.
func (s *Sets) Reader() *Reader {
	r := &Reader{s: s, before: -1}
	if s.o.Again != nil {
		r.again = s.o.Again()
	}
	return r
}

// A Reader reads sets. It is not safe for concurrent use.
type Reader struct {
	s      *Sets
	before int      // the last set read
	gap    int      // number of sets that a sequential read may skip
	read   []uint64 // elements of the file, starting at from
	from   uint64
	again  func(dst []uint64, i int) ([]uint64, error)
}

// readAhead is how many elements are read at once when sets are read in order.
const readAhead = 1 << 13

// Append appends the elements of set i to dst.
func (r *Reader) Append(dst []uint64, i int) ([]uint64, error) {
	if r.again != nil {
		return r.again(dst, i)
	}
	lo, hi := r.s.span(i)
	inOrder := i > r.before && i <= r.before+1+r.gap
	r.before = i
	if lo < r.s.inFile {
		end := min(hi, r.s.inFile)
		if err := r.load(lo, end, inOrder); err != nil {
			return dst, err
		}
		dst = append(dst, r.read[lo-r.from:end-r.from]...)
		lo = end
	}
	for lo < hi {
		at := lo - r.s.inFile
		c := r.s.chunks[at/chunkElems][at%chunkElems:]
		n := min(uint64(len(c)), hi-lo)
		dst, lo = append(dst, c[:n]...), lo+n
	}
	return dst, nil
}

// load ensures that r.read contains elements [lo, hi) of the file.
func (r *Reader) load(lo, hi uint64, ahead bool) error {
	if r.from <= lo && hi <= r.from+uint64(len(r.read)) {
		return nil
	}
	to := hi
	if ahead {
		to = max(hi, min(lo+readAhead, r.s.inFile))
	}
	r.from = lo
	r.read = slices.Grow(r.read[:0], int(to-lo))[:to-lo]
	if n, err := r.s.file.ReadAt(bytesOf(r.read), int64(lo)*8); n < 8*len(r.read) {
		r.read = r.read[:0]
		return fmt.Errorf("setjoin: reading the file of sets: %w", err)
	}
	return nil
}
