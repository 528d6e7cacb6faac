package features

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/simhash"
)

// TestRealQuality compares estimates with the exact similarity of all pairs of real documents with
// J >= 0.5, under several seeds. Several seeds are necessary because pairs of a corpus share
// shingles, and therefore the errors of a seed.
func TestRealQuality(t *testing.T) {
	for _, corpus := range []string{"spdx", "licenseclassifier", "npmdocs", "poetry_tang20k", "udhr", "bible"} {
		t.Run(corpus, func(t *testing.T) { testRealQuality(t, corpus) })
	}
}

func testRealQuality(t *testing.T, corpus string) {
	const n, seeds = 128, 10
	var score, plain, simhashZ deviation
	within := [2]int{} // pairs with J >= 0.9: those within 3 bits, and all
	for seed := range uint64(seeds) {
		s := NewFingerprinter(Params{Shingle: 3, Sketch: n, Seed: seed})
		docs := map[string]Result{}
		for _, doc := range corpora.Docs(t, corpora.Real(t, corpus+".jsonl.gz")) {
			r := s.Text(doc.Text)
			r.Sketch = r.Sketch.Clone()
			docs[doc.ID] = r
		}
		for line := range corpora.Lines(t, corpora.Real(t, corpus+".truth.tsv.gz")) {
			f := strings.Split(line, "\t")
			common, _ := strconv.ParseFloat(f[3], 64)
			union, _ := strconv.ParseFloat(f[4], 64)
			a, b := docs[f[0]], docs[f[1]]
			got := minhash.Jaccard(a.Sketch, b.Sketch, n)
			if got.Exact && math.Abs(got.Score-common/union) > 1e-9 {
				t.Errorf("%s: %s and %s: exact score %v, truth %v", corpus, f[0], f[1], got.Score, common/union)
			}
			if !got.Exact {
				score.add(got.Score - common/union)
				plain.add(minhash.SketchJaccard(a.Sketch, b.Sketch) - common/union)
			}
			p := math.Acos(min(1, common/math.Sqrt(float64(a.Shingles)*float64(b.Shingles)))) / math.Pi
			d := simhash.Distance(a.Fingerprint, b.Fingerprint)
			if p > 0 {
				simhashZ.add((float64(d) - 64*p) / math.Sqrt(64*p*(1-p)))
			}
			if common/union >= 0.9 {
				within[1]++
				if d <= 3 {
					within[0]++
				}
			}
		}
	}
	t.Logf("%d pairs scored: bias %+.4f, RMSE %.4f; SketchJaccard bias %+.4f; SimHash distance against theory: %+.2f +- %.2f sigma; %.1f %% of pairs with J >= 0.9 within 3 bits",
		score.n/seeds, score.mean(), score.rms(), plain.mean(), simhashZ.mean(), simhashZ.rms(), 100*float64(within[0])/float64(max(1, within[1])))
	if score.n < 500*seeds {
		return // too few pairs for a verdict
	}
	if math.Abs(score.mean()) > 0.003 || score.rms() > 0.04 || simhashZ.rms() > 1.1 {
		t.Errorf("bias %+.4f, RMSE %.4f, distance %.2f sigma", score.mean(), score.rms(), simhashZ.rms())
	}
}

// deviation accumulates errors.
type deviation struct {
	n           int
	sum, square float64
}

func (d *deviation) add(x float64) { d.n, d.sum, d.square = d.n+1, d.sum+x, d.square+x*x }

func (d *deviation) mean() float64 { return d.sum / float64(max(d.n, 1)) }

func (d *deviation) rms() float64 { return math.Sqrt(d.square / float64(max(d.n, 1))) }

// TestDegenerate checks texts at the edges of the definition.
func TestDegenerate(t *testing.T) {
	s := NewFingerprinter(Params{Shingle: 3, Sketch: 128})
	for _, c := range []struct {
		name, text      string
		words, shingles int
	}{
		{"nothing", "", 0, 0}, {"no words", " -- ?!\n\t\u2028\ufffd", 0, 0}, {"one word", "word", 1, 1}, {"two words", "a b", 2, 1},
		{"500 equal words", strings.Repeat("word ", 500), 500, 1}, {"one huge word", strings.Repeat("x", 5_000_000), 1, 1},
		{"two by turns", strings.Repeat("to be ", 500), 1000, 2},
	} {
		r := s.Text(c.text)
		if r.Words != c.words || r.Shingles != c.shingles || r.Empty != (c.words == 0) || len(r.Sketch) != c.shingles {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	if r := s.Text("a\xff\xfeb \xe6\xbc c"); r.InvalidUTF8 != 4 || r.Words != 3 {
		t.Errorf("invalid UTF-8: %+v", r)
	}
}

// TestEveryScript checks that texts in every script of the Universal Declaration of Human Rights
// have a plausible number of words for their length and script, and different fingerprints.
func TestEveryScript(t *testing.T) {
	s := NewFingerprinter(Params{Shingle: 3, Sketch: 128})
	seen := map[uint64]string{}
	for _, doc := range corpora.Docs(t, corpora.Real(t, "udhr.jsonl.gz")) {
		r := s.Text(doc.Text)
		if per := float64(len(doc.Text)) / float64(max(r.Words, 1)); r.Empty || per < 3 || per > 150 { // words are long in scripts without spaces that are not in the list
			t.Errorf("%s: %d words in %d bytes", doc.ID, r.Words, len(doc.Text))
		}
		if other, ok := seen[r.Fingerprint]; ok {
			t.Logf("%s and %s have the same fingerprint", doc.ID, other)
		}
		seen[r.Fingerprint] = doc.ID
		if !slices.IsSorted(r.Sketch) {
			t.Errorf("%s: the sketch is not sorted", doc.ID)
		}
	}
	t.Logf("%d fingerprints", len(seen))
}
