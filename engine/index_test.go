package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestIndexStays checks that the index of fields is a parameter of the database: every operation
// that makes a database or a table from it has the index, and finds the same documents.
func TestIndexStays(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	o := &Options{NoSketch: true, NoSync: true, Index: []string{"meta.lang", "fields.'a,b'"}}
	db, err := Create(filepath.Join(dir, "a.simdb"), o)
	must.Do(t, err)
	doc := func(i int) Doc {
		return Doc{ID: fmt.Sprintf("d%04d", i), Text: fmt.Sprint("text ", i), Fields: json.RawMessage(fmt.Sprintf(`{"meta":{"lang":"l%d"},"a,b":%d}`, i%50, i))}
	}
	var want []string // documents with lang l7 and a number below 900
	for i := range 1000 {
		if i%50 == 7 && i < 900 {
			want = append(want, doc(i).ID)
		}
	}
	check := func(what string, db *DB, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(what, err)
		}
		s := snapshot4test(t, db)
		fields := [][]FieldRange{{{Field: "meta.lang", From: "l7", To: "l7"}}, {{Field: "fields.'a,b'", To: "899", Numbers: true}}}
		for _, unordered := range []bool{false, true} {
			var got []string
			for d, err := range s.Range(ctx, Range{Fields: fields, Unordered: unordered}) {
				if err != nil {
					t.Fatal(what, err)
				}
				got = append(got, d.ID)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		// One document has the number; the index of the language has many entries, which are not
		// read.
		fields = [][]FieldRange{{{Field: "fields.'a,b'", From: "510", To: "510", Numbers: true}}, {{Field: "meta.lang", From: "l2"}}}
		for d, err := range s.Range(ctx, Range{Fields: fields, Unordered: true}) {
			t.Errorf("%s: found %s, %v", what, d.ID, err)
		}
		fields = [][]FieldRange{{{Field: "meta.lang", From: "l7", To: "l7"}}, {{Field: "fields.'a,b'", To: "899", Numbers: true}}}
		n, err := s.Estimate(ctx, Range{Fields: fields})
		if err != nil || n != 20 || !slices.Equal(db.Options().Index, []string{"meta.lang", "fields.'a,b'"}) {
			t.Errorf("%s: %d documents are looked at, index of %v, %v", what, n, db.Options().Index, err)
		}
	}
	for i := range 500 {
		must.Do(t, db.Put(ctx, doc(i)))
	}
	must.Do(t, db.Flush(ctx))
	l, err := db.NewLoader(ctx, nil)
	for i := 500; i < 1000 && err == nil; i++ {
		err = l.Add(doc(i))
	}
	if err == nil {
		_, err = l.Close()
	}
	check("loaded", db, err)
	check("compacted", db, db.Compact(ctx, nil))
	err = db.Pack(ctx, filepath.Join(dir, "a.sst"), nil)
	if err == nil {
		err = backupTo(db, ctx, filepath.Join(dir, "backup.simdb"), nil)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	must.Get(Recover(ctx, filepath.Join(dir, "a.simdb"), filepath.Join(dir, "recovered.simdb"), nil))(t)
	for _, name := range []string{"a.simdb", "a.sst", "backup.simdb", "recovered.simdb"} {
		db, err := Open(filepath.Join(dir, name), &Options{MustExist: true, Index: []string{" meta.lang,fields.'a,b'"}})
		check(name, db, err)
		if r, err := db.Check(ctx, nil); err != nil || len(r.Problems) > 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		db.Close()
		if db, err := Open(filepath.Join(dir, name), &Options{MustExist: true, Index: []string{"meta.lang"}}); !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), "index meta.lang,fields.'a,b', not meta.lang") {
			t.Errorf("%s: opened with another index: %v, %v", name, db, err)
		}
	}
	for _, copied := range []struct {
		index string
		err   error
	}{{"meta.lang,fields.'a,b'", nil}, {"", ErrParams}} {
		db, err := Create(filepath.Join(dir, fmt.Sprint(copied.err, ".simdb")), &Options{NoSketch: true, Index: []string{copied.index}})
		must.Do(t, err)
		if err = db.Ingest(ctx, filepath.Join(dir, "a.sst")); !errors.Is(err, copied.err) {
			t.Error(err)
		} else if err == nil {
			check("ingested", db, err)
		}
		db.Close()
	}
}

// TestIndexErrors checks that fields that cannot be indexed are refused, and so are searches by
// fields that are not indexed.
func TestIndexErrors(t *testing.T) {
	for _, o := range []Options{{Index: []string{"text"}}, {Index: []string{"a b"}}, {Index: []string{"a", "a"}}, {Index: []string{"a"}, NoText: true}} {
		if _, err := Create(filepath.Join(t.TempDir(), "x.simdb"), &o); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", o.Index, err)
		}
	}
	db, _ := create4test(t, &Options{Index: []string{"a"}})
	for want, r := range map[error]FieldRange{ErrParams: {Field: "b"}, ErrInvalid: {Field: "a", From: "x", Numbers: true}} {
		for _, err := range db.Range(t.Context(), Range{Fields: [][]FieldRange{{r}}}) {
			if !errors.Is(err, want) {
				t.Errorf("%+v: %v", r, err)
			}
		}
	}
}

// BenchmarkIndex finds documents by their fields, with the index, also for 20,000 in a memtable,
// and without it: 100 with a language, one with a URL, those with a host.
func BenchmarkIndex(b *testing.B) {
	n := benchSize()
	db, err := Create(filepath.Join(b.TempDir(), "x.simdb"), &Options{NoSketch: true, Index: []string{"lang", "url"}})
	must.Do(b, err)
	defer db.Close()
	recent, err := Create(filepath.Join(b.TempDir(), "recent.simdb"), &Options{NoSketch: true, Index: []string{"lang", "url"}, NoSync: true})
	must.Do(b, err)
	defer recent.Close()
	l, err := db.NewLoader(b.Context(), nil)
	url := func(i int) string { return fmt.Sprintf("https://www.host-%d.example/%d/%d.html", i%5000, 2000+i%7, i) }
	for i := 0; i < n && err == nil; i++ {
		lang := "en"
		if i%(n/100) == 0 {
			lang = "xx"
		}
		d := Doc{ID: fmt.Sprint(i), Text: strings.Repeat(fmt.Sprint("some words ", i), 30), Fields: json.RawMessage(fmt.Sprintf(`{"lang":%q,"url":%q}`, lang, url(i)))}
		if err = l.Add(d); err == nil && i < 20_000 {
			d.Text = ""
			err = recent.Put(b.Context(), d)
		}
	}
	if _, e := l.Close(); err != nil || e != nil {
		b.Fatal(err, e)
	}
	for name, r := range map[string]FieldRange{
		"100 of a language": {Field: "lang", From: "xx", To: "xx"}, "a URL": {Field: "url", From: url(777), To: url(777)},
		"a host": {Field: "url", From: url(777)[:29], To: url(777)[:29] + "~"},
	} {
		for _, how := range []string{"index", "memtable", "scan"} {
			b.Run(name+"/"+how, func(b *testing.B) {
				rows, of := 0, db
				if how == "memtable" {
					of = recent
				}
				for b.Loop() {
					by := Range{Unordered: true, OnlyIDs: true, Fields: [][]FieldRange{{r}}}
					if how == "scan" {
						by = Range{Unordered: true, OnlyIDs: true, Where: func(_, fields []byte) (bool, error) { return strings.Contains(string(fields), r.From), nil }}
					}
					rows = 0
					for _, err := range of.Range(b.Context(), by) {
						if rows++; err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(rows), "rows")
			})
		}
	}
}
