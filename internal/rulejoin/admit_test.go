package rulejoin

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin/ruletest"
)

// TestAdmit adds documents in lots by random rules, and compares the results with brute force: some
// have IDs that are stored, and some are in allowed pairs.
func TestAdmit(t *testing.T) {
	var dbs []*engine.DB
	for _, index := range [][]string{nil, {"year", "name"}} {
		db, err := engine.Open(t.TempDir()+"/db", &engine.Options{Shingle: ruletest.Params.Shingle, Index: index, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		dbs = append(dbs, db)
	}
	drivers, known, replaced := [3]int{}, 0, 0
	for i := range exhaustive.Some(t, 30, 20000) {
		rng := rand.New(rand.NewPCG(exhaustive.Seed(t), uint64(i)))
		text, holds := ruletest.Rule(rng, 1+rng.IntN(3), false)
		rule, err := pairrule.Parse(text)
		if err != nil {
			continue
		}
		db := dbs[rng.IntN(2)]
		var b engine.Batch
		for d, err := range db.Range(t.Context(), engine.Range{OnlyIDs: true}) {
			if err != nil {
				t.Fatal(err)
			}
			b.Delete(d.ID)
		}
		if err := db.Apply(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		s := &Search{Rule: rule, Index: db.Options().Index, Text: []string{"text"}, Join: JoinOptions{JoinOptions: corpus.JoinOptions{Memory: 64 << 20, Progress: func(engine.Progress) {}}}}
		s.Options = Options{Params: ruletest.Params, TextFields: []string{"text"}, Memory: 64 << 20, InputBytes: 1 << 20}
		for _, branch := range rule.Branches {
			how, _ := s.driver(branch)
			drivers[how]++
		}
		pairs := []engine.Pair{{A: "0", B: "1"}, {A: "2", B: "3"}}
		if err := db.SetAllowed(t.Context(), rng.IntN(2) == 0, pairs...); err != nil && !errors.Is(err, engine.ErrNotFound) {
			t.Fatal(err)
		}
		allowed := map[engine.Pair]bool{}
		snap, err := db.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		for p := range snap.Allowed() {
			allowed[engine.Pair{A: p.A, B: p.B}] = true
		}
		snap.Close()
		visible := map[string]ruletest.Doc{}
		for docs := ruletest.Docs(rng, 1+rng.IntN(30)); len(docs) > 0; {
			n := 1 + rng.IntN(len(docs))
			var lot []engine.Doc
			for i := range docs[:n] {
				lot = append(lot, docs[i].Stored(fmt.Sprint(rng.IntN(12))))
			}
			done, err := s.AddNovel(t.Context(), db, lot)
			if err != nil {
				t.Fatal(text, err)
			}
			for i, d := range lot {
				want := admitted(visible, d.ID, &docs[i], holds, allowed)
				if got := done[i]; got.Stored != want.Stored || got.Replaced != want.Replaced || got.Match.ID != want.Match.ID || math.Abs(got.Match.Score-want.Match.Score) > 1e-9 {
					t.Fatalf("%s: %s %q\namong %q\ngot  %+v\nwant %+v", text, d.ID, docs[i], visible, got, want)
				}
				if want.Stored {
					visible[d.ID] = docs[i]
				} else {
					known++
				}
				if want.Replaced {
					replaced++
				}
			}
			docs = docs[n:]
			if rng.IntN(3) == 0 {
				if err := db.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d known, %d replaced; branches by criterion, index, scan: %v", known, replaced, drivers)
	if slices.Min(drivers[:]) < 3 || known < 20 || replaced < 20 {
		t.Error("too few cases")
	}
}

// admitted is the result for a document by brute force.
func admitted(visible map[string]ruletest.Doc, id string, d *ruletest.Doc, holds ruletest.Model, allowed map[engine.Pair]bool) (n engine.Novelty) {
	old, replaces := visible[id]
	if a, b := old.Stored(""), d.Stored(""); replaces && a.Text == b.Text && (b.Text != "" || string(a.Fields) == string(b.Fields)) {
		return engine.Novelty{Match: engine.Match{ID: id, Score: 1}}
	}
	var found []engine.Match
	for other, of := range visible {
		if s, _ := holds(&of, d); s >= 0 && other != id && !allowed[engine.Pair{A: min(other, id), B: max(other, id)}] {
			found = append(found, engine.Match{ID: other, Score: math.Round(s*1e12) / 1e12})
		}
	}
	if found == nil {
		return engine.Novelty{Stored: true, Replaced: replaces}
	}
	return engine.Novelty{Match: slices.MinFunc(found, func(a, b engine.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})}
}
