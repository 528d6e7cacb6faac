package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// TestAddNovel adds groups of documents, with repeated IDs, also within a group, and with allowed
// pairs. A document must be stored if a model that compares it with all others finds no match;
// otherwise the best match must be named.
func TestAddNovel(t *testing.T) {
	const k, rounds = 3, 40
	ctx := context.Background()
	r := rand.New(rand.NewPCG(15, 5))
	db, _ := create4test(t, &Options{MemtableBytes: 5000, NoText: true, NoSketch: true, NoSync: true})
	model, allowed := map[string]uint64{}, map[[2]string]bool{}
	centre := make([]uint64, 60)
	for i := range centre {
		centre[i] = r.Uint64()
	}
	turnedAway, replaced, beside := 0, 0, 0
	for range rounds {
		docs := make([]Doc, r.IntN(40))
		for i := range docs {
			fp := centre[r.IntN(len(centre))]
			for range r.IntN(5) {
				fp ^= 1 << r.IntN(64)
			}
			docs[i] = Doc{ID: fmt.Sprint("d", r.IntN(500)), Fingerprints: []Fingerprint{{fp}}}
		}
		for i := 1; i < len(docs); i += 7 {
			if a, b := docs[i-1].ID, docs[i].ID; a != b {
				must.Do(t, db.SetAllowed(ctx, true, Pair{A: a, B: b}))
				allowed[[2]string{a, b}], allowed[[2]string{b, a}] = true, true
			}
		}
		done, err := db.AddNovel(ctx, docs, Near(k), nil)
		if err != nil || len(done) != len(docs) {
			t.Fatalf("%d of %d decided, %v", len(done), len(docs), err)
		}
		for i, d := range docs {
			best, at := "", k+1
			for id, fp := range model {
				n := bits.OnesCount64(fp ^ d.Fingerprints[0][0])
				if id == d.ID {
					if n == 0 {
						best, at = id, -1 // sent again
					}
				} else if n <= k && allowed[[2]string{id, d.ID}] {
					beside++
				} else if n < at || n == at && n <= k && id < best {
					best, at = id, n
				}
			}
			if got := done[i]; got.Stored != (best == "") || !got.Stored && (got.Match.ID != best || got.Match.Distance != max(at, 0)) {
				t.Fatalf("%s: %+v, want %q at %d", d.ID, got, best, at)
			}
			if best != "" {
				turnedAway++
				continue
			}
			_, was := model[d.ID]
			if was {
				replaced++
			}
			if done[i].Replaced != was {
				t.Fatalf("%s: %+v", d.ID, done[i])
			}
			model[d.ID] = d.Fingerprints[0][0]
		}
	}
	if got := prints(t, db); len(got) != len(model) {
		t.Errorf("%d documents, want %d", len(got), len(model))
	} else {
		for id, fp := range model {
			if got[id] != fp {
				t.Errorf("%s has %x, want %x", id, got[id], fp)
			}
		}
	}
	if turnedAway == 0 || replaced == 0 || beside == 0 {
		t.Errorf("%d turned away, %d replaced, %d beside an allowed one", turnedAway, replaced, beside)
	}
}

// TestSentAgain sends documents again, unchanged and changed, by every criterion and in databases
// of every kind, one by one and as a group. A document that is stored unchanged matches itself. A
// new version replaces the old one, however similar, unless it resembles another document.
func TestSentAgain(t *testing.T) {
	ctx := t.Context()
	const text = "one two three four five six seven eight nine ten eleven twelve"
	for _, c := range []struct {
		o  Options
		by []Criterion
	}{
		{Options{}, []Criterion{Near(3), Jaccard(0.8).Estimated(), Jaccard(0.8), Levenshtein(0.9), Cosine(0.9), Contains(0.9), Within(0.9)}},
		{Options{Bits: 256}, []Criterion{Near(12)}}, {Options{Containment: true}, []Criterion{Contains(0.9)}},
		{Options{NoText: true}, []Criterion{Near(3), Jaccard(0.8).Estimated()}}, {Options{Features: Features{Several: true}}, []Criterion{Near(3)}},
	} {
		for _, by := range c.by {
			db, _ := create4test(t, &c.o)
			novel := func(d Doc) Novelty {
				t.Helper()
				m, stored, err := db.PutNovel(ctx, d, by)
				must.Do(t, err)
				again := must.Get(db.AddNovel(ctx, []Doc{d, d}, by, nil))(t)
				want := Novelty{Match: Match{ID: d.ID}}
				if by.Kind() != "near" {
					want.Match.Score, want.Match.Exact = 1, !c.o.NoText
				}
				if !stored {
					want.Match = m
				}
				if again[0] != want || again[1] != want {
					t.Errorf("%+v, %+v: again %+v, want %+v", c.o, by, again, want)
				}
				return Novelty{Match: m, Stored: stored}
			}
			for i, d := range []Doc{{ID: "a", Text: text}, {ID: "a", Text: text + " more"}, {ID: "b", Text: "quite another text than that of the first"}} {
				if got := novel(d); !got.Stored {
					t.Errorf("%+v, %+v: %d is like %+v", c.o, by, i, got)
				}
				if err := db.Flush(ctx); err != nil && i == 1 {
					t.Fatal(err)
				}
			}
			if got := novel(Doc{ID: "b", Text: text + " more"}); got.Stored || got.Match.ID != "a" {
				t.Errorf("%+v, %+v: a new version that is like another: %+v", c.o, by, got)
			}
			if d := must.Get(db.Get(ctx, "a"))(t); !c.o.NoText && d.Text != text+" more" {
				t.Errorf("%+v", d)
			}
		}
	}
	db, _ := create4test(t, &Options{Features: Features{Several: true}})
	several := func(fps ...uint64) Doc {
		d := Doc{ID: "s"}
		for _, fp := range fps {
			d.Fingerprints = append(d.Fingerprints, []uint64{fp})
		}
		return d
	}
	for i, d := range []Doc{several(1, 1<<40), several(1, 1<<40), several(1, 1<<50), several(1, 1<<50)} {
		if _, stored, err := db.PutNovel(ctx, d, Near(0)); err != nil || stored != (i%2 == 0) {
			t.Errorf("%d: stored %v, %v", i, stored, err)
		}
	}
}

// TestNovelExpired submits expired documents: they are neither new nor stored.
func TestNovelExpired(t *testing.T) {
	ctx := t.Context()
	now, pass := passing(time.Now())
	db, _ := create4test(t, &Options{TTL: 48 * time.Hour, now: now})
	old := Doc{ID: "old", Text: "some old text", Time: now().Add(-72 * time.Hour)}
	for range 2 {
		if _, stored, err := db.PutNovel(ctx, old, Near(3)); stored || !errors.Is(err, ErrExpired) {
			t.Errorf("stored %v, %v", stored, err)
		}
	}
	fresh := Doc{ID: "new", Text: "some new text that is longer", Time: now().Add(-47 * time.Hour)}
	done := must.Get(db.AddNovel(ctx, []Doc{old, fresh, fresh}, Near(3), nil))(t)
	if want := []Novelty{{Expired: true}, {Stored: true}, {Match: Match{ID: "new"}}}; !slices.Equal(done, want) {
		t.Errorf("%+v", done)
	}
	if pass(2 * time.Hour); must.Get(db.AddNovel(ctx, []Doc{{ID: "new", Text: fresh.Text}}, Near(3), nil))(t)[0] != (Novelty{Stored: true}) {
		t.Error("a document whose last version has expired is not new")
	}
	if err := db.Put(ctx, old); err != nil {
		t.Error(err)
	}
	if n := len(collect(t, entriesOf(ctx, db, Range{}))); n != 1 {
		t.Errorf("%d documents", n)
	}
}

// TestAddNovelError adds a group with a document that cannot be stored: those before it are stored.
func TestAddNovelError(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, nil)
	docs := []Doc{{ID: "a", Text: "one two three four"}, {ID: "b", Text: "One two three four"}, {ID: ""}, {ID: "c", Text: "five six seven"}}
	done, err := db.AddNovel(ctx, docs, Near(0), nil)
	if !errors.Is(err, ErrInvalid) || len(done) != 2 || !done[0].Stored || done[1].Stored || done[1].Match.ID != "a" {
		t.Errorf("%+v, %v", done, err)
	}
	if got := prints(t, db); len(got) != 1 {
		t.Errorf("stored: %v", got)
	}
	if done, err := db.AddNovel(ctx, nil, Near(0), nil); err != nil || len(done) != 0 {
		t.Errorf("none: %v, %v", done, err)
	}
	if _, err := db.AddNovel(ctx, docs, Near(65), nil); !errors.Is(err, ErrParams) && !errors.Is(err, ErrInvalid) {
		t.Errorf("65 bits: %v", err)
	}
}

// novelFamilies make texts of 60 words, except for one kind, by how much they share.
var novelFamilies = map[string]func(r *rand.Rand, words []string) []string{
	"template": func(r *rand.Rand, words []string) []string { // similarities are below 0.8
		for i := 52; i < len(words); i++ {
			words[i] = fmt.Sprintf("x%x", r.Uint32())
		}
		return words
	},
	"templates": func(r *rand.Rand, words []string) []string { // some pairs reach 0.8
		which, own := r.IntN(3), 2+r.IntN(12)
		for i := range words {
			if words[i] = fmt.Sprint("t", which, "w", i); i >= len(words)-own {
				words[i] = fmt.Sprintf("x%x", r.Uint32())
			}
		}
		return words[r.IntN(5):]
	},
	"near": func(r *rand.Rand, words []string) []string { // similarities are about 0.8
		for range 1 + r.IntN(3) {
			words[r.IntN(len(words))] = fmt.Sprintf("x%x", r.Uint32()>>24)
		}
		return words
	},
	"long": func(r *rand.Rand, _ []string) []string { // as similar, but sketches only estimate them
		words := make([]string, 300)
		for i := range words {
			words[i] = fmt.Sprint("w", i)
		}
		for i := len(words) - 5 - r.IntN(45); i < len(words); i++ {
			words[i] = fmt.Sprintf("x%x", r.Uint32())
		}
		return words[r.IntN(3):]
	},
	"equal": func(_ *rand.Rand, words []string) []string { return words },
	"ordinary": func(r *rand.Rand, words []string) []string {
		words = words[:5+r.IntN(50)]
		for i := range words {
			words[i] = fmt.Sprintf("x%x", r.IntN(1000))
		}
		return words
	},
}

// TestAddNovelFamilies adds families across memtables and tables, separately and mixed. It must
// store the same documents as brute force, and the number of comparisons must not grow with the
// family.
func TestAddNovelFamilies(t *testing.T) {
	exhaustive.Sequential(t)
	const n, checked, threshold = 6000, 2000, 0.8
	names := slices.Sorted(maps.Keys(novelFamilies))
	for i := range exhaustive.Some(t, 3, len(names)) {
		name := names[i]
		family := novelFamilies[name]
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(8, uint64(len(name))))
			// Sketches have all shingles: full ones leave nothing out of a family whose members are
			// near the threshold.
			db, _ := create4test(t, &Options{NoSync: true, DisableAutoCompaction: true, Sketch: 128, MinJaccard: 0.65})
			numbers := map[string]int{}
			var kept []weightedSet
			var stats QueryStats
			stored, half := 0, int64(0)
			for from := 0; from < n; from += 500 {
				docs := make([]Doc, 500)
				for i := range docs {
					words := make([]string, 60)
					for j := range words {
						words[j] = fmt.Sprint("w", j)
					}
					docs[i] = Doc{ID: fmt.Sprint("d", from+i), Text: strings.Join(family(r, words), " ")}
				}
				done, err := db.AddNovel(t.Context(), docs, Jaccard(threshold), &SearchOptions{Stats: &stats})
				must.Do(t, err)
				for i, d := range done {
					if d.Stored {
						stored++
					}
					if from+i >= checked {
						continue
					}
					set, words := map[string]int{}, strings.Fields(docs[i].Text)
					for j := range max(len(words)-2, 1) {
						set[strings.Join(words[j:min(j+3, len(words))], " ")] = 1
					}
					mine, novel := numbered(numbers, set), true
					for _, other := range kept {
						if other.jaccard(mine) >= threshold {
							novel = false
							break
						}
					}
					if novel {
						kept = append(kept, mine)
					}
					if d.Stored != novel {
						t.Fatalf("%s: stored %v, want %v", docs[i].ID, d.Stored, novel)
					}
				}
				if from+500 == n/2 {
					half = stats.Candidates + stats.Probes
					if err := db.Flush(t.Context()); err != nil { // the moment of a background flush varies
						t.Fatal(err)
					}
				}
			}
			second := stats.Candidates + stats.Probes - half
			if name != "long" && second > 2*half { // for long texts all bitmaps are compared, but nothing more
				t.Errorf("of %d documents %d are stored; %d comparisons for the first half, %d for the second", n, stored, half, second)
			}
		})
	}
}
