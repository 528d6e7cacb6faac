package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestContainmentIndex compares a database with an index of containment with one without it, which
// package fuzz compares with sets: in memtables and tables, after merges, with replaced and
// deleted documents, reopened, and rebuilt. Some texts have hardly any words that others lack, some
// are equal.
func TestContainmentIndex(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(35, 3))
	o := func(index bool) *Options {
		return &Options{NoSync: true, DisableAutoCompaction: true, Containment: index}
	}
	db, path := create4test(t, o(true))
	plain, plainPath := create4test(t, o(false))
	both := func(work func(db *DB) error) {
		t.Helper()
		for _, db := range []*DB{db, plain} {
			must.Do(t, work(db))
		}
	}
	var all [][]string
	text := func() string {
		var words []string
		for range r.IntN(80) {
			words = append(words, fmt.Sprintf("w%d", r.IntN(300)))
		}
		switch r.IntN(4) {
		case 0:
			words = strings.Fields("a page of a template that many others are made of with hardly a difference but for " + fmt.Sprint(r.IntN(9)))
		case 1, 2:
			if len(all) > 0 {
				from := all[r.IntN(len(all))]
				words = slices.Concat(words[:len(words)/3], from[r.IntN(len(from)+1):], words[len(words)/3:])
			}
		}
		all = append(all, words)
		return strings.Join(words, " ")
	}
	var ids []string
	add := func(n int) (docs []Doc) {
		for range n {
			id := fmt.Sprint("d", len(ids))
			if len(ids) > 0 && r.IntN(10) == 0 {
				id = ids[r.IntN(len(ids))] // replaces a document
			}
			ids = append(ids, id)
			docs = append(docs, Doc{ID: id, Text: text()})
		}
		return docs
	}
	put := func(docs []Doc) {
		t.Helper()
		both(func(db *DB) error {
			for _, d := range docs {
				if err := db.Put(ctx, d); err != nil {
					return err
				}
			}
			return nil
		})
	}
	load := func(docs []Doc) {
		t.Helper()
		both(func(db *DB) error {
			l, err := db.NewLoader(ctx, &LoadOptions{Replace: true})
			for i := 0; err == nil && i < len(docs); i++ {
				err = l.Add(docs[i])
			}
			if err == nil {
				_, err = l.Close()
			}
			return err
		})
	}
	found := 0
	passages := 0
	most := 0 // number of tables searched by the index
	compare := func(where string) {
		t.Helper()
		tables := len(must.Get(db.Stats())(t).Tables)
		most = max(most, tables)
		a, b := must.Get(db.Snapshot())(t), must.Get(plain.Snapshot())(t)
		defer a.Close()
		defer b.Close()
		queries := []Doc{{Text: "none of these"}, {Text: "w1 w2"}, {Text: strings.Repeat("w1 w2 w3 ", 9)}}
		for range 12 {
			queries = append(queries, Doc{Text: strings.Join(append(all[r.IntN(len(all))], "end"), " ")})
		}
		for _, q := range queries {
			for _, share := range []float64{0.05, 0.2, 1. / 3, 0.5, 0.8, 1} {
				for _, by := range []Criterion{Contains(share), Within(share)} {
					want := collect(t, b.Search(ctx, q, by, nil))
					equal(t, fmt.Sprintf("%s: %v of %+v", where, by, q), collect(t, a.Search(ctx, q, by, nil)), want)
					found += len(want)
				}
			}
			for _, words := range []int{2, 3, 4, 10, 40} {
				var want, got [][]Passage
				for m, err := range must.Get(b.Passages(ctx, q, words, nil))(t).All(ctx) {
					want = append(want, must.Get(m, err)(t))
				}
				p := must.Get(a.Passages(ctx, q, words, nil))(t)
				for m, err := range p.All(ctx) {
					got = append(got, must.Get(m, err)(t))
				}
				for _, all := range [][][]Passage{got, want} {
					slices.SortFunc(all, func(a, b []Passage) int { return strings.Compare(a[0].ID, b[0].ID) })
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%s: passages of %d words of %+v: %+v, want %+v", where, words, q, got, want)
				}
				passages += len(want)
				for _, part := range must.Get(p.Plan())(t) {
					if (part.Method == "index") != (words >= 3 && strings.HasPrefix(part.Part, "table")) {
						t.Fatalf("%s: %d words: %+v", where, words, part)
					}
				}
			}
			indexed := 0
			for _, p := range must.Get(a.Plan(ctx, q, Contains(0.8)))(t) {
				if p.Method == "index" {
					indexed++
				}
			}
			if indexed != tables {
				t.Fatalf("%s: %d tables by the index, not %d", where, indexed, tables)
			}
		}
		if report := must.Get(db.Check(ctx, nil))(t); len(report.Problems) > 0 {
			t.Fatal(where, report.Problems)
		}
	}
	put(add(150))
	compare("a memtable")
	flush := func(db *DB) error { return db.Flush(ctx) }
	both(flush)
	compare("a table")
	load(add(300))
	put(add(100))
	both(flush)
	both(func(db *DB) error {
		for i, id := range ids {
			if i%13 == 0 && !slices.Contains(ids[:i], id) {
				if err := db.Delete(ctx, id); err != nil {
					return err
				}
			}
		}
		return nil
	})
	compare("three tables, and deletions")
	both(func(db *DB) error { return db.Compact(ctx, nil) })
	compare("one table")
	put(add(50))
	packed := filepath.Join(t.TempDir(), "packed.sst")
	must.Get(struct{}{}, db.Pack(ctx, packed, nil))(t)
	if err := plain.Ingest(ctx, packed); err == nil || !strings.Contains(err.Error(), "containment true, not false") {
		t.Errorf("ingest into a database without the index: %v", err)
	}
	both(func(db *DB) error { return db.Close() })
	db, plain = must.Get(Open(path, o(true)))(t), must.Get(Open(plainPath, nil))(t)
	defer plain.Close()
	if !db.Options().Containment || plain.Options().Containment {
		t.Error("the parameters have changed")
	}
	if _, err := Open(plainPath, o(true)); err == nil {
		t.Error("the option is ignored")
	}
	compare("opened again")
	must.Get(struct{}{}, db.Close())(t)

	rebuilt := filepath.Join(t.TempDir(), "rebuilt.simdb")
	tables := must.Get(filepath.Glob(filepath.Join(path, "*.sst")))(t)
	data := must.Get(os.ReadFile(tables[0]))(t)
	data[len(data)*3/4] ^= 1 // in the index, or near it
	must.Get(struct{}{}, os.WriteFile(tables[0], data, 0o666))(t)
	must.Get(Recover(ctx, path, rebuilt, nil))(t)
	db = must.Get(Open(rebuilt, o(true)))(t)
	defer db.Close()
	compare("rebuilt")
	if found < 1000 || passages < 1000 || most < 3 {
		t.Errorf("%d matches and %d passages in all, in up to %d tables", found, passages, most)
	}
}

// TestPassagesIndex compares searches for passages by the index with scans, for features that are
// not just shingles of words: if the index cannot decide, the search scans.
func TestPassagesIndex(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(35, 6))
	words := []string{"the", "of", "Café", "cafe\u0301", "ab", "ex\u00adample", "example", "一", "二", "x", "17", "1.5", "2024-01-31", ";", "==", "w", "Łódź"}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteString([]string{" ", "\n", ", ", " - ", "\x1f"}[min(r.IntN(40), 4)])
		}
		return b.String()
	}
	var docs []Doc
	for i := range 80 {
		docs = append(docs, Doc{ID: fmt.Sprint(i), Text: text(r.IntN(30))})
		if i > 0 && i%2 == 0 {
			docs[i].Text += " " + docs[r.IntN(i)].Text
		}
	}
	for i, c := range []struct {
		f       Features
		shingle int
		index   bool
	}{
		{Features{}, 3, true}, {Features{}, 1, true}, {Features{Fields: []Field{{Name: "a", Weight: 1}, {Name: "b", Weight: 5}}}, 2, true}, {Features{StopWords: []string{"the", "of"}}, 3, true},
		{Features{Symbols: true, Mask: []string{"numbers", "dates"}}, 2, true}, {Features{Fold: []string{"width", "accents"}}, 3, true},
		{Features{MinWords: 4}, 2, true}, {Features{MinWords: 9}, 2, false}, {Features{RequireWords: []string{"the"}}, 2, false}, {Features{Unit: "chars"}, 3, false},
	} {
		db, _ := create4test(t, &Options{NoSync: true, Containment: true, Features: c.f, Shingle: c.shingle})
		for _, d := range docs {
			must.Get(struct{}{}, db.Put(ctx, d))(t)
		}
		memory := must.Get(db.Snapshot())(t) // searched by a scan
		must.Get(struct{}{}, db.Flush(ctx))(t)
		table := must.Get(db.Snapshot())(t)
		found := 0
		for _, q := range docs[:30] {
			for _, least := range []int{4, 8} {
				var all [2][][]Passage
				for i, s := range []*Snapshot{memory, table} {
					for m, err := range must.Get(s.Passages(ctx, q, least, nil))(t).All(ctx) {
						all[i] = append(all[i], must.Get(m, err)(t))
					}
					slices.SortFunc(all[i], func(a, b []Passage) int { return strings.Compare(a[0].ID, b[0].ID) })
				}
				if !reflect.DeepEqual(all[0], all[1]) {
					t.Fatalf("%d: %d words of %q: %+v, want %+v", i, least, q.Text, all[1], all[0])
				}
				found += len(all[0])
				for _, part := range must.Get(must.Get(table.Passages(ctx, q, least, nil))(t).Plan())(t) {
					if (part.Method == "index") != c.index {
						t.Fatalf("%d: %d words by %+v", i, least, part)
					}
				}
			}
		}
		if found < 20 {
			t.Errorf("%d: %d passages", i, found)
		}
		memory.Close()
		table.Close()
		must.Get(struct{}{}, db.Close())(t)
	}
}
