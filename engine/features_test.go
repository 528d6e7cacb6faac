package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/token"
)

// featureCase is a database, with a simple implementation of its features as strings.
type featureCase struct {
	options Options
	text    func(text string) string         // makes the text of a document from a licence
	naive   func(text string) map[string]int // features of a text with their weights
}

var stopList = []string{"the of and to in is", "that It for on with as"}

func featureCases() map[string]featureCase {
	same := func(text string) string { return text }
	words := func(text string) []string { return slices.Collect(token.Rules{}.Split(text)) }
	add := func(to map[string]int, units []string, k, weight int, ok func([]string) bool) map[string]int {
		for i := 0; i == 0 && len(units) > 0 || i+k <= len(units); i++ {
			if s := units[i:min(i+k, len(units))]; ok(s) {
				to[strings.Join(s, "|")] = max(to[strings.Join(s, "|")], weight)
			}
		}
		return to
	}
	every := func([]string) bool { return true }
	chars := func(text string) (units []string) {
		runs := strings.FieldsFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
		for _, r := range strings.Join(runs, " ") {
			units = append(units, string(unicode.ToLower(r)))
		}
		return units
	}
	stop := strings.Fields(strings.ToLower(strings.Join(stopList, " ")))
	title := func(text string) (string, string) { return text[:min(200, len(text))], text[min(200, len(text)):] }
	return map[string]featureCase{
		"chars": {Options{Shingle: 7, Features: Features{Unit: "chars"}}, same,
			func(text string) map[string]int { return add(map[string]int{}, chars(text), 7, 1, every) }},
		"stop words": {Options{Features: Features{StopWords: stopList}}, same, func(text string) map[string]int {
			return add(map[string]int{}, slices.DeleteFunc(words(text), func(w string) bool { return slices.Contains(stop, w) }), 3, 1, every)
		}},
		"symbols": {Options{Features: Features{Symbols: true}}, same, func(text string) map[string]int {
			return add(map[string]int{}, slices.Collect(token.Rules{Symbols: true}.Split(text)), 3, 1, every)
		}},
		"numbers": {Options{Features: Features{Mask: []string{"numbers", `(?i)the`}}}, same, func(text string) map[string]int {
			text = regexp.MustCompile(`[0-9]+([.,:][0-9]+)*`).ReplaceAllString(regexp.MustCompile(`(?i)the`).ReplaceAllString(text, " \u02cd "), " \u02cd ")
			return add(map[string]int{}, words(text), 3, 1, every)
		}},
		"required words": {Options{Features: Features{RequireWords: stopList}}, same, func(text string) map[string]int {
			return add(map[string]int{}, words(text), 3, 1, func(s []string) bool {
				return slices.ContainsFunc(s, func(w string) bool { return slices.Contains(stop, w) })
			})
		}},
		"sets": {Options{Features: Features{Unit: "set", MinWords: 40}}, func(text string) string { return features.SetText(words(text)...) },
			func(text string) map[string]int {
				if len(words(text)) < 40 {
					return nil
				}
				return add(map[string]int{}, words(text), 1, 1, every)
			}},
		"fields": {Options{Shingle: 2, Features: Features{Fields: []Field{{Name: "body", Weight: 1}, {Name: "title", Weight: 4}}}},
			func(text string) string { t, body := title(text); return JoinFields(body, t) },
			func(text string) map[string]int {
				t, body := title(text)
				return add(add(map[string]int{}, words(body), 2, 1, every), words(t), 2, 4, every)
			}},
		"fractions": {Options{Shingle: 2, Features: Features{Fields: []Field{{Name: "body", Weight: 0.25}, {Name: "title", Weight: 1.75}}}},
			func(text string) string { t, body := title(text); return JoinFields(body, t) },
			func(text string) map[string]int {
				t, body := title(text)
				return add(add(map[string]int{}, words(body), 2, 1, every), words(t), 2, 7, every)
			}},
	}
}

// A weightedSet is a set of numbered features, ascending.
type weightedSet []struct{ feature, weight int }

func numbered(numbers map[string]int, features map[string]int) (set weightedSet) {
	for f, w := range features {
		if _, ok := numbers[f]; !ok {
			numbers[f] = len(numbers)
		}
		set = append(set, struct{ feature, weight int }{numbers[f], w})
	}
	slices.SortFunc(set, func(x, y struct{ feature, weight int }) int { return x.feature - y.feature })
	return set
}

// jaccard is the sum of the smaller weights divided by the sum of the larger ones.
func (a weightedSet) jaccard(b weightedSet) float64 {
	least, most := 0, 0
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.feature < y.feature:
			most += x.weight
			a = a[1:]
		case x.feature > y.feature:
			most += y.weight
			b = b[1:]
		default:
			least, most = least+min(x.weight, y.weight), most+max(x.weight, y.weight)
			a, b = a[1:], b[1:]
		}
	}
	for _, x := range append(slices.Clip(a), b...) {
		most += x.weight
	}
	return float64(least) / float64(max(most, 1))
}

// TestFeatures searches databases of licence texts with features of every kind and compares with
// the similarities of all pairs as computed from strings: of stored documents, of texts, after a
// flush, a merge and reopening.
func TestFeatures(t *testing.T) {
	exhaustive.Sequential(t)
	var docs []Doc
	for _, s := range licences(t).shards {
		docs = append(docs, s[:30]...)
	}
	cases := featureCases()
	names := slices.Sorted(maps.Keys(cases))
	for i := range exhaustive.Some(t, 3, len(names)) {
		c := cases[names[i]]
		t.Run(names[i], func(t *testing.T) {
			ctx := t.Context()
			db, path := create4test(t, &c.options)
			sets, numbers := map[string]weightedSet{}, map[string]int{}
			for i, d := range docs {
				sets[d.ID] = numbered(numbers, c.naive(d.Text))
				must.Do(t, db.Put(ctx, Doc{ID: d.ID, Text: c.text(d.Text)}))
				if i == len(docs)/2 {
					must.Do(t, db.Flush(ctx))
				}
			}
			params := db.Options()
			checkFeatures(t, db, sets)
			must.Do(t, errors.Join(db.Compact(ctx, nil), db.Close()))
			if _, err := Open(path, &Options{Shingle: 9, Features: Features{Unit: "words", MinWords: 3}}); !errors.Is(err, ErrParams) {
				t.Fatalf("opened with other features: %v", err)
			}
			db, err := Open(path, &c.options)
			must.Do(t, err)
			defer db.Close()
			if got := db.Options(); !reflect.DeepEqual(got, params) || got.Features.Describe() == "" {
				t.Fatalf("parameters %+v became %+v", params, got)
			}
			checkFeatures(t, db, sets)
			checkQueries(t, db, docs[0], c.text(docs[0].Text))
			checkElsewhere(t, db)
		})
	}
}

// checkFeatures compares the pairs of a database with those of feature sets.
func checkFeatures(t *testing.T, db *DB, sets map[string]weightedSet) {
	t.Helper()
	const threshold = 0.7
	want := 0
	for a, x := range sets {
		for b, y := range sets {
			if a < b && x.jaccard(y) >= threshold {
				want++
			}
		}
	}
	pairs := collect(t, db.Pairs(t.Context(), Jaccard(threshold), nil))
	for _, p := range pairs {
		if s := sets[p.A].jaccard(sets[p.B]); p.Score != s || !p.Exact {
			t.Fatalf("%+v, in truth %g", p, s)
		}
	}
	if len(pairs) != want || want < 20 {
		t.Errorf("%d pairs, %d in truth", len(pairs), want)
	}
	for id, x := range sets {
		d, err := db.Get(t.Context(), id)
		if err != nil || (d.Fingerprints != nil) != (len(x) > 0) {
			t.Fatalf("%s with %d features: fingerprint %v, %v", id, len(x), d.Fingerprints, err)
		}
	}
}

// checkQueries searches for a document by its text and by its ID.
func checkQueries(t *testing.T, db *DB, d Doc, text string) {
	t.Helper()
	for _, q := range []Doc{{Text: text}, {ID: d.ID}} {
		first := ""
		for m, err := range db.Search(t.Context(), q, Jaccard(0.7), nil) {
			must.Do(t, err)
			if first += m.ID; m.Score == 1 {
				break
			}
		}
		if q.Text != "" && !strings.Contains(first, d.ID) {
			t.Errorf("%s is not found by its text, but %s", d.ID, first)
		}
	}
	snapshot := snapshot4test(t, db)
	c, err := snapshot.Compare(t.Context(), d.ID, d.ID)
	if err != nil || c.Jaccard != 1 || c.Distance != 0 {
		t.Errorf("compared with itself: %+v, %v", c, err)
	}
}

// checkElsewhere moves a database: a packed table still has its features, databases with other
// features refuse it, and recovery restores them.
func checkElsewhere(t *testing.T, db *DB) {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	packed := filepath.Join(dir, "x.sst")
	must.Do(t, db.Pack(ctx, packed, nil))
	single := must.Get(Open(packed, nil))(t)
	if got, want := single.Options().Features, db.Options().Features; !reflect.DeepEqual(got, want) {
		t.Errorf("features %+v became %+v", want, got)
	}
	single.Close()
	other, _ := create4test(t, &Options{Shingle: db.Options().Shingle})
	if err := other.Ingest(ctx, packed); !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), "features of") {
		t.Errorf("ingested by a database with other features: %v", err)
	}
	saved, damaged := filepath.Join(dir, "saved"), filepath.Join(dir, "damaged")
	must.Do(t, os.CopyFS(damaged, os.DirFS(db.Metrics().Path)))
	must.Do(t, os.Remove(filepath.Join(damaged, "CATALOG")))
	must.Get(Recover(ctx, damaged, saved, nil))(t)
	again := open4test(t, saved, nil)
	if got, want := again.Options().Features, db.Options().Features; !reflect.DeepEqual(got, want) {
		t.Errorf("recovered features %+v, not %+v", got, want)
	}
}

func TestFeatureOptions(t *testing.T) {
	for _, o := range []Options{
		{Features: Features{Unit: "lines"}}, {Features: Features{Unit: "set", Fold: []string{"nfc"}}},
		{Features: Features{StopWords: []string{""}}}, {Features: Features{Fields: []Field{{Name: "a", Weight: -1}}}},
	} {
		if db, err := Create(filepath.Join(t.TempDir(), "x"), &o); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v, %v", o.Features, db, err)
		}
	}
	db, path := create4test(t, &Options{Features: Features{Unit: "chars", MinWords: 2}})
	if p := db.Options(); p.Shingle != 5 || p.Features.Describe() != "chars; at least 2 words" {
		t.Errorf("%+v: %s", p, p.Features.Describe())
	}
	db.Close()
	for _, o := range []Options{
		{}, {Shingle: 5}, {Features: Features{Unit: "chars"}}, {Features: Features{MinWords: 2, Fold: []string{"none"}}},
	} {
		if db, err := Open(path, &o); err != nil {
			t.Errorf("%+v: %v", o, err)
		} else {
			db.Close()
		}
	}
	for _, o := range []Options{
		{Shingle: 4}, {Features: Features{Unit: "words"}}, {Features: Features{StopWords: stopList}},
		{Features: Features{MinWords: 3}}, {Features: Features{SetField: "s"}}, {Features: Features{Fold: []string{"accents"}}},
		{Features: Features{Symbols: true}}, {Features: Features{Mask: []string{"dates"}}},
	} {
		if _, err := Open(path, &o); !errors.Is(err, ErrParams) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if got := fmt.Sprintf("%q", JoinFields("a", "b")); got != `"a\x1fb"` {
		t.Error(got)
	}
}
