package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// failure returns the error that ends an iteration.
func failure[T any](all iter.Seq2[T, error]) (err error) {
	for _, err = range all {
	}
	return err
}

// TestZeroCriterion calls everything that needs a criterion without one.
func TestZeroCriterion(t *testing.T) {
	ctx := context.Background()
	for _, stored := range []string{"texts", "fingerprints"} {
		db, _ := create4test(t, &Options{NoSync: true, NoText: stored != "texts", NoSketch: stored != "texts"})
		docs := []Doc{{ID: "a", Text: "one two three four"}, {ID: "b", Fingerprints: []Fingerprint{{7}}}}
		for _, d := range docs {
			must.Do(t, db.Put(ctx, d))
		}
		s := snapshot4test(t, db)
		var by, parsed Criterion
		if err := parsed.UnmarshalText(nil); err != nil || parsed != by {
			t.Fatalf("%v, %v", parsed, err)
		}
		for _, doc := range append(docs, Doc{ID: "a"}, Doc{Text: "five"}, Doc{ID: "nobody"}) {
			for what, err := range map[string]error{
				"Search":       failure(db.Search(ctx, doc, by, nil)),
				"unordered":    failure(s.Search(ctx, doc, by, &SearchOptions{Unordered: true})),
				"SearchBatch":  failure(s.SearchBatch(ctx, []Doc{doc, doc}, by, nil)),
				"Any":          second(db.Any(ctx, []Doc{doc}, by, nil)),
				"two of Any":   second(s.Any(ctx, []Doc{doc, doc}, by, &SearchOptions{Unordered: true})),
				"CountMatches": last(s.CountMatches(ctx, doc, by, nil)),
				"Plan":         last(s.Plan(ctx, doc, by)),
				"Matcher":      last(s.Matcher(ctx, doc, by)),
				"AddNovel":     last(db.AddNovel(ctx, []Doc{doc}, by, nil)),
				"PutNovel":     second(db.PutNovel(ctx, doc, by)),
				"Pairs":        failure(db.Pairs(ctx, by, nil)),
				"first Pairs":  failure(s.Pairs(ctx, by, &SearchOptions{Limit: 1})),
				"every Pair":   failure(s.Pairs(ctx, by, &SearchOptions{Unordered: true})),
				"CountPairs":   last(db.CountPairs(ctx, by, nil)),
				"Clusters":     failure(db.Clusters(ctx, by, nil)),
				"count":        last(db.CountClusters(ctx, by, nil)),
				"components":   failure(s.Clusters(ctx, by, &ClusterOptions{Components: true})),
				"one cluster":  failure(s.Clusters(ctx, by, &ClusterOptions{Of: "a"})),
			} {
				if !errors.Is(err, ErrInvalid) {
					t.Errorf("%s by no criterion, %+v, stored %s: %v", what, doc, stored, err)
				}
			}
		}
		if n, err := db.Count(ctx, Range{}); n != 2 || err != nil {
			t.Errorf("%d documents, %v", n, err)
		}
	}
}

func last[T any](_ T, err error) error { return err }

func second[A, B any](_ A, _ B, err error) error { return err }

// TestNilOptions passes no options, and nothing in them.
func TestNilOptions(t *testing.T) {
	ctx := context.Background()
	path := t.TempDir() + "/x.simdb"
	db := must.Get(Open(path, nil))(t)
	defer db.Close()
	for i := range 3 {
		must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{}, Text: "some words of a text"}))
	}
	if n := len(collect(t, db.Search(ctx, Doc{ID: "1"}, Near(3), nil))); n != 2 {
		t.Errorf("%d matches", n)
	}
	if n := len(collect(t, db.Search(ctx, Doc{Text: "some words of a text", Fingerprints: []Fingerprint{}}, Near(3), nil))); n != 3 {
		t.Errorf("%d matches", n)
	}
	for _, d := range []Doc{{ID: "x", Fingerprints: []Fingerprint{nil}}, {ID: "x", Fingerprints: []Fingerprint{{1, 2}}}, {ID: "x", Fingerprints: []Fingerprint{{1}, {}}}} {
		if err := db.Put(ctx, d); !errors.Is(err, ErrParams) {
			t.Errorf("%v: %v", d.Fingerprints, err)
		}
		if err := failure(db.Search(ctx, Doc{Fingerprints: d.Fingerprints}, Near(3), nil)); !errors.Is(err, ErrParams) {
			t.Errorf("search for %v: %v", d.Fingerprints, err)
		}
		if _, _, err := db.Any(ctx, []Doc{{Fingerprints: d.Fingerprints}}, Near(3), nil); !errors.Is(err, ErrParams) {
			t.Errorf("any of %v: %v", d.Fingerprints, err)
		}
	}
}

// TestRangeLimit checks that Range yields no more documents than its limit, however it reads them,
// and that Count agrees.
func TestRangeLimit(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, &Options{NoSync: true, Index: []string{"n"}})
	for i := range 300 {
		must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprintf("d%03d", i), Text: "text", Fields: fmt.Appendf(nil, `{"n":%d}`, i%7)}))
		if i%100 == 99 && i < 250 {
			must.Do(t, db.Flush(ctx))
		}
	}
	where := func(_, fields []byte) (bool, error) { return string(fields) != `{"n":3}`, nil }
	few := [][]FieldRange{{{Field: "n", From: "2", To: "4", Numbers: true}}}
	for _, r := range []Range{{}, {Unordered: true}, {Written: true}, {Reverse: true}, {Load: true, Unordered: true}, {Where: where}, {Fields: few}, {Prefix: "d1"}, {Unordered: true, Where: where, Load: true}, {After: "d100"}} {
		all := len(collect(t, db.Range(ctx, r)))
		for _, r.Limit = range []int{1, 2, 50, all, 1000} {
			want := min(r.Limit, all)
			if n := len(collect(t, db.Range(ctx, r))); n != want {
				t.Errorf("%+v yields %d documents, want %d", r, n, want)
			}
			if n, err := db.Count(ctx, r); err != nil || n != int64(want) {
				t.Errorf("%+v: %d documents counted, want %d, %v", r, n, want, err)
			}
		}
	}
}
