package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// dump returns the contents of a database as text.
func dump(db *DB) (string, error) {
	ctx := context.Background()
	var b strings.Builder
	for e, err := range entriesOf(ctx, db, Range{}) {
		if err != nil {
			return "", err
		}
		d, err := db.Get(ctx, e.ID)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %x %v %q %s %d\n", e.ID, e.Fingerprint, e.HasFingerprint, d.Text, d.Fields, e.Time.UnixMicro())
	}
	found, err := contents(db)
	st, statsErr := db.Stats()
	fmt.Fprintf(&b, "%s\n%v\nmark %d, seq %d\n%+v", found, slices.Collect(allowed(db)), db.s.LoadMark("source"), st.Seq, db.Options())
	return b.String(), errors.Join(err, statsErr)
}

// dumpOf opens a database, checks it, and returns its dump.
func dumpOf(path string, o Options) (string, error) {
	o.ReadOnly = true
	db, err := Open(path, &o)
	if err != nil {
		return "", err
	}
	defer db.Close()
	report, err := db.Check(context.Background(), nil)
	if err != nil || len(report.Problems) > 0 {
		return "", fmt.Errorf("check: %v, %w", report.Problems, err)
	}
	return dump(db)
}

// backupSteps change a database in every way that a backup must follow. The tests make a backup
// after each.
var backupSteps = []func(db *DB) error{
	func(db *DB) error { return putSome(db, 0, 60) },
	func(db *DB) error { return db.Flush(context.Background()) },
	func(db *DB) error { return errors.Join(putSome(db, 40, 80), db.Delete(context.Background(), "d3")) },
	func(db *DB) error {
		l, err := db.NewLoader(context.Background(), &LoadOptions{Replace: true})
		if err != nil {
			return err
		}
		for i := range 50 {
			err = errors.Join(err, l.Add(backupDoc(i*3, 7)))
		}
		l.Mark("source", 4711)
		_, closeErr := l.Close()
		return errors.Join(err, closeErr)
	},
	func(db *DB) error {
		return errors.Join(db.SetAllowed(context.Background(), true, Pair{A: "d1", B: "d2"}, Pair{A: "d4", B: "x"}), putSome(db, 10, 20))
	},
	func(db *DB) error {
		_, err := db.Prune(context.Background(), backupTime(30), nil)
		return errors.Join(err, db.SetAllowed(context.Background(), false, Pair{A: "x", B: "d4"}))
	},
	func(db *DB) error { return db.Compact(context.Background(), nil) },
	func(db *DB) error { return nil },
	func(db *DB) error { return db.Delete(context.Background(), "d75") },
}

func backupTime(i int) time.Time { return time.Unix(1_700_000_000+int64(i), 0) }

func backupDoc(i, version int) Doc {
	return Doc{
		ID: fmt.Sprint("d", i), Text: fmt.Sprintf("text number %d in version %d of a document", i, version),
		Fields: []byte(fmt.Sprintf(`{"n":%d}`, i)), Time: backupTime(i),
	}
}

func putSome(db *DB, from, to int) (err error) {
	for i := from; i < to && err == nil; i++ {
		err = db.Put(context.Background(), backupDoc(i, from))
	}
	return err
}

// TestBackup makes backups after each step, from the writing DB and from a read-only one, into a
// new folder and into the previous backup. It opens each read-only, and finally for writing.
func TestBackup(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.simdb")
	db := must.Get(Create(path, &Options{DisableAutoCompaction: true}))(t)
	defer db.Close()
	next := []string{filepath.Join(dir, "next"), filepath.Join(dir, "linked")}
	for i, step := range backupSteps {
		if err := step(db); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		want := must.Get(dump(db))(t)
		reader := must.Get(Open(path, &Options{ReadOnly: true}))(t)
		fresh := filepath.Join(dir, fmt.Sprint("new", i))
		for _, err := range []error{
			backupTo(db, ctx, next[0], nil), backupTo(db, ctx, next[1], &BackupOptions{Links: true}), backupTo(reader, ctx, fresh, nil), backupTo(reader, ctx, next[0], nil), reader.Close(),
		} {
			if err != nil {
				t.Fatalf("after step %d: %v", i, err)
			}
		}
		for _, out := range append(next, fresh) {
			if got, err := dumpOf(out, Options{}); got != want || err != nil {
				t.Fatalf("after step %d %s has\n%s\n%v, want\n%s", i, out, got, err, want)
			}
		}
	}
	for _, out := range next {
		restored := must.Get(Open(out, nil))(t)
		if err := putSome(restored, 500, 510); err != nil {
			t.Error(err)
		}
		if err := errors.Join(restored.Flush(ctx), restored.Compact(ctx, nil), restored.Close()); err != nil {
			t.Error(err)
		}
		if err := backupTo(db, ctx, out, nil); !errors.Is(err, ErrExists) {
			t.Errorf("%s was written to, and brought up to date: %v", out, err)
		}
		if err := must.Get(Open(out, nil))(t).Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBackupOfRestored backs up a restored database into a backup that the original database has
// updated since: there, the same numbers belong to other tables.
func TestBackupOfRestored(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	o := &Options{DisableAutoCompaction: true}
	path, early, late := filepath.Join(dir, "x.simdb"), filepath.Join(dir, "early"), filepath.Join(dir, "late")
	db := must.Get(Create(path, o))(t)
	defer db.Close()
	must.Do(t, errors.Join(putSome(db, 0, 5), db.Flush(ctx), backupTo(db, ctx, early, nil)))
	for i := range 4 { // each step makes a table
		must.Do(t, errors.Join(putSome(db, 5+i, 6+i), backupTo(db, ctx, late, nil)))
	}
	restored := must.Get(Open(early, o))(t)
	defer restored.Close()
	for i := range 4 {
		must.Do(t, errors.Join(putSome(restored, 20+i, 22+i), restored.Flush(ctx)))
	}
	must.Do(t, backupTo(restored, ctx, late, nil))
	want := must.Get(dump(restored))(t)
	if got, err := dumpOf(late, Options{}); got != want || err != nil {
		t.Errorf("got\n%s\n%v, want\n%s", got, err, want)
	}
}

// TestBackupBesideWriter makes backups while another DB writes, flushes, compacts, loads and
// reopens. Each backup must equal the database at one moment, no earlier than the last write
// acknowledged before the reader was opened.
func TestBackupBesideWriter(t *testing.T) {
	backups := exhaustive.Size[int64](15, 60)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dir := t.TempDir()
	f := &follower{path: filepath.Join(dir, "x.simdb"), states: []string{"map[]"}}
	must.Get(Create(f.path, nil))(t).Close()
	var made atomic.Int64
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for ctx.Err() == nil && made.Load() < backups {
				acked := f.acked.Load()
				if err := f.backUp(filepath.Join(dir, fmt.Sprint("out", i)), acked, i == 1); err != nil {
					t.Error(err)
					break
				}
				made.Add(1)
			}
			stop()
		})
	}
	if err := f.write(ctx, rand.New(rand.NewPCG(4, 5))); err != nil {
		t.Error(err)
	}
	stop()
	wg.Wait()
	if n := made.Load(); n < backups {
		t.Errorf("%d backups of %d", n, backups)
	}
}

// backUp makes a backup. It must equal a state since the first acked writes were acknowledged.
func (f *follower) backUp(out string, acked int64, link bool) error {
	ctx := context.Background()
	db, err := Open(f.path, &Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := backupTo(db, ctx, out, &BackupOptions{Links: link}); err != nil {
		return err
	}
	b, err := Open(out, &Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer b.Close()
	got, err := contents(b)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.states[acked:], got) {
		return fmt.Errorf("after %d acknowledged writes the backup has %s, which the database did not hold since", acked, got)
	}
	return nil
}

// TestBackupFollowed reads a backup while it is updated: a reader must see one backup or the next.
func TestBackupFollowed(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db := must.Get(Create(filepath.Join(dir, "x.simdb"), nil))(t)
	defer db.Close()
	out := filepath.Join(dir, "out")
	must.Do(t, backupTo(db, ctx, out, nil))
	reader := must.Get(Open(out, &Options{ReadOnly: true}))(t)
	defer reader.Close()
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		last := -1
		for !done.Load() {
			if err := reader.Refresh(ctx); err != nil {
				t.Error(err)
				return
			}
			docs := len(collect(t, entriesOf(ctx, reader, Range{})))
			if docs < last {
				t.Errorf("%d documents after %d", docs, last)
			}
			last = docs
		}
	})
	for i := range 40 {
		if err := errors.Join(putSome(db, 10*i, 10*i+10), backupTo(db, ctx, out, nil)); err != nil {
			t.Error(err)
		}
		if i%7 == 0 {
			db.Compact(ctx, nil)
		}
	}
	done.Store(true)
	wg.Wait()
	if err := reader.Refresh(ctx); err != nil {
		t.Error(err)
	}
	if n := len(collect(t, entriesOf(ctx, reader, Range{}))); n != 400 {
		t.Errorf("%d documents", n)
	}
}

// TestBackupCopiesOnce counts the bytes that an update of a backup writes: it does not copy
// existing tables again, and it removes files that are no longer needed.
func TestBackupCopiesOnce(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path, out, linked := filepath.Join(dir, "x.simdb"), filepath.Join(dir, "out"), filepath.Join(dir, "linked")
	db := must.Get(Create(path, &Options{DisableAutoCompaction: true}))(t)
	defer db.Close()
	must.Do(t, errors.Join(putSome(db, 0, 5000), db.Flush(ctx), backupTo(db, ctx, out, nil)))
	backup := func(out string, links bool) BackupReport {
		t.Helper()
		r := must.Get(db.Backup(ctx, out, &BackupOptions{Links: links}))(t)
		return r
	}
	if r := backup(out, false); r.Copied != 0 || r.BytesWritten != 0 || r.Tables != 1 {
		t.Errorf("an update without changes: %+v", r)
	}
	must.Do(t, errors.Join(putSome(db, 4990, 5010), db.Delete(ctx, "d17"), db.Flush(ctx)))
	if r := backup(out, false); r.Copied != 1 || r.Tables != 2 || r.BytesWritten > r.Bytes/10 {
		t.Errorf("an update with a small table: %+v", r)
	}
	if r := backup(linked, true); r.Linked != 2 || r.Copied != 0 || r.BytesWritten != 0 {
		t.Errorf("a backup by links: %+v", r)
	}
	must.Do(t, errors.Join(db.Compact(ctx, nil), backupTo(db, ctx, out, nil), backupTo(db, ctx, linked, &BackupOptions{Links: true})))
	for _, out := range []string{out, linked} {
		names := must.Get(vfs.Disk.List(out))(t)
		if len(names) != 4 { // BACKUP, CATALOG, LOCK and a table
			t.Errorf("%s has %v", out, names)
		}
	}
	table := filepath.Base(must.Get(filepath.Glob(filepath.Join(linked, "*.sst")))(t)[0])
	if !os.SameFile(must.Get(os.Stat(filepath.Join(path, table)))(t), must.Get(os.Stat(filepath.Join(linked, table)))(t)) {
		t.Error("the table was not linked")
	}
	if os.SameFile(must.Get(os.Stat(filepath.Join(path, table)))(t), must.Get(os.Stat(filepath.Join(out, table)))(t)) {
		t.Error("a table was linked, where nobody asked for it")
	}
}

// TestBackupLinksItsOwn links tables of a database whose folder was replaced by another: the file
// with the same name there is not the table, which must be copied.
func TestBackupLinksItsOwn(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path, out := filepath.Join(dir, "x.simdb"), filepath.Join(dir, "out")
	create := func(from int) {
		t.Helper()
		db := must.Get(Create(path, nil))(t)
		must.Do(t, errors.Join(putSome(db, from, from+100), db.Flush(ctx), db.Close()))
	}
	create(0)
	reader := must.Get(Open(path, &Options{ReadOnly: true}))(t)
	defer reader.Close()
	if err := os.Rename(path, filepath.Join(dir, "moved.simdb")); err != nil {
		t.Skip(err) // an open folder cannot be moved on Windows
	}
	create(100)
	r, err := reader.Backup(ctx, out, &BackupOptions{Links: true})
	if err != nil || r.Linked != 0 || r.Copied != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if got, want := must.Get(dumpOf(out, Options{}))(t), must.Get(dump(reader))(t); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// TestBackupRefuses backs up into folders that are not backups of the database: nothing in them may
// change.
func TestBackupRefuses(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	db, other := must.Get(Create(in("x"), nil))(t), must.Get(Create(in("other"), nil))(t)
	defer other.Close()
	for _, err := range []error{
		putSome(db, 0, 3), putSome(other, 0, 3), backupTo(other, ctx, in("of other"), nil), db.Pack(ctx, in("x.sst"), nil), db.Close(),
		os.Mkdir(in("files"), 0o755), os.WriteFile(in("files/a.txt"), []byte("a"), 0o644),
		os.Mkdir(in("marked"), 0o755), os.WriteFile(in("marked/BACKUP"), []byte("something else"), 0o644), os.WriteFile(in("marked/a.txt"), nil, 0o644),
		os.WriteFile(in("file"), nil, 0o644), os.Mkdir(in("empty"), 0o755),
	} {
		must.Do(t, err)
	}
	// Pack has flushed, and then the log is removed: from now on no file is added or removed.
	db = must.Get(Open(in("x"), nil))(t)
	defer db.Close()
	for out, want := range map[string]error{
		"x": ErrExists, "x/sub": ErrInvalid, "other": ErrExists, "of other": ErrExists, "files": ErrExists, "marked": ErrExists, "file": ErrExists,
	} {
		before := tree(t, in(out))
		if err := backupTo(db, ctx, in(out), nil); !errors.Is(err, want) {
			t.Errorf("%s: %v", out, err)
		}
		if after := tree(t, in(out)); !maps.Equal(before, after) {
			t.Errorf("%s has changed: %v, before %v", out, after, before)
		}
	}
	itself := must.Get(Open(in("of other"), &Options{ReadOnly: true}))(t)
	defer itself.Close()
	if err := backupTo(itself, ctx, in("of other/"), nil); !errors.Is(err, ErrExists) {
		t.Errorf("a backup into itself: %v", err)
	}
	single := must.Get(Open(in("x.sst"), nil))(t)
	defer single.Close()
	if err := backupTo(single, ctx, in("single"), nil); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if err := backupTo(db, ctx, in("empty"), nil); err != nil {
		t.Error(err)
	}
	held := must.Get(vfs.Disk.Lock(in("empty/LOCK")))(t)
	if err := backupTo(db, ctx, in("empty"), nil); !errors.Is(err, ErrLocked) {
		t.Errorf("beside another backup: %v", err)
	}
	held.Close()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := backupTo(db, cancelled, in("empty"), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// tree returns the files below a path with their contents.
func tree(t *testing.T, path string) map[string]string {
	files := map[string]string{}
	filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[path] = string(must.Get(os.ReadFile(path))(t))
		}
		return nil
	})
	return files
}

// TestBackupDamage damages a table of the database, which must leave the earlier backup unchanged,
// and then tables of the backup, which must be copied again.
func TestBackupDamage(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path, out := filepath.Join(dir, "x.simdb"), filepath.Join(dir, "out")
	db := must.Get(Create(path, &Options{DisableAutoCompaction: true}))(t)
	must.Do(t, errors.Join(putSome(db, 0, 500), db.Flush(ctx), backupTo(db, ctx, out, nil)))
	want := must.Get(dump(db))(t)
	table := must.Get(filepath.Glob(filepath.Join(out, "*.sst")))(t)[0]
	for _, damage := range []func() error{
		func() error { return os.Remove(table) }, func() error { return os.Truncate(table, 100) }, func() error { return os.Truncate(table, 0) },
	} {
		if err := errors.Join(damage(), backupTo(db, ctx, out, nil)); err != nil {
			t.Error(err)
		}
		if got, err := dumpOf(out, Options{}); got != want || err != nil {
			t.Errorf("got\n%s\n%v, want\n%s", got, err, want)
		}
	}
	must.Do(t, errors.Join(putSome(db, 500, 1000), db.Flush(ctx), db.Close()))
	newest := must.Get(filepath.Glob(filepath.Join(path, "*.sst")))(t)[1]
	whole := must.Get(os.ReadFile(newest))(t)
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/3] ^= 1
	must.Do(t, os.WriteFile(newest, flipped, 0o644))
	db = must.Get(Open(path, &Options{ReadOnly: true}))(t)
	defer db.Close()
	for _, to := range []string{out, filepath.Join(dir, "new")} {
		if err := backupTo(db, ctx, to, nil); !errors.Is(err, ErrCorruption) {
			t.Errorf("a damaged table: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a folder is left of a backup that failed")
	}
	if got, err := dumpOf(out, Options{}); got != want || err != nil {
		t.Errorf("got\n%s\n%v, want\n%s", got, err, want)
	}
}

// backedUp returns a file system with a database after the given steps, its dump, and the dump
// before the last step. If first is not set, there is a backup made before the last step.
func backedUp(t *testing.T, steps int, first bool) (mem *vfstest.Mem, before, after string) {
	t.Helper()
	mem = vfstest.NewMem(hostDir(t))
	db := must.Get(Create("/db", &Options{fs: mem, DisableAutoCompaction: true}))(t)
	for i, step := range backupSteps[:steps] {
		if i == steps-1 && !first {
			before = must.Get(dump(db))(t)
			must.Do(t, backupTo(db, t.Context(), "/out", nil))
		}
		must.Do(t, step(db))
	}
	after = must.Get(dump(db))(t)
	must.Do(t, db.Close())
	return mem.CrashClone(1, 0), before, after
}

// TestBackupCrash cuts the power, or kills the process, before every operation of a backup. The
// result must open as the earlier backup or the new one; the next run makes the new one, and leaves
// no other file.
func TestBackupCrash(t *testing.T) {
	exhaustive.Sequential(t)
	states := 0
	for _, c := range backupCases {
		mem, before, after := backedUp(t, c.steps, c.first)
		for op := 1; ; op++ {
			fs := mem.CrashClone(1, 0)
			fs.CrashAt(fs.Ops() + op)
			err := backupOn(fs)
			crashed := fs.Crashed()
			if !crashed && err != nil {
				t.Fatal(err)
			}
			left := []*vfstest.Mem{fs.KillClone()}
			for _, keep := range []float64{0, 0.5, 1} {
				left = append(left, fs.CrashClone(keep, uint64(op)))
			}
			for i, fs := range left {
				states++
				if err := afterBackup(fs, before, after, crashed); err != nil {
					t.Errorf("%+v, operation %d, %d: %v", c, op, i, err)
				}
				if got, err := dumpOf("/out", Options{fs: fs.CrashClone(0, 0)}); got != after || err != nil {
					t.Errorf("%+v, operation %d, %d, then a power cut: %v\n%s", c, op, i, err, got)
				}
			}
			if !crashed {
				break
			}
		}
	}
	t.Logf("%d states", states)
}

// backupCases are the numbers of steps after which a backup is made or updated.
var backupCases = []struct {
	steps int
	first bool
}{{3, true}, {3, false}, {4, false}, {7, false}, {9, false}}

// backupOn opens the database and backs it up.
func backupOn(fs vfs.FS) error {
	db, err := Open("/db", &Options{fs: fs, ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(backupTo(db, context.Background(), "/out", nil), db.Close())
}

// afterBackup checks the result of a run, which may have been cut short, and makes the backup.
func afterBackup(fs vfs.FS, before, after string, crashed bool) error {
	o := Options{fs: fs}
	got, err := dumpOf("/out", o)
	switch {
	case before == "" && crashed && (errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotDatabase)): // the first one
	case err != nil:
		return err
	case got != after && (got != before || !crashed):
		return fmt.Errorf("got\n%s\nbefore\n%s\nafter\n%s", got, before, after)
	}
	if err := backupOn(fs); err != nil {
		return fmt.Errorf("the next backup: %w", err)
	}
	if got, err := dumpOf("/out", o); err != nil || got != after {
		return fmt.Errorf("the next backup has\n%s\n%w", got, err)
	}
	return onlyListed(fs)
}

// onlyListed checks that a backup has no files except those it needs.
func onlyListed(fs vfs.FS) error {
	names, err := fs.List("/out")
	if err != nil {
		return err
	}
	db, err := Open("/out", &Options{fs: fs, ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	st, err := db.Stats()
	if want := len(st.Tables) + 3; err == nil && len(names) != want { // BACKUP, CATALOG, LOCK
		err = fmt.Errorf("there are %v, of which %d are tables", names, len(st.Tables))
	}
	return err
}

// TestBackupErrors fails every operation of a backup, once and from there on, because of a full
// disk or a disk error. The earlier backup or the new one must be there, and the next run makes the
// new one.
func TestBackupErrors(t *testing.T) {
	exhaustive.Sequential(t)
	failures := 0
	for _, c := range backupCases {
		mem, before, after := backedUp(t, c.steps, c.first)
		whole := vfstest.NewFaulty(mem.CrashClone(1, 0), func(vfstest.Op) error { return nil })
		must.Do(t, backupOn(whole))
		for op := range exhaustive.Every(t, 5).Of(whole.Ops()) {
			n := op + 1
			for i, inject := range []func(vfstest.Op) error{
				vfstest.FailOnce(n, syscall.EIO), fullFrom(n, vfstest.OpCreate, vfstest.OpWrite), fullFrom(n, vfstest.OpCommit),
			} {
				mem := mem.CrashClone(1, 0)
				failures++
				faulty := vfstest.NewFaulty(mem, inject)
				err := backupOn(faulty)
				if i == 0 && faulty.Ops() < n {
					t.Fatalf("%+v: %d operations, and not %d: %v", c, faulty.Ops(), n, err)
				}
				if names, _ := mem.List("/out"); i == 1 && err != nil && strings.Contains(fmt.Sprint(names), files.TempSuffix) {
					t.Errorf("%+v, operation %d: a full disk keeps %v", c, n, names)
				} else if i == 1 && err != nil && c.first && len(names) > 0 {
					t.Errorf("operation %d: a full disk keeps the folder of the first backup, with %v", n, names)
				}
				if names, e := mem.List("/out"); err != nil && e == nil && len(names) == 0 {
					t.Errorf("%+v, operation %d, %d: an empty folder is left", c, n, i)
				}
				if err := afterBackup(mem, before, after, err != nil); err != nil {
					t.Errorf("%+v, operation %d, %d: %v", c, n, i, err)
				}
			}
		}
	}
	t.Logf("%d failures", failures)
}

// fullFrom returns an injection that fails operations of the given kinds, from operation n on, as
// on a full disk.
func fullFrom(n int, kinds ...vfstest.OpKind) func(vfstest.Op) error {
	return func(op vfstest.Op) error {
		if op.N >= n && slices.Contains(kinds, op.Kind) {
			return syscall.ENOSPC
		}
		return nil
	}
}
