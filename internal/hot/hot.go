// Package hot orders the hashes of sketches by the number of sketches that contain them.
//
// A few shingles occur in very many texts: licences, page furniture, templates. Their hashes are
// hot. Postings of hot hashes are long and say little about similarity. Therefore an index of
// sketches stores these hashes with their numbers of documents, and uses an order of hashes that
// ends with the hot ones (Order). Sketches that may be similar only because of hot hashes are
// grouped by their number of hot hashes (Groups), which replaces the postings of hot hashes.
package hot

import (
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

const (
	// Up to All documents are all counted. Of more documents, a sample is counted: an eighth, but
	// at least All and at most most.
	All    = 1 << 15
	stride = 8
	most   = 1 << 18
	// A hash is hot if an estimated Least documents have it, and at least counted documents of the
	// sample.
	Least   = 32
	counted = 8
)

// A Hash is a hash that many sketches have.
type Hash struct {
	Hash      uint32
	Documents uint32 // approximate number of documents that have it; at least 1
}

// Hashes returns the hot hashes, in ascending order, of n documents with the given sketches. It
// samples the documents, or uses all if there are at most 32,768. It calls sketch twice for each
// document of the sample, and uses the result of a call before the next one. The first pass counts
// all hashes, in counters that several hashes may share. The second pass counts only hashes whose
// counter is high enough. It needs 256 bytes of memory per document of the sample, at most 48 MiB,
// and 8 bytes for each hash that is hot, or almost hot.
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

// tally counts hashes exactly, in memory proportional to the number of different hashes.
type tally struct {
	recent []uint32 // hashes not yet in counts
	tmp    []uint32 // buffer for sorting recent
	counts []Hash   // in ascending order of hashes
}

// tallyRecent is the number of hashes that are merged at a time.
const tallyRecent = 1 << 21

// add increments the count of a hash.
func (t *tally) add(hash uint32) {
	if len(t.recent) == tallyRecent {
		t.merge()
	}
	t.recent = append(t.recent, hash)
}

// merge adds the recent hashes to counts.
func (t *tally) merge() {
	if cap(t.tmp) < len(t.recent) {
		t.tmp = make([]uint32, len(t.recent))
	}
	t.recent, t.tmp = ordered.Sort32(t.recent, t.tmp[:len(t.recent)])
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
