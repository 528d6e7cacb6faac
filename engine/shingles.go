package engine

import (
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/minhash"
)

func distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// A textSum is what is computed of a text when it is stored.
type textSum struct {
	fingerprint uint64
	words       bool // the text has words, and so a fingerprint
}

// sums computes the fingerprint and the sketch of text; the sketch is nil in a database without.
func (db *DB) sums(text string) (textSum, minhash.Sketch) {
	if text == "" {
		return textSum{}, nil
	}
	st := db.sumPool.Get().(*fingerprint.State)
	r := st.Text(text)
	sum, sketch := textSum{r.Fingerprint, !r.Empty}, r.Sketch.Clone()
	db.sumPool.Put(st)
	if !sum.words {
		return textSum{}, nil
	}
	return sum, sketch
}

func (db *DB) newSumState() any {
	return fingerprint.New(fingerprint.Params{Shingle: int(db.params.Shingle), Sketch: int(db.params.Sketch), Seed: db.params.Seed})
}

// Fingerprint computes the fingerprint that Put stores for text, and false if text has no words.
func (db *DB) Fingerprint(text string) (uint64, bool) {
	sum, _ := db.sums(text)
	return sum.fingerprint, sum.words
}

// Sketch computes the MinHash sketch that Put stores for text: nil if text has no words, or the database no sketches.
func (db *DB) Sketch(text string) minhash.Sketch {
	_, sketch := db.sums(text)
	return sketch
}

// A shingleSet is the set of a text's shingle hashes, ascending.
type shingleSet []uint64

// A shingler makes shingle sets. It serves one goroutine.
type shingler struct {
	walk *token.Shingler
	set  shingleSet
}

func (db *DB) shingleSets() *shingler {
	return &shingler{walk: token.NewShingler(int(db.params.Shingle), db.params.Seed)}
}

// Shingles takes hashes of the text that is walked.
func (s *shingler) Shingles(hashes []uint64) { s.set = append(s.set, hashes...) }

func (s *shingler) of(text string) shingleSet { return s.ofBytes([]byte(text)) }

// ofBytes returns the set of a text. It is the caller's.
func (s *shingler) ofBytes(text []byte) shingleSet {
	s.set = nil
	s.walk.Bytes(text, s)
	slices.Sort(s.set)
	return slices.Compact(s.set)
}

// common counts the elements that a and b share.
func (a shingleSet) common(b shingleSet) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

// jaccard returns |a n b| / |a u b|; 0 if one of them is empty.
func (a shingleSet) jaccard(b shingleSet) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := a.common(b)
	return float64(n) / float64(len(a)+len(b)-n)
}
