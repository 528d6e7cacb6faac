package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/simdb/simdb/internal/vfs"
)

// A script is a fixed workload that makes every kind of file operation: log writes, rotations, flushes, loads, compactions,
// reopening. It keeps what was acknowledged, and what was tried after that.
type script struct {
	acked []*model // acked[i] is the state after i steps, all acknowledged
	tried *model   // the state if the step that failed had succeeded, or nil
}

const scriptSteps = 40

// run carries out the script until a step fails. Steps are the same for the same seed.
func (sc *script) run(fs vfs.FS, seed uint64) error {
	ctx := context.Background()
	opts := &Options{fs: fs, MemtableBytes: 3000, DisableAutoCompaction: true}
	m := &model{docs: map[string]Entry{}}
	sc.acked = []*model{m.clone()}
	db, err := Open("/db", opts)
	if err != nil {
		return err
	}
	defer func() { db.Close() }()
	r := rand.New(rand.NewPCG(seed, 3))
	for i := range scriptSteps {
		next := m.clone()
		var err error
		switch id := fmt.Sprintf("d%02d", r.IntN(25)); {
		case i%13 == 12:
			err = db.Compact(ctx, nil)
		case i%11 == 10:
			err = db.Flush(ctx)
		case i == 20:
			if err = db.Close(); err == nil {
				if again, e := Open("/db", opts); e == nil {
					db = again
				} else {
					err = e
				}
			}
		case i%9 == 8:
			err = scriptLoad(ctx, db, r, next)
		case i%5 == 4:
			delete(next.docs, id)
			err = db.Delete(ctx, id)
			if errors.Is(err, ErrNotFound) {
				err = nil
			}
		case i%7 == 6:
			var b Batch
			for range 5 {
				scriptPut(&b, r, next)
			}
			err = db.Apply(ctx, &b)
		default:
			var b Batch
			scriptPut(&b, r, next)
			err = db.Apply(ctx, &b)
		}
		if err != nil {
			sc.tried = next
			return err
		}
		m = next
		sc.acked = append(sc.acked, m.clone())
	}
	return db.Close()
}

func scriptPut(b *Batch, r *rand.Rand, m *model) {
	d := scriptDoc(r)
	b.Put(d)
	m.put(d.ID, *d.Fingerprint, true)
}

func scriptDoc(r *rand.Rand) Doc {
	return Doc{
		ID: fmt.Sprintf("d%02d", r.IntN(25)), Text: strings.Repeat("some text ", r.IntN(40)),
		Fingerprint: new(uint64(0xabcdef0123456789) ^ 1<<r.IntN(64) ^ 1<<r.IntN(64)),
	}
}

// scriptLoad loads as one table, so that the step is all or nothing.
func scriptLoad(ctx context.Context, db *DB, r *rand.Rand, m *model) error {
	l, err := db.NewLoader(ctx, LoadOptions{Replace: true, Workers: 1})
	if err != nil {
		return err
	}
	for range 6 {
		d := scriptDoc(r)
		if err := l.Add(d); err != nil {
			l.Abort()
			return err
		}
		m.put(d.ID, *d.Fingerprint, true)
	}
	_, err = l.Close()
	return err
}

// checkRecovered opens what a crash left and checks that it holds everything acknowledged, and of the step that was under way
// all or nothing.
func (sc *script) checkRecovered(t *testing.T, fs vfs.FS, what string) {
	t.Helper()
	db, err := Open("/db", &Options{fs: fs, MemtableBytes: 3000, DisableAutoCompaction: true})
	if err != nil {
		t.Fatalf("%s: open after the crash: %v", what, err)
	}
	defer db.Close()
	s, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := fmt.Sprint(simplify(collect(t, s.Entries(context.Background(), ""))))
	acked := sc.acked[len(sc.acked)-1]
	if got != fmt.Sprint(simplify(acked.sorted())) && (sc.tried == nil || got != fmt.Sprint(simplify(sc.tried.sorted()))) {
		t.Fatalf("%s: after %d steps\n got %s\nwant %v\n  or %v", what, len(sc.acked)-1, got, simplify(acked.sorted()), sc.tried)
	}
	report, err := db.Check(context.Background(), nil)
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%s: check: %v %v", what, report.Problems, err)
	}
	for _, m := range acked.sorted()[:min(2, len(acked.docs))] {
		for range collect(t, s.Near(context.Background(), m.Fingerprint, 4)) {
		}
	}
}

// hostDir returns a folder for the files that bbolt opens, in memory where there is such a place.
func hostDir(t testing.TB) string {
	if dir, err := os.MkdirTemp("/dev/shm", "simdb"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

// TestCrashAtEveryOperation cuts the power at every file operation of the script, with none, half and all of the unsynced data
// left, and recovers.
func TestCrashAtEveryOperation(t *testing.T) {
	dir := hostDir(t)
	states := 0
	for seed := range uint64(2) {
		whole := vfs.NewMem(dir)
		var sc script
		if err := sc.run(whole, seed); err != nil {
			t.Fatal(err)
		}
		ops := whole.Ops()
		whole.Discard()
		step := 1
		if testing.Short() {
			step = 7
		}
		for op := 1; op <= ops; op += step {
			crashOnce(t, dir, seed, op)
			states += 3
		}
	}
	t.Logf("%d states recovered from", states)
}

func crashOnce(t *testing.T, dir string, seed uint64, op int) {
	t.Helper()
	fs := vfs.NewMem(dir)
	defer fs.Discard()
	fs.CrashAt(op)
	var sc script
	sc.run(fs, seed)
	for i, keep := range []float64{0, 0.5, 1} {
		clone := fs.CrashClone(keep, uint64(op*3+i))
		sc.checkRecovered(t, clone, fmt.Sprintf("seed %d, crash at operation %d, %v of unsynced data kept", seed, op, keep))
		clone.Discard()
	}
}

// TestErrorAtEveryOperation makes every file operation fail, once, and from it on every one that changes something: the error
// surfaces, reading goes on, and the database opens again with everything acknowledged.
func TestErrorAtEveryOperation(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		t.Run(fmt.Sprintf("%v once", cause), func(t *testing.T) {
			t.Parallel()
			failEverywhere(t, cause, vfs.FailOnce)
		})
		t.Run(fmt.Sprintf("%v for ever", cause), func(t *testing.T) {
			t.Parallel()
			failEverywhere(t, cause, vfs.FailFrom)
		})
	}
}

func failEverywhere(t *testing.T, cause error, fail func(int, error) func(vfs.Op) error) {
	dir := hostDir(t)
	step := 1
	if testing.Short() {
		step = 7
	}
	for op := 1; ; op += step {
		mem := vfs.NewMem(dir)
		faulty := vfs.NewFaulty(mem, fail(op, cause))
		var sc script
		err := sc.run(faulty, 1)
		if faulty.Ops() < op {
			break
		}
		if err != nil && !errors.Is(err, cause) && !errors.Is(err, ErrFailed) {
			t.Fatalf("operation %d: %v does not wrap %v", op, err, cause)
		}
		sc.checkRecovered(t, mem, fmt.Sprintf("%v at operation %d", cause, op))
		mem.Discard()
	}
}
