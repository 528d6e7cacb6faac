package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// TestBuilt builds random queries in Go, and compares their results with those of statements that
// contain literals.
func TestBuilt(t *testing.T) {
	w := newWorld(t, 4)
	r := rand.New(rand.NewPCG(31, 32))
	leaf := func() (Query, string) {
		id, text := w.someID(), w.text()
		switch r.IntN(12) {
		case 0:
			fp, k := r.Uint64(), 20+r.IntN(20)
			return Near(fp, k), fmt.Sprintf("NEAR(0x%x, %d)", fp, k)
		case 1:
			return Near(id, 6), "NEAR(" + quote(id) + ", 6)"
		case 2:
			if r.IntN(2) == 0 {
				return MostSimilar(id, 7), "NEAREST(" + quote(id) + ", 7) BY JACCARD"
			}
			return Nearest(Text(text), 7), "NEAREST(TEXT " + quote(text) + ", 7)"
		case 3:
			return Jaccard(Text(text), 0.3), "JACCARD(TEXT " + quote(text) + ", 0.3)"
		case 4:
			return Levenshtein(id, 0.5), "LEVENSHTEIN(" + quote(id) + ", 0.5)"
		case 5:
			return Contains(Text(text), 0.5).Or(Within(Text(text), 0.5)), "CONTAINS(TEXT " + quote(text) + ", 0.5) OR WITHIN(TEXT " + quote(text) + ", 0.5)"
		case 6:
			return ID.In(id, "a1", "none"), "ID IN (" + quote(id) + ", 'a1', 'none')"
		case 7:
			return ID.Ge("a").And(ID.Lt(id)), "ID >= 'a' AND ID < " + quote(id)
		case 8:
			return Field("lang").Eq("en"), "lang = 'en'"
		case 9:
			return Field("meta", "stars").Between(-3, 3.5).Or(Field("lang").IsNull()), "meta.stars BETWEEN -3 AND 3.5 OR lang IS NULL"
		case 10:
			at := worldEpoch.Add(time.Duration(r.IntN(50)) * time.Hour)
			return Since(at), "SINCE " + quote(at.Format(time.RFC3339))
		}
		return DocText.Like("%two%").And(ID.Le("b/3")), "TEXT LIKE '%two%' AND ID <= 'b/3'"
	}
	found := 0
	for range 500 {
		q, text := leaf()
		for range r.IntN(3) {
			p, other := leaf()
			switch r.IntN(3) {
			case 0:
				q, text = q.And(p), "("+text+") AND ("+other+")"
			case 1:
				q, text = q.Or(p), "("+text+") OR ("+other+")"
			default:
				q, text = q.And(p.Not()), "("+text+") AND NOT ("+other+")"
			}
		}
		if r.IntN(2) == 0 {
			q, text = q.OrderBy(ByTime.Desc(), ByID), text+" ORDER BY time DESC, id"
		}
		if r.IntN(2) == 0 {
			q, text = q.Limit(5).Offset(1).Show("id", "lang"), text+" LIMIT 5 OFFSET 1 SHOW id, lang"
		}
		got, err := q.Run(t.Context(), w.db)
		want, werr := Run(t.Context(), w.db, text)
		if err != nil || werr != nil {
			t.Fatalf("%s: %v\n%s: %v", q, err, text, werr)
		}
		if !slices.Equal(got.Columns(), want.Columns()) {
			t.Fatalf("%s: columns %v, want %v", q, got.Columns(), want.Columns())
		}
		a, b := read(t, got), read(t, want)
		if found += len(b); !reflect.DeepEqual(a, b) {
			t.Fatalf("%s\n%s\n%v, want %v", q, text, a, b)
		}
	}
	if found < 1000 {
		t.Errorf("%d rows", found)
	}
}

// TestQueryValue uses a query several times, also one that Parse returned.
func TestQueryValue(t *testing.T) {
	db := openTest(t, nil)
	for i := range 10 {
		d := engine.Doc{ID: fmt.Sprint(i), Fields: json.RawMessage(fmt.Sprintf(`{"n":%d,"lang":"%s"}`, i, []string{"en", "de"}[i%2]))}
		must.Do(t, db.Put(t.Context(), d))
	}
	count := func(q Query, want int64) {
		t.Helper()
		if n, err := q.Count(t.Context(), db); n != want || err != nil {
			t.Errorf("%s counts %d, %v, want %d", q, n, err, want)
		}
	}
	en := must.Get(Parse("lang = $l AND n >= ?; -- four", 2, Named{"l", "en"}))(t)
	count(en, 4)
	count(en.And(Field("n").Lt(8)), 3)
	count(en.Or(Field("n").In(1, 3, 8)), 6)
	count(en.Limit(3), 3)
	count(en, 4)
	count(ID.In(), 0)
	many := Field("n").Eq(-1) // nested, it would exceed the allowed depth
	for i := range 300 {
		many = many.Or(Field("n").Eq(i))
	}
	count(many, 10)
	some := must.Get(Parse("n >= ? -- two\n OR lang = $l LIMIT ? OFFSET ? -- few", 2, 4, 1, Named{"l", "en"}))(t)
	count(some, 4)
	count(some.And(Field("n").Lt(5)), 3)
	if _, err := Parse("COUNT"); err == nil {
		t.Error("COUNT is a query")
	}
	if _, err := Parse("n >"); err == nil {
		t.Error("n > is a query")
	}
	if _, err := ID.IsNull().Run(t.Context(), db); err == nil {
		t.Error("ID IS NULL")
	}
	if _, err := en.Limit(1).And(Field("n").Lt(8).Limit(2)).Run(t.Context(), db); err == nil {
		t.Error("two limits")
	}
	p := must.Get(Prepare("ID IN (?) AND n IN ($n, 9)"))(t)
	rows := must.Get(p.Run(t.Context(), db, []string{"1", "2", "9", "x"}, Named{"n", []int{0, 2}}))(t)
	if got := fmt.Sprint(read(t, rows)); got != "[[2] [9]]" {
		t.Errorf("found %s", got)
	}
	for _, wrong := range []any{[]int{1}, 3, []any{"a", nil}} {
		if _, err := p.Run(t.Context(), db, wrong, Named{"n", 1}); err == nil || class(err) != ClassParameter {
			t.Errorf("ID IN (%v): %v", wrong, err)
		}
	}
	if _, err := Run(t.Context(), db, "ID = ?", []string{"1"}); err == nil {
		t.Error("ID = a list")
	}
}

// TestScan reads rows into values of several types.
func TestScan(t *testing.T) {
	db := openTest(t, nil)
	fp := uint64(0xff)
	for i, fields := range []string{`{"lang":"en","stars":3.5,"tags":["a","b"],"big":18446744073709551615}`, `{"stars":"many"}`} {
		d := engine.Doc{ID: fmt.Sprint(i), Text: "one", Fingerprints: []engine.Fingerprint{{fp}}, Fields: json.RawMessage(fields), Time: worldEpoch}
		must.Do(t, db.Put(t.Context(), d))
	}
	type row struct {
		ID       string
		Distance int8
		Lang     *string
		Tags     []string
		Of       struct{ Big uint64 } `json:"fields,omitempty"`
		At       time.Time            `query:"time"`
		FP       uint64               `query:"fingerprint"`
		Ignored  int                  `query:"-"`
	}
	run := func(text string) *Rows {
		t.Helper()
		rows := must.Get(Run(t.Context(), db, text))(t)
		return rows
	}
	var got []row
	for r, err := range Scan[row](run("NEAR(0xff, 3) SHOW id, distance, lang, tags, fields, time, fingerprint")) {
		must.Do(t, err)
		got = append(got, r)
	}
	en := "en"
	first := row{ID: "0", Lang: &en, Tags: []string{"a", "b"}, At: worldEpoch, FP: 0xff}
	first.Of.Big = 1<<64 - 1
	if want := []row{first, {ID: "1", At: worldEpoch, FP: 0xff}}; len(got) != 2 || !got[0].At.Equal(worldEpoch) {
		t.Fatalf("%+v", got)
	} else {
		got[0].At, got[1].At = worldEpoch, worldEpoch
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for id, err := range Scan[string](run("ID = '1'")) {
		if id != "1" || err != nil {
			t.Error(id, err)
		}
	}
	for at, err := range Scan[time.Time](run("ID = '1' SHOW time")) {
		if !at.Equal(worldEpoch) || err != nil {
			t.Error(at, err)
		}
	}
	for n, err := range Scan[int](run("COUNT")) {
		if n != 2 || err != nil {
			t.Error(n, err)
		}
	}
	fails := func(name string, err error, part string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var last error
	for _, last = range Scan[struct{ Stars float64 }](run("ID LIKE '%' SHOW stars")) {
	}
	fails("a string as a number", last, "column stars")
	for _, last = range Scan[struct{ ID string }](run("ID LIKE '%' SHOW id, stars")) {
	}
	fails("a column without a field", last, "no field for the column stars")
	for _, last = range Scan[string](run("ID LIKE '%' SHOW id, stars")) {
	}
	fails("two columns as a string", last, "2 columns")
	rows := run("ID LIKE '%' SHOW time")
	rows.Close()
	for range Scan[time.Time](rows) {
		t.Error("a row of closed rows")
	}
	if errors.Is(last, engine.ErrClosed) {
		t.Error(last)
	}
}
