package fuzz

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/simdb/simdb/engine"
)

// A history drives a database and its model with the same operations.
type history struct {
	t      testing.TB
	c      *choices
	dir    string
	path   string
	m      *model
	db     *engine.DB
	frozen []frozen
	packed []frozen // table files outside the database
	files  int
}

// frozen is an earlier snapshot or a packed file, with its expected contents.
type frozen struct {
	s    *engine.Snapshot
	path string
	m    *model
}

// FuzzHistory compares a database with a map during a sequence of operations.
func FuzzHistory(f *testing.F) {
	seed(f, 60, 60, 120, 250, 250, 400, 400, 600, 900)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newChoices(data[:min(len(data), 1<<10)])
		h := &history{t: t, c: c, dir: scratch(t), m: newModel(c.options())}
		h.path = h.dir + "/x.simdb"
		h.db = must(create(h.path, *h.m.o))(t)
		defer func() { h.db.Close() }()
		for steps := 0; !c.done() && steps < 60; steps++ {
			h.step()
		}
		h.thaw(0)
		h.compare(h.db, h.m)
		r := must(h.db.Check(t.Context(), nil))(t)
		if len(r.Problems) > 0 || h.m.o.TTL == 0 && r.Documents != int64(len(h.m.docs)) {
			t.Fatalf("check: %+v; want %d documents", r, len(h.m.docs))
		}
		check(t, h.db.Close())
	})
}

func (c *choices) id() string {
	return pick(c, "a", "b", "c/", "d%", "é", "\xff\x00") + pick(c, "", "1", "2", "'")
}

// fields chooses fields with few values; some are missing, null, or of another type.
func (c *choices) fields() string {
	lang := pick(c, `"lang":"en"`, `"lang":"de"`, `"lang":null`, `"lang":"\u0065n"`, `"other":1`, `"lang":["en"]`)
	return pick(c, ``, `{`+lang+`}`, `{`+lang+`, "meta" : {"stars":`+pick(c, `3`, `-2.5`, `"3"`, `30`, `true`, `3e0`, `"x"`)+`}}`)
}

func (h *history) doc() doc {
	c := h.c
	d := doc{id: c.id(), text: c.text(h.m.texts()), fields: c.fields(), time: h.m.now.Add(-c.age())}
	if c.once(3) {
		d.fingerprints = [][]uint64{c.print(h.m.o.Bits / 64)}
		for h.m.o.Features.Several && len(d.fingerprints) < 4 && c.once(2) {
			d.fingerprints = append(d.fingerprints, c.print(h.m.o.Bits/64))
		}
	}
	return d
}

func (h *history) file(name string) string {
	h.files++
	return fmt.Sprintf("%s/%d%s", h.dir, h.files, name)
}

func (h *history) step() {
	ctx := context.Background()
	switch n := h.c.n(40); {
	case n < 12:
		d := h.doc()
		check(h.t, h.db.Put(ctx, d.given()))
		h.m.put(d)
	case n < 15:
		id := h.c.id()
		_, stored := h.m.docs[id]
		if err := h.db.Delete(ctx, id); stored != (err == nil) || err != nil && !errors.Is(err, engine.ErrNotFound) {
			h.t.Fatalf("Delete(%q) = %v, stored %t", id, err, stored)
		}
		delete(h.m.docs, id)
	case n < 18:
		h.batch()
	case n < 19:
		h.putIf()
	case n < 20:
		h.transaction()
	case n < 23:
		h.novel()
	case n < 26:
		h.load()
	case n < 30:
		check(h.t, h.db.Flush(ctx))
	case n < 32:
		check(h.t, compact(h.db, h.c.once(2)))
	default:
		h.maintain(n - 32)
	}
}

func (h *history) maintain(n int) {
	ctx := context.Background()
	switch n {
	case 0:
		before := h.m.now.Add(-h.c.age())
		was := len(h.m.docs)
		maps.DeleteFunc(h.m.docs, func(_ string, d doc) bool { return d.time.Before(before) })
		if n, err := h.db.Prune(ctx, before, nil); err != nil || n != was-len(h.m.docs) {
			h.t.Fatalf("%d documents pruned, %v; want %d", n, err, was-len(h.m.docs))
		}
	case 1:
		h.frozen = append(h.frozen, frozen{s: must(h.db.Snapshot())(h.t), m: h.m.clone()})
		h.thaw(3)
	case 2:
		h.pack()
	case 3:
		h.ingest()
	case 4:
		h.backup()
	case 5:
		h.reopen()
	case 6:
		h.copy()
	default:
		h.allow()
		h.compare(h.db, h.m)
	}
}

// compare compares a database with a model.
func (h *history) compare(db *engine.DB, m *model) {
	h.t.Helper()
	s := must(db.Snapshot())(h.t)
	defer s.Close()
	m.compare(h.t, s, h.c)
}

// compareAt opens another database, compares it and closes it.
func (h *history) compareAt(path string, o engine.Options, m *model) {
	h.t.Helper()
	o.MustExist = true
	db := must(open(path, o))(h.t)
	defer db.Close()
	h.compare(db, m)
	check(h.t, db.Close())
}

// thaw compares and closes the oldest snapshots, until n are left.
func (h *history) thaw(n int) {
	for len(h.frozen) > n {
		f := h.frozen[0]
		h.frozen = h.frozen[1:]
		f.m.compare(h.t, f.s, h.c)
		check(h.t, f.s.Close())
	}
}

// batch applies several writes, deletes of versions that a snapshot has, and requirements.
func (h *history) batch() {
	ctx := context.Background()
	var b engine.Batch
	next, deleted, holds := h.m.clone(), 0, true
	s := must(h.db.Snapshot())(h.t)
	defer s.Close()
	if len(h.frozen) > 0 && h.c.once(2) {
		s = h.frozen[0].s
	}
	for range 1 + h.c.n(6) {
		d := h.doc()
		_, there := next.docs[d.id]
		switch h.c.n(5) {
		case 0:
			b.Delete(d.id)
			if delete(next.docs, d.id); there {
				deleted++
			}
		case 1:
			seen, err := lookup(s, d.id)
			if _, again := next.docs[d.id]; err != nil || next.docs[d.id].seq != h.m.docs[d.id].seq || !again {
				continue // a version that the batch itself has written has no number yet
			}
			now, err := h.db.Get(ctx, d.id)
			check(h.t, err)
			if b.DeleteVersion(d.id, seen.seq); now.Seq == seen.seq {
				delete(next.docs, d.id)
				deleted++
			}
		case 2:
			_, stored := h.m.docs[d.id]
			if h.c.once(2) {
				b.RequireVersion(d.id, 0)
				stored = !stored
			} else {
				b.RequireVersion(d.id, math.MaxUint64)
			}
			holds = holds && stored
		default:
			b.Put(d.given())
			next.put(d)
		}
	}
	err := h.db.Apply(ctx, &b)
	if conflict := errors.Is(err, engine.ErrExists) || errors.Is(err, engine.ErrNotFound); conflict != !holds || err != nil && !conflict {
		h.t.Fatalf("Apply: %v; requirements hold: %t", err, holds)
	}
	if err == nil {
		h.m = next
	}
	if n := b.Deleted(); err == nil && n != deleted {
		h.t.Fatalf("%d deleted, want %d", n, deleted)
	}
}

// transaction writes in a transaction, which sees its own writes, and commits it, perhaps after
// another write. Comparisons search, so that any other write is a conflict.
func (h *history) transaction() {
	ctx := context.Background()
	tx := must(h.db.Begin())(h.t)
	defer tx.Close()
	next := h.m.clone()
	var early frozen
	for i := range 1 + h.c.n(8) {
		if i == 3 {
			early = frozen{s: must(tx.Snapshot())(h.t), m: next.clone()}
			defer early.s.Close()
		}
		d := h.doc()
		if h.c.once(3) {
			_, stored := next.docs[d.id]
			if err := tx.Delete(ctx, d.id); stored != (err == nil) || err != nil && !errors.Is(err, engine.ErrNotFound) {
				h.t.Fatalf("Delete(%q) in a transaction = %v, stored %t", d.id, err, stored)
			}
			delete(next.docs, d.id)
		} else {
			check(h.t, tx.Put(ctx, d.given()))
			next.put(d)
		}
	}
	conflict := h.c.once(3)
	if d := h.doc(); conflict {
		check(h.t, h.db.Put(ctx, d.given()))
		h.m.put(d)
	}
	s := must(tx.Snapshot())(h.t)
	defer s.Close()
	next.compare(h.t, s, h.c)
	if early.s != nil {
		early.m.compare(h.t, early.s, h.c)
	}
	h.compare(h.db, h.m)
	if h.c.once(2) {
		check(h.t, h.db.Flush(ctx)) // changes the tables, but not the documents
	}
	if err := h.db.Commit(ctx, tx); conflict != errors.Is(err, engine.ErrConflict) || err != nil && !conflict {
		h.t.Fatalf("Commit, %t that another has written: %v", conflict, err)
	}
	if !conflict {
		h.m = next
	}
}

// putIf stores a document under a condition.
func (h *history) putIf() {
	ctx := context.Background()
	d := h.doc()
	got, err := h.db.Get(ctx, d.id)
	_, there := h.m.docs[d.id]
	if there != (err == nil) {
		h.t.Fatalf("Get(%q): %v, stored %t", d.id, err, there)
	}
	holds := !there
	if h.c.once(2) {
		err = h.db.PutIfAbsent(ctx, d.given())
	} else {
		stale := uint64(h.c.n(2))
		holds = stale == 0
		err = h.db.PutIfVersion(ctx, d.given(), got.Seq+stale)
	}
	if conflict := errors.Is(err, engine.ErrExists) || errors.Is(err, engine.ErrNotFound); conflict == holds || err != nil && !conflict {
		h.t.Fatalf("a write of %q under a condition that holds (%t): %v", d.id, holds, err)
	}
	if holds {
		h.m.put(d)
	}
}

// novel stores a document unless another one matches it.
func (h *history) novel() {
	d, by := h.doc(), h.m.criterion(h.c)
	old, was := h.m.docs[d.id]
	got, stored, err := h.db.PutNovel(context.Background(), d.given(), by.by)
	if h.m.expired(d.time) {
		if !errors.Is(err, engine.ErrExpired) {
			h.t.Fatalf("PutNovel of an expired document: %v", err)
		}
		return
	}
	check(h.t, err)
	if was && h.sent(old, d) {
		if stored || got.ID != d.id {
			h.t.Fatalf("PutNovel of %v, which is stored: %+v, %t", d, got, stored)
		}
		return
	}
	others := h.others(d, by)
	if stored != (len(others) == 0) || !stored && (found{got.ID, scoreOf(got, by.near())}) != others[0] {
		h.t.Fatalf("PutNovel of %v by %v = %+v, %t; it resembles %v", d, by.by, got, stored, others)
	}
	if stored {
		h.m.put(d)
	}
}

// sent reports whether PutNovel takes d for a document that is stored already.
func (h *history) sent(old, d doc) bool {
	if d.text == "" && d.fingerprints == nil && old.fields != d.fields && !h.m.o.NoText {
		return false
	}
	return (h.m.o.NoText || old.text == d.text) && fmt.Sprint(old.fingerprints) == fmt.Sprint(h.m.fingerprints(&d))
}

// others returns the documents that PutNovel takes for duplicates of d.
func (h *history) others(d doc, by criterion) []found {
	return slices.DeleteFunc(h.m.matches(&d, by), func(f found) bool { return h.m.isAllowed(f.id, d.id) })
}

// load adds documents by a Loader.
func (h *history) load() {
	replace := h.c.once(2)
	l := must(newLoader(h.db, replace, 1+h.c.n(4000)))(h.t)
	added := map[string]bool{}
	for range h.c.n(12) {
		d := h.doc()
		_, stored := h.m.docs[d.id]
		err := l.Add(d.given())
		if !replace && added[d.id] && errors.Is(err, engine.ErrExists) {
			continue // even if it has expired
		}
		if added[d.id] = true; !replace && stored {
			if !errors.Is(err, engine.ErrExists) {
				h.t.Fatalf("Add of %q, which is stored: %v", d.id, err)
			}
			continue
		}
		check(h.t, err)
		h.m.put(d)
	}
	must(l.Close())(h.t)
}

// allow records or removes a pair of documents that are no duplicates.
func (h *history) allow() {
	a, b := h.c.id(), h.c.id()
	if similar := h.m.relation(h.m.near(30)).pairs(); len(similar) > 0 && !h.c.once(3) {
		p := pick(h.c, similar...)
		a, b = p.a, p.b
	}
	if a == b {
		return
	}
	p, allowed := [2]string{min(a, b), max(a, b)}, !h.c.once(3)
	err := h.db.SetAllowed(context.Background(), allowed, engine.Pair{A: a, B: b})
	if !allowed && !h.m.allowed[p] {
		if !errors.Is(err, engine.ErrNotFound) {
			h.t.Fatalf("a pair that is not recorded is removed: %v", err)
		}
		return
	}
	check(h.t, err)
	if h.m.allowed[p] = true; !allowed {
		delete(h.m.allowed, p)
	}
}

func (h *history) pack() {
	f := frozen{path: h.file(".sst"), m: h.m.clone()}
	check(h.t, h.db.Pack(context.Background(), f.path, nil))
	h.packed = append(h.packed, f)
	h.compareAt(f.path, engine.Options{}, f.m)
}

// ingest adds a file that was packed before.
func (h *history) ingest() {
	if len(h.packed) == 0 {
		return
	}
	p := pick(h.c, h.packed...)
	check(h.t, h.db.Ingest(context.Background(), p.path))
	maps.Copy(h.m.allowed, p.m.allowed)
	for _, d := range p.m.written() {
		h.m.put(d)
	}
}

func (h *history) backup() {
	to := h.file(".simdb")
	must(h.db.Backup(context.Background(), to, nil))(h.t)
	h.compareAt(to, engine.Options{ReadOnly: h.c.once(2)}, h.m)
}

func (h *history) reopen() {
	h.thaw(0)
	check(h.t, h.db.Close())
	h.db = must(open(h.path, *h.m.o))(h.t)
}

// copy copies the folder while the database is open, as a kill would leave it, and opens the copy,
// which must have all acknowledged writes. Another reader of the folder itself must, too.
func (h *history) copy() {
	h.compareAt(h.path, engine.Options{ReadOnly: true}, h.m)
	if !h.m.o.DisableAutoCompaction {
		h.db.SetCompactionRate(-1) // a folder that changes meanwhile is no state of the database
	}
	to := h.file(".simdb")
	for tries := 0; ; tries++ {
		before := listing(h.t, h.path)
		check(h.t, os.RemoveAll(to))
		err := os.CopyFS(to, os.DirFS(h.path))
		if before == listing(h.t, h.path) {
			check(h.t, err)
			break
		}
		if tries == 500 {
			h.t.Fatal("the files of an idle database change all the time")
		}
	}
	h.compareAt(to, *h.m.o, h.m)
	if !h.m.o.DisableAutoCompaction {
		h.db.SetCompactionRate(0)
	}
}

// listing describes the files of a folder: it changes when a file does.
func listing(t testing.TB, dir string) (all string) {
	for _, e := range must(os.ReadDir(dir))(t) {
		if info, err := e.Info(); err == nil {
			all += fmt.Sprintln(e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return all
}
