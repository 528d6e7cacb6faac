package sieve

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// A Sieve is a sieve in a file. It is safe for concurrent use.
type Sieve struct {
	Shape
	src   keyrun.Section
	data  []byte          // the pages
	start int64           // of them, in the file
	known []atomic.Uint32 // a bit for each page that has been found good
}

// Open opens a section, which may be hostile: a page is checked when it is first touched, and
// every error is a *base.CorruptionError.
func Open(src keyrun.Section) (*Sieve, error) {
	s, dir, le := &Sieve{src: src}, src.Dir, binary.LittleEndian
	if len(dir) != DirSize || crc.Sum(dir[:12]) != le.Uint32(dir[12:]) || dir[3] != 0 || le.Uint32(dir[8:]) != 0 {
		return nil, base.Corruptf(src.File, src.Name, src.DirOffset, "a wrong checksum, reserved bits, or %d bytes of a directory", len(dir))
	}
	for i := range s.Low {
		s.Low[i] = int(dir[i])
	}
	s.Slots = le.Uint32(dir[4:])
	from := padding(src.Offset)
	if !s.valid() || s.pages() != (len(src.Body)-from)/pageSize || from+s.pages()*pageSize != len(src.Body) {
		return nil, base.Corruptf(src.File, src.Name, src.DirOffset, "low bits %v and %d slots in %d bytes", s.Low, s.Slots, len(src.Body))
	}
	s.data, s.start = src.Body[from:], src.Offset+int64(from)
	s.known = make([]atomic.Uint32, (s.pages()+31)/32)
	return s, nil
}

// Prefetch prefetches what Flips reads of a query, from storage if it has not been touched, and
// returns how many cache lines that is. It does not wait.
func (s *Sieve) Prefetch(q uint64) (lines int) {
	first, fetched, line := s.groupOf(q), -1, -1
	for j := shift1 + s.Low[1]; j < shift1+size1; j++ {
		page, at := place(first + s.slot(q^1<<j))
		if s.src.Pages != nil && page != fetched && !s.isKnown(page) {
			from := s.start + int64(page)*pageSize
			s.src.Pages.Fetch(from, from+pageSize)
			fetched = page
		}
		if at>>6 != line { // flips of lower bits lie side by side
			line = at >> 6
			kernel.Prefetch(s.data[at:][:1])
			lines++
		}
	}
	return lines
}

// groupOf returns the first slot of the group of the fingerprints that differ from q in one high
// bit of each block.
func (s *Sieve) groupOf(q uint64) uint64 { return s.group(q ^ 1<<63 ^ 1<<(size1-1)) }

// place returns the page that a slot is in, and the byte of all pages.
func place(slot uint64) (page, at int) {
	page = int(slot / slotsOfPage)
	return page, page*pageSize + int(slot%slotsOfPage)>>3
}

// Flips returns the high bits of block 1 for which there may be a fingerprint that differs from q
// in that bit, in a high bit of block 0 and in one of block 2.
func (s *Sieve) Flips(q uint64) (flips uint64, err error) {
	first := s.groupOf(q)
	for j := shift1 + s.Low[1]; j < shift1+size1; j++ {
		slot := first + s.slot(q^1<<j)
		page, at := place(slot)
		if !s.isKnown(page) {
			if err := s.check(page); err != nil {
				return 0, err
			}
		}
		flips |= uint64(s.data[at]>>(slot%slotsOfPage&7)&1) << j
	}
	return flips, nil
}

func (s *Sieve) isKnown(page int) bool { return s.known[page>>5].Load()>>(page&31)&1 != 0 }

// check makes sure of the checksum of a page, which is touched for the first time.
func (s *Sieve) check(page int) error {
	s.src.Pages.Touched(pageSize)
	b := s.data[page*pageSize:][:pageSize]
	if got, want := crc.Sum(b[:pageSize-sumSize]), binary.LittleEndian.Uint32(b[pageSize-sumSize:]); got != want {
		return s.corrupt(page, "page %d: checksum is %08x, not %08x", page, got, want)
	}
	s.known[page>>5].Or(1 << (page & 31))
	return nil
}

func (s *Sieve) corrupt(page int, format string, args ...any) error {
	return base.Corruptf(s.src.File, s.src.Name, s.start+int64(page)*pageSize, format, args...)
}

// Verify reads all of the sieve and makes sure that it is that of n fingerprints, which each calls
// its argument with, in any order.
func (s *Sieve) Verify(n int, each func(func(fps []uint64)) error) error {
	for i, b := range s.src.Body[:len(s.src.Body)-len(s.data)] {
		if b != 0 {
			return base.Corruptf(s.src.File, s.src.Name, s.src.Offset+int64(i), "byte %#02x, not zero", b)
		}
	}
	want := NewBuilder(n)
	if want.shape != s.Shape {
		return s.corrupt(0, "of the shape %+v, not %+v", s.Shape, want.shape)
	}
	if err := each(want.Add); err != nil {
		return err
	}
	w := comparer{s: s}
	_, err := want.WriteTo(&w, 0)
	return err
}

// A comparer compares the pages that are written to it.
type comparer struct {
	s    *Sieve
	page int
}

func (c *comparer) Write(b []byte) (int, error) {
	if len(b) > 0 {
		if string(b) != string(c.s.data[c.page*pageSize:][:pageSize]) {
			return 0, c.s.corrupt(c.page, "page %d is not that of the fingerprints", c.page)
		}
		c.page++
	}
	return len(b), nil
}
