package query_test

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
)

// wordsAndCodes is a document with a text and the codes of its pictures, some of which lack either.
type wordsAndCodes struct {
	words map[string]bool
	codes []uint64
}

// match is the brute-force comparison: the Jaccard similarity of the words, and the least distance
// of two codes, 65 if there are none.
func (a wordsAndCodes) match(b wordsAndCodes) (score float64, distance int) {
	common := 0
	for w := range a.words {
		if b.words[w] {
			common++
		}
	}
	if common > 0 {
		score = float64(common) / float64(len(a.words)+len(b.words)-common)
	}
	distance = 65
	for _, x := range a.codes {
		for _, y := range b.codes {
			distance = min(distance, bits.OnesCount64(x^y))
		}
	}
	return score, distance
}

// TestWordsAndCodes compares documents by words and by codes in one statement, with brute force, while they are
// in the memtable, in tables, and after some were replaced.
func TestWordsAndCodes(t *testing.T) {
	ctx, r := t.Context(), rand.New(rand.NewPCG(39, 1))
	db, err := engine.Open(t.TempDir()+"/db", &engine.Options{NoSync: true, Shingle: 1, Features: engine.Features{Code: "dhash", Several: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]wordsAndCodes{}
	random := func(id string) engine.Doc {
		d, m := engine.Doc{ID: id}, wordsAndCodes{words: map[string]bool{}}
		for range r.IntN(2) * (4 + r.IntN(5)) {
			w := fmt.Sprintf("w%d", r.IntN(8))
			d.Text += w + " "
			m.words[w] = true
		}
		for range r.IntN(4) {
			code := uint64(0x0123456789abcdef)<<r.IntN(8) ^ 1<<r.IntN(64) ^ 1<<r.IntN(64)
			m.codes = append(m.codes, code)
			d.Fingerprints = append(d.Fingerprints, engine.Fingerprint{code})
		}
		all[id] = m
		return d
	}
	for step := range 3 {
		for i := range 120 {
			if step == 0 || i%4 == 0 {
				if err := db.Put(ctx, random(fmt.Sprintf("d%03d", i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if step == 1 {
			if err := db.Compact(ctx, nil); err != nil {
				t.Fatal(err)
			}
		}
		either, both := 0, 0
		for id, of := range all {
			var wantOr, wantAnd []string
			for other, m := range all {
				score, distance := of.match(m)
				if other != id && (score >= 0.6 || distance <= 3) {
					wantOr = append(wantOr, other)
				}
				if other != id && score >= 0.4 && distance <= 6 {
					wantAnd = append(wantAnd, other)
				}
			}
			if len(of.words) == 0 || len(of.codes) == 0 {
				continue // NEAR of a document without codes, like JACCARD of one without words, has no rows
			}
			either, both = either+len(wantOr), both+len(wantAnd)
			for statement, want := range map[string][]string{
				`JACCARD(?, 0.6) OR NEAR(?, 3) VERIFY`: wantOr, `JACCARD(?, 0.4) AND NEAR(?, 6) VERIFY`: wantAnd,
			} {
				rows, err := query.Run(ctx, db, statement, id, id)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for row, err := range rows.All() {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, row[0].(string))
				}
				if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
					t.Fatalf("step %d: %s of %s: %v, want %v", step, statement, id, got, want)
				}
			}
		}
		if either < 100 || both < 20 {
			t.Errorf("%d and %d rows are no test", either, both)
		}
	}
	for id, m := range maps.All(all) {
		d := engine.Doc{ID: "new", Text: strings.Join(slices.Collect(maps.Keys(m.words)), " ")}
		if fp, _ := db.Hash(d.Text); fp != nil {
			t.Fatalf("the text of %s has the fingerprint %x", id, fp)
		}
		want := false
		for other, o := range all {
			score, _ := m.match(o)
			want = want || score >= 0.9 && len(m.words) > 0 && other != "new"
		}
		_, stored, err := db.PutNovel(ctx, d, engine.Jaccard(0.9))
		if err != nil || stored == want {
			t.Fatalf("PutNovel of the words of %s: %v, %v", id, stored, err)
		}
		if stored {
			db.Delete(ctx, "new")
		}
		if _, stored, err = db.PutNovel(ctx, d, engine.Near(64)); !stored || err != nil { // a text has no code
			t.Fatalf("PutNovel by the codes of a text: %v, %v", stored, err)
		}
		db.Delete(ctx, "new")
	}
}
