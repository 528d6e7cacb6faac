package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

var errKilled = errors.New("killed")

// A sharedPair is a database that two processes have open. The first one dies at an operation.
type sharedPair struct {
	t      *testing.T
	mem    *vfstest.Mem
	first  *vfstest.Faulty
	dbs    [2]*DB // the first is nil once it has died
	died   *DB
	acked  map[string]uint64
	doubt  map[string]uint64 // what the write in which the process died would have stored; 0 for nothing
	rng    *rand.Rand
	loaded int

	dies, resume chan struct{}
}

func newSharedPair(t *testing.T, seed uint64) *sharedPair {
	mem := vfstest.NewMem(t.TempDir())
	t.Cleanup(func() { mem.Discard() })
	p := &sharedPair{
		t: t, mem: mem, first: vfstest.NewFaulty(mem, nil), acked: map[string]uint64{}, doubt: map[string]uint64{}, rng: rand.New(rand.NewPCG(seed, 8)),
		dies: make(chan struct{}), resume: make(chan struct{}),
	}
	for i, fs := range []vfs.FS{p.first, mem} {
		p.dbs[i] = must.Get(Open("/db", &Options{fs: fs, Shared: true, MemtableBytes: 20_000}))(t)
	}
	return p
}

// step lets a process write, and checks that the other one sees it.
func (p *sharedPair) step() {
	who, kind := p.rng.IntN(2), p.rng.IntN(12)
	db, id, fp := p.dbs[who], fmt.Sprint("d", p.rng.IntN(40)), p.rng.Uint64()|1
	if db == nil {
		return
	}
	switch {
	case kind < 2:
		id = ""
	case kind < 4:
		fp = 0
	case kind == 4:
		p.loaded++
		id = fmt.Sprint("l", p.loaded)
	}
	done := make(chan error, 1)
	go func() { done <- p.write(db, kind, Doc{ID: id, Fingerprints: []Fingerprint{{fp}}}) }()
	dies := p.dies
	if p.dbs[0] == nil {
		dies = nil
	}
	select {
	case err := <-done:
		if err != nil {
			p.t.Fatalf("process %d: %v", who+1, err)
		}
	case <-dies:
		p.first.End()
		p.died, p.dbs[0] = p.dbs[0], nil
		if who == 0 {
			if id != "" {
				p.doubt[id] = fp
			}
			return
		}
		if err := <-done; err != nil {
			p.t.Fatalf("process 2 beside the death of process 1: %v", err)
		}
	}
	if id != "" {
		p.acked[id] = fp
		delete(p.doubt, id)
		p.check(p.dbs[1], id)
	}
}

func (p *sharedPair) write(db *DB, kind int, d Doc) error {
	ctx := p.t.Context()
	switch kind {
	case 0:
		return db.Flush(ctx)
	case 1:
		return db.Compact(ctx, nil)
	case 2, 3:
		if err := db.Delete(ctx, d.ID); !errors.Is(err, ErrNotFound) || p.acked[d.ID] != 0 {
			return err
		}
		return nil
	case 4:
		return loadOne(db, d)
	case 5:
		_, stored, err := db.PutNovel(ctx, d, Near(0))
		if err == nil && !stored {
			err = errors.New("it is not stored")
		}
		return err
	}
	return db.Put(ctx, d)
}

func loadOne(db *DB, d Doc) error {
	l, err := db.NewLoader(context.Background(), &LoadOptions{Replace: true, Workers: 1})
	if err != nil {
		return err
	}
	if err := l.Add(d); err != nil {
		l.Abort()
		return err
	}
	_, err = l.Close()
	return err
}

// check compares a document with the acknowledged writes.
func (p *sharedPair) check(db *DB, id string) {
	p.t.Helper()
	d, err := db.Get(p.t.Context(), id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		p.t.Fatalf("%s: %v", id, err)
	}
	got := uint64(0)
	if err == nil {
		got = d.Fingerprints[0][0]
	}
	if maybe, ok := p.doubt[id]; got != p.acked[id] && (!ok || got != maybe) {
		p.t.Fatalf("%s is %x instead of %x", id, got, p.acked[id])
	}
}

func (p *sharedPair) checkAll(db *DB) {
	p.t.Helper()
	for id := range p.acked {
		p.check(db, id)
	}
	for id := range p.doubt {
		p.check(db, id)
	}
}

// TestSharedDeath lets one of two processes die at each operation. The other one sees all that was
// acknowledged and goes on writing; so does the next process after a power cut.
func TestSharedDeath(t *testing.T) {
	count := newSharedPair(t, 1)
	operations := -count.first.Ops()
	for range 60 {
		count.step()
	}
	operations += count.first.Ops()
	for _, db := range count.dbs {
		db.Close()
	}
	for n := range exhaustive.Every(t, 8).Of(operations) {
		p := newSharedPair(t, 1+uint64(n%5))
		opening, dies := p.first.Ops(), sync.OnceFunc(func() { close(p.dies) })
		p.first.SetInject(func(op vfstest.Op) error {
			if op.N <= opening+n {
				return nil
			}
			dies()
			<-p.resume // for other processes it ends here
			return errKilled
		})
		for range 60 {
			p.step()
		}
		p.checkAll(p.dbs[1])
		cut := p.mem.CrashClone(p.rng.Float64(), uint64(n))
		if err := p.dbs[1].Close(); err != nil {
			t.Errorf("operation %d: %v", n, err)
		}
		for _, fs := range []vfs.FS{p.mem, cut} {
			db, err := Open("/db", &Options{fs: fs, MemtableBytes: 20_000})
			if err != nil {
				if p.dbs[0] != nil {
					break // it has not died, and shares the database
				}
				t.Fatalf("operation %d: %v", n, err)
			}
			p.checkAll(db)
			put(t, db, "after", 9)
			p.checkAll(db)
			if err := db.Close(); err != nil {
				t.Errorf("operation %d: %v", n, err)
			}
		}
		close(p.resume)
		cmp.Or(p.died, p.dbs[0]).Close()
		cut.Discard()
	}
	t.Logf("%d operations", operations)
}
