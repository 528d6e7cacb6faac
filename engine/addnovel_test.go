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

	"github.com/simdb/simdb/internal/exhaustive"
)

// TestAddNovel adds groups of documents, with IDs that come again, in the same group too, and with
// allowed pairs: each is stored if a model that compares it with all finds none that it is like,
// and otherwise the best one is named.
func TestAddNovel(t *testing.T) {
	const k, rounds = 3, 40
	ctx := context.Background()
	r := rand.New(rand.NewPCG(15, 5))
	db, _ := create4test(t, &Options{MemtableBytes: 5000, NoText: true, NoSketch: true, Sync: SyncNever})
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
			docs[i] = Doc{ID: fmt.Sprint("d", r.IntN(500)), Fingerprint: &fp}
		}
		for i := 1; i < len(docs); i += 7 {
			if a, b := docs[i-1].ID, docs[i].ID; a != b {
				if err := db.SetAllowed(ctx, true, IDPair{A: a, B: b}); err != nil {
					t.Fatal(err)
				}
				allowed[[2]string{a, b}], allowed[[2]string{b, a}] = true, true
			}
		}
		done, err := db.AddNovel(ctx, docs, Near(k))
		if err != nil || len(done) != len(docs) {
			t.Fatalf("%d of %d decided, %v", len(done), len(docs), err)
		}
		for i, d := range docs {
			best, at := "", k+1
			for id, fp := range model {
				n := bits.OnesCount64(fp ^ *d.Fingerprint)
				if n <= k && allowed[[2]string{id, d.ID}] {
					beside++
				} else if n < at || n == at && n <= k && id < best {
					best, at = id, n
				}
			}
			if got := done[i]; got.Stored != (best == "") || !got.Stored && (got.Match.ID != best || got.Match.Distance != at) {
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
			model[d.ID] = *d.Fingerprint
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

// TestAddNovelError has a document that cannot be stored among others: those before it are.
func TestAddNovelError(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, nil)
	docs := []Doc{{ID: "a", Text: "one two three four"}, {ID: "b", Text: "One two three four"}, {ID: ""}, {ID: "c", Text: "five six seven"}}
	done, err := db.AddNovel(ctx, docs, Near(0))
	if !errors.Is(err, ErrInvalid) || len(done) != 2 || !done[0].Stored || done[1].Stored || done[1].Match.ID != "a" {
		t.Errorf("%+v, %v", done, err)
	}
	if got := prints(t, db); len(got) != 1 {
		t.Errorf("stored: %v", got)
	}
	if done, err := db.AddNovel(ctx, nil, Near(0)); err != nil || len(done) != 0 {
		t.Errorf("none: %v, %v", done, err)
	}
	if _, err := db.AddNovel(ctx, docs, Near(65)); !errors.Is(err, ErrParams) && !errors.Is(err, ErrInvalid) {
		t.Errorf("65 bits: %v", err)
	}
}

// novelFamilies are texts, of 60 words except for one, by what they have in common.
var novelFamilies = map[string]func(r *rand.Rand, words []string) []string{
	"template": func(r *rand.Rand, words []string) []string { // similarities are below 0.8
		for i := 52; i < len(words); i++ {
			words[i] = fmt.Sprintf("x%x", r.Uint32())
		}
		return words
	},
	"templates": func(r *rand.Rand, words []string) []string { // some of which meet 0.8
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
	"long": func(r *rand.Rand, _ []string) []string { // as near, but sketches only estimate them
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

// TestAddNovelFamilies adds families, across memtables and tables, and mixed: those are stored that
// brute force stores, and what is compared does not grow with the family.
func TestAddNovelFamilies(t *testing.T) {
	exhaustive.Sequential(t)
	const n, checked, threshold = 6000, 2000, 0.8
	names := slices.Sorted(maps.Keys(novelFamilies))
	for i := range exhaustive.Some(t, 3, len(names)) {
		name := names[i]
		family := novelFamilies[name]
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(8, uint64(len(name))))
			db, _ := create4test(t, &Options{Sync: SyncNever, DisableAutoCompaction: true})
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
				done, err := db.AddNovel(WithStats(t.Context(), &stats), docs, Jaccard(threshold).Verified())
				if err != nil {
					t.Fatal(err)
				}
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
					if err := db.Flush(t.Context()); err != nil { // a flush in the background has no fixed moment
						t.Fatal(err)
					}
				}
			}
			second := stats.Candidates + stats.Probes - half
			if name != "long" && second > 2*half { // of long texts all bitmaps are compared, not more
				t.Errorf("of %d documents %d are stored; %d comparisons for the first half, %d for the second", n, stored, half, second)
			}
		})
	}
}
