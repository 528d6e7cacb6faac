package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestFolderReplaced renames the folder of an open database and puts another database in its place:
// writes must go to the opened folder, and the other must not change.
func TestFolderReplaced(t *testing.T) {
	ctx := context.Background()
	parent := t.TempDir()
	path, moved, other := filepath.Join(parent, "db"), filepath.Join(parent, "moved"), filepath.Join(parent, "other")
	for _, p := range []string{path, other} {
		db := must.Get(Create(p, nil))(t)
		put(t, db, "in "+filepath.Base(p), 1)
		must.Do(t, db.Close())
	}
	db := reopen(t, path)
	if err := errors.Join(os.Rename(path, moved), os.Rename(other, path)); err != nil {
		t.Skip("an open folder cannot be renamed here:", err)
	}
	before := readFolder(t, path)
	for i := range 3 {
		put(t, db, fmt.Sprint(i), uint64(i))
		must.Do(t, db.Flush(ctx))
	}
	must.Do(t, errors.Join(db.Compact(ctx, nil), db.Close()))
	if after := readFolder(t, path); !maps.EqualFunc(before, after, slices.Equal) {
		t.Errorf("the other database has changed: %d files before, %d after", len(before), len(after))
	}
	for p, n := range map[string]int64{path: 1, moved: 4} {
		if s, err := reopen(t, p).Stats(); err != nil || s.Documents != n {
			t.Errorf("%s: %d documents instead of %d, %v", p, s.Documents, n, err)
		}
	}
}

// TestPackReplacesNothing packs to existing paths, including one that is created while the file is
// written.
func TestPackReplacesNothing(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db, _ := create4test(t, nil)
	put(t, db, "a", 1)
	victim, packed := filepath.Join(dir, "victim"), filepath.Join(dir, "p.sst")
	rewrite(t, victim, []byte("precious"))
	for _, name := range []string{"p.sst.tmp", "dangling.sst"} { // a fixed name for the unfinished file would be p.sst.tmp
		to := victim
		if name == "dangling.sst" {
			to = filepath.Join(dir, "nowhere")
		}
		link := filepath.Join(dir, name)
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
		if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
			t.Skip("no links that lead nowhere can be made here:", err) // Wine
		}
	}
	must.Do(t, db.Pack(ctx, packed, nil))
	if err := db.Pack(ctx, filepath.Join(dir, "dangling.sst"), nil); !errors.Is(err, ErrExists) {
		t.Errorf("packing through a link that leads nowhere: %v", err)
	}
	late := filepath.Join(dir, "late.sst")
	err := db.Pack(ctx, late, func(Progress) { rewrite(t, late, []byte("came meanwhile")) })
	if !errors.Is(err, ErrExists) {
		t.Errorf("a file that came meanwhile: %v", err)
	}
	got := readFolder(t, dir, "dangling.sst")
	if string(got["victim"]) != "precious" || string(got["late.sst"]) != "came meanwhile" {
		t.Errorf("%q, %q", got["victim"], got["late.sst"])
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"late.sst", "p.sst", "p.sst.tmp", "victim"}) {
		t.Errorf("left: %q", names)
	}
}

// TestLeftovers puts files that a kill may leave, and an old catalog, into the folder of a
// database: the next open for writing removes unfinished files, and renames and reports an intact
// unlisted table.
func TestLeftovers(t *testing.T) {
	ctx := context.Background()
	db, path := create4test(t, nil)
	put(t, db, "a", 1)
	must.Do(t, errors.Join(db.Flush(ctx), db.Close()))
	var table []byte
	for name, data := range readFolder(t, path) {
		if strings.HasSuffix(name, ".sst") {
			table = data
		}
	}
	for name, data := range map[string][]byte{
		"CATALOG.tmp": {1}, "000090.sst.tmp": table, "000091.sst.tmp": table[:10], "000092.sst": table[:10], "000093.sst": table,
	} {
		rewrite(t, filepath.Join(path, name), data)
	}
	db = reopen(t, path)
	s, err := db.Stats()
	if want := map[string]int64{"000093.sst.orphan": int64(len(table))}; err != nil || !maps.Equal(s.Orphans, want) {
		t.Errorf("orphans: %+v, %v", s.Orphans, err)
	}
	put(t, db, "b", 2)
	must.Do(t, db.Flush(ctx))
	if r, err := db.Check(ctx, nil); err != nil || len(r.Problems) > 0 || len(r.Orphans) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	must.Do(t, db.Close())
	names := slices.Sorted(maps.Keys(readFolder(t, path)))
	for _, name := range names {
		if strings.HasSuffix(name, files.TempSuffix) || name == "000092.sst" || name == "000093.sst" {
			t.Errorf("%s is still there: %q", name, names)
		}
	}
}

// TestTableWithoutItsName opens a database, both read-only and for writing, whose writer was killed
// after it published a table and before it renamed the file.
func TestTableWithoutItsName(t *testing.T) {
	path := smallDatabase(t)
	want, err := answers(path)
	must.Do(t, err)
	tables, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, name := range tables {
		must.Do(t, os.Rename(name, name+files.TempSuffix))
	}
	db, err := Open(path, &Options{ReadOnly: true})
	must.Do(t, err)
	if s, err := db.Stats(); err != nil || len(s.Tables) != len(tables) {
		t.Errorf("read-only: %+v, %v", s, err)
	}
	must.Do(t, db.Close())
	if got, err := answers(path); err != nil || got != want {
		t.Fatalf("%v\n%s\nwant %s", err, got, want)
	}
	if again, err := filepath.Glob(filepath.Join(path, "*.sst")); err != nil || !slices.Equal(again, tables) {
		t.Errorf("%q, %v", again, err)
	}
}

// TestNoStrayFiles checks, at every operation of a script, that the next open for writing removes
// everything that a kill leaves: no orphan is created, and only expected kinds of files remain.
func TestNoStrayFiles(t *testing.T) {
	kill := func(int) []float64 { return []float64{killed} }
	cases := exhaustive.Every(t, 12)
	for seed, opts := range crashWorkloads[:2] {
		cuts(t, newScript(uint64(seed)+200, 60, opts), cases, kill, func(c cut) error {
			db, err := Open(scriptPath, c.options(c.fs))
			if err != nil {
				return err
			}
			if err := db.Close(); err != nil { // before listing the files: a merge may have begun
				return err
			}
			names, err := c.fs.List(scriptPath)
			for _, name := range names {
				_, table := files.Number(name, ".sst")
				_, log := files.Number(name, ".wal")
				if !table && !log && name != files.Catalog && name != files.Lock {
					err = fmt.Errorf("%s was left: %q", name, names)
				}
			}
			return err
		})
	}
}

// TestFullDisk fills a small file system until it refuses, by every operation that makes a database
// grow, frees space and continues.
func TestFullDisk(t *testing.T) {
	for name, fill := range map[string]func(ctx context.Context, db *DB, path string, i int) error{
		"put": func(ctx context.Context, db *DB, _ string, i int) error { return db.Put(ctx, fullDoc(i)) },
		"flush": func(ctx context.Context, db *DB, _ string, i int) error {
			return errors.Join(db.Put(ctx, fullDoc(i)), db.Flush(ctx))
		},
		"compact": func(ctx context.Context, db *DB, _ string, i int) error {
			return errors.Join(db.Put(ctx, fullDoc(i)), db.Compact(ctx, nil))
		},
		"load": func(ctx context.Context, db *DB, _ string, i int) error {
			l, err := db.NewLoader(ctx, &LoadOptions{})
			if err != nil {
				return err
			}
			err = l.Add(fullDoc(i))
			_, e := l.Close()
			return errors.Join(err, e)
		},
		"pack": func(ctx context.Context, db *DB, path string, i int) error {
			return errors.Join(db.Put(ctx, fullDoc(i)), db.Pack(ctx, fmt.Sprintf("%s/%d.sst", filepath.Dir(path), i), nil))
		},
		"ingest": func(ctx context.Context, db *DB, path string, i int) error {
			packed := fmt.Sprintf("%s/%d.sst", filepath.Dir(path), i%2)
			os.Remove(packed)
			return errors.Join(db.Put(ctx, fullDoc(i)), db.Pack(ctx, packed, nil), db.Ingest(ctx, packed))
		},
	} {
		t.Run(name, func(t *testing.T) { fullDisk(t, vfstest.SmallDisk(t, 3), fill) })
	}
}

func fullDoc(i int) Doc {
	var text strings.Builder
	for j := range 10000 {
		fmt.Fprintf(&text, "%x ", uint32((i+1)*(j+7))*2654435761)
	}
	return Doc{ID: fmt.Sprint("d", i), Text: text.String(), Fingerprints: []Fingerprint{{uint64(i)}}}
}

// fullDisk repeatedly opens, fills and reopens a database on a full disk, and removes another file
// in between.
func fullDisk(t *testing.T, dir string, fill func(ctx context.Context, db *DB, path string, i int) error) {
	ctx := context.Background()
	path, ballast := filepath.Join(dir, "db"), filepath.Join(dir, "ballast")
	i, full := 0, 0
	var acked []string
	for range exhaustive.Size(1, 4) {
		rewrite(t, ballast, make([]byte, 600<<10))
		db, err := Open(path, &Options{NoSketch: true})
		for ; err == nil && i < 2000; i++ {
			if err = fill(ctx, db, path, i); err == nil {
				acked = append(acked, fullDoc(i).ID)
			}
		}
		if err == nil {
			t.Fatal("the disk never got full")
		}
		if vfs.IsFull(err) || errors.Is(err, ErrFailed) {
			full++
		} else {
			t.Fatal(err)
		}
		if db != nil {
			db.Close() // may fail because the disk is full
		}
		i++
		must.Do(t, os.Remove(ballast))
		for _, packed := range []string{"*.sst"} {
			left, _ := filepath.Glob(filepath.Join(dir, packed))
			for _, name := range left {
				os.Remove(name)
			}
		}
		db, err = Open(path, &Options{NoSketch: true})
		if err != nil {
			t.Fatalf("after the disk was full %d times: %v", full, err)
		}
		for _, id := range acked {
			if _, err := lookupOf(ctx, db, id); err != nil {
				t.Fatalf("acknowledged %s: %v", id, err)
			}
		}
		keep := acked[:0]
		for n, id := range acked { // free space, in the open that recovered
			if n%8 == 0 {
				keep = append(keep, id)
			} else if err := db.Delete(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		acked = keep
		must.Do(t, errors.Join(db.Compact(ctx, nil), db.Close()))
		onlyItsFiles(t, path)
	}
	t.Logf("%d times full", full)
}

// onlyItsFiles checks that the folder of a closed database has only tables, logs, the catalog and
// the lock.
func onlyItsFiles(t *testing.T, path string) {
	t.Helper()
	for name := range readFolder(t, path) {
		_, table := files.Number(name, ".sst")
		_, log := files.Number(name, ".wal")
		if !table && !log && name != files.Catalog && name != files.Lock {
			t.Errorf("%s was left", name)
		}
	}
}
