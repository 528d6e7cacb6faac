package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestContainmentMemory searches for documents that very many stored ones contain: a batch must
// find all of these in little memory, and fail if there is no memory for the matches of one
// document.
func TestContainmentMemory(t *testing.T) {
	ctx := t.Context()
	for _, memory := range []int64{256 << 10, 64 << 10} {
		db, _ := create4test(t, &Options{NoSync: true, Memory: memory})
		docs := make([]Doc, 600)
		for i := range docs {
			docs[i] = Doc{ID: fmt.Sprintf("d%03d", i), Text: "one two three four five"}
		}
		for i := range docs {
			must.Get(struct{}{}, db.Put(ctx, docs[i]))(t)
		}
		must.Get(struct{}{}, db.Flush(ctx))(t)
		s := must.Get(db.Snapshot())(t)
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
			must.Get(known, err)(t)
			for i, m := range named {
				if !known[i] || m != (Match{ID: "d000", Score: 1, Exact: true}) {
					t.Errorf("%d bytes, %v: document %d is like %+v", memory, by, i, m)
				}
			}
		}
	}
}
