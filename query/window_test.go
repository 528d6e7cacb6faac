package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
)

// LIMIT and OFFSET select from the rows without them, and COUNT counts the selected rows, or the
// selected clusters of CLUSTERS.
func TestWindow(t *testing.T) {
	exhaustive.Sequential(t)
	for seed := range exhaustive.Some(t, 4, 4) {
		w := newWorld(t, uint64(seed))
		like := ""
		for like == "" {
			like = w.docs[w.someID()].Text
		}
		for _, text := range []string{
			"PAIRS NEAR 0", "PAIRS NEAR 3", "PAIRS NEAR 20", "PAIRS JACCARD 0.6", "PAIRS JACCARD 0.6 VERIFY", "PAIRS JACCARD 1",
			"CLUSTERS NEAR 3", "CLUSTERS JACCARD 0.7", "CLUSTERS JACCARD 0.7 VERIFY",
			"NEAR(0, 64)", "NEAR(0, 2)", "NEAREST(0, 30)", "ID LIKE '%'", "SINCE '2026-01-01'", "JACCARD(TEXT " + quote(like) + ", 0.5)",
		} {
			rows := rowsOf(t, w.db, text)
			if len(rows) == 0 {
				t.Errorf("%s finds nothing", text)
			}
			for _, limit := range []int{0, 1, 2, 7, 100, len(rows), math.MaxInt, -1} {
				for _, offset := range []int{0, 1, 5, len(rows) / 2, len(rows) - 1, len(rows), math.MaxInt} {
					s := text
					if limit >= 0 {
						s += fmt.Sprintf(" LIMIT %d", limit)
					}
					s += fmt.Sprintf(" OFFSET %d", offset)
					want := rows[min(offset, len(rows)):]
					if limit >= 0 {
						want = want[:min(limit, len(want))]
					}
					if got := rowsOf(t, w.db, s); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Fatalf("seed %d, %s: %v, want %v", seed, s, got, want)
					}
					n := len(want)
					if text[0] == 'C' {
						n = len(slices.CompactFunc(slices.Clone(want), func(a, b Row) bool { return a[0] == b[0] }))
					}
					if got := rowsOf(t, w.db, "COUNT "+s); got[0][0] != int64(n) {
						t.Fatalf("seed %d, COUNT %s: %v, want %d", seed, s, got, n)
					}
				}
			}
			clusters := len(slices.CompactFunc(slices.Clone(rows), func(a, b Row) bool { return a[0] == b[0] }))
			if got := rowsOf(t, w.db, "COUNT "+text); text[0] == 'C' && got[0][0] != int64(clusters) {
				t.Fatalf("seed %d, COUNT %s: %v, want %d", seed, text, got, clusters)
			}
		}
	}
}

func rowsOf(t *testing.T, db *engine.DB, text string) []Row {
	t.Helper()
	rows, err := Run(t.Context(), db, text)
	if err != nil {
		t.Fatalf("%s: %s", text, detail(err))
	}
	return read(t, rows)
}

// The memory that a statement holds outside the engine is bounded, too, and the error has a class.
func TestHold(t *testing.T) {
	db := openTest(t, &engine.Options{Memory: 4 << 10, Sync: engine.SyncNever})
	for i := range 300 {
		if err := db.Put(t.Context(), engine.Doc{ID: fmt.Sprint(i), Fingerprints: []engine.Fingerprint{{uint64(7)}}, Text: "one two three"}); err != nil {
			t.Fatal(err)
		}
	}
	run := func(text string) error {
		rows, err := Run(t.Context(), db, text)
		if err != nil {
			return err
		}
		for _, err = range rows.All() {
		}
		return err
	}
	for _, text := range []string{
		"NEAR(7, 3)", "NEAR(7, 3) ORDER BY time", "ID LIKE '%' ORDER BY time", "COUNT NEAR(7, 3) OR SINCE 1d", "NEAREST(7, 300) AND ID LIKE '%'",
		"ID LIKE '%' AND NOT JACCARD(TEXT 'one two three', 0.5)", "PAIRS NEAR 3",
	} {
		if err := run(text); !errors.Is(err, engine.ErrTooLarge) || class(err) != ClassParameter {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"NEAR(7, 3) LIMIT 5", "NEAR(7, 3) ORDER BY time LIMIT 5 OFFSET 5", "ID LIKE '%'", "SINCE 1d", "COUNT NEAR(7, 3)", "COUNT NEAR(7, 3) AND SINCE 1d",
		"COUNT PAIRS NEAR 3", "PAIRS NEAR 3 LIMIT 3", "COUNT CLUSTERS NEAR 3", "NEAR('5', 3) AND ID LIKE '1%' ORDER BY id LIMIT 3",
	} {
		if err := run(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestChoice checks the choice of the driver: that which leaves the fewest tests, whatever it costs
// to list alone.
func TestChoice(t *testing.T) {
	db := openTest(t, nil)
	var b engine.Batch
	for i := range 3000 {
		d := engine.Doc{
			ID: fmt.Sprintf("%c%04d", 'a'+i%2, i), Text: strings.Repeat(fmt.Sprintf("word%d other%d ", i, i%7), 30),
			Fields: []byte(fmt.Sprintf(`{"lang":"%c"}`, 'a'+i%3)), Time: time.Now().Add(-24 * time.Hour),
		}
		if i%100 == 0 {
			d.Time = time.Now()
			d.ID = "few" + d.ID
		}
		b.Put(d)
	}
	if err := db.Apply(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, find string }{
		{"CONTAINS('b0001', 0.5) AND SINCE 2d", "CONTAINS"},
		{"CONTAINS('b0001', 0.5) AND SINCE 1h", "SINCE"},
		{"CONTAINS('b0001', 0.5) AND ID LIKE 'few%'", "ID"},
		{"CONTAINS('b0001', 0.5) AND lang = 'a' AND ID LIKE 'few%' AND SINCE 1h", "ID"},
		{"PASSAGES('b0001', 3) AND SINCE 2d", "PASSAGES"},
		{"NEAR('b0001', 40) AND lang = 'a'", "lang"},
		{"NEAR('b0001', 40) AND lang = 'a' LIMIT 1", "NEAR"},
		{"NEAR('b0001', 3) AND lang = 'a' AND SINCE 2d", "NEAR"},
		{"NEAREST('b0001', 2000) AND SINCE 1h", "SINCE"},
		{"SINCE 2d AND (lang = 'a' OR ID = 'b0001')", "lang"},
		{"SINCE 1h AND (lang = 'a' OR ID = 'b0001')", "SINCE"},
	} {
		rows, err := Run(t.Context(), db, "EXPLAIN "+c.text)
		if err != nil {
			t.Fatal(err)
		}
		finds, estimated := false, false
		plan := read(t, rows)
		for _, r := range plan {
			finds = finds || strings.HasPrefix(r[0].(string), "find "+c.find)
			estimated = estimated || strings.HasPrefix(r[0].(string), "estimate: ")
		}
		if !finds || !estimated {
			t.Errorf("%s is not found by %s: %q", c.text, c.find, plan)
		}
	}
}

// TestClusterOf compares the cluster of each document with the rows of CLUSTERS.
func TestClusterOf(t *testing.T) {
	w := newWorld(t, 5)
	for _, how := range []string{"NEAR 3", "NEAR 9", "JACCARD 0.8", "JACCARD 0.4", "JACCARD 0.8 VERIFY"} {
		rows := func(text string) []Row { return rowsOf(t, w.db, text) }
		of := map[any][]Row{}
		for _, row := range rows("CLUSTERS " + how) {
			of[row[0]] = append(of[row[0]], append(Row{1}, row[1:]...)) // CLUSTER OF numbers its cluster 1
		}
		with := map[any][]Row{}
		for _, cluster := range of {
			for _, row := range cluster {
				with[row[1]] = cluster
			}
		}
		all := rows("ID LIKE '%'")
		if len(with) == 0 || len(with) == len(all) {
			t.Fatalf("%s: %d of %d documents are in clusters", how, len(with), len(all))
		}
		for _, doc := range all {
			text := "CLUSTER OF " + quote(doc[0].(string)) + " " + how
			if got := rows(text); fmt.Sprint(got) != fmt.Sprint(with[doc[0]]) {
				t.Fatalf("%s: %v, want %v", text, got, with[doc[0]])
			}
			if how == "JACCARD 0.8" && fmt.Sprint(rows("CLUSTER OF "+quote(doc[0].(string)))) != fmt.Sprint(with[doc[0]]) {
				t.Fatalf("%s is not the default", how)
			}
		}
	}
}

// TestAcross compares PAIRS with a condition on a field of both documents with a loop over all
// pairs.
func TestAcross(t *testing.T) {
	w := newWorld(t, 6)
	field := func(id any) string {
		var fields map[string]json.RawMessage
		if raw := w.docs[id.(string)].Fields; len(raw) > 0 {
			if err := json.Unmarshal(raw, &fields); err != nil {
				t.Fatal(err)
			}
		}
		var v any
		if json.Unmarshal(fields["lang"], &v) != nil || v == nil {
			return ""
		}
		return fmt.Sprintf("%T %v", v, v)
	}
	for _, how := range []string{"NEAR 5", "JACCARD 0.6 VERIFY"} {
		criterion, verify, _ := strings.Cut(how, " VERIFY")
		all := rowsOf(t, w.db, "PAIRS "+how)
		for _, op := range []string{"=", "!=", "<>"} {
			var want []Row
			for _, row := range all {
				if a, b := field(row[0]), field(row[1]); a != "" && b != "" && (a == b) == (op == "=") {
					want = append(want, row)
				}
			}
			text := "PAIRS " + criterion + " AND a.lang " + op + " b.lang"
			if strings.Contains(how, "VERIFY") {
				text += " VERIFY" + verify
			}
			if got := rowsOf(t, w.db, text); fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 {
				t.Fatalf("%s: %d rows, want %d", text, len(got), len(want))
			}
			if got := rowsOf(t, w.db, "COUNT "+text); got[0][0] != int64(len(want)) {
				t.Fatalf("COUNT %s: %v, want %d", text, got, len(want))
			}
			if got := rowsOf(t, w.db, text+" LIMIT 2"); len(got) != min(2, len(want)) {
				t.Fatalf("%s LIMIT 2: %d rows", text, len(got))
			}
		}
	}
	for _, text := range []string{"PAIRS NEAR 3 AND a.x = b.y", "PAIRS NEAR 3 AND lang = 'en'", "PAIRS NEAR 3 AND b.lang = a.lang", "PAIRS NEAR 3 AND a.lang = 3"} {
		if _, err := Run(t.Context(), w.db, text); err == nil || !strings.Contains(err.Error(), "both documents") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
