package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// follower is a database that one DB writes while others read it.
type follower struct {
	path string
	mu   sync.Mutex
	// states are the contents of the database after each write, as text; acked is the number of
	// acknowledged writes.
	states []string
	acked  atomic.Int64
	news   atomic.Int64 // number of times that a reader saw a new state
}

// TestFollow writes, flushes, compacts, loads, prunes and reopens a database while readers refresh.
// At every moment a reader must see the database as it was at one moment, no earlier than the last
// write acknowledged before Refresh was called.
func TestFollow(t *testing.T) {
	writes, news := exhaustive.Size[int64](100, 600), exhaustive.Size[int64](30, 200)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	f := &follower{path: filepath.Join(t.TempDir(), "x.simdb"), states: []string{"map[]"}}
	must.Get(Create(f.path, nil))(t).Close()
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			if err := f.read(ctx, rand.New(rand.NewPCG(1, uint64(i)))); err != nil {
				t.Error("reader: ", err)
				stop()
			}
		})
	}
	wg.Go(func() {
		if err := f.write(ctx, rand.New(rand.NewPCG(2, 3))); err != nil {
			t.Error("writer: ", err)
			stop()
		}
	})
	for ctx.Err() == nil && (f.acked.Load() < writes || f.news.Load() < news) {
		time.Sleep(time.Millisecond)
	}
	stop()
	wg.Wait()
}

// note records the state after the next write.
func (f *follower) note(m map[string]uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states = append(f.states, fmt.Sprint(m))
}

// write writes until the context ends.
func (f *follower) write(ctx context.Context, r *rand.Rand) error {
	have := map[string]uint64{}
	var db *DB
	defer func() {
		if db != nil {
			db.Close()
		}
	}()
	for n := uint64(1); ctx.Err() == nil; n++ {
		if db == nil {
			var err error
			if db, err = Open(f.path, &Options{MemtableBytes: 4000, NoSync: true}); err != nil {
				return err
			}
		}
		id, bg, err := fmt.Sprint("d", r.IntN(12)), context.Background(), error(nil)
		switch c := r.IntN(100); {
		case c < 60:
			have[id] = n
			f.note(have)
			err = db.Put(bg, Doc{ID: id, Fingerprints: []Fingerprint{{n}}})
		case c < 85:
			if have[id] == 0 {
				continue
			}
			delete(have, id)
			f.note(have)
			err = db.Delete(bg, id)
		case c < 92:
			have[id] = n
			f.note(have)
			var l *Loader
			if l, err = db.NewLoader(bg, &LoadOptions{Replace: true}); err == nil {
				if err = l.Add(Doc{ID: id, Fingerprints: []Fingerprint{{n}}}); err == nil {
					_, err = l.Close()
				}
			}
		case c < 95:
			err = db.Flush(bg)
			f.note(have)
		case c < 97:
			err = db.Compact(bg, nil)
			f.note(have)
		default:
			err = db.Close()
			db = nil
			f.note(have)
		}
		if err != nil {
			return err
		}
		f.acked.Add(1)
	}
	return nil
}

// read refreshes and checks until the context ends.
func (f *follower) read(ctx context.Context, r *rand.Rand) (err error) {
	bg := context.Background()
	var db *DB
	defer func() {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	last := ""
	for ctx.Err() == nil {
		acked := f.acked.Load()
		if db == nil {
			db, err = Open(f.path, &Options{ReadOnly: true})
		} else {
			err = db.Refresh(bg)
		}
		if err != nil {
			return err
		}
		got, err := contents(db)
		if err != nil {
			return err
		}
		f.mu.Lock()
		ok := slices.Contains(f.states[acked:], got)
		f.mu.Unlock()
		if !ok {
			return fmt.Errorf("after %d acknowledged writes it sees %s, which the database did not hold since", acked, got)
		}
		if got != last {
			last = got
			f.news.Add(1)
		}
		if r.IntN(50) == 0 {
			if err := db.Close(); err != nil {
				return err
			}
			db = nil
		}
	}
	return nil
}

// contents returns the documents of a database as text.
func contents(db *DB) (string, error) {
	s, err := db.Snapshot()
	if err != nil {
		return "", err
	}
	defer s.Close()
	have := map[string]uint64{}
	for e, err := range entriesIn(context.Background(), s, Range{}) {
		if err != nil {
			return "", err
		}
		have[e.ID] = e.Fingerprint
	}
	near := map[string]uint64{} // read in a second way
	for m, err := range s.Search(context.Background(), ofPrint(0), Near(64), nil) {
		if err != nil {
			return "", err
		}
		near[m.ID] = have[m.ID]
	}
	if !maps.Equal(have, near) {
		return "", fmt.Errorf("entries %v, found %v", have, near)
	}
	return fmt.Sprint(have), nil
}

// TestRefreshAfterErrors makes Refresh fail from each of its operations on: the next Refresh must
// show all writes.
func TestRefreshAfterErrors(t *testing.T) {
	put := func(db *DB, id string) {
		t.Helper()
		must.Do(t, db.Put(t.Context(), Doc{ID: id, Text: strings.Repeat("text of "+id, 1000)}))
	}
	broken := errors.New("broken")
	for n, failed := 1, true; failed; n++ {
		mem := vfstest.NewMem(hostDir(t))
		db := must.Get(Create("/db", &Options{fs: mem}))(t)
		put(db, "a")
		faulty := vfstest.NewFaulty(mem, nil)
		reader := must.Get(Open("/db", &Options{fs: faulty, ReadOnly: true}))(t)
		for i := range 40 { // more than one read returns
			put(db, fmt.Sprint("b", i%30))
		}
		ops := 0
		faulty.SetInject(func(vfstest.Op) error {
			if ops++; ops >= n {
				return broken
			}
			return nil
		})
		err := reader.Refresh(t.Context())
		failed = errors.Is(err, broken)
		if !failed && err != nil {
			t.Fatal(err)
		}
		faulty.SetInject(nil)
		for range 2 {
			must.Do(t, reader.Refresh(t.Context()))
			if !maps.Equal(textsIn(t, reader), textsIn(t, db)) {
				t.Errorf("after an error of operation %d it is not what was written", n)
			}
		}
		must.Do(t, errors.Join(reader.Close(), db.Close()))
	}
}

// TestRefreshCutLog follows writers that were killed, and whose logs are too large to be flushed by
// the next open: a shortened log is an error, unless it is the last one.
func TestRefreshCutLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.simdb")
	var reader *DB
	write := func(id string) { // simulates a kill: restores the folder to its state before Close
		t.Helper()
		db := must.Get(Open(path, &Options{DisableAutoCompaction: true}))(t)
		// Replayed writes may be flushed in the background, at any moment.
		until(t, "the flush", db.s.Idle)
		if reader == nil {
			reader = must.Get(Open(path, &Options{ReadOnly: true}))(t)
		}
		must.Do(t, db.Put(t.Context(), Doc{ID: id, Text: strings.Repeat("text of "+id+" ", 1<<19)}))
		files := readFolder(t, path)
		must.Do(t, db.Close())
		for name, data := range files {
			rewrite(t, filepath.Join(path, name), data)
		}
	}
	cut := func(before int) { // cut the last log, or an earlier one
		t.Helper()
		logs := must.Get(filepath.Glob(filepath.Join(path, "*.wal")))(t)
		for must.Get(os.Stat(logs[len(logs)-1]))(t).Size() <= 48 { // prepared for the next writes
			logs = logs[:len(logs)-1]
		}
		name := logs[len(logs)-1-before]
		must.Do(t, os.Truncate(name, must.Get(os.Stat(name))(t).Size()-1))
	}
	for _, id := range []string{"a", "b", "c"} {
		write(id)
	}
	defer reader.Close()
	cut(0)
	if err := reader.Refresh(t.Context()); err != nil || len(textsIn(t, reader)) != 2 {
		t.Errorf("the last log is cut: %d documents, %v", len(textsIn(t, reader)), err)
	}
	write("d")
	write("e")
	cut(1)
	if err := reader.Refresh(t.Context()); !errors.Is(err, ErrCorruption) {
		t.Errorf("a log before the last one is cut: %d documents, %v", len(textsIn(t, reader)), err)
	}
}

// TestSpareLog fills a memtable by more than half, which prepares a log: a reader and a process that
// follows after a kill ignore it, Recover reports no loss, and Close removes it. One Put prepares
// none.
func TestSpareLog(t *testing.T) {
	db, path := create4test(t, &Options{DisableAutoCompaction: true, MemtableBytes: 4000})
	logs := func(in string) (all []string) { return must.Get(filepath.Glob(filepath.Join(in, "*.wal")))(t) }
	put(t, db, "a", 1)
	if n := len(logs(path)); n != 1 {
		t.Errorf("%d logs after one Put", n)
	}
	must.Do(t, db.Put(t.Context(), Doc{ID: "b", Text: strings.Repeat("text ", 500)}))
	until(t, "a log is prepared", func() bool { return len(logs(path)) == 2 })
	reader := must.Get(Open(path, &Options{ReadOnly: true}))(t)
	defer reader.Close()
	put(t, db, "c", 2)
	if err := reader.Refresh(t.Context()); err != nil || len(textsIn(t, reader)) != 3 {
		t.Errorf("%d documents, %v", len(textsIn(t, reader)), err)
	}
	killed := t.TempDir()
	for name, data := range readFolder(t, path) {
		rewrite(t, filepath.Join(killed, name), data)
	}
	recovered := filepath.Join(t.TempDir(), "r.simdb")
	if report, err := Recover(t.Context(), killed, recovered, nil); err != nil || len(report.Losses)+len(report.Doubts) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if err := db.Close(); err != nil || len(logs(path)) != 1 {
		t.Errorf("%d logs after Close, %v", len(logs(path)), err)
	}
	again := must.Get(Open(killed, nil))(t)
	put(t, again, "d", 3)
	if n := len(textsIn(t, again)); n != 4 || again.Close() != nil {
		t.Errorf("%d documents after a kill", n)
	}
	again = must.Get(Open(killed, nil))(t)
	if n := len(textsIn(t, again)); n != 4 || again.Close() != nil {
		t.Errorf("%d documents after a kill and Close", n)
	}
}
