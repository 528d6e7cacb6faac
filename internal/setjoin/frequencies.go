package setjoin

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/simdb/simdb/internal/spool"
)

// Frequencies count exactly in how many sets each element is. The elements of all sets go to a file
// if they exceed a limit of memory; those with the same first byte are then sorted in memory. Add
// is not safe for concurrent use.
type Frequencies struct{ elements *spool.Spool }

// NewFrequencies returns empty Frequencies that hold about that many bytes in memory.
func NewFrequencies(memory int64, create func() (*os.File, error)) *Frequencies {
	return &Frequencies{spool.New(memory, create)}
}

// Add counts the elements of a set, which must be distinct.
func (f *Frequencies) Add(set []uint64) error {
	for i, e := range set {
		f.elements.Add(int(e>>56), bytesOf(set[i:i+1]))
	}
	return f.elements.Trim()
}

// Each calls fn with each element and the number of sets that have it, in ascending order of
// elements. Nothing may be added afterwards.
func (f *Frequencies) Each(fn func(element uint64, sets int64) error) error {
	if err := f.elements.Settle(); err != nil {
		return err
	}
	var all []uint64
	for p := range spool.Parts {
		n := int(f.elements.Bytes(p) / 8)
		all = slices.Grow(all[:0], n)[:n]
		if _, err := io.ReadFull(f.elements.Reader(p), bytesOf(all)); err != nil {
			return fmt.Errorf("setjoin: reading the file of elements: %w", err)
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
func (f *Frequencies) Close() error { return f.elements.Close() }
