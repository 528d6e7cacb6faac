package query

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// SHOW shows the text and fields of each row's own document: in tables and memtables, after merges
// and deletes, for few rows and for more rows than one batch, and with documents that exceed the
// memory of a batch.
func TestShow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	db := openTest(t, &engine.Options{Memory: 8 << 20})
	docs := map[string]engine.Doc{}
	for i := range 1500 {
		id := fmt.Sprintf("%04d", rng.IntN(1200))
		fp := rng.Uint64() >> 60
		d := engine.Doc{ID: id, Text: fmt.Sprint("text ", i), Fingerprints: []engine.Fingerprint{{fp}}, Fields: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}
		if i%400 == 7 {
			d.Text += strings.Repeat(" large", 1<<18)
		}
		docs[id] = d
		must.Do(t, db.Put(t.Context(), d))
		if i%450 == 449 {
			must.Do(t, db.Flush(t.Context()))
		}
	}
	check := func(text string, rows int) {
		t.Helper()
		got := must.Get(Run(t.Context(), db, text))(t)
		all := read(t, got)
		if len(all) != rows {
			t.Fatalf("%s: %d rows, want %d", text, len(all), rows)
		}
		for _, r := range all {
			d := docs[r[1].(string)]
			if want := (Row{d.Text, d.ID, json.RawMessage(d.Fields), d.Fingerprints[0][0]}); r[0] != want[0] || string(r[2].(json.RawMessage)) != string(d.Fields) || r[3] != want[3] {
				t.Fatalf("%s: row of %s: %.40v, want %.40v", text, d.ID, r, want)
			}
			var f struct{ N int64 }
			if err := json.Unmarshal(d.Fields, &f); err != nil || r[4] != f.N {
				t.Fatalf("%s: row of %s has %v, want %d", text, d.ID, r[4], f.N)
			}
		}
	}
	const show = " SHOW text, id, fields, fingerprint, n"
	for range 2 {
		check("ID LIKE '%'"+show, len(docs))
		check("NEAR(0, 64)"+show+" LIMIT 700", 700)
		check("n >= 0 ORDER BY time DESC LIMIT 3"+show, 3)
		large := 0
		for _, d := range docs {
			large += min(strings.Count(d.Text, "large"), 1)
		}
		check("text LIKE '%large%'"+show, large)
		must.Do(t, db.Compact(t.Context(), nil))
	}
	checkShowFirst(t, db, len(docs))
}

// checkShowFirst checks that with ShowFirst only the first rows have values that SHOW reads from
// documents.
func checkShowFirst(t *testing.T, db *engine.DB, rows int) {
	for _, first := range []int64{1, 8, 100} {
		session := Session{ShowFirst: first}
		got := must.Get(session.Run(t.Context(), db, "SHOW id, n"))(t)
		var n int64
		for row, err := range got.All() {
			if n++; err != nil || row[0] == nil || (row[1] != nil) != (n <= first) {
				t.Fatalf("row %d of those of which %d are shown: %v, %v", n, first, row, err)
			}
		}
		if n != int64(rows) {
			t.Errorf("%d rows of %d", n, rows)
		}
	}
}

// A scan by a field in order of ids, with pages of several lengths, returns the same as a model.
func TestFieldsInOrder(t *testing.T) {
	db := openTest(t, nil)
	var want []string
	var b engine.Batch
	for i := range 5000 {
		id := fmt.Sprintf("%d", i*7919%5000)
		if i%3 == 0 {
			want = append(want, id)
		}
		b.Put(engine.Doc{ID: id, Fields: json.RawMessage(fmt.Sprintf(`{"r":%d}`, i%3))})
		if i == 2500 || i == 4000 || i == 4999 {
			must.Do(t, db.Apply(t.Context(), &b))
			b = engine.Batch{}
		}
		if i == 2500 || i == 4000 {
			must.Do(t, db.Flush(t.Context()))
		}
	}
	slices.Sort(want)
	for _, limit := range []int{1, 10, 1700} {
		rows := must.Get(Run(t.Context(), db, "r = 0 LIMIT ?", limit))(t)
		var got []string
		for _, r := range read(t, rows) {
			got = append(got, r[0].(string))
		}
		if !slices.Equal(got, want[:min(limit, len(want))]) {
			t.Errorf("LIMIT %d: %d rows, %.80q", limit, len(got), got)
		}
	}
}
