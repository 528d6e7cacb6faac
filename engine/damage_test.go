package engine

import (
	"bytes"
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
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// answers returns the answers of a small database to all queries, or the first error.
func answers(path string) (string, error) {
	ctx := context.Background()
	db, err := Open(path, &Options{MustExist: true, DisableAutoCompaction: true})
	if err != nil {
		return "", err
	}
	defer db.Close()
	var all string
	for e, err := range entriesOf(ctx, db, Range{}) {
		if err != nil {
			return "", err
		}
		d, err := db.Get(ctx, e.ID)
		if err != nil {
			return "", err
		}
		all += fmt.Sprintf("%q %q %s %d %x %t\n", d.ID, d.Text, d.Fields, e.Seq, e.Fingerprint, e.HasFingerprint)
	}
	for _, k := range []int{0, 3, 10, 64} {
		for m, err := range db.Near(ctx, 0x1234, k) {
			if err != nil {
				return "", err
			}
			all += fmt.Sprintf("%d %q %d\n", k, m.ID, m.Distance)
		}
	}
	r, err := db.Check(ctx, nil)
	if err == nil && len(r.Problems) > 0 {
		err = r.Problems[0]
	}
	return all, err
}

// smallDatabase makes a database with two tables, a tombstone in each, and writes in the log.
func smallDatabase(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "small.simdb")
	db := must.Get(Create(path, &Options{DisableAutoCompaction: true, NoSketch: true, Containment: true}))(t)
	for i := range 24 {
		d := Doc{ID: fmt.Sprintf("id-%02d", i%20), Text: "text " + fmt.Sprint(i), Fields: []byte(`{"i":1}`), Fingerprints: []Fingerprint{{uint64(0x1234) ^ uint64(i*i*977)}}}
		must.Do(t, db.Put(ctx, d))
		if i == 8 || i == 17 {
			must.Do(t, db.Delete(ctx, fmt.Sprintf("id-%02d", i-3)))
			must.Do(t, db.Flush(ctx))
		}
	}
	must.Do(t, db.Close())
	return path
}

// TestFlippedBytes flips the bytes of the tables and logs of a small database: answers must be
// right, or an error must name the file. Package catalog does the same with the catalog, and
// package table with tables that have sketches.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	path := smallDatabase(t)
	want := must.Get(answers(path))(t)
	names := must.Get(os.ReadDir(path))(t)
	made := readFolder(t, path)
	cases := exhaustive.Every(t, 17)
	flips, noticed := 0, 0
	for _, entry := range names {
		if entry.Name() == files.Catalog || entry.Name() == files.Lock {
			continue
		}
		file := filepath.Join(path, entry.Name())
		whole := must.Get(os.ReadFile(file))(t)
		for at := range cases.Of(len(whole)) {
			damaged := append([]byte(nil), whole...)
			damaged[at] ^= 0x5a
			rewrite(t, file, damaged)
			flips++
			switch got, err := answers(path); {
			case err != nil:
				noticed++
				var c *CorruptionError
				if !errors.As(err, &c) || c.File != entry.Name() {
					t.Fatalf("byte %d of %s: the error does not name the file: %v", at, entry.Name(), err)
				}
			case got != want:
				t.Fatalf("byte %d of %s: wrong answers:\n%s\nwant\n%s", at, entry.Name(), got, want)
			}
			restore(t, path, made)
		}
	}
	if got, err := answers(path); err != nil || got != want {
		t.Fatalf("restored: %v\n%s", err, got)
	}
	t.Logf("%d bytes flipped, %d noticed, none gave a wrong answer", flips, noticed)
}

// rewrite replaces the contents of a file, or creates it.
func rewrite(t *testing.T, file string, data []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(file, data, 0o666))
}

// restore gives a folder the contents that readFolder returned: Open may have rebuilt a table.
func restore(t *testing.T, path string, made map[string][]byte) {
	t.Helper()
	for name := range readFolder(t, path) {
		if made[name] == nil {
			must.Do(t, os.Remove(filepath.Join(path, name)))
		}
	}
	for name, data := range made {
		rewrite(t, filepath.Join(path, name), data)
	}
}

// TestCutFiles truncates tables of a small database, and removes them. Package wal does the same
// with logs. A table that has all its documents may be rebuilt.
func TestCutFiles(t *testing.T) {
	path := smallDatabase(t)
	made, rebuilt := readFolder(t, path), 0
	want, err := answers(path)
	must.Do(t, err)
	tables, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err != nil || len(tables) < 2 {
		t.Fatal(tables, err)
	}
	named := func(file, what string) {
		t.Helper()
		var c *CorruptionError
		got, err := answers(path)
		if err == nil && got == want && what != "missing" && !strings.HasPrefix(what, "swapped") {
			rebuilt++
		} else if !errors.As(err, &c) || c.File != filepath.Base(file) {
			t.Fatalf("%s %s: %v, %s", file, what, err, got)
		}
		restore(t, path, made)
	}
	for _, file := range tables {
		whole, err := os.ReadFile(file)
		must.Do(t, err)
		for n := 0; n < len(whole); n += 1 + len(whole)/60 {
			rewrite(t, file, whole[:n])
			named(file, fmt.Sprintf("cut to %d bytes", n))
		}
		rewrite(t, file, append(whole, 0))
		named(file, "a byte too long")
		must.Do(t, os.Remove(file))
		named(file, "missing")
		other, err := os.ReadFile(tables[0])
		if file == tables[0] {
			other, err = os.ReadFile(tables[1])
		}
		must.Do(t, err)
		rewrite(t, file, other)
		named(file, "swapped for another table")
	}
	if got, err := answers(path); err != nil || got != want || rebuilt == 0 {
		t.Fatalf("%d rebuilt: %v, %s", rebuilt, err, got)
	}
}

// A damage changes the bytes of a file, or removes it if do returns nil.
type damage struct {
	name string
	do   func(data []byte) []byte
}

// damages are the changes that TestDamagedFiles makes to each file. others are the other files of
// the database.
func damages(size int, others map[string][]byte) []damage {
	ds := []damage{
		{"emptied", func([]byte) []byte { return []byte{} }},
		{"deleted", func([]byte) []byte { return nil }},
		{"swapped halves", func(b []byte) []byte {
			return append(bytes.Clone(b[len(b)/2:]), b[:len(b)/2]...)
		}},
		{"zeros appended", func(b []byte) []byte { return append(b, make([]byte, 512)...) }},
		{"bytes appended", func(b []byte) []byte { return append(b, b[:min(len(b), 100)]...) }},
	}
	for part := range 12 {
		at := size * part / 12
		ds = append(ds,
			damage{fmt.Sprintf("flipped at %d", at), func(b []byte) []byte { b[at] ^= 0x10; return b }},
			damage{fmt.Sprintf("cut at %d", at), func(b []byte) []byte { return b[:at] }},
			damage{fmt.Sprintf("a sector of zeros at %d", at), func(b []byte) []byte { clear(b[at:min(len(b), at+512)]); return b }},
			damage{fmt.Sprintf("a page of zeros at %d", at), func(b []byte) []byte { clear(b[at:min(len(b), at+4096)]); return b }},
		)
	}
	for n := 1; n <= 16; n++ { // truncation within the end frame of a log, which has 16 bytes
		ds = append(ds, damage{fmt.Sprintf("%d bytes shorter", n), func(b []byte) []byte { return b[:len(b)-n] }})
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		ds = append(ds, damage{"replaced by " + name, func([]byte) []byte { return bytes.Clone(others[name]) }})
	}
	return ds
}

// TestDamagedFiles damages every file of databases that were closed in every way: either the error
// names a damaged file, or the answers are unchanged.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	for what, path := range map[string]string{
		"logs and tables":   smallDatabase(t),
		"several logs":      logDatabase(t, 3, false),
		"one log":           logDatabase(t, 1, false),
		"a log cut by Open": logDatabase(t, 1, true),
		"a rotated log":     rotatedDatabase(t),
	} {
		t.Run(what, func(t *testing.T) { damageFiles(t, path) })
	}
}

func damageFiles(t *testing.T, path string) {
	want := must.Get(answers(path))(t)
	files := readFolder(t, path)
	tried, found := 0, 0
	for name, whole := range files {
		others := maps.Clone(files)
		delete(others, name)
		all := damages(len(whole), others)
		for i := range exhaustive.Every(t, 4).Of(len(all)) {
			d := all[i]
			if len(whole) < 20 {
				continue // the lock file is empty
			}
			tried++
			damaged := filepath.Join(t.TempDir(), "damaged.simdb")
			must.Do(t, os.MkdirAll(damaged, 0o777))
			for other, data := range others {
				rewrite(t, filepath.Join(damaged, other), data)
			}
			if data := d.do(bytes.Clone(whole)); data != nil {
				rewrite(t, filepath.Join(damaged, name), data)
			}
			got, err := answers(damaged)
			var c *CorruptionError
			switch {
			case err == nil && got != want:
				t.Errorf("%s %s: not noticed, and answers are missing", name, d.name)
			case err != nil && (!errors.As(err, &c) || c.File != name):
				t.Errorf("%s %s: the error does not name it: %v", name, d.name, err)
			case err != nil:
				found++
			}
			os.RemoveAll(damaged)
		}
	}
	t.Logf("%d damages, %d found, the others harmless", tried, found)
}

// readFolder returns the contents of the files in a folder, except those in but.
func readFolder(t *testing.T, path string, but ...string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(path)
	files := map[string][]byte{}
	for _, e := range entries {
		if err == nil && !slices.Contains(but, e.Name()) {
			files[e.Name()], err = os.ReadFile(filepath.Join(path, e.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) { // a flush renamed or removed a file meanwhile
		return readFolder(t, path, but...)
	}
	must.Do(t, err)
	return files
}

// logDatabase makes a database that has only logs. If torn is set, Open has cut the last log after
// a crash.
func logDatabase(t *testing.T, logs int, torn bool) string {
	t.Helper()
	db, path := create4test(t, nil)
	for i := range logs {
		if i > 0 {
			db = reopen(t, path)
		}
		for j := range 3 {
			put(t, db, fmt.Sprint(i, j), uint64(0x1234+i))
		}
		if torn && i == logs-1 {
			before := readFolder(t, path)
			must.Do(t, db.Close())
			for name, data := range before {
				rewrite(t, filepath.Join(path, name), data)
			}
			db = reopen(t, path)
		}
		must.Do(t, db.Close())
	}
	return path
}

// rotatedDatabase makes a database that was closed before its only non-empty memtable could be
// flushed.
func rotatedDatabase(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	flushing, fail := make(chan struct{}), make(chan struct{})
	fs := vfstest.NewFaulty(vfs.Disk, func(op vfstest.Op) error {
		if op.Kind != vfstest.OpCreate || !strings.HasSuffix(op.Name, ".sst"+files.TempSuffix) {
			return nil
		}
		close(flushing)
		<-fail
		return errors.New("no table")
	})
	db, path := create4test(t, &Options{fs: fs})
	for j := range 3 {
		put(t, db, fmt.Sprint(j), uint64(0x1234))
	}
	flushed, closed := make(chan error, 1), make(chan error, 1)
	go func() { flushed <- db.Flush(ctx) }()
	<-flushing
	go func() { closed <- db.Close() }()
	for { // until Close has stopped the background work, so that a failed flush is no longer an error
		s, err := db.Snapshot()
		if errors.Is(err, ErrClosed) {
			break
		}
		s.Close()
		time.Sleep(time.Millisecond)
	}
	close(fail)
	must.Do(t, <-closed)
	if err := <-flushed; !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	return path
}

func reopen(t *testing.T, path string) *DB {
	t.Helper()
	db := open4test(t, path, nil)
	return db
}

// TestOlderLog replaces the newest log by an older copy, which is whole and has an end frame.
func TestOlderLog(t *testing.T) {
	db, path := create4test(t, nil)
	put(t, db, "a", 1)
	early := t.TempDir()
	for name, data := range readFolder(t, path) {
		rewrite(t, filepath.Join(early, name), data)
	}
	put(t, db, "b", 2)
	must.Do(t, db.Close())
	if err := reopen(t, early).Close(); err != nil { // this adds the end frame to the older copy
		t.Fatal(err)
	}
	name := files.LogName(newestFile(t, path))
	rewrite(t, filepath.Join(path, name), readFolder(t, early)[name])
	var c *CorruptionError
	if _, err := answers(path); !errors.As(err, &c) || c.File != name {
		t.Fatalf("an older copy of the log: %v", err)
	}
}

// TestTornLogThenWrites leaves an empty newest log, as after a crash during its creation, and
// writes in the open that recovers from this: later logs must not name the removed one.
func TestTornLogThenWrites(t *testing.T) {
	for _, torn := range [][]byte{{}, make([]byte, 48), []byte("simdbWAL")} {
		for before := range 3 { // number of logs with data
			db, path := create4test(t, nil)
			stored := 0
			add := func(db *DB) {
				put(t, db, fmt.Sprint(stored), uint64(stored))
				stored++
			}
			for range before {
				add(db)
				must.Do(t, db.Close())
				db = reopen(t, path)
			}
			must.Do(t, db.Close())
			for range 3 {
				rewrite(t, filepath.Join(path, files.LogName(newestFile(t, path)+1)), torn)
				db = reopen(t, path)
				add(db)
				must.Do(t, db.Close())
				for _, readOnly := range []bool{true, false} {
					db, err := Open(path, &Options{ReadOnly: readOnly})
					if err != nil {
						t.Fatalf("%d logs before a torn one of %d bytes: %v", before, len(torn), err)
					}
					if s, err := db.Stats(); err != nil || int(s.Documents) != stored {
						t.Fatalf("%d documents instead of %d, %v", s.Documents, stored, err)
					}
					must.Do(t, db.Close())
				}
			}
		}
	}
}

// TestMissingLogs removes each log of a database except the newest, whose end is unknown: the next
// log must reveal this. Opening must change nothing.
func TestMissingLogs(t *testing.T) {
	db, path := create4test(t, nil)
	for i := range store.MaxReplayedLogs - 1 {
		if i > 0 {
			var err error
			if db, err = Open(path, nil); err != nil {
				t.Fatal(err)
			}
		}
		put(t, db, fmt.Sprint(i), uint64(i))
		must.Do(t, db.Close())
	}
	logs, err := filepath.Glob(filepath.Join(path, "*.wal"))
	if err != nil || len(logs) != store.MaxReplayedLogs-1 {
		t.Fatal(logs, err)
	}
	want, err := answers(path)
	must.Do(t, err)
	for _, file := range logs[:len(logs)-1] {
		whole, err := os.ReadFile(file)
		if err == nil {
			err = os.Remove(file)
		}
		must.Do(t, err)
		var c *CorruptionError
		if _, err := answers(path); !errors.As(err, &c) || c.File != filepath.Base(file) {
			t.Fatalf("%s missing: %v", file, err)
		}
		rewrite(t, file, whole)
		if got, err := answers(path); err != nil || got != want {
			t.Fatalf("%s restored: %v\n%s\nwant %s", file, err, got, want)
		}
	}
}

// newestFile returns the greatest number of a log or table in a folder, 0 if there is none.
func newestFile(t *testing.T, path string) (newest uint64) {
	t.Helper()
	for name := range readFolder(t, path) {
		for _, ext := range []string{".wal", ".sst"} {
			if n, ok := files.Number(name, ext); ok {
				newest = max(newest, n)
			}
		}
	}
	return newest
}
