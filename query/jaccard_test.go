package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/token"
)

// JACCARD of short documents is exact: their sketches hold all of their shingles.
func TestJaccard(t *testing.T) {
	db := openTest(t, nil)
	words := strings.Fields("the quick brown fox jumps over the lazy dog and then runs away from it all")
	texts := map[string]string{}
	for i := range words[3:] {
		id := fmt.Sprintf("d%02d", i)
		texts[id] = strings.Join(words[:i+3], " ")
		if err := db.Put(t.Context(), engine.Doc{ID: id, Text: texts[id]}); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := Run(t.Context(), db, "JACCARD('d10', 60%)")
	if err != nil {
		t.Fatal(detail(err))
	}
	if want := []string{"id", "score", "error", "exact"}; !slices.Equal(rows.Columns(), want) {
		t.Errorf("columns %q", rows.Columns())
	}
	got := read(t, rows)
	found := map[string]bool{}
	for i, r := range got {
		id := r[0].(string)
		found[id] = true
		if j := exactJaccard(texts["d10"], texts[id], 3); r[1] != j || j < 0.6 || r[2] != 0.0 || r[3] != true {
			t.Errorf("%v, want %g", r, j)
		}
		if i > 0 && (got[i-1][1].(float64) < r[1].(float64) || got[i-1][1] == r[1] && got[i-1][0].(string) > id) {
			t.Errorf("%v after %v", r, got[i-1])
		}
	}
	for id, text := range texts {
		if j := exactJaccard(texts["d10"], text, 3); (j >= 0.6 && id != "d10") != found[id] {
			t.Errorf("%s has %g, found %v", id, j, found[id])
		}
	}
	for _, tc := range []struct {
		text string
		rows int
	}{
		{"JACCARD('d10', 0.6) VERIFY", len(got)},
		{"JACCARD(TEXT '" + texts["d10"] + "', 0.6)", len(got) + 1},
		{"JACCARD('d10', 0.6) AND NOT JACCARD('d10', 0.6)", 0},
		{"NEAR('d10', 64) AND JACCARD('d10', 0.6) ORDER BY score, id DESC LIMIT 2", 2},
		{"ID LIKE 'd%' AND NOT JACCARD('d10', 0.6)", len(texts) - len(got)},
		{"JACCARD(TEXT '...', 0.6)", 0},
	} {
		rows, err := Run(t.Context(), db, tc.text)
		if err != nil {
			t.Errorf("%s\n%s", tc.text, detail(err))
			continue
		}
		if got := read(t, rows); len(got) != tc.rows {
			t.Errorf("%s: %d rows, want %d: %v", tc.text, len(got), tc.rows, got)
		}
	}
}

// shingleSet is the set of shingles of a text.
type shingleSet map[uint64]struct{}

func (s shingleSet) Shingles(hashes []uint64) {
	for _, h := range hashes {
		s[h] = struct{}{}
	}
}

// exactJaccard returns the Jaccard similarity of the sets of shingles of k words of two texts, 0 if
// either set is empty.
func exactJaccard(a, b string, k int) float64 {
	shingler, x, y, common := token.NewShingler(k, 0), make(shingleSet), make(shingleSet), 0
	shingler.Text(a, x)
	shingler.Text(b, y)
	for h := range x {
		if _, ok := y[h]; ok {
			common++
		}
	}
	if common == 0 {
		return 0
	}
	return float64(common) / float64(len(x)+len(y)-common)
}
