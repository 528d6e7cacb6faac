package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/textsim"
)

// titles makes short texts, many with few edits of earlier ones.
type titles struct {
	rng  *rand.Rand
	made []string
}

func (s *titles) next() string {
	if len(s.made) > 0 && s.rng.IntN(3) == 0 {
		r := []rune(s.made[s.rng.IntN(len(s.made))])
		for range s.rng.IntN(4) {
			at := s.rng.IntN(len(r) + 1)
			switch s.rng.IntN(3) {
			case 0:
				r = slices.Insert(r, at, rune('a'+s.rng.IntN(26)))
			case 1:
				r = slices.Delete(r, at, min(at+1, len(r)))
			default:
				if at < len(r) {
					r[at] = 'é'
				}
			}
		}
		return string(r)
	}
	var words []string
	for range 1 + s.rng.IntN(8) {
		words = append(words, []string{"great", "phone", "the", "of", "history", "世界", "a", "kingdom", "small"}[s.rng.IntN(9)]+fmt.Sprint(s.rng.IntN(4)))
	}
	s.made = append(s.made, strings.Join(words, " "))
	return s.made[len(s.made)-1]
}

func bruteSimilar(docs map[string]string, of Doc, compare textsim.Compare) (found []Match) {
	for id, text := range docs {
		if id == of.ID {
			continue
		}
		if score, ok := compare(context.Background(), []byte(text)); ok {
			found = append(found, Match{ID: id, Score: score, Exact: true})
		}
	}
	slices.SortFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return found
}

// TestSimilar compares searches with a comparison of all texts: in tables and memtables, with
// deleted and replaced documents, before and after merges, with signatures and, if they do not fit
// into memory, without.
func TestSimilar(t *testing.T) {
	for _, memory := range []int64{0, 80 << 10} { // memory for all signatures, and for the signatures of two tables
		t.Run(fmt.Sprint(memory), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(memory), 9))
			db, err := Open(t.TempDir()+"/test.simdb", &Options{Memory: memory})
			must.Do(t, err)
			defer db.Close()
			source, docs := &titles{rng: rng}, map[string]string{}
			found, methods := 0, map[string]bool{}
			for round := range 5 {
				for range 400 {
					d := Doc{ID: fmt.Sprint(rng.IntN(1500)), Text: source.next()}
					if rng.IntN(30) == 0 {
						d.Text = ""
					}
					docs[d.ID] = d.Text
					must.Do(t, db.Put(t.Context(), d))
					if id := fmt.Sprint(rng.IntN(1500)); rng.IntN(6) == 0 && docs[id] != "" {
						delete(docs, id)
						must.Do(t, db.Delete(t.Context(), id))
					}
				}
				if round == 3 {
					err = db.Compact(t.Context(), nil)
				} else if round < 4 {
					err = db.Flush(t.Context())
				}
				must.Do(t, err)
				for range 30 {
					found += checkSimilar(t, db, docs, source, methods)
				}
			}
			if found < 500 {
				t.Errorf("only %d matches", found)
			}
			if !methods["signatures"] || methods["scan"] != (memory > 0) {
				t.Errorf("tables were searched by %v", methods)
			}
		})
	}
}

// checkSimilar compares a search with the model, and returns the number of matches.
func checkSimilar(t *testing.T, db *DB, docs map[string]string, source *titles, methods map[string]bool) int {
	t.Helper()
	of := Doc{Text: source.next()}
	if source.rng.IntN(2) == 0 {
		for of.ID = range docs {
			if of.Text = docs[of.ID]; of.Text != "" {
				break
			}
		}
	}
	threshold := float64(45+source.rng.IntN(56)) / 100
	by, compare := Levenshtein(threshold), textsim.Levenshtein(features.Spec{}, of.Text, threshold)
	if source.rng.IntN(2) == 0 {
		by, compare = Cosine(threshold), textsim.Cosine(features.Spec{}, of.Text, threshold)
	}
	want := bruteSimilar(docs, of, compare)
	var got []Match
	for m, err := range db.Search(t.Context(), of, by, nil) {
		must.Do(t, err)
		got = append(got, m)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%v of %q (%s): %v, want %v", by, of.Text, of.ID, got, want)
	}
	s := snapshot4test(t, db)
	if n, err := s.CountMatches(t.Context(), of, by, nil); err != nil || int(n) != len(want) {
		t.Fatalf("%v: %d (%v), want %d", by, n, err, len(want))
	}
	m, any, err := anyMatch(t.Context(), s, of, by)
	if err != nil || any != (len(want) > 0) || any && !slices.Contains(want, m) {
		t.Fatalf("%v: %v, %v (%v), want one of %v", by, m, any, err, want)
	}
	parts, err := s.Plan(t.Context(), of, by)
	must.Do(t, err)
	for _, p := range parts {
		if p.Part != "memtable" {
			methods[p.Method] = true
		}
	}
	return len(got)
}

// TestSimilarErrors checks that a text criterion needs texts and a valid threshold.
func TestSimilarErrors(t *testing.T) {
	db := open4test(t, t.TempDir()+"/test.simdb", &Options{NoText: true})
	first := func(db *DB, of Doc, by Criterion) (err error) {
		for _, err = range db.Search(t.Context(), of, by, nil) {
		}
		return err
	}
	if err := first(db, Doc{Text: "a"}, Levenshtein(0.9)); !errors.Is(err, ErrParams) {
		t.Error(err)
	}
	if _, _, err := db.PutNovel(t.Context(), Doc{ID: "a", Text: "a"}, Cosine(0.9)); !errors.Is(err, ErrParams) {
		t.Error(err)
	}
	full := open4test(t, t.TempDir()+"/test.simdb", nil)
	for _, c := range []struct {
		of   Doc
		by   Criterion
		want error
	}{
		{Doc{Text: "a"}, Levenshtein(0), ErrInvalid}, {Doc{Text: "a"}, Cosine(1.5), ErrInvalid},
		{Doc{Text: "a"}, Near(65), ErrInvalid}, {Doc{Text: "a"}, Jaccard(0).Estimated(), ErrInvalid},
		{Doc{ID: "none"}, Cosine(1), ErrNotFound}, {Doc{}, Near(3), ErrNotFound},
	} {
		if err := first(full, c.of, c.by); !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.by, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range full.Search(ctx, Doc{Text: "a"}, Cosine(1), nil) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	for _, by := range []Criterion{Levenshtein(0.9), Cosine(0.9)} {
		if by.K() != 0 || by.T() != 0.9 || by != by || by.IsEstimated() {
			t.Errorf("%v: %d, %g", by, by.K(), by.T())
		}
	}
}

// TestEmptyQuery checks that a document with only an ID means the stored one, by every criterion
// and in every method, in memtables and tables.
func TestEmptyQuery(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, nil)
	const text = "the quick brown fox jumps over the lazy dog and runs away from it all"
	for id, text := range map[string]string{"a": text, "b": text + "!", "c": "something else of other words"} {
		must.Do(t, db.Put(ctx, Doc{ID: id, Text: text}))
	}
	for range 2 {
		s := must.Get(db.Snapshot())(t)
		for _, by := range []Criterion{Near(3), Jaccard(0.8).Estimated(), Jaccard(0.8), Levenshtein(0.9), Cosine(0.9)} {
			checkEmptyQuery(t, s, by)
			known, err := anyOf(ctx, db, []Doc{{ID: "a"}, {ID: "c"}, {}}, by)
			if err != nil || !slices.Equal(known, []bool{true, false, false}) {
				t.Errorf("%v: AnyMatches %v, %v", by, known, err)
			}
			if _, err := anyOf(ctx, db, []Doc{{ID: "a"}, {ID: "none"}}, by); !errors.Is(err, ErrNotFound) {
				t.Errorf("%v: AnyMatches %v", by, err)
			}
		}
		s.Close()
		must.Do(t, db.Flush(ctx))
	}
}

// checkEmptyQuery searches for documents that resemble document a; the result must be b.
func checkEmptyQuery(t *testing.T, s *Snapshot, by Criterion) {
	t.Helper()
	ctx := t.Context()
	var got []string
	for m, err := range s.Search(ctx, Doc{ID: "a"}, by, nil) {
		if err != nil {
			t.Fatalf("%v: %v", by, err)
		}
		got = append(got, m.ID)
	}
	n, err := s.CountMatches(ctx, Doc{ID: "a"}, by, nil)
	parts, planErr := s.Plan(ctx, Doc{ID: "a"}, by)
	if err != nil || planErr != nil || n != 1 || len(parts) != 1 || !slices.Equal(got, []string{"b"}) {
		t.Errorf("%v: Similar %v, %d of them by %d parts, %v, %v", by, got, n, len(parts), err, planErr)
	}
	if m, found, err := anyMatch(ctx, s, Doc{ID: "a"}, by); err != nil || !found || m.ID != "b" {
		t.Errorf("%v: AnyMatch %+v, %v", by, m, err)
	}
	if m, found, err := bestMatch(ctx, s, Doc{ID: "a"}, by); err != nil || !found || m.ID != "b" {
		t.Errorf("%v: BestMatch %+v, %v", by, m, err)
	}
	known, best, err := s.Any(ctx, []Doc{{ID: "c"}, {ID: "a"}, {}}, by, nil)
	if err != nil || !slices.Equal(known, []bool{false, true, false}) || best[1].ID != "b" {
		t.Errorf("%v: Any %v %+v, %v", by, known, best, err)
	}
	if _, _, err := anyMatch(ctx, s, Doc{ID: "none"}, by); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v: AnyMatch of what is not there: %v", by, err)
	}
	for _, err := range s.Search(ctx, Doc{ID: "none"}, by, nil) {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%v: Similar to what is not there: %v", by, err)
		}
	}
}

// TestPutNovelSimilar submits similar texts concurrently: exactly one must be stored, while tables
// are written and merged.
func TestPutNovelSimilar(t *testing.T) {
	for _, by := range []Criterion{Levenshtein(0.85), Cosine(0.9)} {
		db := must.Get(Open(t.TempDir()+"/test.simdb", nil))(t)
		const groups, each = 60, 8
		var stored [groups]int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for w := range each {
			wg.Go(func() {
				for g := range groups {
					text := fmt.Sprintf("document of group number %s%s", strings.Repeat(string(rune('a'+g%26)), 8+g), strings.Repeat(" zz", g%7))
					_, ok, err := db.PutNovel(t.Context(), Doc{ID: fmt.Sprint(g, "-", w), Text: text}, by)
					if err == nil && w == 0 && g%20 == 19 {
						err = db.Flush(t.Context())
					}
					if err != nil {
						t.Error(err)
						return
					}
					if ok {
						mu.Lock()
						stored[g]++
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		docs := 0
		for g, n := range stored {
			if n > 1 {
				t.Errorf("%v: %d documents of group %d were stored", by, n, g)
			}
			docs += n
		}
		s := must.Get(db.Snapshot())(t)
		for e, err := range entriesIn(t.Context(), s, Range{}) {
			must.Do(t, err)
			docs--
			if _, found, err := anyMatch(t.Context(), s, mustGet(t, s, e.ID), by); err != nil || found {
				t.Errorf("%v: %s has a match (%v)", by, e.ID, err)
			}
		}
		if docs != 0 {
			t.Errorf("%d documents more were stored than there are", docs)
		}
		s.Close()
		must.Do(t, db.Close())
	}
}

func mustGet(t *testing.T, s *Snapshot, id string) Doc {
	t.Helper()
	d := must.Get(s.Get(t.Context(), id))(t)
	return d
}

// TestSignaturesGiveBack checks that a dropped table releases the memory of its signatures.
func TestSignaturesGiveBack(t *testing.T) {
	db := open4test(t, t.TempDir()+"/test.simdb", &Options{Memory: 200 * 40 * 2})
	for round := range 6 {
		var b Batch
		for i := range 100 {
			b.Put(Doc{ID: fmt.Sprint(i), Text: fmt.Sprint("text ", i, round)})
		}
		must.Do(t, db.Apply(t.Context(), &b))
		must.Do(t, db.Compact(t.Context(), nil))
		for _, err := range db.Search(t.Context(), Doc{Text: "text"}, Cosine(0.5), nil) {
			must.Do(t, err)
		}
		s, err := db.Snapshot()
		must.Do(t, err)
		parts, err := s.Plan(t.Context(), Doc{Text: "text"}, Cosine(0.5))
		s.Close()
		if err != nil || len(parts) != 1 || parts[0].Method != "signatures" {
			t.Fatalf("round %d: %+v (%v)", round, parts, err)
		}
	}
}
