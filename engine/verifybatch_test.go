package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// familiesDB makes a database of similar and equal texts, in several tables and a memtable. Some
// documents were replaced or deleted, some have expired, and some have no text.
func familiesDB(t *testing.T, r *rand.Rand, text func() string, o Options) *DB {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	o.MemtableBytes, o.Sketch, o.NoSync, o.DisableAutoCompaction = 1<<20, 16, true, true
	o.TTL, o.now = time.Hour, func() time.Time { return now }
	db, _ := create4test(t, &o)
	for round := range 4 {
		for i := range 120 {
			d := Doc{ID: fmt.Sprintf("t%03d", r.IntN(300)), Text: text()}
			if i%20 == 0 {
				fp := r.Uint64()
				d.Text, d.Fingerprints = "", []Fingerprint{{fp}}
			}
			must.Do(t, db.Put(ctx, d))
			if i%9 == 0 {
				if err := db.Delete(ctx, fmt.Sprintf("t%03d", r.IntN(300))); err != nil && !errors.Is(err, ErrNotFound) {
					t.Fatal(err)
				}
			}
		}
		if round < 3 {
			must.Do(t, db.Flush(ctx))
		}
		now = now.Add(17 * time.Minute)
	}
	now = now.Add(-2 * time.Minute) // the first round has expired
	return db
}

// similarTexts returns a source of texts in families; some texts are equal.
func similarTexts(r *rand.Rand) func() string {
	var families []string
	for range 12 {
		families = append(families, randomText(r)+"some words that are in each of them")
	}
	return func() string {
		if text := families[r.IntN(len(families))]; r.IntN(8) > 0 {
			for range r.IntN(4) {
				text += fmt.Sprint(" word", r.IntN(60), " word", r.IntN(60))
			}
			return text
		}
		return randomText(r)
	}
}

// untilError returns the results of seq, and the error that ends it.
func untilError(seq iter.Seq2[Match, error]) (rows []Match, err error) {
	for m, err := range seq {
		if err != nil {
			return rows, err
		}
		rows = append(rows, m)
	}
	return rows, nil
}

// TestVerifiedBatches compares verified batches with single searches, with much memory and with so
// little that single queries exceed the share of many, or of one.
func TestVerifiedBatches(t *testing.T) {
	ctx := t.Context()
	sizes := []int64{60000, 4000, 0}
	for _, memory := range sizes[:exhaustive.Size(1, 3)] {
		r := rand.New(rand.NewPCG(31, uint64(memory)))
		text := similarTexts(r)
		db := familiesDB(t, r, text, Options{Memory: memory})
		var docs []Doc
		for i := range 60 {
			d := Doc{Text: text()}
			if d.Text == "" || i%10 == 0 {
				d.Text = "!?"
			}
			for i%3 == 0 {
				d = Doc{ID: fmt.Sprintf("t%03d", r.IntN(300))}
				if _, err := db.Get(ctx, d.ID); err == nil {
					break
				}
			}
			docs = append(docs, d)
		}
		rows, failed := 0, 0
		for _, share := range []float64{0.2, 0.8, 1} {
			var want []Match
			var wantErr error
			for i := 0; i < len(docs) && wantErr == nil; i++ {
				for m, err := range db.Search(ctx, docs[i], Jaccard(share), nil) {
					if wantErr = err; err == nil {
						want = append(want, ofQuery(i, m))
					}
				}
			}
			got, err := untilError(searchBatch(ctx, db, docs, Jaccard(share)))
			equal(t, fmt.Sprintf("%d bytes, %g", memory, share), got, want)
			if (err == nil) != (wantErr == nil) || wantErr != nil && !errors.Is(err, ErrTooLarge) {
				t.Fatalf("%d bytes, %g: %v, want %v", memory, share, err, wantErr)
			}
			if rows += len(got); err != nil {
				failed++
			}
		}
		if rows < 90 || (failed > 0) != (memory == 4000) {
			t.Errorf("%d bytes: %d rows, %d batches failed", memory, rows, failed)
		}
	}
}

// TestVerifiedBatchEnds ends batches early: by a document that does not exist, by the caller, and
// by the context.
func TestVerifiedBatchEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 1))
	text := similarTexts(r)
	db := familiesDB(t, r, text, Options{})
	docs := make([]Doc, 400)
	for i := range docs {
		docs[i] = Doc{Text: text() + " "}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := untilError(searchBatch(ctx, db, docs, Jaccard(0.5)))
	if err != nil || len(all) < 1000 {
		t.Fatal(len(all), err)
	}
	const gone = 201
	before := 0
	for before < len(all) && all[before].Query < gone {
		before++
	}
	missing := append([]Doc{}, docs...)
	missing[gone] = Doc{ID: "none"}
	got, err := untilError(searchBatch(ctx, db, missing, Jaccard(0.5)))
	if equal(t, "before one that is missing", got, all[:before]); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v for one that is missing", err)
	}
	n := 0
	for m, err := range searchBatch(ctx, db, docs, Jaccard(0.5)) {
		if err != nil || m != all[n] {
			t.Fatal(m, err)
		}
		if n++; n == 500 {
			break
		}
	}
	n = 0
	for _, err = range searchBatch(ctx, db, docs, Jaccard(0.5)) {
		if n++; n == 100 {
			cancel()
		}
	}
	if !errors.Is(err, context.Canceled) || n != 101 {
		t.Errorf("%d matches, then %v", n, err)
	}
	if _, err := first(searchBatch(t.Context(), db, docs, Jaccard(1.5))); !errors.Is(err, ErrInvalid) {
		t.Errorf("a share of 1.5: %v", err)
	}
}

// TestVerifiedBatchDamaged compares batches with single searches if a table is damaged: a batch
// must yield the results before the first failing document, then the error.
func TestVerifiedBatchDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 1))
	db, path := create4test(t, &Options{Sketch: 16, NoSync: true, DisableAutoCompaction: true})
	var docs []Doc
	for i := range 1500 {
		text := ""
		for range 12 {
			text += fmt.Sprintf("word%x ", r.Uint64())
		}
		docs = append(docs, Doc{ID: fmt.Sprint("d", i), Text: text})
	}
	var b Batch
	for _, d := range docs {
		b.Put(d)
	}
	must.Do(t, errors.Join(db.Apply(t.Context(), &b), db.Flush(t.Context()), db.Close()))
	tables, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatal(tables, err)
	}
	whole, err := os.ReadFile(tables[0])
	must.Do(t, err)
	for i := range docs {
		docs[i].ID = ""
	}
	some := 0
	for share := 4; share < 96; share += 13 {
		damaged := bytes.Clone(whole)
		for i := range 64 {
			damaged[len(whole)*share/100+i] ^= 0x5a
		}
		must.Do(t, os.WriteFile(tables[0], damaged, 0o666))
		db, err := Open(path, &Options{ReadOnly: true})
		if err != nil {
			continue
		}
		var want []Match
		var wantErr error
		for i := 0; i < len(docs) && wantErr == nil; i++ {
			for m, err := range db.Search(t.Context(), docs[i], Jaccard(0.8), nil) {
				if wantErr = err; err == nil {
					want = append(want, ofQuery(i, m))
				}
			}
		}
		got, err := untilError(searchBatch(t.Context(), db, docs, Jaccard(0.8)))
		equal(t, fmt.Sprintf("damaged at %d %%", share), got, want)
		if errors.Is(err, ErrCorruption) != (wantErr != nil) {
			t.Errorf("damaged at %d %%: %v, one by one %v", share, err, wantErr)
		}
		if err != nil && len(got) > 0 {
			some++
		}
		must.Do(t, db.Close())
	}
	if some == 0 {
		t.Error("no damage was met after the first document")
	}
}

// TestAnyMatches compares batches with single calls, by all criteria: also for stored documents
// that are allowed with each other, and with little memory.
func TestAnyMatches(t *testing.T) {
	ctx := t.Context()
	sizes := []int64{40000, 0, 1}
	for _, memory := range sizes[:exhaustive.Size(1, 3)] {
		r := rand.New(rand.NewPCG(33, uint64(memory)))
		text := similarTexts(r)
		db := familiesDB(t, r, text, Options{Memory: memory})
		for range 400 {
			must.Do(t, db.SetAllowed(ctx, true, Pair{A: fmt.Sprintf("t%03d", r.IntN(300)), B: fmt.Sprintf("q%03d", r.IntN(30))}))
		}
		docs := make([]Doc, 80)
		for i := range docs {
			if docs[i] = (Doc{ID: fmt.Sprintf("t%03d", r.IntN(300)), Text: text()}); i%2 == 0 {
				docs[i].ID = fmt.Sprintf("q%03d", r.IntN(30))
			}
			for range r.IntN(9) {
				docs[i].Text += fmt.Sprint(" other", r.IntN(60), " word", r.IntN(60))
			}
		}
		docs[7] = Doc{}
		yes, no := 0, 0
		for _, by := range []Criterion{Near(3), Jaccard(0.6).Estimated(), Jaccard(0.3), Jaccard(0.7), Jaccard(0.9)} {
			got, err := anyOf(ctx, db, docs, by)
			if err != nil || len(got) != len(docs) {
				t.Fatal(len(got), err)
			}
			checkBest(t, db, docs[:20], by)
			for i, d := range docs {
				_, found, err := anyMatch(ctx, db, d, by)
				if err != nil || found != got[i] {
					t.Fatalf("%d bytes, %v: document %d, %q: %v in a batch, %v alone, %v", memory, by, i, d.ID, got[i], found, err)
				}
				if found {
					yes++
				} else {
					no++
				}
			}
		}
		if yes < 60 || no < 60 {
			t.Errorf("%d matches, %d without", yes, no)
		}
		for _, n := range []int{0, 1} {
			if got, err := anyOf(ctx, db, docs[:n], Jaccard(0.8)); len(got) != n || err != nil {
				t.Errorf("%d of %d documents, %v", len(got), n, err)
			}
		}
	}
}

// checkBest compares the best matches of a batch with the results of single calls.
func checkBest(t *testing.T, db *DB, docs []Doc, by Criterion) {
	t.Helper()
	s, err := db.Snapshot()
	must.Do(t, err)
	defer s.Close()
	want, is := make([]Match, len(docs)), make([]bool, len(docs))
	for i, d := range docs {
		if want[i], is[i], err = bestMatch(t.Context(), s, d, by); err != nil {
			t.Fatal(err)
		}
	}
	known, got, err := s.Any(t.Context(), docs, by, nil)
	must.Do(t, err)
	equal(t, fmt.Sprintf("known by %v", by), known, is)
	equal(t, fmt.Sprintf("the best by %v", by), got, want)
}

// TestAnyMatchesAmongMany has more documents in a table that look similar by their sketches than a
// batch holds, and a similar one in the memtable.
func TestAnyMatchesAmongMany(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, &Options{Sketch: 16, NoSync: true, DisableAutoCompaction: true})
	words := func(tail string, n int) string {
		text := ""
		for i := range 100 {
			text += fmt.Sprint("word", i)
			if i >= n {
				text += tail
			}
			text += " "
		}
		return text
	}
	for i := range 90 {
		must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprint("d", i), Text: words(fmt.Sprint("of", i), 75)}))
	}
	must.Do(t, db.Flush(ctx))
	docs, by := []Doc{{Text: words("", 100)}, {Text: words("", 100) + "end"}}, Jaccard(0.7)
	for _, want := range []bool{false, true} {
		got, err := anyOf(ctx, db, docs, by)
		if err != nil || got[0] != want || got[1] != want {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
		must.Do(t, db.Put(ctx, Doc{ID: "like", Text: words("like", 95)}))
	}
}
