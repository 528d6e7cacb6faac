package corpus

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// TestPrints compares pairs, stars and components with brute force: for fingerprints of one word
// and of several, given or computed from texts, and for documents with one fingerprint or up to
// four.
func TestPrints(t *testing.T) {
	for i, words := range []int{1, 2, 4, 1, 4} {
		several := i > 2
		for kind, word := range map[string]func(r *rand.Rand, i int) uint64{
			"uniform":  func(r *rand.Rand, i int) uint64 { return r.Uint64() },
			"constant": func(r *rand.Rand, i int) uint64 { return r.Uint64N(3) * uint64(i%2) },
		} {
			t.Run(fmt.Sprintf("%d/%s/%v", words, kind, several), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(words), 1))
				var docs [][][]uint64 // nil: no fingerprint
				c := New(Options{Fingerprints: true, Memory: 1 << 20})
				x := NewExtractor(t.Context(), features.Params{Shingle: 3, Words: words}, c)
				defer x.Stop()
				f := newHasher(features.Params{Shingle: 3, Words: words})
				for i := range 400 {
					d := engine.Doc{ID: fmt.Sprint(i)}
					var fp []uint64
					switch {
					case i < 3 && words > 1: // before any document with a fingerprint
					case i < 3 && several: // the first document has several
						fp = []uint64{word(r, 1)}
						d.Fingerprints = []engine.Fingerprint{fp}
					case i%5 == 0:
						d.Text = strings.Repeat(fmt.Sprintf("a b%d ", r.IntN(6)), r.IntN(5))
						fp = f.appendPrint(nil, &d)
					case i%3 > 0 && docs[i-1] != nil:
						if of := docs[r.IntN(i)]; of != nil {
							fp = slices.Clone(of[r.IntN(len(of))])
						}
						for range min(len(fp), 1) * r.IntN(6) {
							fp[r.IntN(words)] ^= 1 << r.IntN(64)
						}
						d.Fingerprints = []engine.Fingerprint{fp}
					default:
						for w := range words {
							fp = append(fp, word(r, w))
						}
						d.Fingerprints = []engine.Fingerprint{fp}
					}
					if docs = append(docs, nil); len(fp) > 0 {
						docs[i] = [][]uint64{fp}
					}
					for n := r.IntN(4); several && (i > 20 || i < 2) && len(fp) > 0 && n > 0; n-- {
						more := slices.Clone(fp)
						if of := docs[r.IntN(i+1)]; n > 1 && of != nil { // may be its own
							more = slices.Clone(of[r.IntN(len(of))])
						}
						for range r.IntN(3) {
							more[r.IntN(words)] ^= 1 << r.IntN(64)
						}
						if n == 3 {
							for w := range more {
								more[w] = word(r, w)
							}
						}
						docs[i] = append(docs[i], more)
						if d.Fingerprints == nil { // the first fingerprint belongs to the text
							d.Fingerprints = []engine.Fingerprint{fp}
						}
						d.Fingerprints = append(d.Fingerprints, more)
					}
					must.Do(t, x.Add(&d, nil))
				}
				must.Do(t, x.Finish())
				for _, k := range []int{0, 4, 9, 40 * words, 64 * words} {
					comparePrints(t, c, docs, k)
				}
			})
		}
	}
}

// comparePrints compares the joins of a corpus at a distance with brute force.
func comparePrints(t *testing.T, c *Corpus, docs [][][]uint64, k int) {
	t.Helper()
	near := func(a, b int) (least int, ok bool) {
		for _, x := range docs[a] {
			for _, y := range docs[b] {
				if d := base.DistanceWords(x, y); !ok || d < least {
					least, ok = d, true
				}
			}
		}
		return least, ok && least <= k
	}
	several := slices.ContainsFunc(docs, func(codes [][]uint64) bool { return len(codes) > 1 })
	var got, want [][3]int
	label, keeper, distance := make([]int, len(docs)), make([]uint32, len(docs)), make([]uint16, len(docs))
	var keepers []int
	for b := range docs {
		label[b], keeper[b] = b, uint32(b)
		best := k + 1
		for a := range b {
			d, ok := near(a, b)
			if !ok {
				continue
			}
			want = append(want, [3]int{a, b, d})
			if from, to := max(label[a], label[b]), min(label[a], label[b]); from != to {
				for i := range b + 1 {
					if label[i] == from {
						label[i] = to
					}
				}
			}
		}
		equal := slices.IndexFunc(docs[:b], func(codes [][]uint64) bool {
			return codes != nil && docs[b] != nil && slices.Equal(codes[0], docs[b][0])
		})
		if equal >= 0 && !several { // documents with the same fingerprint are joined as one
			keeper[b], distance[b] = keeper[equal], distance[equal]
			continue
		}
		for _, q := range keepers {
			if d, ok := near(q, b); ok && d < best {
				best, keeper[b], distance[b] = d, uint32(q), uint16(d)
			}
		}
		if best > k && docs[b] != nil {
			keepers = append(keepers, b)
		}
	}
	add := func(a, b uint32, d int) { got = append(got, [3]int{int(min(a, b)), int(max(a, b)), d}) }
	err := c.Near(k).EachPair(t.Context(), func(a, b uint32, match float64) bool {
		add(a, b, int(-match))
		return true
	})
	compare := func(x, y [3]int) int { return cmp.Or(cmp.Compare(x[1], y[1]), cmp.Compare(x[0], y[0])) }
	slices.SortFunc(got, compare)
	slices.SortFunc(want, compare)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("k = %d: %d pairs, want %d; %v", k, len(got), len(want), err)
	}
	components, err := c.PrintComponents(t.Context(), k, selfjoin.Options{})
	for i, l := range components {
		if err != nil || int(l) != label[i] {
			t.Fatalf("k = %d: document %d is in component %d, want %d; %v", k, i, l, label[i], err)
		}
	}
	for a, b := range want {
		if a = b[0]; c.Distance(uint32(a), uint32(b[1])) != b[2] {
			t.Fatalf("documents %d and %d are at %d, not %d", a, b[1], c.Distance(uint32(a), uint32(b[1])), b[2])
		}
	}
	stars, distances, err := c.PrintStars(t.Context(), nil, k, 0, nil, selfjoin.Options{})
	if err != nil || !slices.Equal(stars, keeper) || !slices.Equal(distances, distance) {
		t.Fatalf("k = %d: stars %v %v, want %v %v; %v", k, stars, distances, keeper, distance, err)
	}
}

// TestPrintsOfOtherWidths checks the error for fingerprints of two widths.
func TestPrintsOfOtherWidths(t *testing.T) {
	c := New(Options{Fingerprints: true, Memory: 1 << 20})
	x := NewExtractor(t.Context(), features.Params{Shingle: 3}, c)
	defer x.Stop()
	var d engine.Doc
	err := x.Add(&d, nil)
	for words := 2; words < 4 && err == nil; words++ {
		d.Fingerprints = []engine.Fingerprint{make([]uint64, words)}
		err = x.Add(&d, nil)
	}
	if err == nil {
		err = x.Finish()
	}
	if err == nil || !strings.Contains(err.Error(), "document 3 has a fingerprint of 192 bits, but those before it have 128") {
		t.Error(err)
	}
}

// TestVerifiedStars compares stars of texts within a distance with brute force: with documents
// that match nothing, known documents and groups, in another order, and with so many near
// documents that the join searches for similar sets instead.
func TestVerifiedStars(t *testing.T) {
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 9))
		c := New(Options{Fingerprints: true, Sets: true, Memory: 1 << 20})
		x := NewExtractor(t.Context(), features.Params{Shingle: 1}, c)
		n, several, groups := 500, seed%3 == 0, &collection.Groups{Across: true}
		if seed%8 == 7 { // more documents with the same fingerprint than Offer accepts
			n = 1600
		}
		for i := range n {
			d := engine.Doc{ID: fmt.Sprint(i)}
			for w := range 12 {
				if r.IntN(3) > 0 || n > 500 {
					d.Text += fmt.Sprintf("%c%d ", 'a'+w, r.IntN(2+6*(n/1600)))
				}
			}
			prints := make([]uint64, 1+r.IntN(3))
			for j := range prints {
				prints[j] = r.Uint64N(4) * uint64(len(prints)) << (20 * j)
			}
			if !several || n > 500 {
				prints = prints[:1]
			}
			if n > 500 {
				prints[0] = 1
			}
			if d.Fingerprints = []engine.Fingerprint{{prints[0]}}; i%40 == 39 {
				d = engine.Doc{ID: d.ID}
			}
			for _, fp := range prints[1:] {
				if i%40 != 39 {
					d.Fingerprints = append(d.Fingerprints, []uint64{fp})
				}
			}
			groups.Of = append(groups.Of, collection.Group{Across: uint32(r.IntN(5))})
			must.Do(t, x.Add(&d, nil))
		}
		must.Do(t, x.Finish())
		x.Stop()
		o := setjoin.Options{Known: int(seed%4) * 20, OnlyKnown: seed%8 > 5}
		for i := range n {
			o.Order = append(o.Order, uint32(i))
		}
		r.Shuffle(n-o.Known, func(i, j int) {
			o.Order[o.Known+i], o.Order[o.Known+j] = o.Order[o.Known+j], o.Order[o.Known+i]
		})
		if seed%2 == 1 {
			o.Accept = func(a, b int) bool { return groups.Accept(uint32(a), uint32(b)) }
		}
		const k, least = 2, 0.5
		want := starsWithin(t, c, k, least, o)
		got, err := c.VerifiedStars(t.Context(), least, k, o, selfjoin.Options{})
		if err != nil || !slices.Equal(got.Keeper, want.Keeper) || !slices.Equal(got.Score, want.Score) {
			t.Fatalf("seed %d: stars differ from the plain way; %v", seed, err)
		}
	}
}

// starsWithin is the oracle of VerifiedStars.
func starsWithin(t *testing.T, c *Corpus, k int, least float64, o setjoin.Options) setjoin.Assignment {
	t.Helper()
	var sets [][]uint64
	must.Do(t, c.Each(func(set, _ []uint64) error {
		sets = append(sets, slices.Clone(set))
		return nil
	}))
	out := setjoin.Assignment{Keeper: make([]uint32, len(sets)), Score: make([]float64, len(sets))}
	var keepers []uint32
	for pos, d := range o.Order {
		best, most := d, 0.0
		for _, q := range keepers {
			if c.Empty(d) || c.Empty(q) || c.Distance(d, q) > k || o.Accept != nil && !o.Accept(int(q), int(d)) {
				continue
			}
			common := 0
			for _, e := range sets[d] {
				if slices.Contains(sets[q], e) {
					common++
				}
			}
			if s := float64(common) / float64(len(sets[d])+len(sets[q])-common); s >= least && s > most {
				best, most = q, s
			}
		}
		if pos < o.Known && most < 1 || best == d {
			if best, most = d, 1; pos < o.Known || !o.OnlyKnown {
				keepers = append(keepers, d)
			}
		}
		out.Keeper[d], out.Score[d] = best, most
	}
	return out
}
