package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/simdb/simdb/internal/vfs"
)

// A script is a workload that makes every kind of file operation: log writes, rotations, flushes,
// loads, compactions, packing, ingesting, reopening. It records the acknowledged states and the one
// being tried, so that a test can stop it anywhere, or examine the file system while it runs, and
// knows which states may be found there.
type script struct {
	seed  uint64
	steps int
	kinds []int   // kinds of every third step, repeated in this order; nil for all kinds
	opts  Options // run adds the file system and the clock

	fs     vfs.FS
	db     *DB
	r      *rand.Rand
	packed map[string]*model // contents of table files outside the database

	mu    sync.Mutex
	now   time.Time
	acked []*model // acked[i] is the state after i steps; all are acknowledged
	safe  int      // acked[safe] is durable, whatever Options.NoSync says
	tried *model   // the state if the current or failed step succeeds; nil between steps
	pack  scriptPack
}

// A scriptPack is the packed file of the latest step that packed.
type scriptPack struct {
	path  string // empty if there is none
	docs  *model
	now   time.Time
	acked bool
}

const (
	scriptPath = "/new/folders/db" // the script makes all of these folders

	scriptIDs = 25
	scriptTTL = 40 * time.Hour // a step lasts an hour
)

// A scriptStep is a step that has been chosen.
type scriptStep struct {
	do    func(context.Context) error
	next  *model // state after the step
	safer bool   // the step makes all earlier writes durable
}

// newScript returns a script. Equal seeds give equal steps.
func newScript(seed uint64, steps int, opts Options) *script {
	opts.TTL = scriptTTL
	return &script{
		seed: seed, steps: steps, opts: opts, r: rand.New(rand.NewPCG(seed, 3)), packed: map[string]*model{},
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), acked: []*model{{docs: map[string]entry{}}},
	}
}

func (sc *script) clock() time.Time {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return sc.now
}

// run runs the script until a step fails.
func (sc *script) run(fs vfs.FS) (err error) {
	sc.fs = fs
	if err := sc.open(); err != nil {
		return err
	}
	defer func() {
		if e := sc.db.Close(); err == nil {
			err = e
		}
	}()
	var kinds []int // kinds of every third step, each equally often; the other steps are writes
	for i := range sc.steps {
		at := sc.begin()
		var st scriptStep
		switch {
		case i%3 < 2:
			st = sc.write(at)
		default:
			if len(kinds) == 0 && sc.kinds != nil {
				kinds = sc.kinds
			} else if len(kinds) == 0 {
				kinds = sc.r.Perm(scriptKinds)
			}
			st, kinds = sc.kind(kinds[0], i, at), kinds[1:]
		}
		sc.try(st)
		if err := st.do(context.Background()); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		sc.ack(st)
	}
	return nil
}

func (sc *script) open() error {
	opts := sc.opts
	opts.fs, opts.now = sc.fs, sc.clock
	db, err := Open(scriptPath, &opts)
	if err == nil {
		sc.db = db
	}
	return err
}

// begin advances the clock by an hour and returns a copy of the state.
func (sc *script) begin() *model {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.now = sc.now.Add(time.Hour)
	return sc.acked[len(sc.acked)-1].clone()
}

func (sc *script) try(st scriptStep) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.tried = st.next
}

func (sc *script) ack(st scriptStep) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.acked, sc.tried = append(sc.acked, st.next), nil
	if st.safer || !sc.opts.NoSync {
		sc.safe = len(sc.acked) - 1
	}
}

func (sc *script) setPack(p scriptPack) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.pack = p
}

// expected returns the states that may be found now.
func (sc *script) expected() expectation {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	e := expectation{opts: sc.opts, now: sc.now, states: slices.Clone(sc.acked[sc.safe:]), pack: sc.pack}
	if sc.tried != nil {
		e.states = append(e.states, sc.tried)
	}
	return e
}

// write is a step that writes through the log.
func (sc *script) write(m *model) scriptStep {
	var b Batch
	switch n := sc.r.IntN(10); {
	case n < 5:
		sc.put(&b, m)
	case n < 7:
		id := sc.id()
		delete(m.docs, id)
		return scriptStep{next: m, do: func(ctx context.Context) error {
			if err := sc.db.Delete(ctx, id); !errors.Is(err, ErrNotFound) {
				return err
			}
			return nil
		}}
	case n < 8:
		return sc.novel(m)
	default:
		for range 1 + sc.r.IntN(8) {
			if sc.r.IntN(4) > 0 {
				sc.put(&b, m)
				continue
			}
			id := sc.id()
			b.Delete(id)
			delete(m.docs, id)
		}
	}
	return scriptStep{next: m, do: func(ctx context.Context) error { return sc.db.Apply(ctx, &b) }}
}

// scriptKinds is the number of kinds of steps other than writes.
const scriptKinds = 9

func (sc *script) kind(kind, i int, m *model) scriptStep {
	st := scriptStep{next: m, safer: true}
	switch kind {
	case 0, 1:
		sc.load(&st, kind == 0, int64(i))
	case 2, 3:
		st.do = func(ctx context.Context) error { return sc.db.Flush(ctx) }
	case 4:
		st.do = func(ctx context.Context) error { return sc.db.Compact(ctx, nil) }
	case 5:
		st.do = func(context.Context) error {
			if err := sc.db.Close(); err != nil {
				return err
			}
			return sc.open()
		}
	case 6:
		path := fmt.Sprintf("/packed-%d.sst", i)
		pack := scriptPack{path: path, docs: &model{docs: m.visible(sc.clock())}, now: sc.clock()}
		sc.packed[path] = pack.docs
		st.do = func(ctx context.Context) error {
			sc.setPack(pack)
			err := sc.db.Pack(ctx, path, nil)
			pack.acked = err == nil
			sc.setPack(pack)
			return err
		}
	case 7:
		sc.ingest(&st)
	default:
		sc.prune(&st)
	}
	return st
}

// load loads one table, with a mark, so that the step is all or nothing.
func (sc *script) load(st *scriptStep, replace bool, mark int64) {
	m, now := st.next, sc.clock()
	var docs []Doc
	var refused []bool
	for range 1 + sc.r.IntN(8) {
		d := sc.doc()
		_, stored := m.visible(now)[d.ID]
		docs, refused = append(docs, d), append(refused, stored && !replace)
		if !stored || replace {
			m.putAt(d, now)
		}
	}
	m.mark = mark
	st.do = func(ctx context.Context) error {
		l, err := sc.db.NewLoader(ctx, &LoadOptions{Replace: replace, Workers: 1})
		if err != nil {
			return err
		}
		for i, d := range docs {
			if err := l.Add(d); err != nil && !(refused[i] && errors.Is(err, ErrExists)) {
				l.Abort()
				return err
			}
		}
		l.Mark("source", mark)
		_, err = l.Close()
		return err
	}
}

// ingest adds the latest packed file, and makes it the last to be added again.
func (sc *script) ingest(st *scriptStep) {
	path := ""
	for p := range sc.packed {
		if len(p) > len(path) || len(p) == len(path) && p > path {
			path = p
		}
	}
	if path == "" {
		st.safer = false
		st.do = func(context.Context) error { return nil }
		return
	}
	for id, e := range sc.packed[path].docs {
		st.next.docs[id] = e
	}
	st.do = func(ctx context.Context) error { return sc.db.Ingest(ctx, path) }
}

// prune deletes the older half of the visible documents.
func (sc *script) prune(st *scriptStep) {
	before := sc.clock().Add(-scriptTTL / 2)
	for id, e := range st.next.visible(sc.clock()) {
		if e.Time.Before(before) {
			delete(st.next.docs, id)
		}
	}
	st.safer = false
	st.do = func(ctx context.Context) error {
		_, err := sc.db.Prune(ctx, before, nil)
		return err
	}
}

// novel submits a document that is stored only if it resembles no other.
func (sc *script) novel(m *model) scriptStep {
	const k = 1
	d, now := sc.doc(), sc.clock()
	near := (&model{docs: m.visible(now)}).near(d.Fingerprints[0][0], k)
	want := !slices.ContainsFunc(near, func(x Match) bool { return x.ID != d.ID || x.Distance == 0 }) // or it is sent again
	if want {
		m.putAt(d, now)
	}
	return scriptStep{next: m, do: func(ctx context.Context) error {
		match, stored, err := sc.db.PutNovel(ctx, d, Near(k))
		if err == nil && stored != want {
			err = fmt.Errorf("PutNovel of %s: stored %t, %+v; others %+v", d.ID, stored, match, near)
		}
		return err
	}}
}

func (sc *script) put(b *Batch, m *model) {
	d := sc.doc()
	b.Put(d)
	m.putAt(d, sc.clock())
}

func (sc *script) id() string { return fmt.Sprintf("d%02d", sc.r.IntN(scriptIDs)) }

func (sc *script) doc() Doc {
	fp := uint64(0xabcdef0123456789)
	for range sc.r.IntN(3) {
		fp ^= 1 << sc.r.IntN(64)
	}
	d := Doc{ID: sc.id(), Text: scriptText(fp)}
	d.Fingerprints = []Fingerprint{scriptWords(sc.opts.Bits, fp)}
	return d
}

// scriptWords returns a fingerprint of the given number of bits whose first word is fp. The other
// words are the same in all documents, so that distances are those of the first words.
func scriptWords(bits int, fp uint64) []uint64 {
	words := []uint64{fp}
	for i := 1; i < bits/64; i++ {
		words = append(words, 0x5a5a5a5a+uint64(i))
	}
	return words
}

// scriptText returns the text of every document with a fingerprint, which shows that the parts of a
// document belong together.
func scriptText(fp uint64) string {
	return strings.Repeat(fmt.Sprintf("%x some text ", fp), int(fp*0x9e3779b97f4a7c15>>60)*2)
}

func (m *model) putAt(d Doc, now time.Time) {
	m.put(d.ID, d.Fingerprints[0][0], true)
	e := m.docs[d.ID]
	e.Time = now
	m.docs[d.ID] = e
}

// visible returns the documents of a script's state that have not expired.
func (m *model) visible(now time.Time) map[string]entry {
	docs := map[string]entry{}
	for id, e := range m.docs {
		if !e.Time.Before(now.Add(-scriptTTL)) {
			docs[id] = e
		}
	}
	return docs
}
