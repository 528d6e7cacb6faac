package features

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/simhash"
)

// shingles collects the output of the tokenizer.
type shingles []uint64

func (s *shingles) Shingles(hashes []uint64) { *s = append(*s, hashes...) }

// plainSimHash is the fingerprint of a set of hashes.
func plainSimHash(set []uint64) (fp uint64) {
	for i := range 64 {
		n := 0
		for _, h := range set {
			n += int(h >> i & 1)
		}
		if 2*n+i%2 > len(set) {
			fp |= 1 << i
		}
	}
	return fp
}

// plainSketch is the sketch of size n of a set of hashes.
func plainSketch(set []uint64, n int) (s minhash.Sketch) {
	for _, h := range set {
		s = append(s, uint32(h>>32))
	}
	slices.Sort(s)
	s = slices.Compact(s)
	return s[:min(len(s), n)]
}

// want computes a Result in the simplest way, from all shingles of the text.
func want(text string, p Params) Result {
	var all shingles
	st := token.NewShingler(p.Shingle, p.Seed).Text(text, &all)
	slices.Sort(all)
	all = slices.Compact(all)
	r := Result{Words: int(st.Words), Shingles: len(all), Empty: len(all) == 0, InvalidUTF8: int(st.Invalid)}
	r.Fingerprint, r.Sketch = plainSimHash(all), plainSketch(all, p.Sketch)
	return r
}

// randomWords returns words of a vocabulary of the given size.
func randomWords(r *rand.Rand, words, vocabulary int) string {
	var b strings.Builder
	for range words {
		n := r.IntN(vocabulary)
		b.WriteString([]string{"w", "Wort", "слово", "語", ""}[n%5])
		b.WriteString(strings.Repeat(string(rune('a'+n%26)), n%23))
		b.WriteByte(" \n.;"[r.IntN(4)])
	}
	return b.String()
}

func TestAgainstPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []Params{
		{Shingle: 3, Sketch: 128}, {Shingle: 1, Sketch: 16, Seed: 7}, {Shingle: 5, Sketch: 1, Seed: 1},
		{Shingle: 2, Sketch: 1000, Seed: 3}, {Shingle: 3},
	} {
		s := NewFingerprinter(p)
		for range 150 {
			text := randomWords(r, r.IntN(1<<r.IntN(14)), 1+r.IntN(1<<r.IntN(14)))
			got, w := s.Text(text), want(text, p)
			if !slices.Equal(got.Sketch, w.Sketch) {
				t.Fatalf("%+v: sketch of %d, want %d", p, len(got.Sketch), len(w.Sketch))
			}
			if got.Sketch, w.Sketch = nil, nil; got.Fingerprint != w.Fingerprint || got.Words != w.Words ||
				got.Shingles != w.Shingles || got.Empty != w.Empty || got.InvalidUTF8 != w.InvalidUTF8 {
				t.Fatalf("%+v: got %+v, want %+v", p, got, w)
			}
			w = s.Text(text)
			w.Sketch = slices.Clone(w.Sketch)
			read, err := s.Read(strings.NewReader(text))
			if err != nil || read.Fingerprint != w.Fingerprint || !slices.Equal(read.Sketch, w.Sketch) || read.Words != w.Words {
				t.Fatalf("%+v: read %+v, %v; want %+v", p, read, err, w)
			}
			if fp, ok := simhash.Text(text, p.Shingle); p.Seed == 0 && ok && fp != w.Fingerprint {
				t.Fatalf("simhash.Text = %x, want %x", fp, w.Fingerprint)
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "one", randomWords(r, 300, 100), randomWords(r, 9000, 1000), strings.Repeat("漢字", 5000)}
	s := NewFingerprinter(Params{Shingle: 3, Sketch: 128})
	for _, text := range texts {
		s.Text(text)
	}
	if n := testing.AllocsPerRun(10, func() {
		for _, text := range texts {
			s.Text(text)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
