package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// keptDocs is how many documents the databases of these tests have: their merge writes a few
// megabytes, so that most of its sections have been written before it ends.
const keptDocs = 120_000

// keepOptions are options under which every merge is kept that is interrupted.
func keepOptions(resumed *[]Event) *Options {
	return &Options{
		NoText: true, NoSketch: true, Sync: SyncNever, DisableAutoCompaction: true, keepFrom: 1,
		OnEvent: func(e Event) {
			if e.Kind == EventResume {
				*resumed = append(*resumed, e)
			}
		},
	}
}

// interrupted makes a database at path of four tables, which a merge that is interrupted has begun
// to put together.
func interrupted(t *testing.T, path string, o *Options, merge func(*DB, context.Context, func(Progress)) error) {
	t.Helper()
	db, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		loadTable(t, db, keptDocs/4*i, keptDocs/4*(i+1))
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = merge(db, ctx, func(p Progress) {
		if p.Done > p.Total*3/4 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the merge was not interrupted: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// leftovers returns the files of an unfinished merge.
func leftovers(t *testing.T, path string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Name() == files.Merge || strings.HasSuffix(e.Name(), files.TempSuffix) {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestMergeGoesOn interrupts merges, opens the database again, and merges: what was done stays if
// the result can be that of the new merge, and is removed if not.
func TestMergeGoesOn(t *testing.T) {
	all, due := (*DB).Compact, (*DB).CompactDue
	begun := filepath.Join(t.TempDir(), "all.simdb")
	interrupted(t, begun, keepOptions(new([]Event)), all)
	begunDue := filepath.Join(t.TempDir(), "due.simdb")
	interrupted(t, begunDue, keepOptions(new([]Event)), due)
	for _, c := range []struct {
		name    string
		begun   string
		between func(db *DB, path string) error
		finish  func(*DB, context.Context, func(Progress)) error
		resumes bool
		deleted int64
	}{
		{"compact", begun, nil, all, true, 0},
		{"due", begunDue, nil, due, true, 0},
		{"deleted since", begunDue, func(db *DB, _ string) error { return deleteSome(db) }, due, true, 3},
		{"deleted since, to be erased", begun, func(db *DB, _ string) error { return deleteSome(db) }, all, false, 3},
		{"another table", begun, func(db *DB, _ string) error { loadTable(t, db, 0, 10); return nil }, all, false, 0},
		{"a backup between", begunDue, func(db *DB, path string) error {
			return db.Backup(t.Context(), filepath.Join(filepath.Dir(path), "b"))
		}, due, true, 0},
		{"damaged table", begun, func(_ *DB, path string) error { return flip(path, ".sst"+files.TempSuffix, 100_000) }, all, false, 0},
		{"damaged record", begun, func(_ *DB, path string) error { return flip(path, files.Merge, 9) }, all, true, 0}, // was read when it was opened
	} {
		t.Run(c.name, func(t *testing.T) {
			var resumed []Event
			path, o := filepath.Join(t.TempDir(), "a.simdb"), keepOptions(&resumed)
			if err := os.CopyFS(path, os.DirFS(c.begun)); err != nil {
				t.Fatal(err)
			}
			if left := leftovers(t, path); len(left) != 2 {
				t.Fatalf("of the merge %v stay", left)
			}
			db, err := Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			if c.between != nil {
				if err := c.between(db, path); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.finish(db, t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if c.name == "damaged record" {
				c.resumes = false
			}
			if got := len(resumed) == 1 && resumed[0].Bytes > 1<<20; got != c.resumes || len(resumed) > 1 {
				t.Errorf("goes on: %t, not %t: %+v", got, c.resumes, resumed)
			}
			if left := leftovers(t, path); left != nil {
				t.Errorf("%v stay", left)
			}
			defer db.Close()
			checkKept(t, db, c.deleted)
		})
	}
}

// deleteSome deletes three documents.
func deleteSome(db *DB) error {
	var b Batch
	for _, id := range []int{0, 1, keptDocs / 2} {
		b.Delete(fmt.Sprint(id))
	}
	return db.Apply(context.Background(), &b)
}

// flip flips a bit of the file whose name ends so.
func flip(path, ending string, at int) error {
	names, err := filepath.Glob(filepath.Join(path, "*"+ending))
	if err != nil || len(names) != 1 {
		return fmt.Errorf("%v, %w", names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		return err
	}
	data[at] ^= 4
	return os.WriteFile(names[0], data, 0o666)
}

// checkKept checks a database of one table, or so, with all documents but those deleted.
func checkKept(t *testing.T, db *DB, deleted int64) {
	t.Helper()
	if r, err := db.Check(t.Context(), nil); err != nil || len(r.Problems) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	st, err := db.Stats()
	if err != nil || st.Documents != keptDocs-deleted {
		t.Errorf("%d documents, %v", st.Documents, err)
	}
}

// TestKeptGoesWithInputs removes what an interrupted merge has left when one of its tables goes.
func TestKeptGoesWithInputs(t *testing.T) {
	var resumed []Event
	path, o := filepath.Join(t.TempDir(), "a.simdb"), keepOptions(&resumed)
	interrupted(t, path, o, (*DB).Compact)
	db, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Prune(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left := leftovers(t, path); left != nil {
		t.Errorf("%v stay", left)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMergeGoesOnAfterCuts cuts the power at several moments of a merge: what is left is a database
// with all documents, and the merge goes on or begins anew.
func TestMergeGoesOnAfterCuts(t *testing.T) {
	var resumed []Event
	o := keepOptions(&resumed)
	mem := vfstest.NewMem(hostDir(t))
	defer mem.Discard()
	o.fs = mem
	db, err := Open("a.simdb", o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		loadTable(t, db, keptDocs/4*i, keptDocs/4*(i+1))
	}
	var left []*vfstest.Mem
	moments := []int64{50, 80, 96}
	err = db.Compact(t.Context(), func(p Progress) {
		if n := len(left) / 2; n < len(moments) && p.Done*100 > p.Total*moments[n] {
			left = append(left, leave(mem, 0, uint64(n)), leave(mem, []float64{0.5, killed, 0.5}[n], uint64(n)))
		}
	})
	if err != nil || len(left) != 2*len(moments) {
		t.Fatal(len(left), err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for i, fs := range left {
		defer fs.Discard()
		o.fs = fs
		if db, err = Open("a.simdb", o); err != nil {
			t.Fatalf("cut %d: %v", i, err)
		}
		if err := db.Compact(t.Context(), nil); err != nil {
			t.Fatalf("cut %d: %v", i, err)
		}
		checkKept(t, db, 0)
		if names, err := fs.List("a.simdb"); err != nil || slices.Contains(names, files.Merge) {
			t.Errorf("cut %d: %v, %v", i, names, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(resumed) < 2 {
		t.Errorf("%d merges went on", len(resumed))
	}
}
