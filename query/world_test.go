package query

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// A world is a database of random documents. Package fuzz compares statements with brute force.
type world struct {
	rng *rand.Rand
	db  *engine.DB
	ids []string
}

var worldEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), db: openTest(t, &engine.Options{MinJaccard: 0.5})}
	for i := range 160 {
		fp := []uint64{0, 0xff, ^uint64(0)}[w.rng.IntN(3)] ^ 1<<w.rng.IntN(64) ^ 1<<w.rng.IntN(64)
		d := engine.Doc{ID: w.id(), Fingerprints: []engine.Fingerprint{{fp}}, Text: w.text(), Fields: w.fields(), Time: worldEpoch.Add(time.Duration(w.rng.IntN(50)) * time.Hour)}
		must.Do(t, w.db.Put(t.Context(), d))
		if w.ids = append(w.ids, d.ID); i == 99 {
			must.Do(t, w.db.Flush(t.Context()))
		}
	}
	return w
}

// id returns a new or used id: ids share prefixes, and contain characters that must be escaped.
func (w *world) id() string {
	return []string{"a", "b/", "it's ", "%", "é_"}[w.rng.IntN(5)] + strconv.Itoa(w.rng.IntN(60))
}

func (w *world) someID() string { return w.ids[w.rng.IntN(len(w.ids))] }

func (w *world) text() string {
	out := make([]string, 1+w.rng.IntN(8))
	for i := range out {
		out[i] = []string{"one", "two", "three", "four", "five"}[w.rng.IntN(5)]
	}
	return strings.Join(out, " ")
}

func (w *world) fields() json.RawMessage {
	lang := []string{`"lang":"en"`, `"lang":"de"`, `"lang":null`}[w.rng.IntN(3)]
	return json.RawMessage(`{` + lang + `, "meta" : {"stars":` + []string{`3`, `-2.5`, `"3"`, `true`}[w.rng.IntN(4)] + `}}`)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func read(t *testing.T, rows *Rows) (all []Row) {
	t.Helper()
	for row, err := range rows.All() {
		must.Do(t, err)
		all = append(all, row)
	}
	return all
}

// TestFingerprintArguments searches with a fingerprint as a document has it.
func TestFingerprintArguments(t *testing.T) {
	db := openTest(t, &engine.Options{Bits: 128})
	must.Do(t, db.Put(t.Context(), engine.Doc{ID: "a", Text: "one two three"}))
	d := must.Get(db.Get(t.Context(), "a"))(t)
	fp := d.Fingerprints[0]
	if n, err := Near(fp, 0).Count(t.Context(), db); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, text := range []string{"NEAR(?, 0)", "NEAR(ANY OF (?), 0)"} {
		rows, err := Run(t.Context(), db, text, fp)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := read(t, rows); len(got) != 1 || got[0][0] != "a" {
			t.Errorf("%s: %v", text, got)
		}
	}
}
