package engine

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestVersion2 searches a table that a program with version 2 of the tokenizer wrote. Final sigma,
// sharp s and marks of Arabic are what they were, also in texts that are added. A copy with the
// current words finds more, and nothing mixes both.
func TestVersion2(t *testing.T) {
	const table = "testdata/tokenizer2.sst"
	all := func(db *DB, by Criterion) map[string]string {
		found := map[string]string{}
		for p, err := range db.Pairs(t.Context(), by, nil) {
			must.Do(t, err)
			found[p.A+" "+p.B] = fmt.Sprintf("%.3f", p.Score)
		}
		return found
	}
	check := func(db *DB, by Criterion, want map[string]string) {
		t.Helper()
		if got := all(db, by); !maps.Equal(got, want) {
			t.Errorf("%v: %v, want %v", by, got, want)
		}
	}
	old := Options{Shingle: 1, Features: Features{Fold: []string{"accents", "width", "v2"}}, NoSync: true}
	db, _ := create4test(t, &old)
	must.Do(t, db.Ingest(t.Context(), table))
	jaccard := map[string]string{"accent none": "1.000", "double sharp": "1.000", "small upper": "0.333"}
	check(db, Jaccard(0.3), jaccard)
	check(db, Cosine(0.3), map[string]string{"small upper": "0.500", "double sharp": "0.500"})
	check(db, Levenshtein(0.8), map[string]string{"double sharp": "0.806"})
	read := must.Get(db.Get(t.Context(), "upper"))(t)
	must.Do(t, db.Put(t.Context(), Doc{ID: "upper", Text: read.Text}))
	check(db, Jaccard(0.3), jaccard)
	if f := db.Options().Features.Describe(); f != "folded accents, width" {
		t.Error(f)
	}

	o := Options{Shingle: 1, Features: Features{Fold: []string{"accents", "width"}}, NoSync: true}
	now, _ := create4test(t, &o)
	if err := now.Ingest(t.Context(), table); !errors.Is(err, ErrParams) {
		t.Errorf("mixed: %v", err)
	}
}
