package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// The memory that a statement holds outside the engine is bounded, too, and the error has a class.
func TestHold(t *testing.T) {
	db := openTest(t, &engine.Options{Memory: 4 << 10, NoSync: true})
	for i := range 300 {
		must.Do(t, db.Put(t.Context(), engine.Doc{ID: fmt.Sprint(i), Fingerprints: []engine.Fingerprint{{uint64(7)}}, Text: "one two three"}))
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
	must.Do(t, db.Apply(t.Context(), &b))
	must.Do(t, db.Flush(t.Context()))
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
		rows := must.Get(Run(t.Context(), db, "EXPLAIN "+c.text))(t)
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

// TestAcrossErrors writes conditions on fields that PAIRS does not take.
func TestAcrossErrors(t *testing.T) {
	db := openTest(t, nil)
	for _, text := range []string{"PAIRS NEAR 3 AND a.x = b.y", "PAIRS NEAR 3 AND lang = 'en'", "PAIRS NEAR 3 AND b.lang = a.lang", "PAIRS NEAR 3 AND a.lang = 3"} {
		if _, err := Run(t.Context(), db, text); err == nil || !strings.Contains(err.Error(), " a.year = b.year") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
