package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// crashWriters is a database in new nested folders that several goroutines write concurrently,
// while another loads, flushes and merges. Write n of a writer, from 1, is a batch: a new document
// that stays, two that are replaced, or, in every fifth write, deleted together, and one that all
// writers replace. One number therefore describes everything that a writer has written.
type crashWriters struct {
	opts         Options
	writes       int // per writer
	opened       atomic.Bool
	tried, acked [crashLanes]atomic.Int64
}

// The writers use lanes from 0; the loads use the last lane.
const (
	crashLanes = 5
	loadLane   = crashLanes - 1
	crashDB    = "/a/b/db"
)

// numbers are the numbers of the last writes, by lane.
type numbers [crashLanes]int64

func numbersOf(lanes *[crashLanes]atomic.Int64) (all numbers) {
	for i := range lanes {
		all[i] = lanes[i].Load()
	}
	return all
}

func stays(lane int, n int64) string { return fmt.Sprintf("stays-%d-%d", lane, n) }
func hotPrint(lane int, n int64) Doc {
	return Doc{ID: "hot", Fingerprints: []Fingerprint{{uint64(lane)<<32 | uint64(n)}}}
}
func replacedBy(n int64) (there bool)   { return n > 0 && n%5 != 0 }
func replaced(lane, which int) string   { return fmt.Sprintf("replaced-%d-%d", lane, which) }
func withNumber(id string, n int64) Doc { return Doc{ID: id, Fingerprints: []Fingerprint{{uint64(n)}}} }

func (c *crashWriters) write(db *DB, lane int, n int64) (err error) {
	ctx := context.Background()
	c.tried[lane].Store(n)
	if lane == loadLane {
		var l *Loader
		if l, err = db.NewLoader(ctx, &LoadOptions{Replace: true, Workers: 1}); err != nil {
			return err
		}
		err = errors.Join(l.Add(withNumber(stays(lane, n), n)), l.Add(withNumber(replaced(lane, 0), n)))
		_, err2 := l.Close()
		err = errors.Join(err, err2)
	} else {
		var b Batch
		b.Put(withNumber(stays(lane, n), n))
		for which := range 2 {
			if replacedBy(n) {
				b.Put(withNumber(replaced(lane, which), n))
			} else {
				b.Delete(replaced(lane, which))
			}
		}
		b.Put(hotPrint(lane, n))
		err = db.Apply(ctx, &b)
	}
	if err == nil {
		c.acked[lane].Store(n)
	}
	return err
}

// lane makes all writes of a lane, after those already made.
func (c *crashWriters) lane(db *DB, lane, writes int) error {
	first := c.tried[lane].Load() + 1
	for n := first; n < first+int64(writes); n++ {
		if err := c.write(db, lane, n); err != nil {
			return fmt.Errorf("write %d of %d: %w", n, lane, err)
		}
		if lane != loadLane {
			continue
		}
		if err := errors.Join(db.Flush(context.Background()), db.Compact(context.Background(), nil)); err != nil {
			return err
		}
	}
	return nil
}

func (c *crashWriters) lanes(db *DB, writes, loads int) error {
	var wg sync.WaitGroup
	var errs [crashLanes]error
	for lane := range crashLanes {
		n := writes
		if lane == loadLane {
			n = loads
		}
		wg.Go(func() { errs[lane] = c.lane(db, lane, n) })
	}
	wg.Wait()
	return errors.Join(errs[:]...)
}

// open opens the database on a file system.
func (c *crashWriters) open(fs vfs.FS, mustExist bool) (*DB, error) {
	opts := c.opts
	opts.fs, opts.MustExist = fs, mustExist
	return Open(crashDB, &opts)
}

// found returns the last writes that a database shows. It returns an error unless the database has
// all documents of these writes, and no others.
func (c *crashWriters) found(db *DB) (at numbers, err error) {
	got := map[string]uint64{}
	var latest, hot uint64 // sequence numbers
	for e, err := range entriesOf(context.Background(), db, Range{}) {
		if _, twice := got[e.ID]; err != nil || twice {
			return at, fmt.Errorf("%s occurs twice, or %w", e.ID, err)
		}
		got[e.ID] = e.Fingerprint
		var lane int
		var n int64
		if _, err := fmt.Sscanf(e.ID, "stays-%d-%d", &lane, &n); err == nil {
			at[lane] = max(at[lane], n)
			if lane != loadLane {
				latest = max(latest, e.Seq)
			}
		}
		if e.ID == "hot" {
			hot = e.Seq
		}
	}
	want := 0
	has := func(d Doc) {
		want++
		if fp, ok := got[d.ID]; !ok || fp != d.Fingerprints[0][0] {
			err = errors.Join(err, fmt.Errorf("%s is %x (there: %v), not %x", d.ID, fp, ok, d.Fingerprints[0][0]))
		}
	}
	for lane, n := range at {
		for i := range n {
			has(withNumber(stays(lane, i+1), i+1))
		}
		switch {
		case lane == loadLane && n > 0:
			has(withNumber(replaced(lane, 0), n))
		case lane != loadLane && replacedBy(n):
			has(withNumber(replaced(lane, 0), n))
			has(withNumber(replaced(lane, 1), n))
		}
	}
	if latest > 0 { // that batch has replaced the shared document, too, in its last write
		lane := int(got["hot"] >> 32)
		if want++; lane >= loadLane || uint64(at[lane]) != got["hot"]&(1<<32-1) || hot < latest {
			err = errors.Join(err, fmt.Errorf("the document of all writers is %x of write %d, and %v is there up to %d", got["hot"], hot, at, latest))
		}
	}
	if len(got) != want {
		err = errors.Join(err, fmt.Errorf("%d documents, not %d: %v", len(got), want, got))
	}
	return at, err
}

// recover opens the database after a crash, when at least the writes least were acknowledged and at
// most those in most begun. It checks the contents, and continues with several writers. Then it
// cuts the power again, and all unsynced data is lost.
func (c *crashWriters) recover(fs *vfstest.Mem, opened bool, least, most numbers) error {
	db, err := c.open(fs, opened)
	if err != nil {
		return err
	}
	at, err := c.found(db)
	for lane := range at {
		if at[lane] < least[lane] || at[lane] > most[lane] {
			err = errors.Join(err, fmt.Errorf("lane %d has %d writes; %d were acknowledged and %d begun", lane, at[lane], least[lane], most[lane]))
		}
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	next := &crashWriters{opts: c.opts}
	for lane := range at {
		next.tried[lane].Store(at[lane])
	}
	if err := next.lanes(db, 2, 1); err != nil {
		return errors.Join(err, db.Close())
	}
	report, err := db.Check(context.Background(), nil)
	if err != nil || len(report.Problems) > 0 {
		err = fmt.Errorf("check: %v, %w", report.Problems, err)
	}
	if err := errors.Join(err, db.Close()); err != nil { // this syncs the log
		return err
	}
	after := fs.CrashClone(0, 1)
	defer after.Discard()
	if db, err = c.open(after, true); err != nil {
		return err
	}
	again, err := next.found(db)
	if want := numbersOf(&next.acked); err == nil && again != want {
		err = fmt.Errorf("after going on %v, not %v", again, want)
	}
	return errors.Join(err, db.Close())
}

// TestCrashBesideWriters cuts the power, or kills the process, at file operations of a database
// that five goroutines write, including the creation of its folders. For each goroutine all
// acknowledged writes must be there, and possibly the next ones, whole and in order. After opening,
// as many writers continue.
func TestCrashBesideWriters(t *testing.T) {
	cases, writes := exhaustive.Every(t, 100), exhaustive.Size(6, 40)
	var states, ops atomic.Int64
	for seed, opts := range crashWorkloads {
		opts.Bits = 0 // its writers store single words
		c := &crashWriters{opts: opts, writes: writes}
		ops.Add(int64(c.crash(t, cases, uint64(seed), &states)))
	}
	t.Logf("%d operations, %d states recovered from", ops.Load(), states.Load())
}

// crash makes the writes, and recovers from crashes before the operations among the cases. It
// returns the number of operations.
func (c *crashWriters) crash(t *testing.T, cases exhaustive.Share, seed uint64, states *atomic.Int64) (op int) {
	var (
		wg     sync.WaitGroup
		slots  = make(chan struct{}, runtime.GOMAXPROCS(0))
		mem    = vfstest.NewMem(hostDir(t))
		failed atomic.Pointer[error]
	)
	faulty := vfstest.NewFaulty(mem, func(o vfstest.Op) error { // called for one operation at a time
		if !o.Kind.Changes() {
			return nil
		}
		if o.Kind == vfstest.OpSync {
			time.Sleep(50 * time.Microsecond) // lets others append to the log
		}
		if op++; !cases.Takes(op-1) || failed.Load() != nil {
			return nil
		}
		for i, keep := range shares {
			opened, least := c.opened.Load(), numbersOf(&c.acked)
			fs := leave(mem, keep, seed<<32|uint64(op))
			most := numbersOf(&c.tried)
			if c.opts.NoSync && keep != killed {
				least = numbers{}
			}
			number := op*len(shares) + i
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				defer fs.Discard()
				states.Add(1)
				if err := c.recover(fs, opened, least, most); err != nil {
					err = fmt.Errorf("workload %d, before operation %d, %s: %w", seed, number/len(shares), what(keep), err)
					failed.CompareAndSwap(nil, &err)
				}
			})
		}
		return nil
	})
	db, err := c.open(faulty, false)
	if err == nil {
		c.opened.Store(true)
		err = errors.Join(c.lanes(db, c.writes, c.writes/3), db.Close())
	}
	wg.Wait()
	mem.Discard()
	if first := failed.Load(); first != nil {
		t.Fatal(*first)
	}
	must.Do(t, err)
	return op
}
