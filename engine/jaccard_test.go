package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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

// TestPutNovelJaccard stores only documents that are new by their words.
func TestPutNovelJaccard(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, nil)
	text := "the quick brown fox jumps over the lazy dog and runs away from the hunters in the dark wood at night"
	if _, stored, err := db.PutNovel(ctx, Doc{ID: "a", Text: text}, Jaccard(0.8).Estimated()); err != nil || !stored {
		t.Fatal(stored, err)
	}
	m, stored, err := db.PutNovel(ctx, Doc{ID: "b", Text: text + " again"}, Jaccard(0.8).Estimated())
	if err != nil || stored || m.ID != "a" || m.Score < 0.8 || !m.Exact {
		t.Fatal(m, stored, err)
	}
	if _, stored, err := db.PutNovel(ctx, Doc{ID: "c", Text: "something else entirely is written here"}, Jaccard(0.8).Estimated()); err != nil || !stored {
		t.Fatal(stored, err)
	}
	plain, _ := create4test(t, &Options{NoSketch: true})
	if _, _, err := plain.PutNovel(ctx, Doc{ID: "a", Text: text}, Jaccard(0.8).Estimated()); !errors.Is(err, ErrNoSketches) {
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
