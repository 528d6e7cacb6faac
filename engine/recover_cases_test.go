package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// sickbed is a database that a test damages.
type sickbed struct {
	*testing.T
	path string
	db   *DB
}

func newSickbed(t *testing.T, o *Options) *sickbed {
	t.Helper()
	s := &sickbed{T: t, path: filepath.Join(t.TempDir(), "x.simdb")}
	if o == nil {
		o = &Options{}
	}
	o.DisableAutoCompaction = true
	var err error
	if s.db, err = Create(s.path, o); err != nil {
		t.Fatal(err)
	}
	return s
}

// do fails the test on an error.
func (s *sickbed) do(err error) {
	s.Helper()
	must.Do(s, err)
}

// put stores documents from to end-1 with a text that contains word.
func (s *sickbed) put(from, end int, word string) {
	s.Helper()
	var b Batch
	for i := from; i < end; i++ {
		b.Put(Doc{ID: fmt.Sprint(i), Text: fmt.Sprintf("%s number %d of them", word, i)})
	}
	s.do(s.db.Apply(context.Background(), &b))
}

// remove deletes documents.
func (s *sickbed) remove(from, end int) {
	s.Helper()
	var b Batch
	for i := from; i < end; i++ {
		b.Delete(fmt.Sprint(i))
	}
	s.do(s.db.Apply(context.Background(), &b))
}

func (s *sickbed) flush() { s.Helper(); s.do(s.db.Flush(context.Background())) }

func (s *sickbed) tables() map[string][]byte {
	s.Helper()
	all := readFolder(s.T, s.path)
	maps.DeleteFunc(all, func(name string, _ []byte) bool { return !strings.HasSuffix(name, ".sst") })
	return all
}

// textsOf returns the texts of a database by ID.
func textsOf(t *testing.T, path string) map[string]string {
	t.Helper()
	db := open4test(t, path, &Options{MustExist: true, ReadOnly: true})
	return textsIn(t, db)
}

// textsIn is textsOf for an open database.
func textsIn(t *testing.T, db *DB) map[string]string {
	t.Helper()
	ctx := context.Background()
	all := map[string]string{}
	for e, err := range entriesOf(ctx, db, Range{}) {
		must.Do(t, err)
		d := must.Get(db.Get(ctx, e.ID))(t)
		all[e.ID] = d.Text
	}
	return all
}

// recovered closes the database, damages it with hurt, recovers it, and returns the documents of
// the new one.
func (s *sickbed) recovered(o *RecoverOptions, hurt func()) (map[string]string, RecoverReport) {
	s.Helper()
	s.do(s.db.Close())
	hurt()
	to := filepath.Join(s.TempDir(), "new.simdb")
	report, err := Recover(s.Context(), s.path, to, o)
	s.do(err)
	return textsOf(s.T, to), report
}

func (s *sickbed) loseCatalog() { s.do(os.Remove(filepath.Join(s.path, "CATALOG"))) }

// TestRecoverSuperseded leaves merged tables beside the result of the merge, without a catalog: no
// older version may come back, and documents that the merge dropped must be counted as doubtful.
func TestRecoverSuperseded(t *testing.T) {
	s := newSickbed(t, nil)
	s.put(0, 1000, "first")
	s.flush()
	s.put(500, 1500, "second")
	s.remove(0, 100)
	s.flush()
	old := s.tables()
	s.do(s.db.Compact(t.Context(), nil))
	s.put(1400, 1600, "third")
	s.remove(100, 200)
	want := map[string]string{}
	got, report := s.recovered(nil, func() {
		want = textsOf(t, s.path)
		for name, data := range old {
			rewrite(t, filepath.Join(s.path, name), data)
		}
		s.loseCatalog()
	})
	for id, text := range want {
		if got[id] != text {
			t.Errorf("document %s has %q, not %q", id, got[id], text)
		}
	}
	if len(report.Doubts) != 1 || report.Doubts[0].Documents < int64(len(got)-len(want)) {
		t.Errorf("%d documents, not %d; doubts: %v", len(got), len(want), report.Doubts)
	}
}

// TestRecoverIngested has a table from another database, whose sequence numbers are meaningless
// here, and no catalog: the order of adding the tables decides.
func TestRecoverIngested(t *testing.T) {
	other := newSickbed(t, nil)
	other.put(50, 150, "ingested")
	packed := filepath.Join(t.TempDir(), "p.sst")
	other.do(other.db.Pack(t.Context(), packed, nil))
	other.do(other.db.Close())
	s := newSickbed(t, nil)
	s.put(0, 5000, "first")
	s.flush()
	s.do(s.db.Ingest(t.Context(), packed))
	s.put(100, 120, "last")
	s.flush()
	want := map[string]string{}
	got, report := s.recovered(nil, func() {
		want = textsOf(t, s.path)
		s.loseCatalog()
	})
	if !maps.Equal(got, want) {
		t.Errorf("%d documents, not %d, or others", len(got), len(want))
	}
	if len(report.Doubts) != 1 {
		t.Errorf("doubts: %v", report.Doubts)
	}
}

// TestRecoverOvertaken recovers after a kill when the log has older writes than tables that a load
// and an ingest have added since: the tables win, by the sequence numbers in the catalog.
func TestRecoverOvertaken(t *testing.T) {
	other := newSickbed(t, nil)
	other.put(100, 120, "ingested")
	packed := filepath.Join(t.TempDir(), "p.sst")
	other.do(other.db.Pack(t.Context(), packed, nil))
	other.do(other.db.Close())

	s := newSickbed(t, nil)
	s.put(0, 20, "logged")
	l := must.Get(s.db.NewLoader(t.Context(), &LoadOptions{Replace: true}))(t)
	for i := range 10 {
		s.do(l.Add(Doc{ID: fmt.Sprint(i), Text: fmt.Sprint("loaded number ", i, " of them")}))
	}
	must.Get(l.Close())(t)
	s.put(100, 110, "logged")
	s.put(200, 210, "logged")
	s.do(s.db.Ingest(t.Context(), packed))
	s.put(200, 205, "last")
	want := textsIn(t, s.db)
	killed := filepath.Join(t.TempDir(), "killed.simdb")
	s.do(os.CopyFS(killed, os.DirFS(s.path)))
	s.do(s.db.Close())
	to := filepath.Join(t.TempDir(), "new.simdb")
	report, err := Recover(t.Context(), killed, to, nil)
	if err != nil || report.Lost != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := textsOf(t, to); !maps.Equal(got, want) {
		t.Errorf("%d documents, not %d, or others: %v", len(got), len(want), got)
	}
	db := must.Get(Open(to, nil))(t)
	defer db.Close()
	if c := must.Get(db.Check(t.Context(), nil))(t); len(c.Problems) > 0 {
		t.Errorf("%+v", c)
	}
}

// TestRecoverPartial damages a block of texts: its documents come back without texts, or not at
// all.
func TestRecoverPartial(t *testing.T) {
	for _, partial := range []bool{false, true} {
		s := newSickbed(t, nil)
		s.put(0, 3000, "some")
		s.flush()
		got, report := s.recovered(&RecoverOptions{Partial: partial}, func() {
			for name, data := range s.tables() {
				data[100] ^= 1
				rewrite(t, filepath.Join(s.path, name), data)
			}
		})
		without := 0
		for _, text := range got {
			if text == "" {
				without++
			}
		}
		switch lost := int64(3000 - len(got)); {
		case !partial && (without > 0 || lost == 0 || report.Lost != lost || report.Partial > 0):
			t.Errorf("%d documents, %d without text: %+v", len(got), without, report)
		case partial && (without == 0 || lost > 0 || report.Lost > 0 || report.Partial != int64(without)):
			t.Errorf("%d documents, %d without text, though partial ones are wanted: %+v", len(got), without, report)
		}
	}
}

// TestRecoverCatalogPages damages each page of a catalog: nothing may be lost, and if a root page
// is intact nothing is in doubt.
func TestRecoverCatalogPages(t *testing.T) {
	s := newSickbed(t, nil)
	for i := range 5 {
		s.put(i*300, i*300+600, fmt.Sprint("round", i))
		s.remove(i*300, i*300+50)
		s.flush()
	}
	s.put(0, 20, "logged")
	s.do(s.db.Close())
	want := textsOf(t, s.path)
	file := filepath.Join(s.path, "CATALOG")
	whole, err := os.ReadFile(file)
	s.do(err)
	exact := 0
	for page := 0; page < len(whole); page += 4096 {
		bad := slices.Clone(whole)
		clear(bad[page : page+4096])
		rewrite(t, file, bad)
		to := filepath.Join(t.TempDir(), "new.simdb")
		report, err := Recover(t.Context(), s.path, to, nil)
		s.do(err)
		got := textsOf(t, to)
		if len(report.Doubts) == 0 {
			exact++
			if !maps.Equal(got, want) {
				t.Errorf("page %d: %d documents, not %d", page/4096, len(got), len(want))
			}
		} else if page < 2*4096 {
			t.Errorf("root page %d: %v", page/4096, report.Doubts)
		}
		for id, text := range want {
			if got[id] != text {
				t.Errorf("page %d: document %s has %q, not %q", page/4096, id, got[id], text)
			}
		}
	}
	t.Logf("%d of %d pages leave no doubt", exact, len(whole)/4096)
}

// TestRecoverCrash cuts the power at every operation of Recover: there must be a complete database,
// or none.
func TestRecoverCrash(t *testing.T) {
	base := vfstest.NewMem(t.TempDir())
	db, err := Open("/old", &Options{fs: base, DisableAutoCompaction: true})
	s := &sickbed{T: t, db: db}
	s.do(err)
	s.put(0, 300, "some")
	s.flush()
	s.put(200, 400, "other")
	s.do(db.Close())
	whole, none := 0, 0
	for at := 1; ; at++ {
		mem := base.KillClone()
		mem.CrashAt(mem.Ops() + at)
		_, err := Recover(t.Context(), "/old", "/new", &RecoverOptions{fs: mem})
		for seed, keep := range []float64{0, 0.5, 1} {
			after := mem.CrashClone(keep, uint64(at+seed))
			db, e := Open("/new", &Options{fs: after, MustExist: true, DisableAutoCompaction: true})
			if errors.Is(e, ErrNotFound) || errors.Is(e, ErrNotDatabase) {
				if none++; err == nil {
					t.Fatalf("operation %d: no database, though recovered", at)
				}
				continue
			}
			s.do(e)
			check, e := db.Check(t.Context(), nil)
			s.do(errors.Join(e, db.Close()))
			if len(check.Problems) > 0 || check.Documents != 400 {
				t.Fatalf("operation %d: %+v", at, check)
			}
			whole++
		}
		if err == nil {
			t.Logf("%d operations; %d states with a database, %d without", at-1, whole, none)
			return
		}
	}
}

// TestRecoverDurable cuts the power after Recover has returned: the new database must be there,
// with a copied table and a rewritten one.
func TestRecoverDurable(t *testing.T) {
	mem := vfstest.NewMem(t.TempDir())
	ctx := t.Context()
	db, err := Open("/old/db", &Options{fs: mem, DisableAutoCompaction: true})
	s := &sickbed{T: t, db: db}
	s.do(err)
	s.put(0, 500, "some")
	s.flush()
	s.put(400, 600, "other")
	s.do(db.Close())
	for _, to := range []string{"/a/b/new", "/a/damaged"} {
		report, err := Recover(ctx, "/old/db", to, &RecoverOptions{fs: mem, Partial: true})
		s.do(err)
		if report.Documents != 600 || (report.Partial > 0) != (to == "/a/damaged") {
			t.Errorf("%+v", report)
		}
		for seed := range uint64(5) {
			after := mem.CrashClone(0, seed)
			db, err := Open(to, &Options{fs: after, MustExist: true, DisableAutoCompaction: true})
			s.do(err)
			check, err := db.Check(ctx, nil)
			s.do(err)
			if len(check.Problems) > 0 || check.Documents != 600 {
				t.Errorf("%+v after %+v", check, report)
			}
			s.do(db.Close())
		}
		const table = "/old/db/000002.sst"
		data := []byte(must.Get(vfstest.ReadFile(mem, table))(t))
		data[100] ^= 1 // in a block of texts
		s.do(mem.Remove(table))
		s.do(vfstest.WriteFile(mem, table, string(data)))
	}
}

// TestRecoverTorn recovers after a power cut: everything that Open finds must be found.
func TestRecoverTorn(t *testing.T) {
	ctx := t.Context()
	torn := 0
	for seed := range uint64(30) {
		mem := vfstest.NewMem(t.TempDir())
		db, err := Open("/old", &Options{fs: mem, DisableAutoCompaction: true, NoSync: true})
		s := &sickbed{T: t, db: db}
		s.do(err)
		s.put(0, 100, "some")
		s.flush()
		for i := range 40 {
			s.put(i, i+3, fmt.Sprint("round", seed))
			s.remove(i+50, i+51)
		}
		after := mem.CrashClone(0.6, seed)
		s.do(db.Close())
		report, err := Recover(ctx, "/old", "/new", &RecoverOptions{fs: after})
		s.do(err)
		var got [2]map[string]string
		for i, path := range []string{"/old", "/new"} {
			db, err := Open(path, &Options{fs: after, MustExist: true, DisableAutoCompaction: true})
			s.do(err)
			got[i] = textsIn(t, db)
			s.do(db.Close())
		}
		if len(report.Doubts) > 0 {
			torn++ // frames after a lost sector may exist, which Open cuts off
			continue
		}
		if !maps.Equal(got[0], got[1]) || len(report.Losses) > 0 {
			t.Errorf("seed %d: %d documents, Open finds %d; %v", seed, len(got[1]), len(got[0]), report.Losses)
		}
	}
	t.Logf("%d logs have a torn end", torn)
}

// TestRecoverBesideWriter writes to the database while it is recovered: there must be no new one.
func TestRecoverBesideWriter(t *testing.T) {
	s := newSickbed(t, nil)
	s.put(0, 6000, "some")
	s.flush()
	to := filepath.Join(t.TempDir(), "new.simdb")
	_, err := Recover(t.Context(), s.path, to, &RecoverOptions{Progress: func(Progress) {
		s.put(0, 10, "other")
		s.flush()
	}})
	if !errors.Is(err, ErrLocked) {
		t.Errorf("recovered beside a writer: %v", err)
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	s.do(s.db.Close())
}
