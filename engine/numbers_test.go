package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// prints returns the fingerprints of all documents by ID.
func prints(t testing.TB, db *DB) map[string]uint64 {
	t.Helper()
	all := map[string]uint64{}
	for _, e := range collect(t, entriesOf(context.Background(), db, Range{})) {
		all[e.ID] = e.Fingerprint
	}
	return all
}

// commitFS is a file system that calls a function, if set, before a catalog commits.
type commitFS struct {
	vfs.FS
	before *atomic.Pointer[func()]
}

func (c commitFS) Commit(name string, commit func() error) error {
	if before := c.before.Load(); before != nil {
		(*before)()
	}
	return c.FS.Commit(name, commit)
}

func (c commitFS) OpenRoot(dir string) (vfs.Root, error) {
	r, err := c.FS.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return struct {
		commitFS
		io.Closer
	}{commitFS{r, c.before}, r}, nil
}

// holdPublishing prevents tables from being published until release is called: another change of
// the catalog waits for the disk.
func holdPublishing(t *testing.T, db *DB, fs commitFS) (release func()) {
	t.Helper()
	waits, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	fs.before.Store(new(func() {
		close(waits)
		<-goOn
	}))
	go func() { done <- db.SetAllowed(context.Background(), true, Pair{A: "alike", B: "allowed"}) }()
	select {
	case <-waits:
	case err := <-done:
		t.Fatal(err)
	}
	fs.before.Store(nil)
	return func() {
		close(goOn)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestWritesBesidePublication writes while a load, or an ingested table, is written but not yet
// published. The table counts as written when it is published, whatever the log contains; a replay
// after a power cut must give the same result.
func TestWritesBesidePublication(t *testing.T) {
	ctx := context.Background()
	const old, loaded, written = 1, 2, 3
	stored := []string{"stays", "deleted", "replaced", "replaced, deleted", "deleted, stored"}
	new := []string{"new", "stored", "stored, deleted"}
	writes := func(t *testing.T, db *DB) {
		for _, id := range []string{"replaced", "replaced, deleted", "stored", "stored, deleted"} {
			put(t, db, id, written)
		}
		for _, id := range []string{"deleted", "replaced, deleted", "stored, deleted", "deleted, stored"} {
			must.Do(t, db.Delete(ctx, id))
		}
		put(t, db, "deleted, stored", written)
	}
	for _, how := range []string{"replace", "skip", "ingest"} {
		for _, flushed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, flushed %t", how, flushed), func(t *testing.T) {
				mem := vfstest.NewMem(hostDir(t))
				fs := commitFS{mem, &atomic.Pointer[func()]{}}
				opts := &Options{fs: fs, NoSketch: true, DisableAutoCompaction: true}
				db, err := Create("/x", opts)
				must.Do(t, err)
				defer func() { db.Close() }()
				for _, id := range stored {
					put(t, db, id, old)
				}
				if flushed {
					must.Do(t, db.Flush(ctx))
				}
				from, err := Create("/from", opts)
				must.Do(t, err)
				for _, id := range append(stored, new...) {
					put(t, from, id, loaded)
				}
				must.Do(t, errors.Join(from.Pack(ctx, "/from.sst", nil), from.Close()))

				result := make(chan error, 1)
				release := holdPublishing(t, db, fs) // the table is written, and waits
				go func() {
					if how == "ingest" {
						result <- db.Ingest(ctx, "/from.sst")
						return
					}
					l, err := db.NewLoader(ctx, &LoadOptions{Replace: how == "replace", Workers: 1})
					for _, id := range append(stored, new...) {
						if err == nil {
							err = l.Add(Doc{ID: id, Fingerprints: []Fingerprint{{loaded}}})
						}
						if how == "skip" && errors.Is(err, ErrExists) {
							err = nil
						}
					}
					if err == nil {
						_, err = l.Close()
					}
					result <- err
				}()
				for names := 0; names == 0; time.Sleep(time.Millisecond) {
					names = count(t, mem, "/x", files.TempSuffix)
				}
				writes(t, db)
				release()
				must.Do(t, <-result)

				want := map[string]uint64{}
				for _, id := range append(stored, new...) {
					want[id] = loaded
				}
				if how == "skip" { // documents that were stored when Add was called were refused
					want = map[string]uint64{
						"stays": old, "replaced": written, "deleted, stored": written, "new": loaded, "stored": written, "stored, deleted": loaded,
					}
				}
				same := func(stage string) {
					t.Helper()
					if got := prints(t, db); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Fatalf("%s:\n got %v\nwant %v", stage, got, want)
					}
				}
				same("published")
				inOrder(t, collect(t, entriesOf(ctx, db, Range{})))
				for _, stage := range []string{"after a power cut", "after another"} {
					after := mem.CrashClone(0, 1)
					db.Close()
					opts.fs, mem = after, after
					if db, err = Open("/x", opts); err != nil {
						t.Fatal(err)
					}
					same(stage)
					put(t, db, stage, 9)
					want[stage] = 9
				}
				must.Do(t, db.Compact(ctx, nil))
				same("merged")
			})
		}
	}
}

// count returns the number of files in a folder with an extension.
func count(t testing.TB, fs vfs.FS, dir, ext string) (n int) {
	t.Helper()
	names := must.Get(fs.List(dir))(t)
	for _, name := range names {
		if filepath.Ext(name) == ext {
			n++
		}
	}
	return n
}

// TestOrderOfWriting writes in all ways in turn: the sequence numbers must ascend, and continue
// after reopening.
func TestOrderOfWriting(t *testing.T) {
	ctx := context.Background()
	opts := &Options{NoSketch: true}
	db, path := create4test(t, opts)
	packed := filepath.Join(t.TempDir(), "packed.sst")
	n := 0
	var want []string
	next := func() Doc {
		n++
		want = append(want, fmt.Sprintf("%04x", n*40503%65536))
		return Doc{ID: want[n-1], Fingerprints: []Fingerprint{{uint64(n)}}}
	}
	load := func(db *DB) error {
		l, err := db.NewLoader(ctx, &LoadOptions{Replace: true})
		for range 10 {
			if err == nil {
				err = l.Add(next())
			}
		}
		if err == nil {
			_, err = l.Close()
		}
		return err
	}
	other, _ := create4test(t, opts)
	ways := map[string]func() error{
		"put":   func() error { return db.Put(ctx, next()) },
		"load":  func() error { return load(db) },
		"flush": func() error { return db.Flush(ctx) },
		"batch": func() error {
			var b Batch
			b.Put(next())
			b.Put(next())
			return db.Apply(ctx, &b)
		},
		"novel": func() error {
			_, _, err := db.PutNovel(ctx, next(), Near(0))
			return err
		},
		"ingest": func() error {
			os.Remove(packed)
			for _, e := range collect(t, entriesOf(ctx, other, Range{})) {
				if err := other.Delete(ctx, e.ID); err != nil {
					return err
				}
			}
			return errors.Join(load(other), other.Pack(ctx, packed, nil), db.Ingest(ctx, packed))
		},
		"reopen": func() (err error) {
			if err = db.Close(); err == nil {
				db, err = Open(path, opts)
			}
			return err
		},
	}
	for _, way := range []string{
		"load", "put", "load", "load", "novel", "ingest", "batch", "ingest", "ingest", "put", "reopen", "put", "load", "reopen",
		"batch", "ingest", "reopen", "load", "put", "flush", "load", "batch",
	} {
		if err := ways[way](); err != nil {
			t.Fatal(way, err)
		}
		var got []string
		for _, e := range inOrder(t, collect(t, entriesOf(ctx, db, Range{}))) {
			got = append(got, e.ID)
		}
		equal(t, "order after "+way, got, want)
	}
	must.Do(t, db.Close())
}

// TestExpiredAfterTheLog loads an expired document over one that only the log has. A merge must not
// drop it before the log is flushed: a replay would bring the other one back.
func TestExpiredAfterTheLog(t *testing.T) {
	ctx := context.Background()
	mem := vfstest.NewMem(hostDir(t))
	opts := &Options{fs: mem, NoSketch: true, TTL: time.Hour, DisableAutoCompaction: true}
	db, err := Create("/x", opts)
	must.Do(t, err)
	put(t, db, "a", 1)
	for i := range 5 {
		docs := []Doc{{ID: "a", Fingerprints: []Fingerprint{{2}}, Time: time.Now().Add(-2 * time.Hour)}, {ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{3}}}}
		loadDocs(t, db, docs[:1+i%2], true)
	}
	must.Do(t, db.Compact(ctx, &CompactOptions{Due: true}))
	after := mem.CrashClone(0, 1)
	must.Do(t, db.Close())
	opts.fs = after
	if db, err = Open("/x", opts); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	equal(t, "after a power cut", ids(t, db), []string{"1", "3"})
	must.Do(t, db.Flush(ctx))
	must.Do(t, db.Compact(ctx, nil))
	if st, err := db.Stats(); err != nil || st.Documents != 2 {
		t.Fatalf("expired documents stay: %+v, %v", st, err)
	}
}

// TestCatalogNumbers sets the sequence numbers of a table in the catalog to a range that does not
// fit the table.
func TestCatalogNumbers(t *testing.T) {
	ctx := context.Background()
	for name, wrong := range map[string]func(m *catalog.Table){
		"short": func(m *catalog.Table) { m.MaxSeq-- }, "long": func(m *catalog.Table) { m.MaxSeq++ },
		"one":     func(m *catalog.Table) { m.MaxSeq = m.MinSeq },
		"past":    func(m *catalog.Table) { m.MinSeq, m.MaxSeq = ^uint64(0), 1 },
		"shifted": func(m *catalog.Table) { m.MinSeq, m.MaxSeq = m.MinSeq+1000, m.MaxSeq+1000 },
	} {
		t.Run(name, func(t *testing.T) {
			db, path := create4test(t, &Options{NoSketch: true})
			for i := range 3 {
				put(t, db, fmt.Sprint(i), uint64(i))
			}
			must.Do(t, errors.Join(db.Flush(ctx), db.Close()))
			cat, s, err := catalog.Open(vfs.Disk, filepath.Join(path, files.Catalog))
			must.Do(t, err)
			meta := s.Tables[0]
			from := filepath.Join(path, files.TableName(meta.Number))
			edit := catalog.Edit{DropTables: []uint64{meta.Number}}
			meta.Number += 100
			wrong(&meta)
			edit.AddTables = []catalog.Table{meta}
			must.Do(t, errors.Join(cat.Apply(edit), cat.Close(), os.Rename(from, filepath.Join(path, files.TableName(meta.Number)))))
			db, err = Open(path, nil)
			if name == "shifted" {
				must.Do(t, err)
				if e := storedEntry(t, db, "2"); e.Seq != 1003 {
					t.Errorf("the number is %d", e.Seq)
				}
				db.Close()
				return
			}
			c, ok := errors.AsType[*CorruptionError](err)
			if !ok || c.File != files.Catalog || c.Section != fmt.Sprintf("tables/%d", meta.Number) {
				t.Fatal(err)
			}
		})
	}
}
