package features

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/simhash"
)

// voters collects each feature as many times as its first weight.
type voters struct {
	hashes  []uint64
	weights []int32
	seen    map[uint64]bool
}

func (w *voters) Features(hashes []uint64, weight float64) {
	for _, h := range hashes {
		if !w.seen[h] {
			w.seen[h] = true
			w.hashes, w.weights = append(w.hashes, h), append(w.weights, int32(weight))
		}
	}
}

// TestWordsOfFingerprint compares fingerprints of every width with the sums of package simhash for
// the same features. It also compares the first word and the sketch with those of a 64-bit
// Fingerprinter.
func TestWordsOfFingerprint(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, spec := range []Spec{{}, {Fields: []Field{{Name: "title", Weight: 5}, {Name: "body", Weight: 1}}}} {
		narrow := NewFingerprinter(Params{Shingle: 2, Sketch: 16, Seed: 9, Features: spec})
		for words := range base.MaxWords + 1 {
			s := NewFingerprinter(Params{Shingle: 2, Words: words, Sketch: 16, Seed: 9, Features: spec})
			for range 10 {
				text := JoinFields(randomWords(r, r.IntN(200), 50), randomWords(r, r.IntN(2000), 50))
				all := voters{seen: map[uint64]bool{}}
				NewWalker(spec, 2, 9).Walk([]byte(text), &all)
				want := make([]base.Fingerprint, max(words, 1))
				simhash.SumWeighted(want, all.hashes, all.weights)
				got := s.Text(text)
				if !slices.Equal(append([]base.Fingerprint{got.Fingerprint}, got.Rest...), want) || (got.Rest == nil) != (words < 2) {
					t.Fatalf("%d words of %v: %x %x, want %x", words, spec, got.Fingerprint, got.Rest, want)
				}
				if spec.Fields == nil {
					simhash.Sum(want, all.hashes)
					read, err := s.Read(strings.NewReader(text))
					if err != nil || !slices.Equal(append([]base.Fingerprint{read.Fingerprint}, read.Rest...), want) {
						t.Fatalf("%d words, read: %x %x, %v, want %x", words, read.Fingerprint, read.Rest, err, want)
					}
				}
				if one := narrow.Text(text); one.Fingerprint != want[0] || !slices.Equal(one.Sketch, got.Sketch) || one.Shingles != got.Shingles {
					t.Fatalf("%d words: %+v, 64 bits: %+v", words, got, one)
				}
			}
		}
	}
	for _, words := range []int{-1, base.MaxWords + 1} {
		want := fmt.Sprintf("%d bits: the length of a fingerprint is a multiple of 64 bits, from 64 to 1024", 64*words)
		if err := (Params{Shingle: 3, Words: words}).Validate(); err == nil || err.Error() != want {
			t.Errorf("%d words: %v", words, err)
		}
	}
}
