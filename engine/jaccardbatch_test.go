package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/minhash"
)

// TestJaccardBatch compares batches of texts and of stored documents with brute force over
// sketches, and verified batches with single searches.
func TestJaccardBatch(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(17, 10))
	db, _ := create4test(t, &Options{MemtableBytes: 60000, Sketch: 64})
	m := &textModel{map[string]string{}, map[string]minhash.Sketch{}}
	for i := range 400 {
		id, text := fmt.Sprint("d", i%300), randomText(r)
		must.Do(t, db.Put(ctx, Doc{ID: id, Text: text}))
		m.put(db, id, text)
	}
	sizes := []int{0, 1, shareDocs, 5*shareDocs + 7, 30 * shareDocs}
	for _, n := range sizes[:exhaustive.Size(4, 5)] {
		docs := make([]Doc, n)
		for i := range docs {
			if docs[i] = (Doc{ID: fmt.Sprint("d", r.IntN(300))}); i%2 == 0 {
				docs[i] = Doc{Text: randomText(r) + "end"}
			}
		}
		thresholds := []float64{0.05, 0.5, 1}
		if n > 10*shareDocs {
			thresholds = thresholds[1:2]
		}
		for _, share := range thresholds {
			var want, verified []Match
			for i, d := range docs {
				sketch := m.sketches[d.ID]
				if d.ID == "" {
					sketch = sketchOf(db, d.Text)
				}
				for _, match := range m.near(sketch, 64, share, d.ID) {
					want = append(want, ofQuery(i, match))
				}
				for _, match := range collect(t, db.Search(ctx, d, Jaccard(share), nil)) {
					verified = append(verified, ofQuery(i, match))
				}
			}
			equal(t, fmt.Sprintf("%d at %g", n, share), collect(t, searchBatch(ctx, db, docs, Jaccard(share).Estimated())), want)
			equal(t, fmt.Sprintf("%d at %g, verified", n, share), collect(t, searchBatch(ctx, db, docs, Jaccard(share))), verified)
		}
	}
}

// TestJaccardBatchEnds ends batches early: by the caller, by the context and by a document that
// does not exist, with more matches than are held.
func TestJaccardBatchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	db, _ := create4test(t, nil)
	for i := range 300 {
		must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprint("d", i), Text: "the same words in each of them"}))
	}
	docs := make([]Doc, 20*shareDocs)
	for i := range docs {
		docs[i] = Doc{Text: "the same words in each of them"}
	}
	n := 0
	for m, err := range searchBatch(ctx, db, docs, Jaccard(0.9).Estimated()) {
		if err != nil || m.Query != n/300 {
			t.Fatal(m, err)
		}
		if n++; n == 2*shareMatches {
			break
		}
	}
	gone := 3*shareDocs + 5
	docs[gone] = Doc{ID: "none"}
	n = 0
	var last error
	for _, err := range searchBatch(ctx, db, docs, Jaccard(0.9).Estimated()) {
		if last = err; err == nil {
			n++
		}
	}
	if !errors.Is(last, ErrNotFound) || n != 300*gone {
		t.Errorf("%d matches before %v, want %d", n, last, 300*gone)
	}
	n, last = 0, nil
	for _, err := range searchBatch(ctx, db, docs, Jaccard(0.9).Estimated()) {
		if last = err; n == 1000 {
			cancel()
		}
		n++
	}
	if !errors.Is(last, context.Canceled) || n > 1002 {
		t.Errorf("%d matches, then %v", n, last)
	}
	if _, ok := first(searchBatch(t.Context(), db, docs[:1], Jaccard(1.5).Estimated())); !errors.Is(ok, ErrInvalid) {
		t.Errorf("a share of 1.5: %v", ok)
	}
}

// first returns what seq yields first.
func first[T any](seq func(func(T, error) bool)) (v T, err error) {
	for v, err := range seq {
		return v, err
	}
	return v, nil
}
