package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// answers is everything a small database says, or the first error.
func answers(path string) (string, error) {
	ctx := context.Background()
	db, err := Open(path, &Options{MustExist: true, DisableAutoCompaction: true})
	if err != nil {
		return "", err
	}
	defer db.Close()
	var all string
	for e, err := range db.Entries(ctx, "") {
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
	db, err := Create(path, &Options{DisableAutoCompaction: true, NoSketch: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 24 {
		d := Doc{ID: fmt.Sprintf("id-%02d", i%20), Text: "text " + fmt.Sprint(i), Fields: []byte(`{"i":1}`), Fingerprint: new(uint64(0x1234) ^ uint64(i*i*977))}
		if err := db.Put(ctx, d); err != nil {
			t.Fatal(err)
		}
		if i == 8 || i == 17 {
			if err := db.Delete(ctx, fmt.Sprintf("id-%02d", i-3)); err != nil {
				t.Fatal(err)
			}
			if err := db.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFlippedBytes flips every byte (with -short every seventeenth) of the tables and logs of a small database: the answers must be
// right or there must be an error, which names the file. Package catalog does the same with the catalog, and package sstable with
// tables that have sketches.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	path := smallDatabase(t)
	want, err := answers(path)
	if err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	step := 1
	if testing.Short() {
		step = 17
	}
	flips, noticed := 0, 0
	for _, entry := range names {
		if entry.Name() == catalogName || entry.Name() == lockName {
			continue
		}
		file := filepath.Join(path, entry.Name())
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += step {
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
		}
		rewrite(t, file, whole)
	}
	if got, err := answers(path); err != nil || got != want {
		t.Fatalf("restored: %v\n%s", err, got)
	}
	t.Logf("%d bytes flipped, %d noticed, none gave a wrong answer", flips, noticed)
}

func rewrite(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestCutFiles cuts tables of a small database short, and takes them away. Package wal does the same with logs.
func TestCutFiles(t *testing.T) {
	path := smallDatabase(t)
	tables, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err != nil || len(tables) < 2 {
		t.Fatal(tables, err)
	}
	named := func(file, what string) {
		t.Helper()
		var c *CorruptionError
		if _, err := answers(path); !errors.As(err, &c) || c.File != filepath.Base(file) {
			t.Fatalf("%s %s: %v", file, what, err)
		}
	}
	for _, file := range tables {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(whole); n += 1 + len(whole)/60 {
			rewrite(t, file, whole[:n])
			named(file, fmt.Sprintf("cut to %d bytes", n))
		}
		rewrite(t, file, append(whole, 0))
		named(file, "a byte too long")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		named(file, "missing")
		other, err := os.ReadFile(tables[0])
		if file == tables[0] {
			other, err = os.ReadFile(tables[1])
		}
		if err != nil {
			t.Fatal(err)
		}
		rewrite(t, file, other)
		named(file, "swapped for another table")
		rewrite(t, file, whole)
	}
	if _, err := answers(path); err != nil {
		t.Fatal(err)
	}
}

// TestMissingLogs takes each of the logs of a database away but the newest, whose end can't be known: the log that goes on where it
// ended tells. Nothing is changed by that.
func TestMissingLogs(t *testing.T) {
	db, path := create4test(t, nil)
	for i := range maxReplayedLogs - 1 {
		if i > 0 {
			var err error
			if db, err = Open(path, nil); err != nil {
				t.Fatal(err)
			}
		}
		put(t, db, fmt.Sprint(i), uint64(i))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	logs, err := filepath.Glob(filepath.Join(path, "*.wal"))
	if err != nil || len(logs) != maxReplayedLogs-1 {
		t.Fatal(logs, err)
	}
	want, err := answers(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range logs[:len(logs)-1] {
		whole, err := os.ReadFile(file)
		if err == nil {
			err = os.Remove(file)
		}
		if err != nil {
			t.Fatal(err)
		}
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
