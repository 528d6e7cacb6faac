package engine

import (
	"cmp"
	"errors"
	"fmt"
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
			for m, err := range s.SearchBatch(ctx, queries, by) {
				if failed = err; err != nil {
					break
				}
				if want := (BatchMatch{n / len(docs), Match{ID: docs[n%len(docs)].ID, Score: 1, Exact: true}}); m != want {
					t.Fatalf("%v: row %d is %+v, want %+v", by, n, m, want)
				}
				n++
			}
			if memory > 64<<10 && (n != len(docs)*len(queries) || failed != nil) || memory <= 64<<10 && !errors.Is(failed, ErrTooLarge) {
				t.Errorf("%d bytes, %v: %d rows, %v", memory, by, n, failed)
			}
			named := make([]Match, len(queries))
			known := must(s.Any(ctx, queries, by, named))(t)
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
			equal(t, fmt.Sprint("pairs by ", by), collect(t, db.Pairs(ctx, by)), want)
			keeper, members := "", map[string]bool{}
			for _, m := range collect(t, db.Clusters(ctx, by)) {
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
