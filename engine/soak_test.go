package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// A soak runs every operation of the database concurrently: writers, each with its own IDs,
// operations that delete versions they have seen, maintenance, readers, and power cuts. Each ID has
// one writer, so the values that a read may return are known at any moment:
//
//   - the state after its last acknowledged write, or after a write in progress;
//   - nothing, if a deleting operation has seen exactly that version, or if it may have expired.
type soak struct {
	t    *testing.T
	mem  *vfstest.Mem
	opts Options
	db   *DB
	stop atomic.Bool // ends a round

	ids       []*soakID // of all writers, one after the other
	next      atomic.Uint64
	condemned sync.Map // fingerprints of versions that some operation has decided to delete
	tries     [soakVerbs]atomic.Int64
}

const (
	soakWriters = 3
	soakPerID   = 20 // IDs per writer
	soakTTL     = time.Hour
	soakVerbs   = 20
)

// A soakID is an ID with the states that its writer has given it, oldest first.
type soakID struct {
	id     string
	mu     sync.Mutex
	states []soakState
	acked  int // index of the newest acknowledged state; later ones are being tried
}

// A soakState is the value stored under an ID: a version, identified by its fingerprint, or
// nothing.
type soakState struct {
	fp     uint64 // 0 for nothing
	mortal bool   // old enough to be pruned, or to expire at any moment
}

// try records that a write of a state begins.
func (x *soakID) try(s soakState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.states = append(x.states, s)
}

// ack records that the last state tried is acknowledged.
func (x *soakID) ack() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.acked = len(x.states) - 1
}

// from returns the index of the acknowledged state: a read that begins now sees this state or a
// later one.
func (x *soakID) from() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.acked
}

// check fails if a read that began when from was acknowledged, and has ended, cannot have found fp.
func (s *soak) check(x *soakID, from int, fp uint64, when string) {
	x.mu.Lock()
	states := slices.Clone(x.states[from:])
	x.mu.Unlock()
	for _, st := range states {
		if st.fp == fp {
			return
		}
		if _, condemned := s.condemned.Load(st.fp); fp == 0 && (st.mortal || condemned) {
			return
		}
	}
	s.t.Errorf("%s: %s is version %x; it may be one of %+v", when, x.id, fp, states)
	s.stop.Store(true)
}

func (s *soak) bounds() []int {
	at := make([]int, len(s.ids))
	for i, x := range s.ids {
		at[i] = x.from()
	}
	return at
}

// checkAll compares the contents of a snapshot with the allowed values, and looks up some documents
// by ID and by fingerprint.
func (s *soak) checkAll(snap *Snapshot, bounds []int, when string) {
	ctx := context.Background()
	found := map[string]entry{}
	seqs := map[uint64]string{}
	for e, err := range entriesIn(ctx, snap, Range{}) {
		if err != nil {
			s.t.Error(when, err)
			return
		}
		if other := seqs[e.Seq]; other != "" {
			s.t.Errorf("%s: %s and %s have the same number %d", when, other, e.ID, e.Seq)
		}
		found[e.ID], seqs[e.Seq] = e, e.ID
	}
	for i, x := range s.ids {
		e, ok := found[x.id]
		s.check(x, bounds[i], e.Fingerprint, when)
		if delete(found, x.id); !ok || i%7 != 0 {
			continue
		}
		if got, err := lookup(snap, ctx, x.id); err != nil || !reflect.DeepEqual(got, e) {
			s.t.Errorf("%s: Lookup says %+v, %v; the list %+v", when, got, err, e)
		}
		near := collect(s.t, snap.Search(ctx, ofPrint(e.Fingerprint), Near(0), nil))
		if len(near) != 1 || near[0].ID != x.id {
			s.t.Errorf("%s: near %s: %v", when, x.id, near)
		}
	}
	if len(found) > 0 {
		s.t.Errorf("%s: nobody has written %v", when, slices.Collect(maps.Keys(found)))
	}
}

// doc returns a new version of an ID, sometimes an old one.
func (s *soak) doc(r *rand.Rand, x *soakID) (Doc, soakState) {
	st := soakState{fp: s.next.Add(1) * 0x9e3779b97f4a7c15}
	d := Doc{ID: x.id, Fingerprints: []Fingerprint{{st.fp}}, Text: fmt.Sprintf("version %x", st.fp)}
	if st.mortal = r.IntN(4) == 0; st.mortal {
		d.Time = time.Now().Add([]time.Duration{-soakTTL / 2, -soakTTL + 50*time.Millisecond, -2 * soakTTL}[r.IntN(3)])
	}
	return d, st
}

// write is a writer: it stores and deletes its IDs in all ways, and reads each back.
func (s *soak) write(w int) error {
	r := rand.New(rand.NewPCG(uint64(w), s.next.Add(1)))
	own := s.ids[w*soakPerID : (w+1)*soakPerID]
	for !s.stop.Load() {
		perm := r.Perm(len(own))
		one, some := own[perm[0]:perm[0]+1], make([]*soakID, 1+r.IntN(8))
		for i := range some {
			some[i] = own[perm[i]]
		}
		var err error
		switch n := r.IntN(100); {
		case n < 50:
			err = s.store(r, 0, one, func(d []Doc) error { return s.db.Put(context.Background(), d[0]) })
		case n < 60:
			err = s.delete(one[0])
		case n < 75:
			err = s.batch(r, some)
		case n < 85:
			err = s.novel(r, one[0])
		case n < 90:
			err = s.store(r, 1, some, func(d []Doc) error { return s.load(d, true) })
		case n < 95:
			err = s.loadNew(r, one[0])
		default:
			err = s.store(r, 2, some, s.ingest)
		}
		if err != nil {
			return err
		}
		for _, x := range some {
			from := x.from()
			e, err := lookupOf(context.Background(), s.db, x.id)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			s.check(x, from, e.Fingerprint, "read back")
		}
	}
	return nil
}

// store stores new versions of IDs by an operation.
func (s *soak) store(r *rand.Rand, verb int, ids []*soakID, do func([]Doc) error) error {
	s.tries[verb].Add(1)
	var docs []Doc
	for _, x := range ids {
		d, st := s.doc(r, x)
		docs = append(docs, d)
		x.try(st)
	}
	err := do(docs)
	if err == nil {
		for _, x := range ids {
			x.ack()
		}
	}
	return err
}

func (s *soak) delete(x *soakID) error {
	s.tries[3].Add(1)
	x.try(soakState{})
	err := s.db.Delete(context.Background(), x.id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	x.ack()
	return nil
}

func (s *soak) batch(r *rand.Rand, ids []*soakID) error {
	s.tries[4].Add(1)
	var b Batch
	for _, x := range ids {
		if r.IntN(4) == 0 {
			x.try(soakState{})
			b.Delete(x.id)
			continue
		}
		d, st := s.doc(r, x)
		x.try(st)
		b.Put(d)
	}
	err := s.db.Apply(context.Background(), &b)
	if err == nil {
		for _, x := range ids {
			x.ack()
		}
	}
	return err
}

// novel stores a version if it is new: half of the time it resembles another ID's version, which
// may be deleted at any moment.
func (s *soak) novel(r *rand.Rand, x *soakID) error {
	s.tries[5].Add(1)
	ctx := context.Background()
	d, st := s.doc(r, x)
	alike := false
	if twin := s.ids[r.IntN(len(s.ids))]; twin != x && r.IntN(2) == 0 {
		if e, err := lookupOf(ctx, s.db, twin.id); err == nil {
			st.fp, alike = e.Fingerprint^1<<r.IntN(64), true
			d.Fingerprints = []Fingerprint{{st.fp}}
		}
	}
	x.try(st)
	m, stored, err := s.db.PutNovel(ctx, d, Near(1))
	switch {
	case st.mortal && errors.Is(err, ErrExpired):
	case err != nil:
		return err
	case stored:
		x.ack()
	case !alike || m.ID == x.id:
		return fmt.Errorf("version %x of %s was not stored, since it is like %s", st.fp, x.id, m.ID)
	}
	return nil
}

func (s *soak) load(docs []Doc, replace bool) error {
	l, err := s.db.NewLoader(context.Background(), &LoadOptions{Replace: replace, MemoryBytes: 4000, Workers: 1})
	for _, d := range docs {
		if err == nil {
			err = l.Add(d)
		}
	}
	if l == nil {
		return err
	}
	if _, e := l.Close(); err == nil {
		err = e
	}
	return err
}

// loadNew loads a version that is refused if the ID is stored. The outcome cannot be predicted,
// because others delete.
func (s *soak) loadNew(r *rand.Rand, x *soakID) error {
	s.tries[6].Add(1)
	before := x.states[x.from()]
	d, st := s.doc(r, x)
	x.try(st)
	err := s.load([]Doc{d}, false)
	if err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	e, err := lookupOf(context.Background(), s.db, x.id)
	switch {
	case errors.Is(err, ErrNotFound): // the stored version is gone, but perhaps not safely
		return nil
	case err == nil && e.Fingerprint == before.fp:
		x.try(before)
	}
	x.ack()
	return err
}

// ingest ingests a table that it makes of documents.
func (s *soak) ingest(docs []Doc) error {
	path := fmt.Sprintf("/made-%d.sst", s.next.Add(1))
	defer s.mem.Remove(path)
	var rows []table.Document
	for i, d := range docs {
		row := table.Document{ID: []byte(d.ID), Text: []byte(d.Text), Fields: d.Fields, Time: d.Time.UnixMicro(), Seq: uint64(1_000_000 - i)}
		if d.Time.IsZero() {
			row.Time = time.Now().UnixMicro()
		}
		if d.Fingerprints != nil {
			row.Fingerprint, row.HasFingerprint = d.Fingerprints[0][0], true
		}
		s.db.s.Texts.Fill(&row, d.Text)
		rows = append(rows, row)
	}
	f, err := s.mem.Create(path)
	if err != nil {
		return err
	}
	w, err := table.NewWriter(f, s.db.s.Params.ForTable(rand.Int64N(1<<33)), table.WriterOptions{})
	for i := range rows {
		if err == nil {
			err = w.Add(&rows[i])
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return s.db.Ingest(context.Background(), path)
}

// deleteSeen deletes versions in a snapshot, as DELETE WHERE does.
func (s *soak) deleteSeen(r *rand.Rand) error {
	snap, err := s.db.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	var b Batch
	for e, err := range entriesIn(context.Background(), snap, Range{}) {
		if err != nil {
			return err
		}
		if r.IntN(10) == 0 {
			s.condemned.Store(e.Fingerprint, true)
			b.DeleteVersion(e.ID, e.Seq)
		}
	}
	time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
	return s.db.Apply(context.Background(), &b)
}

// maintain repeatedly runs all operations that neither write nor read documents.
func (s *soak) maintain(seed uint64) error {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(seed, s.next.Add(1)))
	for !s.stop.Load() {
		verb := 7 + r.IntN(7)
		s.tries[verb].Add(1)
		var err error
		switch verb {
		case 7:
			_, err = s.db.Prune(ctx, time.Now().Add(-soakTTL/4), nil)
		case 8:
			err = s.deleteSeen(r)
		case 9:
			err = s.db.Flush(ctx)
		case 10:
			err = s.db.Compact(ctx, nil)
		case 11:
			err = s.db.Compact(ctx, &CompactOptions{Due: true})
		case 12:
			err = s.pack()
		case 13:
			err = s.powerCut(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pack makes a table file of the database and checks its contents.
func (s *soak) pack() error {
	path := fmt.Sprintf("/packed-%d.sst", s.next.Add(1))
	defer s.mem.Remove(path)
	bounds := s.bounds()
	if err := s.db.Pack(context.Background(), path, nil); err != nil {
		return err
	}
	return s.look(path, &Options{fs: s.mem}, bounds, "packed")
}

// look opens a database and checks it.
func (s *soak) look(path string, o *Options, bounds []int, when string) error {
	db, err := Open(path, o)
	if err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	defer db.Close()
	snap, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	s.checkAll(snap, bounds, when)
	r, err := db.Check(context.Background(), nil)
	if len(r.Problems) > 0 {
		err = errors.Join(r.Problems...)
	}
	return err
}

// powerCut examines the state after a power cut in the middle of everything. It continues writing
// in the open that recovers and, after another power cut, in the next.
func (s *soak) powerCut(r *rand.Rand) error {
	bounds := s.bounds()
	left := s.mem.CrashClone(r.Float64(), r.Uint64())
	for _, when := range []string{"after a power cut", "after a power cut and a write"} {
		o := s.opts
		o.fs = left
		db, err := Open("/db", &o)
		if err != nil {
			return fmt.Errorf("%s: %w", when, err)
		}
		snap, err := db.Snapshot()
		if err != nil {
			return err
		}
		s.checkAll(snap, bounds, when)
		err = errors.Join(snap.Close(), db.Put(context.Background(), Doc{ID: "more", Fingerprints: []Fingerprint{{1}}}))
		if err == nil {
			err = db.Delete(context.Background(), "more")
		}
		after := left.CrashClone(r.Float64(), r.Uint64())
		if err = errors.Join(err, db.Close(), left.Discard()); err != nil {
			return fmt.Errorf("%s: %w", when, err)
		}
		left = after
	}
	return left.Discard()
}

// read checks snapshots, some for a long time: their contents must not change.
func (s *soak) read(seed uint64) error {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(seed, s.next.Add(1)))
	for !s.stop.Load() {
		bounds := s.bounds()
		snap, err := s.db.Snapshot()
		if err != nil {
			return err
		}
		s.checkAll(snap, bounds, "snapshot")
		first := collect(s.t, entriesIn(ctx, snap, Range{}))
		for wait := time.Duration(r.IntN(100)) * time.Millisecond; wait > 0 && !s.stop.Load(); wait -= time.Millisecond {
			time.Sleep(time.Millisecond)
		}
		equal(s.t, "the same snapshot", written(collect(s.t, entriesIn(ctx, snap, Range{}))), written(first))
		if err := snap.Close(); err != nil {
			return err
		}
	}
	return nil
}

// round lets everything run for some time. Then it closes the database, or cuts its power, and
// continues with the result.
func (s *soak) round(r *rand.Rand, d time.Duration) {
	s.stop.Store(false)
	timer := time.AfterFunc(d, func() { s.stop.Store(true) })
	defer timer.Stop()
	var wg sync.WaitGroup
	run := func(what string, fn func() error) {
		wg.Go(func() {
			if err := fn(); err != nil {
				s.t.Errorf("%s: %v", what, err)
				s.stop.Store(true)
			}
		})
	}
	for w := range soakWriters {
		run("writer", func() error { return s.write(w) })
	}
	for i := range uint64(2) {
		run("maintenance", func() error { return s.maintain(i) })
		run("reader", func() error { return s.read(10 + i) })
	}
	wg.Wait()
	left := s.mem
	if r.IntN(2) == 0 {
		left = s.mem.CrashClone(r.Float64(), r.Uint64())
	}
	if err := s.db.Close(); err != nil {
		s.t.Fatal(err)
	}
	if left != s.mem {
		if err := s.mem.Discard(); err != nil {
			s.t.Fatal(err)
		}
		s.mem, s.opts.fs = left, left
	}
	s.open()
	s.settle()
}

func (s *soak) open() {
	db, err := Open("/db", &s.opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.db = db
}

// settle checks the database while nobody writes, and forgets all states except the current ones.
func (s *soak) settle() {
	snap, err := s.db.Snapshot()
	if err != nil {
		s.t.Fatal(err)
	}
	defer snap.Close()
	s.checkAll(snap, s.bounds(), "reopened")
	s.condemned.Clear()
	for _, x := range s.ids {
		e, err := lookup(snap, context.Background(), x.id)
		if err != nil && !errors.Is(err, ErrNotFound) {
			s.t.Fatal(err)
		}
		mortal := err == nil && time.Since(e.Time) > soakTTL/4
		x.states, x.acked = []soakState{{e.Fingerprint, mortal}}, 0
	}
	if r, err := s.db.Check(context.Background(), nil); err != nil || len(r.Problems) > 0 {
		s.t.Fatal(r.Problems, err)
	}
}

// TestSoak runs all operations concurrently for some seconds, or for the duration SIMDB_SOAK, such
// as 30m.
func TestSoak(t *testing.T) {
	length := 2 * time.Second
	if d, err := time.ParseDuration(os.Getenv("SIMDB_SOAK")); err == nil {
		length = d
	}
	host := hostDir(t)
	r := rand.New(rand.NewPCG(11, exhaustive.Seed(t)))
	var verbs [soakVerbs]int64
	rounds := 0
	for end := time.Now().Add(length); time.Now().Before(end) && !t.Failed(); {
		s := &soak{t: t, mem: vfstest.NewMem(host)}
		s.opts = Options{
			fs: s.mem, TTL: soakTTL, NoSketch: r.IntN(2) == 0, MemtableBytes: 2000 + r.IntN(30000), DisableAutoCompaction: r.IntN(4) == 0,
			Cache: []int64{0, -1, 16 << 10}[r.IntN(3)],
		}
		if r.IntN(2) == 0 {
			s.opts.policy, s.opts.mergeSlots, s.opts.MaxTableBytes = eager, 1+r.IntN(4), 100_000
		}
		for i := range soakWriters * soakPerID {
			s.ids = append(s.ids, &soakID{id: fmt.Sprintf("w%d-%d", i/soakPerID, i), states: []soakState{{}}})
		}
		s.open()
		for range 4 {
			s.round(r, min(length/4, time.Second))
			rounds++
		}
		must.Do(t, s.db.Close())
		must.Do(t, s.mem.Discard())
		for v := range verbs {
			verbs[v] += s.tries[v].Load()
		}
	}
	t.Logf("%d rounds; put %d, load %d, ingest %d, delete %d, batch %d, novel %d, load new %d, prune %d, delete seen %d, flush %d, "+
		"compact %d, compact due %d, pack %d, power cuts %d", rounds, verbs[0], verbs[1], verbs[2], verbs[3], verbs[4], verbs[5],
		verbs[6], verbs[7], verbs[8], verbs[9], verbs[10], verbs[11], verbs[12], verbs[13])
}
