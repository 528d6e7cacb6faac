// Package hot orders the hashes of sketches by how many sketches have them.
//
// A few shingles are in very many texts: licences, page furniture, templates. Their hashes are hot.
// Postings of hot hashes are long and tell little, so an index of sketches lists these hashes with
// the number of documents that have them, and has an order of hashes with the hot ones last
// (Order). Sketches that may be similar for their hot hashes alone are grouped by how many they
// have (Groups), which takes the place of postings of hot hashes.
package hot

import (
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

const (
	// Every document is counted of up to All; of more, a sample of as many, of an eighth, or of
	// most.
	All    = 1 << 15
	stride = 8
	most   = 1 << 18
	// A hash is hot if Least documents have it, by this estimate, and counted of those that are
	// counted do.
	Least   = 32
	counted = 8
)

// A Hash is a hash that many sketches have.
type Hash struct {
	Hash      uint32
	Documents uint32 // how many documents have it, about; at least 1
}

// Hashes returns the hot hashes, ascending, of n documents with the given sketches.
// It calls sketch twice for each document of a sample, which is all of them up to 32,768, and uses
// the result of a call before the next one. It counts twice: first all hashes, in counters that
// several hashes may share, then those alone whose counter is high enough. Memory: 256 bytes a
// document of the sample, at most 48 MiB, and 8 bytes for each hash that is hot, or nearly.
func Hashes(n int, sketch func(i int) ([]uint32, error)) ([]Hash, error) {
	step := max(min((n+All-1)/All, stride), (n+most-1)/most, 1)
	threshold := max(Least/step, counted)
	counters := make([]uint8, 1<<min(max(bits.Len(uint(n/step))+7, 12), 25))
	mask := uint32(len(counters) - 1)
	for i := 0; i < n; i += step {
		s, err := sketch(i)
		if err != nil {
			return nil, err
		}
		for _, h := range s {
			if c := &counters[h&mask]; int(*c) < threshold {
				*c++
			}
		}
	}
	var t tally
	for i := 0; i < n; i += step {
		s, err := sketch(i)
		if err != nil {
			return nil, err
		}
		for _, h := range s {
			if int(counters[h&mask]) >= threshold {
				t.add(h)
			}
		}
	}
	t.merge()
	hot := slices.DeleteFunc(t.counts, func(h Hash) bool { return int(h.Documents) < threshold })
	for i := range hot {
		hot[i].Documents *= uint32(step)
	}
	return hot, nil
}

// tally counts hashes exactly, in memory that the number of different ones bounds.
type tally struct {
	recent []uint32 // not in counts yet
	room   []uint32 // to sort them
	counts []Hash   // ascending
}

// tallyRecent is how many hashes are merged at a time.
const tallyRecent = 1 << 21

// add counts a hash once more.
func (t *tally) add(hash uint32) {
	if len(t.recent) == tallyRecent {
		t.merge()
	}
	t.recent = append(t.recent, hash)
}

// merge brings counts up to date.
func (t *tally) merge() {
	if cap(t.room) < len(t.recent) {
		t.room = make([]uint32, len(t.recent))
	}
	t.recent, t.room = ordered.Sort32(t.recent, t.room[:len(t.recent)])
	var merged []Hash
	old := t.counts
	for i := 0; i < len(t.recent); {
		h := Hash{Hash: t.recent[i]}
		for ; i < len(t.recent) && t.recent[i] == h.Hash; i++ {
			h.Documents++
		}
		for len(old) > 0 && old[0].Hash < h.Hash {
			merged, old = append(merged, old[0]), old[1:]
		}
		if len(old) > 0 && old[0].Hash == h.Hash {
			h.Documents += old[0].Documents
			old = old[1:]
		}
		merged = append(merged, h)
	}
	t.counts, t.recent = append(merged, old...), t.recent[:0]
}
