package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestFullContinues writes to a small disk, with flushes and merges in the background, until it is
// full: the error must come from the disk, and the database is not poisoned. Once there is space
// the same open can write again. Acknowledged writes are there, before and after reopening, failed
// writes are there whole or not at all, and no stray file is left.
func TestFullContinues(t *testing.T) {
	full := 0
	for i := range exhaustive.Every(t, 4).Of(24) {
		for _, noSync := range []bool{false, true} {
			full += fullContinues(t, 60_000+i*1531, noSync)
		}
	}
	t.Logf("%d times full", full)
}

func fullContinues(t *testing.T, limit int, noSync bool) (full int) {
	ctx := context.Background()
	mem := vfstest.NewMem(hostDir(t))
	defer mem.Discard()
	opts := Options{NoSketch: true, NoSync: noSync, MemtableBytes: 4000, policy: eager, fs: mem}
	db, err := Open("/db", &opts)
	must.Do(t, err)
	mem.SetLimit(limit)
	var acked, tried sync.Map
	next := 0
	for range 3 {
		var wg sync.WaitGroup
		var stop atomic.Bool
		for w := range 2 {
			wg.Go(func() {
				for i := 0; !stop.Load(); i++ {
					id := fmt.Sprint(next, "-", w, "-", i)
					tried.Store(id, true)
					if err := db.Put(ctx, smallDoc(id)); err != nil {
						stop.Store(true)
						if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrFailed) {
							t.Errorf("limit %d: %v", limit, err)
						}
						return
					}
					acked.Store(id, true)
				}
			})
		}
		wg.Wait()
		full++
		next++
		limit += 40_000
		mem.SetLimit(limit)
		for i := range 3 {
			id := fmt.Sprint(next, "-after-", i)
			tried.Store(id, true)
			if err := db.Put(ctx, smallDoc(id)); err != nil {
				t.Fatalf("limit %d: with room: %v", limit, err)
			}
			acked.Store(id, true)
		}
	}
	allThere := func() {
		t.Helper()
		acked.Range(func(id, _ any) bool {
			if _, err := lookupOf(ctx, db, id.(string)); err != nil {
				t.Errorf("limit %d: acknowledged %s: %v", limit, id, err)
			}
			return true
		})
		for e, err := range entriesOf(ctx, db, Range{}) {
			if _, ok := tried.Load(e.ID); err != nil || !ok {
				t.Errorf("limit %d: %+v, %v", limit, e, err)
			}
		}
	}
	allThere()
	mem.SetLimit(0)
	must.Do(t, db.Flush(ctx))
	must.Do(t, db.Close())
	if db, err = Open("/db", &opts); err != nil {
		t.Fatal(err)
	}
	allThere()
	if r, err := db.Check(ctx, nil); err != nil || len(r.Problems) > 0 {
		t.Errorf("limit %d: %+v, %v", limit, r, err)
	}
	must.Do(t, db.Close())
	names, err := mem.List("/db")
	for _, name := range names {
		if strings.HasSuffix(name, files.TempSuffix) || strings.HasSuffix(name, files.OrphanSuffix) {
			t.Errorf("limit %d: %s was left, %v", limit, name, err)
		}
	}
	return full
}

func smallDoc(id string) Doc {
	return Doc{ID: id, Text: strings.Repeat(id+" is some text of its own ", 8), Fingerprints: []Fingerprint{{uint64(len(id))}}}
}

// TestMergeGivesWay holds a merge until the disk is full: a write that finds no space must succeed,
// because the merge gives up its file. Compact then fails with the reason. Later the merge
// succeeds.
func TestMergeGivesWay(t *testing.T) {
	const leastGivenUp = 256 << 10 // bytes of the merge that make space for the log
	ctx := context.Background()
	for _, compact := range []bool{false, true} {
		mem := vfstest.NewMem(hostDir(t))
		defer mem.Discard()
		opts := Options{NoText: true, NoSketch: true, policy: eager, fs: mem, DisableAutoCompaction: true}
		db, err := Open("/db", &opts)
		must.Do(t, err)
		for i := range 2 {
			loadTable(t, db, 80_000*i, 80_000*(i+1))
		}
		must.Do(t, db.Close())
		opts.DisableAutoCompaction, opts.CompactionRate = compact, 3_000_000
		var merged atomic.Int64
		opts.OnEvent = func(e Event) {
			if e.Kind == "compact" {
				merged.Add(1)
			}
		}
		if db, err = Open("/db", &opts); err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		put(t, db, "first", 1)
		compacted := make(chan error, 1)
		if compact {
			go func() { compacted <- db.Compact(ctx, nil) }()
		}
		until(t, "a merge writes", func() bool {
			names, _ := mem.List("/db")
			for _, name := range names {
				if st, _ := mem.Stat("/db/" + name); strings.HasSuffix(name, files.TempSuffix) && st.Size > leastGivenUp {
					return true
				}
			}
			return false
		})
		db.SetCompactionRate(1) // this holds the merge
		mem.SetLimit(mem.Used())
		must.Do(t, db.Put(ctx, Doc{ID: "second", Fingerprints: []Fingerprint{{uint64(2)}}}))
		if compact {
			if err := <-compacted; !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrFailed) {
				t.Errorf("compact: %v", err)
			}
		}
		// A merge that finds no space itself releases its file before it has ended.
		until(t, "no merge runs", func() bool { return db.Metrics().Merging == 0 })
		if n := merged.Load(); n != 0 {
			t.Errorf("%d merges have succeeded", n)
		}
		mem.SetLimit(0)
		db.SetCompactionRate(0)
		if compact {
			if err := db.Compact(ctx, nil); err != nil {
				t.Error(err)
			}
		}
		until(t, "the merge succeeds", func() bool { return merged.Load() > 0 })
		if st, err := db.Stats(); err != nil || st.Documents != 160_002 {
			t.Errorf("%d documents, %v", st.Documents, err)
		}
	}
}

// TestRotationFindsNoSpace flushes when there is no space for the end of the log: the memtable must
// not change, and the same open continues its log.
func TestRotationFindsNoSpace(t *testing.T) {
	ctx := context.Background()
	for _, noSync := range []bool{false, true} {
		mem := vfstest.NewMem(hostDir(t))
		defer mem.Discard()
		opts := Options{NoSketch: true, NoSync: noSync, fs: mem}
		db, err := Open("/db", &opts)
		must.Do(t, err)
		for i := range 3 {
			must.Do(t, db.Put(ctx, smallDoc(fmt.Sprint("before-", i))))
			mem.SetLimit(mem.Used())
			if err := db.Flush(ctx); !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrFailed) {
				t.Errorf("no sync %v: a flush without space: %v", noSync, err)
			}
			mem.SetLimit(0)
			if err := db.Put(ctx, smallDoc(fmt.Sprint("after-", i))); err != nil {
				t.Fatalf("no sync %v: with space: %v", noSync, err)
			}
		}
		must.Do(t, db.Close())
		if db, err = Open("/db", &opts); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			for _, id := range []string{fmt.Sprint("before-", i), fmt.Sprint("after-", i)} {
				if _, err := lookupOf(ctx, db, id); err != nil {
					t.Errorf("no sync %v: %s: %v", noSync, id, err)
				}
			}
		}
		must.Do(t, db.Close())
	}
}
