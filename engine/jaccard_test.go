package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/minhash"
)

// A textModel holds documents whose texts share passages, with their sketches.
type textModel struct {
	texts    map[string]string
	sketches map[string]minhash.Sketch
}

// randomText returns some sentences from a small stock, so that texts overlap to all degrees, and
// some are short or empty.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(14) {
		s := r.IntN(40)
		for w := range 20 {
			fmt.Fprintf(&b, "word%d ", s*100+w+r.IntN(40)/39)
		}
	}
	return b.String()
}

func (m *textModel) put(db *DB, id, text string) {
	m.texts[id], m.sketches[id] = text, sketchOf(db, text)
}

// near is JACCARD by brute force over the sketches.
func (m *textModel) near(q minhash.Sketch, n int, t float64, except string) []Match {
	var ms []Match
	for id, s := range m.sketches {
		score := minhash.Jaccard(q, s, n)
		if id != except && len(q) > 0 && len(s) > 0 && score.Score >= t {
			ms = append(ms, Match{ID: id, Score: score.Score, Error: score.Error, Exact: score.Exact})
		}
	}
	slices.SortFunc(ms, byScore)
	return ms
}

func byScore(a, b Match) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
}

// verified is JACCARD by brute force over the texts.
func (m *textModel) verified(db *DB, text string, t float64, except string) map[string]float64 {
	sets := db.s.Texts.Sets()
	mine := sets.Set([]byte(text))
	found := map[string]float64{}
	for id, other := range m.texts {
		if j := mine.Jaccard(sets.Set([]byte(other))); id != except && j >= t {
			found[id] = j
		}
	}
	return found
}

// TestJaccard compares JACCARD, verified and not, with brute force, for thresholds above and below
// the minimum of the index, after updates, deletes, flushes, compactions, loads and reopening.
func TestJaccard(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(11, 12))
	opts := &Options{MemtableBytes: 60000, Sketch: 64}
	db, path := create4test(t, opts)
	m := &textModel{map[string]string{}, map[string]minhash.Sketch{}}
	check := func(stage string) {
		t.Helper()
		for range 12 {
			threshold := []float64{0.05, 0.3, 0.5, 0.65, 0.7, 0.8, 0.9, 1}[r.IntN(8)]
			text := randomText(r)
			what := fmt.Sprintf("%s, t = %g", stage, threshold)
			equal(t, what, collect(t, db.Jaccard(ctx, Doc{Text: text + "x"}, threshold)), m.near(sketchOf(db, text+"x"), 64, threshold, ""))
			for id, text := range m.texts {
				if text == "" {
					continue
				}
				equal(t, what+" by ID", collect(t, db.Jaccard(ctx, Doc{ID: id}, threshold)), m.near(m.sketches[id], 64, threshold, id))
				want := m.verified(db, text, threshold, id)
				got := collect(t, db.Search(ctx, Doc{ID: id}, Jaccard(threshold).Verified(), nil))
				for _, x := range got {
					if j, ok := want[x.ID]; !ok || j != x.Score || !x.Exact {
						t.Fatalf("%s: verified %s: %+v, want %v", what, id, x, j)
					}
				}
				allowed := 1 + len(want)/100
				if threshold*64 < view.VerifyErrors*view.VerifyErrors { // 4 % of those at the threshold; documents share whole sentences
					allowed += len(want) / 4
				}
				if missed := len(want) - len(got); missed > allowed {
					t.Fatalf("%s: verified %s: %d of %d missed", what, id, missed, len(want))
				}
				break
			}
		}
	}
	for round := range 6 {
		for range 120 {
			id, text := fmt.Sprintf("t%03d", r.IntN(300)), randomText(r)
			if r.IntN(5) == 0 && m.texts[id] != "" {
				if err := db.Delete(ctx, id); err != nil {
					t.Fatal(err)
				}
				delete(m.texts, id)
				delete(m.sketches, id)
				continue
			}
			if err := db.Put(ctx, Doc{ID: id, Text: text}); err != nil {
				t.Fatal(err)
			}
			m.put(db, id, text)
		}
		check(fmt.Sprintf("round %d", round))
	}
	l, err := db.NewLoader(ctx, &LoadOptions{Replace: true, MemoryBytes: 100000})
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		id, text := fmt.Sprintf("t%03d", r.IntN(400)), randomText(r)
		if err := l.Add(Doc{ID: id, Text: text}); err != nil {
			t.Fatal(err)
		}
		m.put(db, id, text)
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	check("loaded")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(path, nil); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	check("reopened")
	if err := db.Compact(ctx, nil); err != nil {
		t.Fatal(err)
	}
	check("compacted")
	checkJaccardJoins(t, db, m)
	if rep, err := db.Check(ctx, nil); err != nil || len(rep.Problems) > 0 {
		t.Fatal(rep.Problems, err)
	}
}

// checkJaccardJoins compares pairs and clusters with brute force.
func checkJaccardJoins(t *testing.T, db *DB, m *textModel) {
	t.Helper()
	ctx := context.Background()
	for _, threshold := range []float64{0.2, 0.5, 0.8} {
		var want []Pair
		for a, s := range m.sketches {
			for _, x := range m.near(s, 64, threshold, a) {
				if a < x.ID {
					want = append(want, Pair{a, x.ID, x})
				}
			}
		}
		slices.SortFunc(want, func(x, y Pair) int {
			return cmp.Or(cmp.Compare(y.Score, x.Score), strings.Compare(x.A, y.A), strings.Compare(x.B, y.B))
		})
		equal(t, fmt.Sprintf("pairs at %g", threshold), collect(t, db.Pairs(ctx, Jaccard(threshold), nil)), want)
		unordered := collect(t, db.Pairs(ctx, Jaccard(threshold), &SearchOptions{Unordered: true}))
		slices.SortFunc(unordered, func(x, y Pair) int {
			return cmp.Or(cmp.Compare(y.Score, x.Score), strings.Compare(x.A, y.A), strings.Compare(x.B, y.B))
		})
		equal(t, fmt.Sprintf("unordered pairs at %g", threshold), unordered, want)
		equal(t, fmt.Sprintf("stars at %g", threshold), collect(t, db.Clusters(ctx, Jaccard(threshold), nil)), m.stars(t, db, threshold))
		for _, mode := range []ClusterMode{Star, Components} {
			keepers := map[int]string{}
			seen := map[string]bool{}
			for _, x := range collect(t, db.Clusters(ctx, Jaccard(threshold), &ClusterOptions{Mode: mode})) {
				if seen[x.ID] {
					t.Fatalf("%s is in two clusters", x.ID)
				}
				seen[x.ID] = true
				if x.Keep {
					keepers[x.Cluster] = x.ID
				}
				score := minhash.Jaccard(m.sketches[keepers[x.Cluster]], m.sketches[x.ID], 64).Score
				if x.Score != score || mode == Star && score < threshold {
					t.Fatalf("mode %d at %g: %+v, score to the keeper %s is %g", mode, threshold, x, keepers[x.Cluster], score)
				}
			}
			for _, p := range want { // documents with a partner must be in a cluster
				if mode == Components && (!seen[p.A] || !seen[p.B]) {
					t.Fatalf("%+v is in no cluster", p)
				}
			}
			for a, ka := range keepers { // keepers must not match each other
				for b, kb := range keepers {
					if score := minhash.Jaccard(m.sketches[ka], m.sketches[kb], 64).Score; a != b && score >= threshold {
						t.Fatalf("keepers %s and %s: %g", ka, kb, score)
					}
				}
			}
		}
	}
}

// stars forms star clusters by score, by their definition.
func (m *textModel) stars(t *testing.T, db *DB, threshold float64) []Member {
	t.Helper()
	entries := collect(t, entriesOf(context.Background(), db, Range{}))
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.Seq, b.Seq) })
	var ids []string
	for _, e := range entries {
		if len(m.sketches[e.ID]) > 0 {
			ids = append(ids, e.ID)
		}
	}
	score := func(a, b string) minhash.Score { return minhash.Jaccard(m.sketches[a], m.sketches[b], 64) }
	keeperOf := starsOf(ids, func(keeper, id string) (float64, bool) {
		s := score(keeper, id)
		return s.Score, s.Score >= threshold && s.Score > 0
	})
	clusters := map[string][]Member{}
	for _, id := range ids {
		k := keeperOf[id]
		s := score(k, id)
		clusters[k] = append(clusters[k], Member{Keep: k == id, Match: Match{ID: id, Score: s.Score, Error: s.Error, Exact: s.Exact}})
	}
	return number(slices.Collect(maps.Values(clusters)))
}

// TestPutNovelJaccard stores only documents that are new by their words.
func TestPutNovelJaccard(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, nil)
	text := "the quick brown fox jumps over the lazy dog and runs away from the hunters in the dark wood at night"
	if _, stored, err := db.PutNovel(ctx, Doc{ID: "a", Text: text}, Jaccard(0.8)); err != nil || !stored {
		t.Fatal(stored, err)
	}
	m, stored, err := db.PutNovel(ctx, Doc{ID: "b", Text: text + " again"}, Jaccard(0.8))
	if err != nil || stored || m.ID != "a" || m.Score < 0.8 || !m.Exact {
		t.Fatal(m, stored, err)
	}
	if _, stored, err := db.PutNovel(ctx, Doc{ID: "c", Text: "something else entirely is written here"}, Jaccard(0.8)); err != nil || !stored {
		t.Fatal(stored, err)
	}
	plain, _ := create4test(t, &Options{NoSketch: true})
	if _, _, err := plain.PutNovel(ctx, Doc{ID: "a", Text: text}, Jaccard(0.8)); !errors.Is(err, ErrNoSketches) {
		t.Fatalf("without sketches: %v", err)
	}
	for _, err := range plain.Jaccard(ctx, Doc{Text: text}, 0.8) {
		if !errors.Is(err, ErrNoSketches) {
			t.Fatalf("without sketches: %v", err)
		}
	}
	for _, bad := range []float64{0, -1, 1.01} {
		for _, err := range db.Jaccard(ctx, Doc{Text: text}, bad) {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("t = %g: %v", bad, err)
			}
		}
	}
}
