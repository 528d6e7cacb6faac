package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// maker makes the database /new from /old, or from its pack.
type maker struct {
	name string
	docs int
	run  func(ctx context.Context, fs vfs.FS) error
}

var makers = []maker{
	{"create", 0, func(_ context.Context, fs vfs.FS) error {
		db, err := Create("/new", &Options{fs: fs})
		if err != nil {
			return err
		}
		return db.Close()
	}},
	{"load", 90, func(ctx context.Context, fs vfs.FS) error {
		return Build("/new", func(db *DB) error {
			for range 2 { // two tables, which are merged
				l, err := db.NewLoader(ctx, &LoadOptions{Replace: true})
				for i := 0; i < 60 && err == nil; i++ {
					err = l.Add(fingerprinted(fmt.Sprint(i), uint64(i)))
				}
				if err != nil {
					return err
				}
				if _, err = l.Close(); err != nil {
					return err
				}
			}
			for i := 60; i < 90; i++ { // some of these are in a log
				if err := db.Put(ctx, fingerprinted(fmt.Sprint(i), uint64(i))); err != nil {
					return err
				}
			}
			return errors.Join(db.SetAllowed(ctx, true, Pair{A: "1", B: "2"}), db.Compact(ctx, &CompactOptions{Due: true}))
		}, &Options{fs: fs, MemtableBytes: 2000})
	}},
	{"ingest", 400, func(ctx context.Context, fs vfs.FS) error {
		return Build("/new", func(db *DB) error { return db.Ingest(ctx, "/old.sst") }, &Options{fs: fs})
	}},
	{"recover", 400, func(ctx context.Context, fs vfs.FS) error {
		_, err := Recover(ctx, "/old", "/new", &RecoverOptions{fs: fs})
		return err
	}},
}

// fingerprinted returns a document without text.
func fingerprinted(id string, fp uint64) Doc {
	d := Doc{ID: id}
	d.Fingerprints = []Fingerprint{{uint64(fp)}}
	return d
}

// TestNewDatabaseCrash cuts the power, or kills the process, before every operation of making a
// database, in a new folder and in an empty one. The result must be a complete database, or none
// for Open, for Check and for the next maker; then the same maker makes it, with no other file.
func TestNewDatabaseCrash(t *testing.T) {
	exhaustive.Sequential(t)
	base := vfstest.NewMem(t.TempDir())
	db := must.Get(Open("/old", &Options{fs: base, DisableAutoCompaction: true}))(t)
	s := &sickbed{T: t, db: db}
	s.put(0, 300, "some")
	s.flush()
	s.put(200, 400, "other")
	s.do(db.Pack(t.Context(), "/old.sst", nil))
	s.do(db.Close())
	share := exhaustive.Every(t, 7)
	for _, m := range makers {
		whole, none := 0, 0
		for at := 1; ; at++ {
			mem := base.KillClone()
			if at%2 == 0 {
				s.do(mem.MkdirAll("/new"))
			}
			mem.CrashAt(mem.Ops() + at)
			err := m.run(t.Context(), mem)
			if err == nil {
				t.Logf("%s: %d operations; %d states with a database, %d without", m.name, at-1, whole, none)
				break
			}
			if !share.Takes(at) && m.name != "create" {
				continue
			}
			left := []*vfstest.Mem{mem.KillClone()}
			for seed, keep := range []float64{0, 0.5, 1} {
				left = append(left, mem.CrashClone(keep, uint64(at+seed)))
			}
			for i, fs := range left {
				there, err := m.look(t.Context(), fs)
				if err == nil && !there {
					none++
					err = errors.Join(m.run(t.Context(), fs), m.whole(t.Context(), fs))
				} else {
					whole++
				}
				if err != nil {
					t.Errorf("%s, operation %d, %d: %v", m.name, at, i, err)
				}
			}
		}
	}
}

// look checks the state after a crash, and reports whether there is a database.
func (m maker) look(ctx context.Context, fs vfs.FS) (there bool, err error) {
	db, err := Open("/new", &Options{fs: fs, ReadOnly: true})
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, errors.Join(db.Close(), m.whole(ctx, fs))
}

// whole checks that the database is complete, and that all files are in use.
func (m maker) whole(ctx context.Context, fs vfs.FS) error {
	db, err := Open("/new", &Options{fs: fs, MustExist: true})
	if err != nil {
		return err
	}
	defer db.Close()
	check, err := db.Check(ctx, nil)
	if err == nil && (len(check.Problems) > 0 || check.Documents != int64(m.docs)) {
		err = fmt.Errorf("%d documents, %v", check.Documents, check.Problems)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(db.Compact(ctx, nil), db.Close()); err != nil {
		return err
	}
	names, err := fs.List("/new")
	if err == nil && len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "CATALOG" || n == "LOCK" })) > 1 {
		err = fmt.Errorf("there are %q", names)
	}
	return err
}

// TestBuildFails checks that a failed Build leaves nothing new, and does not touch existing files.
func TestBuildFails(t *testing.T) {
	mem := vfstest.NewMem(t.TempDir())
	failed := errors.New("failed")
	fill := func(db *DB) error {
		if err := db.Put(t.Context(), fingerprinted("a", 1)); err != nil {
			return err
		}
		if _, err := Open("/new", &Options{fs: mem, ReadOnly: true}); !errors.Is(err, ErrNotFound) {
			t.Errorf("while it is built: %v", err)
		}
		if _, err := Open("/new", &Options{fs: mem}); !errors.Is(err, ErrLocked) {
			t.Errorf("while it is built: %v", err)
		}
		return errors.Join(db.Flush(t.Context()), failed)
	}
	if err := Build("/new", fill, &Options{fs: mem}); !errors.Is(err, failed) {
		t.Error(err)
	}
	if _, err := mem.Stat("/new"); err == nil {
		t.Error("a folder is left")
	}
	must.Do(t, mem.MkdirAll("/empty"))
	if err := Build("/empty", func(*DB) error { return failed }, &Options{fs: mem}); err == nil {
		t.Error("no error")
	}
	if names := must.Get(mem.List("/empty"))(t); len(names) > 0 {
		t.Errorf("%q are left", names)
	}
	db := must.Get(Create("/new", &Options{fs: mem}))(t)
	put(t, db, "mine", 7)
	for _, err := range []error{Build("/new", fill, &Options{fs: mem}), db.Discard(), Build("/new", fill, &Options{fs: mem})} {
		if err != nil && !errors.Is(err, ErrExists) {
			t.Error(err)
		}
	}
	db = must.Get(Open("/new", &Options{fs: mem, MustExist: true}))(t)
	if n := len(collect(t, entriesOf(t.Context(), db, Range{}))); n != 1 {
		t.Errorf("%d documents", n)
	}
	if err := db.Discard(); err != nil { // this DB did not create it
		t.Error(err)
	}
	must.Get(Open("/new", &Options{fs: mem, MustExist: true}))(t).Close()
}
