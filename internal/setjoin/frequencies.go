package setjoin

import (
	"fmt"
	"slices"
)

// Frequencies count exactly in how many sets each element is. The elements of all sets go to a file
// if they exceed a limit of memory. Add is not safe for concurrent use.
type Frequencies struct {
	memory, inMemory int64 // bytes
	create           func() (File, error)
	parts            [frequencyParts]frequencyPart // by the leading bits of an element
	file             File
	end              int64
}

// frequencyParts is the number of parts of the elements; one part at a time is sorted in memory.
const frequencyParts = 256

// A frequencyPart holds the elements of a part: blocks of the file, and the rest.
type frequencyPart struct {
	blocks []frequencyBlock
	rest   []uint64
}

// A frequencyBlock is a range of the file, in elements.
type frequencyBlock struct{ at, n int64 }

// NewFrequencies returns empty Frequencies that hold about that many bytes in memory.
func NewFrequencies(memory int64, create func() (File, error)) *Frequencies {
	return &Frequencies{memory: memory, create: create}
}

// Add counts the elements of a set, which must be distinct.
func (f *Frequencies) Add(set []uint64) (err error) {
	for _, e := range set {
		p := &f.parts[e>>56]
		p.rest = append(p.rest, e)
	}
	if f.inMemory += 8 * int64(len(set)); f.inMemory <= f.memory {
		return nil
	}
	if f.file == nil {
		if f.file, err = f.create(); err != nil {
			return err
		}
	}
	for i := range f.parts {
		p := &f.parts[i]
		if len(p.rest) == 0 {
			continue
		}
		if _, err := f.file.Write(bytesOf(p.rest)); err != nil {
			return err
		}
		p.blocks = append(p.blocks, frequencyBlock{f.end, int64(len(p.rest))})
		f.end, p.rest = f.end+int64(len(p.rest)), p.rest[:0]
	}
	f.inMemory = 0
	return nil
}

// Each calls fn with each element and the number of sets that have it, in ascending order of
// elements. Nothing may be added afterwards.
func (f *Frequencies) Each(fn func(element uint64, sets int64) error) error {
	var all []uint64
	for i := range f.parts {
		p := &f.parts[i]
		all = append(all[:0], p.rest...)
		p.rest = nil
		for _, b := range p.blocks {
			from := len(all)
			all = slices.Grow(all, int(b.n))[:from+int(b.n)]
			if _, err := f.file.ReadAt(bytesOf(all[from:]), 8*b.at); err != nil {
				return fmt.Errorf("setjoin: reading the file of elements: %w", err)
			}
		}
		slices.Sort(all)
		for from := 0; from < len(all); {
			to := from + 1
			for to < len(all) && all[to] == all[from] {
				to++
			}
			if err := fn(all[from], int64(to-from)); err != nil {
				return err
			}
			from = to
		}
	}
	return nil
}

// Close frees the file.
func (f *Frequencies) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
