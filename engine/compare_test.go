package engine

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestScorer tests every document separately, and must find the results of the search.
func TestScorer(t *testing.T) {
	db, m := longTexts(t, rand.New(rand.NewPCG(31, 32)))
	s := snapshot4test(t, db)
	for _, by := range []Criterion{Jaccard(0.3).Estimated(), Jaccard(0.7).Estimated(), Jaccard(0.3), Jaccard(0.7)} {
		for _, query := range []Doc{{ID: "t001"}, {ID: "t002"}, {Text: m.texts["t003"]}, {ID: "x", Text: m.texts["t004"] + " and more"}, {Text: " "}} {
			x := must.Get(s.Matcher(t.Context(), query, by))(t)
			want := map[string]Match{}
			for _, h := range collect(t, s.Search(t.Context(), query, by, nil)) {
				want[h.ID] = h
			}
			for id := range m.texts {
				got, ok, err := x(t.Context(), id)
				if h, in := want[id]; err != nil || ok != in || ok && got != h {
					t.Fatalf("%v of %v: %s is %+v (%v, %v), want %+v", by, query, id, got, ok, err, h)
				}
			}
			if _, _, err := x(t.Context(), "nobody"); query.Text != " " && !errors.Is(err, ErrNotFound) {
				t.Errorf("a document that is not there: %v", err)
			}
		}
	}
	if _, err := s.Matcher(t.Context(), Doc{ID: "t001"}, Near(3)); !errors.Is(err, ErrInvalid) {
		t.Errorf("by distance: %v", err)
	}
	if _, err := s.Matcher(t.Context(), Doc{ID: "nobody"}, Jaccard(0.5).Estimated()); !errors.Is(err, ErrNotFound) {
		t.Errorf("a query that is not there: %v", err)
	}
}

// TestCompare compares two texts with known similarities.
func TestCompare(t *testing.T) {
	for _, layout := range []string{"4:1", "6:3", "4x4"} {
		db, _ := create4test(t, &Options{Layout: string(layout)})
		a, b := uint64(0xffff_0000_0000_0000), uint64(0xfff0_0000_0000_0001)
		for id, d := range map[string]Doc{
			"a": {Text: "one two three four five six", Fingerprints: []Fingerprint{{a}}}, "b": {Text: "one two three four five nine ten", Fingerprints: []Fingerprint{{b}}},
			"c": {Text: " "},
		} {
			d.ID = id
			must.Do(t, db.Put(t.Context(), d))
		}
		s := snapshot4test(t, db)
		c, err := s.Compare(t.Context(), "a", "b")
		if err != nil || c.Distance != 5 || c.FingerprintA == nil || c.Shared != 3 || c.ShinglesA != 4 || c.ShinglesB != 5 || c.Jaccard != 0.5 ||
			c.Score.Score != 0.5 || !c.Score.Exact || c.AInB != 0.75 || c.BInA != 0.6 {
			t.Errorf("%s: %+v, %v", layout, c, err)
		}
		least := 64
		for _, d := range c.Leads {
			least = min(least, d)
		}
		tables := map[string]int{"4:1": 4, "6:3": 20, "4x4": 16}[layout]
		if len(c.Leads) != tables || least != 0 || layout == "4:1" && (c.Leads[0] != 4 || c.Leads[3] != 1) {
			t.Errorf("%s: leads %v", layout, c.Leads)
		}
		if c, err := s.Compare(t.Context(), "a", "c"); err != nil || c.FingerprintA != nil || c.Leads != nil || c.Shared != 0 || c.Jaccard != 0 {
			t.Errorf("without words: %+v, %v", c, err)
		}
		if _, err := s.Compare(t.Context(), "a", "nobody"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	}
}
