package features

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// weightedOf makes a Weighted.
func weightedOf(of map[uint64]float64) (w Weighted) {
	hashes := make([]uint64, 0, len(of))
	for h := range of {
		hashes = append(hashes, h)
	}
	slices.Sort(hashes)
	w = Weighted(hashes)
	for _, h := range hashes {
		w = append(w, math.Float64bits(of[h]))
	}
	return w
}

// TestWeightedJaccard compares scores of any weights with exact sums, and thresholds close to them.
func TestWeightedJaccard(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for run := range 400 {
		a, b := map[uint64]float64{}, map[uint64]float64{}
		spread := math.Pow(10, float64(r.IntN(8)))
		for range r.IntN(300) {
			h, w := uint64(r.IntN(200)), r.Float64()*math.Pow(spread, r.Float64())
			switch r.IntN(4) {
			case 0:
				a[h] = w
			case 1:
				b[h] = w
			case 2:
				a[h], b[h] = w, w
			default:
				a[h], b[h] = w, w*r.Float64()
			}
		}
		least, most := new(big.Float).SetPrec(300), new(big.Float).SetPrec(300)
		for h := range uint64(200) {
			least.Add(least, big.NewFloat(min(a[h], b[h])))
			most.Add(most, big.NewFloat(max(a[h], b[h])))
		}
		want := 0.0
		if least.Sign() > 0 {
			want, _ = new(big.Float).Quo(least, most).Float64()
		}
		x, y := weightedOf(a), weightedOf(b)
		h := &SetHasher{real: true}
		score := h.Jaccard(Hashes(x), Hashes(y))
		if math.Abs(score-want) > 1e-15*want || h.Jaccard(Hashes(y), Hashes(x)) != score {
			t.Fatalf("run %d: %v, want %v", run, score, want)
		}
		for _, at := range []float64{score, math.Nextafter(score, 1), math.Nextafter(score, 0), 0.5, 0.9, 1} {
			if at <= 0 || at > 1 {
				continue
			}
			if got, ok := x.JaccardAtLeast(y, at); ok != (score >= at) || ok && got != score || !ok && got != 0 {
				t.Fatalf("run %d at %v: %v, %v; want %v", run, at, got, ok, score)
			}
		}
		if len(x) > 0 && h.Jaccard(Hashes(x), Hashes(x)) != 1 {
			t.Fatalf("run %d: a set differs from itself", run)
		}
		aInB, bInA := h.Contained(Hashes(x), Hashes(y))
		if common, _ := least.Float64(); math.Abs(aInB*x.Total()-common) > 1e-12*common || math.Abs(bInA*y.Total()-common) > 1e-12*common {
			t.Fatalf("run %d: contained %v and %v", run, aInB, bInA)
		}
	}
}

// TestWeightsOfFeatures checks which weights features have: those of a table multiply those of
// fields, of which the largest counts, and features of weight 0 do not exist.
func TestWeightsOfFeatures(t *testing.T) {
	p := Params{Shingle: 1, Sketch: 8, Features: Spec{Fields: []Field{{"body", 0.5}, {"title", 3}}}}
	table := "the\t0\nfox\t2.5\n\n{\"feature\": \"Cat\", \"weight\": 0.25}\n"
	var err error
	if p.Weights, err = ReadWeights(strings.NewReader(table), p); err != nil {
		t.Fatal(err)
	}
	got := Weighted(p.NewSetHasher().Set([]byte(JoinFields("the fox dog cat fox", "cat the"))))
	want := map[uint64]float64{}
	for word, w := range map[string]float64{"fox": 1.25, "dog": 0.5, "cat": 0.75} {
		want[NewSetHasher(Spec{}, 1, 0).Set([]byte(word))[0]] = w
	}
	if !slices.Equal(got, weightedOf(want)) {
		t.Errorf("%v, want %v", got, weightedOf(want))
	}
	if r := NewFingerprinter(p).Text("the the"); !r.Empty || r.Sketch != nil {
		t.Errorf("features of weight 0: %+v", r)
	}
	if r := NewFingerprinter(p).Text("the fox"); r.Empty || r.Shingles != 1 || len(r.Sketch) != 8 {
		t.Errorf("one feature: %+v", r)
	}
	for table, want := range map[string]string{
		"a b\t1":                            `line 1: "a b" is not a run of 1 words`,
		"\n x":                              `line 2: " x" is neither`,
		"a\tx":                              `line 1: "x" is not a number`,
		"a\t-1":                             "line 1: weight -1: want",
		"a\tNaN":                            "line 1: weight NaN: want",
		"a\t2000":                           "line 1: weight 2000: want",
		"a\t1\nA\t2":                        `line 2: "A" is an earlier feature`,
		`{"feature":"a"}`:                   `line 1: "{\"feature\":\"a\"}" is neither`,
		`{"feature":"a", "weight": 1, "x"}`: `is neither`,
	} {
		if _, err := ReadWeights(strings.NewReader(table), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", table, err, want)
		}
	}
	set := Params{Shingle: 1, Features: Spec{Unit: Set, SetField: "set"}}
	if w, err := ReadWeights(strings.NewReader("two words\t4"), set); err != nil || w.Of(set.NewSetHasher().Set([]byte(`["two words"]`))[0]) != 4 {
		t.Errorf("a member: %v", err)
	}
}
