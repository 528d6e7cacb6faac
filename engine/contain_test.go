package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// shingleSet returns the runs of three words of a text whose words consist of letters.
func shingleSet(text string) map[string]bool {
	words, set := strings.Fields(text), map[string]bool{}
	if len(words) > 0 && len(words) < 3 {
		set[text] = true
	}
	for i := 0; i+3 <= len(words); i++ {
		set[strings.Join(words[i:i+3], " ")] = true
	}
	return set
}

// TestContainment compares searches by Contains and Within with the sets of shingles, in tables and
// memtables. Many of the texts contain parts of others.
func TestContainment(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(35, 1))
	db, _ := create4test(t, &Options{Sync: SyncNever})
	random := func(n int) (words []string) {
		for range n {
			words = append(words, fmt.Sprintf("w%d", r.IntN(400)))
		}
		return words
	}
	texts := map[string]string{"empty": "", "short": "w1 w2"}
	var all [][]string
	for i := range 150 {
		words := random(5 + r.IntN(60))
		if len(all) > 0 && i%2 == 0 { // with a part of another text
			from := all[r.IntN(len(all))]
			at := r.IntN(len(from))
			words = slices.Concat(words[:len(words)/3], from[at:], words[len(words)/3:])
		}
		all = append(all, words)
		texts[fmt.Sprintf("d%d", i)] = strings.Join(words, " ")
	}
	i := 0
	ids := slices.Sorted(maps.Keys(texts))
	for _, id := range ids {
		must(struct{}{}, db.Put(ctx, Doc{ID: id, Text: texts[id]}))(t)
		if i++; i%60 == 0 {
			must(struct{}{}, db.Flush(ctx))(t)
		}
	}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		dead := r.IntN(10) == 0
		if dead {
			must(struct{}{}, db.Delete(ctx, id))(t)
			delete(texts, id)
		}
		return dead
	})
	s := must(db.Snapshot())(t)
	defer s.Close()
	queries := []Doc{{Text: "none of these words"}, {Text: "W1, w2!"}, {Text: strings.ToUpper(strings.Join(all[3], ", "))}}
	for _, id := range ids[:25] {
		queries = append(queries, Doc{ID: id})
	}
	found := 0
	for _, q := range queries {
		text := q.Text
		if q.ID != "" {
			text = texts[q.ID]
		}
		mine := shingleSet(strings.NewReplacer(",", "", "!", "").Replace(strings.ToLower(text)))
		for _, share := range []float64{0.01, 0.3, 0.5, 0.8, 1} {
			for _, by := range []Criterion{Contains(share), Within(share)} {
				var want []Match
				for id, other := range texts {
					theirs, common := shingleSet(other), 0
					for sh := range mine {
						if theirs[sh] {
							common++
						}
					}
					of := len(mine)
					if by == Within(share) {
						of = len(theirs)
					}
					if score := float64(common) / float64(of); common > 0 && score >= share && id != q.ID {
						want = append(want, Match{ID: id, Score: score, Exact: true})
					}
				}
				slices.SortFunc(want, func(a, b Match) int {
					return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
				})
				found += len(want)
				where := fmt.Sprintf("%v of %+v", by, q)
				equal(t, where, collect(t, s.Search(ctx, q, by, nil)), want)
				if n := must(s.CountMatches(ctx, q, by, nil))(t); n != int64(len(want)) {
					t.Fatalf("%s: %d counted, want %d", where, n, len(want))
				}
				if known, _, err := s.Any(ctx, []Doc{q, q}, by, &SearchOptions{Unordered: true}); err != nil || known[0] != (len(want) > 0) {
					t.Fatalf("%s: Any says %v, %v", where, known, err)
				}
				x := must(s.Matcher(ctx, q, by))(t)
				for id := range texts {
					m, ok, err := x(ctx, id)
					if err != nil || ok != slices.Contains(want, m) {
						t.Fatalf("%s: the scorer says %+v, %v, %v of %s", where, m, ok, err, id)
					}
				}
				for _, p := range must(s.Plan(ctx, q, by))(t) {
					if p.Method != "scan" {
						t.Fatalf("%s: %+v", where, p)
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("%d matches in all", found)
	}
	for _, share := range []float64{0.01, 0.5, 1} {
		for _, by := range []Criterion{Contains(share), Within(share)} {
			var want []Match
			var known []bool
			for i, q := range queries {
				n := len(want)
				for _, m := range collect(t, s.Search(ctx, q, by, nil)) {
					want = append(want, ofQuery(i, m))
				}
				known = append(known, len(want) > n)
			}
			equal(t, fmt.Sprint("batch by ", by), collect(t, s.SearchBatch(ctx, queries, by, nil)), want)
			got, named, err := s.Any(ctx, queries, by, nil)
			equal(t, fmt.Sprint("any by ", by), must(got, err)(t), known)
			for i, m := range named {
				if known[i] != slices.Contains(want, ofQuery(i, m)) {
					t.Errorf("%v: %v names %+v", by, queries[i], m)
				}
			}
		}
	}
	if _, stored, err := db.PutNovel(ctx, Doc{ID: "new", Text: "w1 w2 here"}, Contains(1)); err != nil || !stored {
		t.Errorf("novel text: %v, %v", stored, err)
	}
	if m, stored, err := db.PutNovel(ctx, Doc{ID: "again", Text: "w1 w2 here"}, Contains(1)); err != nil || stored || m.ID != "new" {
		t.Errorf("text that is contained: %+v, %v, %v", m, stored, err)
	}
	checkContainedPairs(t, db, texts)
}

// TestContainmentMemory searches for documents that very many stored ones contain: a batch must
// find all of these in little memory, and fail if there is no memory for the matches of one
// document.
func TestContainmentMemory(t *testing.T) {
	ctx := t.Context()
	for _, memory := range []int64{256 << 10, 64 << 10} {
		db, _ := create4test(t, &Options{Sync: SyncNever, Memory: memory})
		docs := make([]Doc, 600)
		for i := range docs {
			docs[i] = Doc{ID: fmt.Sprintf("d%03d", i), Text: "one two three four five"}
		}
		for i := range docs {
			must(struct{}{}, db.Put(ctx, docs[i]))(t)
		}
		must(struct{}{}, db.Flush(ctx))(t)
		s := must(db.Snapshot())(t)
		defer s.Close()
		for _, by := range []Criterion{Contains(0.9), Within(0.9)} {
			n, queries := 0, slices.Repeat([]Doc{{Text: "one two three four five"}}, 40)
			var failed error
			for m, err := range s.SearchBatch(ctx, queries, by, nil) {
				if failed = err; err != nil {
					break
				}
				if want := (Match{Query: n / len(docs), ID: docs[n%len(docs)].ID, Score: 1, Exact: true}); m != want {
					t.Fatalf("%v: row %d is %+v, want %+v", by, n, m, want)
				}
				n++
			}
			if memory > 64<<10 && (n != len(docs)*len(queries) || failed != nil) || memory <= 64<<10 && !errors.Is(failed, ErrTooLarge) {
				t.Errorf("%d bytes, %v: %d rows, %v", memory, by, n, failed)
			}
			known, named, err := s.Any(ctx, queries, by, nil)
			must(known, err)(t)
			for i, m := range named {
				if !known[i] || m != (Match{ID: "d000", Score: 1, Exact: true}) {
					t.Errorf("%d bytes, %v: document %d is like %+v", memory, by, i, m)
				}
			}
		}
	}
}

// checkContainedPairs compares pairs and clusters by containment with the sets of shingles: the
// smaller document of each pair must be in the larger one.
func checkContainedPairs(t *testing.T, db *DB, texts map[string]string) {
	ctx := t.Context()
	must(struct{}{}, db.Delete(ctx, "new"))(t)
	for _, share := range []float64{0.05, 0.5, 0.9, 1} {
		var want []Pair
		like := map[string][]string{}
		for a, text := range texts {
			mine := shingleSet(text)
			for b, other := range texts {
				theirs, common := shingleSet(other), 0
				for sh := range mine {
					if theirs[sh] {
						common++
					}
				}
				score := float64(common) / float64(min(len(mine), len(theirs)))
				if a >= b || common == 0 || score < share {
					continue
				}
				want = append(want, Pair{A: a, B: b, Match: Match{ID: b, Score: score, Exact: true}})
				like[a], like[b] = append(like[a], b), append(like[b], a)
			}
		}
		slices.SortFunc(want, func(p, q Pair) int {
			return cmp.Or(cmp.Compare(q.Score, p.Score), strings.Compare(p.A, q.A), strings.Compare(p.B, q.B))
		})
		for _, by := range []Criterion{Contains(share), Within(share)} {
			equal(t, fmt.Sprint("pairs by ", by), collect(t, db.Pairs(ctx, by, nil)), want)
			keeper, members := "", map[string]bool{}
			for _, m := range collect(t, db.Clusters(ctx, by, nil)) {
				if members[m.ID] = true; m.Keep {
					keeper = m.ID
				} else if !slices.Contains(like[keeper], m.ID) || len(shingleSet(texts[m.ID])) > len(shingleSet(texts[keeper])) {
					t.Errorf("%v: %s keeps %s", by, keeper, m.ID)
				}
			}
			for id, others := range like { // a keeper may not be contained in another keeper
				if !members[id] && !slices.ContainsFunc(others, func(o string) bool { return members[o] }) {
					t.Errorf("%v: %s is in no cluster, and like %v", by, id, others)
				}
			}
			linked := collect(t, db.Clusters(ctx, by, &ClusterOptions{Mode: Components}))
			if len(linked) != len(like) {
				t.Errorf("%v: %d documents in components, %d have pairs", by, len(linked), len(like))
			}
		}
	}
}
