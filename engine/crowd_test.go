package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// rareText is the text of a few dozen documents in crowdDB.
const rareText = "a text that few documents have, but they are more than one"

// crowdDB makes a database with crowds of copies of a text, and of texts that differ in a few
// words, in tables and a memtable. Some documents were deleted or have expired. line makes a text
// with the given number of changed words.
func crowdDB(t *testing.T, r *rand.Rand, memory int64) (db *DB, line func(edits int) string) {
	t.Helper()
	ctx := t.Context()
	now, pass := passing(time.Now())
	db, _ = create4test(t, &Options{
		Memory: memory, Sketch: 16, NoSync: true, DisableAutoCompaction: true, TTL: time.Hour, now: now,
	})
	const words, crowd = 24, 1100
	base := make([]string, words)
	for i := range base {
		base[i] = fmt.Sprint("base", i)
	}
	line = func(edits int) string {
		edited := append([]string{}, base...)
		for i := range edits {
			edited[words-1-i] = fmt.Sprint("other", r.IntN(1e6))
		}
		return strings.Join(edited, " ")
	}
	for round := range 3 {
		var b Batch
		for i := range crowd {
			d := Doc{ID: fmt.Sprintf("c%d-%d", round, i), Text: line(0)}
			switch {
			case i%50 == 0:
				d.Text = rareText
			case i%3 == 0:
				d.Text = line(r.IntN(4)) + strings.Repeat(" and more", r.IntN(3))
			}
			if b.Put(d); i%400 < 399 && i < crowd-1 {
				continue
			}
			must.Do(t, db.Apply(ctx, &b))
			b = Batch{}
			pass(7 * time.Minute)
		}
		must.Do(t, db.Delete(ctx, fmt.Sprintf("c%d-7", round)))
		if round < 2 {
			must.Do(t, db.Flush(ctx))
		}
	}
	return db, line
}

// TestCrowds compares batches with single searches, for lines that resemble very many documents and
// for others, with much memory and with less than all matches need.
func TestCrowds(t *testing.T) {
	sizes := []int64{700 << 10, 64 << 20}
	for _, memory := range sizes[:exhaustive.Size(1, 2)] {
		r := rand.New(rand.NewPCG(41, uint64(memory)))
		db, line := crowdDB(t, r, memory)
		ctx := t.Context()
		must.Do(t, db.SetAllowed(ctx, true, Pair{A: "c1-1", B: "q"}))
		var docs, any []Doc
		for i := range 16 {
			d := Doc{Text: line(i % 6)}
			switch i % 8 {
			case 5:
				d.Text = rareText
			case 6:
				d = Doc{ID: "c1-1"}
			case 7:
				if d = (Doc{ID: "c2-3"}); i < 8 {
					d.Text = "??"
				}
			}
			docs = append(docs, d)
			if d.ID = "q"; d.Text != "" {
				any = append(any, d)
			}
		}
		const share = 0.72
		var want []Match
		for i := range docs {
			for m, err := range db.Search(ctx, docs[i], Jaccard(share), nil) {
				must.Do(t, err)
				want = append(want, ofQuery(i, m))
			}
		}
		got, err := untilError(searchBatch(ctx, db, docs, Jaccard(share)))
		if err != nil || len(want) < 15_000 {
			t.Fatal(len(want), err)
		}
		equal(t, fmt.Sprint(memory, " bytes"), got, want)
		for _, share := range []float64{0.72, 0.97} {
			by := Jaccard(share)
			checkBest(t, db, any, by)
			known := must.Get(anyOf(ctx, db, any, by))(t)
			for i, d := range any {
				if _, is, err := anyMatch(ctx, db, d, by); err != nil || known[i] != is {
					t.Fatalf("%d bytes: %v in a batch, %v alone, %v: %q", memory, known[i], is, err, d.Text)
				}
			}
		}
	}
}

// TestTooCrowded searches, among others, for a line with more matches than fit into memory.
func TestTooCrowded(t *testing.T) {
	db, line := crowdDB(t, rand.New(rand.NewPCG(42, 1)), 150<<10)
	docs := []Doc{{Text: rareText}, {Text: line(0)}, {Text: rareText}}
	got, err := untilError(searchBatch(t.Context(), db, docs, Jaccard(0.5)))
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "document 1 ") || len(got) < 10 || got[len(got)-1].Query != 0 {
		t.Errorf("%d rows, %v", len(got), err)
	}
	got, err = untilError(searchBatch(t.Context(), db, append(docs[:1], docs[2]), Jaccard(0.5)))
	if err != nil || len(got) < 20 || got[len(got)-1].Query != 1 {
		t.Errorf("%d rows without it, %v", len(got), err)
	}
}
