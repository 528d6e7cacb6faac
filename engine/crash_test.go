package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// An expectation describes the allowed contents of a database after a crash: one of some states, at
// a time.
type expectation struct {
	opts   Options
	now    time.Time
	states []*model
	pack   scriptPack // exists whole, or, if not acknowledged, possibly not at all
}

func (e expectation) options(fs vfs.FS) *Options {
	opts := e.opts
	opts.fs, opts.now = fs, func() time.Time { return e.now }
	return &opts
}

// describe formats the visible documents of a state.
func (e expectation) describe(m *model) string {
	var b strings.Builder
	docs := m.visible(e.now)
	for _, id := range slices.Sorted(maps.Keys(docs)) {
		fmt.Fprintf(&b, "%s=%x@%d ", id, docs[id].Fingerprint, docs[id].Time.Unix())
	}
	fmt.Fprintf(&b, "mark=%d", m.mark)
	return b.String()
}

// entries returns the contents of a database as a model.
func entries(ctx context.Context, s *Snapshot) (*model, error) {
	got := &model{docs: map[string]entry{}}
	for x, err := range entriesIn(ctx, s, Range{}) {
		if err != nil {
			return nil, err
		}
		got.docs[x.ID] = x
	}
	return got, nil
}

// checkPack checks the packed file, which is outside the database.
func (e expectation) checkPack(fs vfs.FS) error {
	if _, err := fs.Stat(e.pack.path); e.pack.path == "" || err != nil && !e.pack.acked {
		return nil
	}
	db, err := Open(e.pack.path, &Options{fs: fs, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("packed file: %w", err)
	}
	defer db.Close()
	s, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	got, err := entries(context.Background(), s)
	e.now = e.pack.now
	if err == nil && e.describe(got) != e.describe(e.pack.docs) {
		err = fmt.Errorf("packed file: got %s\nwant %s", e.describe(got), e.describe(e.pack.docs))
	}
	return err
}

// found returns the expected state that the database has.
func (e expectation) found(db *DB) (*model, error) {
	ctx := context.Background()
	s, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	got, err := entries(ctx, s)
	if err != nil {
		return nil, err
	}
	got.mark = db.s.LoadMark("source")
	report, err := db.Check(ctx, nil)
	if err != nil || len(report.Problems) > 0 {
		return nil, fmt.Errorf("check: %v, %w", report.Problems, err)
	}
	if err := spotCheck(ctx, s, got, !e.opts.NoText); err != nil {
		return nil, err
	}
	is := e.describe(got)
	for _, m := range slices.Backward(e.states) {
		if e.describe(m) == is {
			return m, nil
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "unexpected state\n got %s", is)
	for _, m := range e.states[max(0, len(e.states)-3):] {
		fmt.Fprintf(&b, "\nwant %s", e.describe(m))
	}
	return nil, errors.New(b.String())
}

// spotCheck looks up two documents by ID and by fingerprint, and compares them with got.
func spotCheck(ctx context.Context, s *Snapshot, got *model, text bool) error {
	n := 0
	for id, x := range got.docs {
		if n++; n > 2 {
			break
		}
		d, err := s.Get(ctx, id)
		if err != nil || len(d.Fingerprints) != 1 || !slices.Equal(d.Fingerprints[0], scriptWords(s.v.Bits(), x.Fingerprint)) || text && d.Text != scriptText(x.Fingerprint) {
			return fmt.Errorf("document %s, %x: got %+v, %w", id, x.Fingerprint, d, err)
		}
		found := false
		for m, err := range s.Search(ctx, Doc{Fingerprints: d.Fingerprints}, Near(4), nil) {
			if err != nil {
				return err
			}
			found = found || m.ID == id
		}
		if !found {
			return fmt.Errorf("document %s is not near itself", id)
		}
	}
	return nil
}

// recovered opens the database after a crash and returns the expected state that it found.
func (e expectation) recovered(fs vfs.FS) (*model, error) {
	db, err := Open(scriptPath, e.options(fs))
	if err != nil {
		return nil, fmt.Errorf("open after the crash: %w", err)
	}
	m, err := e.found(db)
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = e.checkPack(fs)
	}
	return m, err
}

// keepWriting recovers from a crash, continues writing in the same open, and closes the database or
// crashes again, for several rounds. Each open must find all acknowledged writes, and otherwise
// only parts of writes that were in progress.
func (e expectation) keepWriting(fs *vfstest.Mem, r *rand.Rand, rounds int) error {
	var left []*vfstest.Mem
	defer func() {
		for _, c := range left {
			c.Discard()
		}
	}()
	for round := range rounds {
		after, err := e.round(fs, r)
		if err != nil {
			return fmt.Errorf("writing again, round %d: %w", round, err)
		}
		if after != fs {
			fs, left = after, append(left, after)
		}
	}
	_, err := e.recovered(fs)
	if err != nil {
		err = fmt.Errorf("after %d rounds of writing: %w", rounds, err)
	}
	return err
}

// round is one open of keepWriting. It sets e.states to the states that the next open may find, and
// returns the file system for that.
func (e *expectation) round(fs *vfstest.Mem, r *rand.Rand) (after *vfstest.Mem, err error) {
	db, err := Open(scriptPath, e.options(fs))
	if err != nil {
		return nil, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, db.Close())
		}
	}()
	m, err := e.found(db)
	if err == nil {
		err = e.checkPack(fs)
	}
	if err != nil {
		return nil, err
	}
	acked := []*model{m}
	for range r.IntN(4) { // or none: only recover and close
		next := acked[len(acked)-1].clone()
		if err := e.writeOnce(db, r, next); err != nil {
			return nil, err
		}
		acked = append(acked, next)
	}
	e.states = acked[len(acked)-1:]
	after, ending := fs, r.IntN(4)
	if ending > 0 && e.opts.NoSync {
		e.states = acked
	}
	if ending == 1 { // cut the power now
		return leave(fs, shares[r.IntN(len(shares))], r.Uint64()), nil
	}
	if ending == 2 { // or while the database is closed
		fs.CrashAt(fs.Ops() + 1 + r.IntN(6))
	}
	closed = true
	if err = db.Close(); fs.Crashed() {
		return leave(fs, shares[r.IntN(len(shares))], r.Uint64()), nil
	}
	fs.CrashAt(0)
	if ending == 3 { // or after it was closed
		after = leave(fs, shares[r.IntN(len(shares))], r.Uint64())
	}
	return after, err
}

// writeOnce makes one write to a recovered database, and to its model.
func (e expectation) writeOnce(db *DB, r *rand.Rand, m *model) error {
	ctx := context.Background()
	fp := r.Uint64()
	d := Doc{ID: fmt.Sprintf("after%d", r.IntN(3)), Text: scriptText(fp)}
	d.Fingerprints = []Fingerprint{scriptWords(db.Options().Bits, fp)}
	switch r.IntN(8) {
	case 0:
		for id := range m.visible(e.now) {
			delete(m.docs, id)
			return db.Delete(ctx, id)
		}
	case 1:
		m.putAt(d, e.now)
		return cmp.Or(db.Put(ctx, d), db.Flush(ctx))
	case 2:
		m.putAt(d, e.now)
		return cmp.Or(db.Put(ctx, d), db.Compact(ctx, nil))
	}
	m.putAt(d, e.now)
	return db.Put(ctx, d)
}

// hostDir returns a folder for the files that bbolt opens, in memory if possible.
func hostDir(t testing.TB) string {
	if dir, err := os.MkdirTemp("/dev/shm", "simdb"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

// crashWorkloads are options under which the script is crashed; each runs with another seed.
var crashWorkloads = []Options{
	{MemtableBytes: 3000, DisableAutoCompaction: true},
	{MemtableBytes: 2000, NoSketch: true},
	{MemtableBytes: 3000, NoSketch: true, NoSync: true},
	{MemtableBytes: 1500, Shingle: 2, Sketch: 16, Containment: true},
	{MemtableBytes: 5000, NoSketch: true, NoText: true, Layout: "5:2", DisableAutoCompaction: true},
	{MemtableBytes: 1000, MaxTableBytes: 8000, NoSketch: true, policy: eager, mergeSlots: 4},
	{MemtableBytes: 2500, NoSketch: true, Bits: 192},
}

// A cut is a possible state after a power cut or a kill.
type cut struct {
	expectation
	fs *vfstest.Mem
	op int // the crash came before this operation
}

// killed, in place of a share of unsynced data, means that the process was killed: all of its
// writes are there, but not durable yet.
const killed = -1

// what describes leave(keep) in words.
func what(keep float64) string {
	if keep == killed {
		return "kill"
	}
	return fmt.Sprintf("power cut with %v of the unsynced data kept", keep)
}

// leave returns the file system after a power cut that retains the given share of the unsynced
// data, or after a kill.
func leave(fs *vfstest.Mem, keep float64, seed uint64) *vfstest.Mem {
	if keep == killed {
		return fs.KillClone()
	}
	return fs.CrashClone(keep, seed)
}

// cuts runs a script. Before each file operation that changes something and is among the cases, and
// at the end, it makes copies of the file system as after a power cut, once for each share of
// unsynced data that kept returns, without stopping the script. It passes each copy to check, in as
// many goroutines as there are processors. It returns the number of operations.
func cuts(t *testing.T, sc *script, cases exhaustive.Share, kept func(op int) []float64, check func(c cut) error) int {
	t.Helper()
	var (
		wg     sync.WaitGroup
		slots  = make(chan struct{}, runtime.GOMAXPROCS(0))
		mem    = vfstest.NewMem(hostDir(t))
		failed atomic.Pointer[error]
		op     = -1
	)
	take := func(last bool) {
		if op++; !cases.Takes(op) && !last || failed.Load() != nil {
			return
		}
		e := sc.expected()
		for _, keep := range kept(op) {
			c := cut{e, leave(mem, keep, uint64(op)), op}
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				defer c.fs.Discard()
				if err := check(c); err != nil {
					err = fmt.Errorf("seed %d, before operation %d, %s: %w\nfor it alone: %s", sc.seed, c.op, what(keep), err, cases.Alone(c.op))
					failed.CompareAndSwap(nil, &err)
				}
			})
		}
	}
	faulty := vfstest.NewFaulty(mem, func(o vfstest.Op) error {
		if o.Kind.Changes() { // also at the end of a commit, whose last fsync may be missing
			take(false)
		}
		return nil
	})
	err := sc.run(faulty)
	take(true)
	wg.Wait()
	mem.Discard()
	if first := failed.Load(); first != nil {
		t.Fatal(*first)
	}
	must.Do(t, err)
	return op + 1
}

// shares are the shares of unsynced data that survive a power cut, and a kill.
var shares = []float64{0, 0.5, 1, killed}

// TestCrashAtEveryOperation cuts the power at the file operations of scripts, with none, half and
// all of the unsynced data left, recovers, continues writing in the same open, and closes or
// crashes again.
func TestCrashAtEveryOperation(t *testing.T) {
	cases, steps := exhaustive.Every(t, 40), exhaustive.Size(60, 500)
	var states, ops atomic.Int64
	all := func(int) []float64 { return shares }
	for seed, opts := range crashWorkloads {
		ops.Add(int64(cuts(t, newScript(uint64(seed), steps, opts), cases, all, func(c cut) error {
			n := states.Add(1)
			return c.keepWriting(c.fs, rand.New(rand.NewPCG(uint64(seed), uint64(c.op))), 1+int(n%2))
		})))
	}
	t.Logf("%d operations, %d states recovered from", ops.Load(), states.Load())
}

// TestCrashInPrune cuts the power at the file operations of scripts that load, flush and prune:
// after a prune over several tables, all of its deletes are there, or none.
func TestCrashInPrune(t *testing.T) {
	cases, steps := exhaustive.Every(t, 60), exhaustive.Size(90, 300)
	var states, ops atomic.Int64
	all := func(int) []float64 { return shares }
	for seed, opts := range crashWorkloads {
		sc := newScript(uint64(seed), steps, opts)
		sc.kinds = []int{0, 8, 2, 8, 1, 8} // load, prune, flush, prune, load new documents, prune
		ops.Add(int64(cuts(t, sc, cases, all, func(c cut) error {
			states.Add(1)
			return c.keepWriting(c.fs, rand.New(rand.NewPCG(uint64(seed), uint64(c.op))), 1)
		})))
	}
	t.Logf("%d operations, %d states recovered from", ops.Load(), states.Load())
}

// TestNewFolders cuts the power after the first write to a database in new folders, with nothing
// unsynced left: all folders must be there. Folders left by an earlier attempt that was killed
// count as new.
func TestNewFolders(t *testing.T) {
	ctx := context.Background()
	for _, made := range []string{"/", "/a", "/a/b/c", "/a/b/c/db"} {
		mem := vfstest.NewMem(hostDir(t))
		must.Do(t, mem.MkdirAll(made))
		db, err := Open("/a/b/c/db", &Options{fs: mem})
		if err == nil {
			err = db.Put(ctx, Doc{ID: "x", Text: "one two three"})
		}
		must.Do(t, err)
		after := mem.CrashClone(0, 1)
		must.Do(t, db.Close())
		if db, err = Open("/a/b/c/db", &Options{fs: after, MustExist: true}); err != nil {
			t.Fatalf("%s was there: %v", made, err)
		}
		if _, err := lookupOf(ctx, db, "x"); err != nil {
			t.Errorf("%s was there: %v", made, err)
		}
		must.Do(t, db.Close())
	}
}

// TestCrashInRecovery cuts the power in a script, at every file operation of the recovery from
// that, and at every operation of the recovery from that. The state that an undisturbed recovery
// finds must also be found by every later one, except after a kill, when any state allowed after
// the kill may be found.
func TestCrashInRecovery(t *testing.T) {
	cases := exhaustive.Every(t, 200)
	one := func(op int) []float64 { return shares[rand.New(rand.NewPCG(17, uint64(op))).IntN(len(shares)):][:1] }
	states := make([]atomic.Int64, 3)
	for seed := range exhaustive.Some(t, 3, len(crashWorkloads)) {
		cuts(t, newScript(uint64(seed)+100, 42, crashWorkloads[seed]), cases, one, func(c cut) error {
			undisturbed := c.fs.KillClone()
			defer undisturbed.Discard()
			m, err := c.recovered(undisturbed)
			if err != nil {
				return err
			}
			// Data that a killed process wrote without syncing was never acknowledged as safe, and
			// may be lost until it is recovered.
			if one(c.op)[0] != killed {
				c.states = []*model{m}
			}
			return c.crashRecovery(c.fs, 2, rand.New(rand.NewPCG(uint64(seed), uint64(c.op))), states)
		})
	}
	t.Logf("%d power cuts, %d in the recovery from them, %d in the recovery from those",
		states[2].Load(), states[1].Load(), states[0].Load())
}

// crashRecovery recovers from a crash, checks the result, and crashes before each file operation of
// the recovery, up to and including the closing of the database. It recovers from each of these
// crashes in the same way, depth levels down.
func (e expectation) crashRecovery(fs *vfstest.Mem, depth int, r *rand.Rand, states []atomic.Int64) error {
	states[depth].Add(1)
	if depth == 0 {
		return e.keepWriting(fs, r, 1)
	}
	var left []*vfstest.Mem
	defer func() {
		for _, c := range left {
			c.Discard()
		}
	}()
	_, err := e.recovered(vfstest.NewFaulty(fs, func(o vfstest.Op) error {
		if o.Kind.Changes() {
			left = append(left, leave(fs, shares[r.IntN(len(shares))], r.Uint64()))
		}
		return nil
	}))
	if err != nil {
		return err
	}
	for i, c := range left {
		if err := e.crashRecovery(c, depth-1, r, states); err != nil {
			return fmt.Errorf("again before operation %d of the recovery: %w", i+1, err)
		}
	}
	return nil
}

// TestErrorAtEveryOperation makes every file operation fail, once, and then that operation and
// every later one that changes something: the error must be returned, reading continues, and the
// database opens again with all acknowledged writes, and accepts writes.
func TestErrorAtEveryOperation(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		t.Run(fmt.Sprintf("%v once", cause), func(t *testing.T) {
			t.Parallel()
			failEverywhere(t, cause, vfstest.FailOnce)
		})
		t.Run(fmt.Sprintf("%v for ever", cause), func(t *testing.T) {
			t.Parallel()
			failEverywhere(t, cause, vfstest.FailFrom)
		})
	}
}

func failEverywhere(t *testing.T, cause error, fail func(int, error) func(vfstest.Op) error) {
	dir := hostDir(t)
	operations := func() int { // of the script if nothing fails
		mem := vfstest.NewMem(dir)
		defer mem.Discard()
		faulty := vfstest.NewFaulty(mem, func(vfstest.Op) error { return nil })
		must.Do(t, newScript(1, 40, crashWorkloads[0]).run(faulty))
		return faulty.Ops()
	}()
	for op := range exhaustive.Every(t, 20).Of(operations) {
		mem := vfstest.NewMem(dir)
		faulty := vfstest.NewFaulty(mem, fail(op+1, cause))
		sc := newScript(1, 40, crashWorkloads[0])
		err := sc.run(faulty)
		if err != nil && !errors.Is(err, cause) && !errors.Is(err, ErrFailed) {
			t.Fatalf("operation %d: %v does not wrap %v", op, err, cause)
		}
		if err := sc.expected().keepWriting(mem, rand.New(rand.NewPCG(1, uint64(op))), 2); err != nil {
			t.Fatalf("%v at operation %d: %v", cause, op, err)
		}
		mem.Discard()
	}
}
