package setjoin

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/textsim"
)

func runsOf(text string, q int) (set []uint64) {
	runes := []rune(text)
	for i := range runes {
		h := fnv.New64a()
		for k := range q {
			r := rune(-1)
			if i+k < len(runes) {
				r = runes[i+k]
			}
			h.Write([]byte{byte(r), byte(r >> 8), byte(r >> 16), byte(r >> 24)})
		}
		set = append(set, h.Sum64()*0x9e3779b97f4a7c15)
	}
	return set
}

// textJudge compares texts by Levenshtein, and counts the comparisons.
type textJudge struct {
	texts []string
	t     float64
	calls *atomic.Int64
}

func (j textJudge) Compare(a, b int) (float64, bool, error) {
	j.calls.Add(1)
	score, ok := textsim.Levenshtein(features.Spec{}, j.texts[a], j.t)(context.Background(), []byte(j.texts[b]))
	return score, ok, nil
}

// editedTexts returns texts, mostly edited copies of others; some edits move a part as far as
// possible. Some texts repeat a few runes, some are equal or empty.
func editedTexts(r *rand.Rand, n int) []string {
	alphabet := []rune([]string{"ab", "abcdefg h", "abcdefghijklmnopqrstuvwxyz é帝京"}[r.IntN(3)])
	random := func(n int) (s []rune) {
		for range n {
			s = append(s, alphabet[r.IntN(len(alphabet))])
		}
		return s
	}
	longest := []int{12, 60, 150, 150, 600}[r.IntN(5)]
	texts := [][]rune{nil, []rune("a"), []rune("a"), nil, []rune("ab")}
	for len(texts) < n {
		switch kind := r.IntN(8); {
		case kind == 0:
			texts = append(texts, slices.Repeat(random(1+r.IntN(4)), 1+r.IntN(longest/4)))
		case kind < 3 || len(texts) < 12:
			texts = append(texts, random(r.IntN(longest+1)))
		default:
			s := slices.Clone(texts[r.IntN(len(texts))])
			most := 1 + len(s)/3
			switch d := r.IntN(most); r.IntN(4) {
			case 0: // the rest moves, and its end may be cut back
				at := r.IntN(len(s) + 1)
				s = slices.Insert(s, at, random(d)...)
				if r.IntN(2) == 0 {
					s = s[:max(len(s)-d, 0)]
				}
			case 1:
				at := r.IntN(len(s) + 1)
				s = slices.Delete(s, at, min(at+d, len(s)))
				if r.IntN(2) == 0 {
					s = append(s, random(d)...)
				}
			default:
				for range d / 2 {
					if at := r.IntN(len(s) + 1); at < len(s) {
						s[at] = alphabet[r.IntN(len(alphabet))]
					} else {
						s = append(s, random(1)...)
					}
				}
			}
			texts = append(texts, s)
		}
	}
	var out []string
	for _, s := range texts {
		out = append(out, string(s))
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func textSets(t *testing.T, texts []string, at float64, o SetsOptions) *Sets {
	o.Measure = Measure{Kind: Edits, Q: EditGrams(at)}
	var sets [][]uint64
	for _, text := range texts {
		sets = append(sets, runsOf(text, o.Measure.Q))
	}
	return add(t, sets, o)
}

// TestEditsAgainstBruteForce compares joins by edit distance with brute force.
func TestEditsAgainstBruteForce(t *testing.T) {
	for run := range exhaustive.Every(t, 12).Of(132) {
		r := rand.New(rand.NewPCG(uint64(run), 3))
		texts := editedTexts(r, 20+r.IntN(80))
		at := []float64{0.5, 0.66, 0.75, 0.76, 0.8, 0.8, 0.85, 0.9, 0.9, 0.95, 1}[r.IntN(11)]
		var calls atomic.Int64
		judge := textJudge{texts, at, &calls}
		so := SetsOptions{Counters: int64(1 << r.IntN(18))}
		if r.IntN(2) == 0 {
			so.Memory, so.Create = 1, func() (File, error) { return &memFile{}, nil }
		}
		s := textSets(t, texts, at, so)
		o := Options{Workers: 1 + r.IntN(3), window: 1 + r.IntN(40), Memory: 1 << (10 + r.IntN(8)), least: 1}
		o.Judge = func() Judge { return judge }
		stars, err := s.Stars(t.Context(), at, o)
		must.Do(t, err)
		found := map[[2]int]float64{}
		err = s.Pairs(t.Context(), at, o, func(a, b int, score float64) bool {
			found[[2]int{a, b}] = score
			return true
		})
		must.Do(t, err)
		var keepers []int
		for b := range texts {
			want, high := b, 1.0
			for a := range b {
				score, ok, _ := judge.Compare(a, b)
				if got, has := found[[2]int{a, b}]; has != ok || ok && got != score {
					t.Fatalf("run %d at %g: %q and %q: %v, %g; want %v, %g", run, at, texts[a], texts[b], has, got, ok, score)
				}
				if ok && slices.Contains(keepers, a) && (want == b || score > high) {
					want, high = a, score
				}
			}
			if want == b {
				keepers = append(keepers, b)
			}
			if int(stars.Keeper[b]) != want || stars.Score[b] != high {
				t.Fatalf("run %d at %g: %d joins %d, %g; want %d, %g", run, at, b, stars.Keeper[b], stars.Score[b], want, high)
			}
		}
	}
}

// TestEditsCompareFew checks that few comparisons are made among texts with a common beginning.
func TestEditsCompareFew(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	var texts []string
	for range 300 {
		text := ""
		for range 12 {
			text += "word" + string(rune('a'+r.IntN(26))) + string(rune('a'+r.IntN(26))) + string(rune('a'+r.IntN(5))) + " "
		}
		texts = append(texts, text)
	}
	const at = 0.9
	var calls atomic.Int64
	o := Options{Judge: func() Judge { return textJudge{texts, at, &calls} }}
	err := textSets(t, texts, at, SetsOptions{}).Pairs(t.Context(), at, o, func(int, int, float64) bool { return true })
	if most := int64(len(texts) * len(texts) / 100); err != nil || calls.Load() > most {
		t.Errorf("%d comparisons, at most %d wanted; %v", calls.Load(), most, err)
	}
}

// TestLengthClasses checks that each length has a class, and that classes are ascending ranges.
func TestLengthClasses(t *testing.T) {
	for n := 1; n < 1<<12; n++ {
		if c := lengthClass(n); shortest(c) > n || shortest(c+1) <= n {
			t.Fatalf("%d runes: class %d, from %d to below %d", n, c, shortest(c), shortest(c+1))
		}
	}
}

// TestEditsFarAway checks that long texts are found in postings, which store approximate
// positions, even if all pieces are as far as possible before the runs.
func TestEditsFarAway(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	random := func(n int) (s string) {
		for range n {
			s += string(rune('a' + r.IntN(26)))
		}
		return s
	}
	const n, at = 5000, 0.9
	moved, text := n*(100-90)/200, random(n)
	texts := []string{text, random(n), random(n), random(moved) + text[:n-moved]}
	var calls atomic.Int64
	o := Options{window: 1, loose: 1, Judge: func() Judge { return textJudge{texts, at, &calls} }}
	found := 0
	err := textSets(t, texts, at, SetsOptions{}).Pairs(t.Context(), at, o, func(int, int, float64) bool { found++; return true })
	if err != nil || found != 1 {
		t.Errorf("%d pairs, want 1; %v", found, err)
	}
}
