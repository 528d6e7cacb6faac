package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// longTexts makes a database of texts whose sketches are mostly full, so that estimates are
// inexact.
func longTexts(t *testing.T, r *rand.Rand) (*DB, *textModel) {
	t.Helper()
	db, _ := create4test(t, &Options{MemtableBytes: 60000, Sketch: 16, NoSync: true})
	m := &textModel{texts: map[string]string{}}
	for i := range 250 {
		id, text := fmt.Sprintf("t%03d", i), randomText(r)
		must.Do(t, db.Put(t.Context(), Doc{ID: id, Text: text}))
		m.texts[id] = text
	}
	return db, m
}

// TestVerifiedJoins compares verified pairs and clusters with brute force: nothing below the
// threshold is found, nothing well above it is missed, and scores are exact.
func TestVerifiedJoins(t *testing.T) {
	db, m := longTexts(t, rand.New(rand.NewPCG(21, 22)))
	ctx := t.Context()
	similar := func(a, b string) float64 {
		sets := db.s.Texts.Sets()
		return sets.Jaccard(sets.Set([]byte(m.texts[a])), sets.Set([]byte(m.texts[b])))
	}
	overestimated := 0
	for _, threshold := range []float64{0.3, 0.6, 0.8} {
		by := Jaccard(threshold)
		want := 0
		for a, text := range m.texts {
			for b := range m.verified(db, text, threshold, a) {
				if a < b {
					want++
				}
			}
		}
		found := map[[2]string]bool{}
		last := 2.0
		for _, p := range collect(t, db.Pairs(ctx, by, nil)) {
			if s := similar(p.A, p.B); p.Score != s || s < threshold || s > last || !p.Exact || p.Error != 0 {
				t.Fatalf("%v: %+v, in truth %g", by, p, s)
			}
			last = p.Score
			found[[2]string{p.A, p.B}] = true
		}
		if missed := want - len(found); missed < 0 || missed > 1+want/200 {
			t.Errorf("%v: %d of %d pairs missed", by, missed, want)
		}
		for _, p := range collect(t, db.Pairs(ctx, Jaccard(threshold).Estimated(), nil)) {
			if !found[[2]string{p.A, p.B}] {
				overestimated++
			}
		}
		for _, mode := range []bool{false, true} {
			keeper, members := "", 0
			for _, x := range collect(t, db.Clusters(ctx, by, &ClusterOptions{Components: mode})) {
				if members++; x.Keep {
					keeper = x.ID
				}
				if s := similar(keeper, x.ID); x.Score != s || !x.Exact || !mode && s < threshold {
					t.Fatalf("%v, components %t: %+v, in truth %g to %s", by, mode, x, s, keeper)
				}
			}
			if mode && len(found) > 0 && members == 0 {
				t.Errorf("%v: no clusters", by)
			}
		}
	}
	if overestimated == 0 {
		t.Error("the estimates need no verifying")
	}
}

// TestPutNovelVerified must reject documents only by their texts.
func TestPutNovelVerified(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	db, m := longTexts(t, r)
	stored := 0
	for i := range 80 {
		id, text := fmt.Sprintf("new%03d", i), randomText(r)
		want := m.verified(db, text, 0.5, id)
		best := 0.0
		for _, s := range want {
			best = max(best, s)
		}
		x, ok, err := db.PutNovel(t.Context(), Doc{ID: id, Text: text}, Jaccard(0.5))
		must.Do(t, err)
		if ok == (len(want) > 0) && best > 0.55 || !ok && (x.Score != want[x.ID] || !x.Exact) {
			t.Fatalf("%s: stored %v, %+v, want %v", id, ok, x, want)
		}
		if ok {
			stored++
			m.texts[id] = text
		}
	}
	if stored == 0 || stored == 80 {
		t.Errorf("%d of 80 stored", stored)
	}
}

// TestJaccardWithoutTexts checks that sketches decide in a database without texts, whether they are
// asked for or not.
func TestJaccardWithoutTexts(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, &Options{NoText: true, Sketch: 16})
	by := Jaccard(0.5)
	r := rand.New(rand.NewPCG(5, 5))
	words := strings.Fields(randomText(r) + " " + randomText(r))
	for i := range 30 {
		words[r.IntN(len(words))] = fmt.Sprint("new", i)
		must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprint("d", i), Text: strings.Join(words, " ")}))
	}
	pairs := collect(t, db.Pairs(ctx, by, nil))
	if len(pairs) == 0 || pairs[0].Exact || !slices.Equal(pairs, collect(t, db.Pairs(ctx, by.Estimated(), nil))) {
		t.Errorf("%+v", pairs)
	}
	doc := Doc{ID: "d7"}
	if found := collect(t, db.Search(ctx, doc, by, nil)); len(found) == 0 || !slices.Equal(found, collect(t, db.Search(ctx, doc, by.Estimated(), nil))) {
		t.Errorf("%+v", found)
	}
	m, stored, err := db.PutNovel(ctx, Doc{ID: "x", Text: strings.Join(words, " ")}, by)
	if err != nil || stored || m.Exact || m.Score < 0.5 {
		t.Errorf("%+v, %t, %v", m, stored, err)
	}
	if s := by.String(); s != "JACCARD 0.5" || by.IsEstimated() || by.Estimated().String() != "JACCARD 0.5 ESTIMATE" || Near(3) != Near(3) {
		t.Errorf("%s, %v", s, by)
	}
}
