//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// The tests below run every method of the API, on a database of every kind, with a context that
// ends at each check and at each file operation, with each file operation failing, and with each
// page of a table unreadable. A method must not panic, and must have all of its effects or none: a
// method that returns an error because the context has ended has had no effect.

// A use calls some methods, like a program that stops at the first error.
type use struct {
	methods string // methods that it covers
	writes  bool
	run     func(u *using) error

	publishes bool // its last step changes the catalog, after which nothing can fail
}

// using is the state of a running use.
type using struct {
	ctx  context.Context
	db   *DB
	o    Options // options of db
	out  strings.Builder
	step func() // called after each completed part of the use
}

func (u *using) say(what ...any) { fmt.Fprintln(&u.out, what...) }

// answers prints an answer, and returns err unless it is an expected answer, too.
func (u *using) answers(err error, what ...any) error {
	for _, is := range []error{ErrNotFound, ErrExists, ErrNoSketches, ErrParams, ErrInvalid, ErrExpired} {
		if errors.Is(err, is) && !errors.Is(err, errInjected) {
			u.say(err)
			return nil
		}
	}
	if err == nil {
		u.say(what...)
	}
	return err
}

// plain returns the printable part of a row.
func plain(row any) any {
	if d, is := row.(Doc); is {
		return fmt.Sprint(d.ID, " ", d.Text, string(d.Fields), d.Fingerprints, d.Time.Unix(), " ", d.Seq)
	}
	return row
}

func said[T any](u *using, rows iter.Seq2[T, error]) (err error) {
	for row, failed := range rows {
		if err = failed; err == nil {
			u.say(plain(row))
		}
	}
	return u.answers(err)
}

// on runs fn with a snapshot.
func on(fn func(u *using, s *Snapshot) error) func(*using) error {
	return func(u *using) error {
		s, err := u.db.Snapshot()
		if err != nil {
			return err
		}
		defer s.Close()
		return fn(u, s)
	}
}

// eachCriterion runs fn with every criterion.
func eachCriterion(fn func(u *using, s *Snapshot, by Criterion) error) func(*using) error {
	return on(func(u *using, s *Snapshot) error {
		for _, by := range []Criterion{Near(6), Jaccard(0.5).Estimated(), Jaccard(0.5), Levenshtein(0.5), Cosine(0.5), Contains(0.5), Within(0.5)} {
			if err := fn(u, s, by); err != nil {
				return err
			}
		}
		return nil
	})
}

func one(fn func(u *using) error) func(*using) error {
	return func(u *using) error {
		err := fn(u)
		if err == nil {
			u.step()
		}
		return u.answers(err)
	}
}

// loads loads two tables and marks its progress.
func loads(replace bool) func(*using) error {
	return func(u *using) error {
		l, err := u.db.NewLoader(u.ctx, &LoadOptions{Replace: replace, Workers: 2})
		if err != nil {
			return err
		}
		defer func() { u.say(l.Abort()) }()
		for i, id := range []string{"c", "l1", "e", "l2", "l1", "k"} {
			if err := l.Add(u.doc(id, 40+i)); err != nil && !errors.Is(err, ErrExists) {
				return err
			}
			if i == 2 {
				l.Mark("source", 3)
				if err := l.l.Flush(); err != nil {
					return err
				}
				u.step()
			}
		}
		stats, err := l.Close()
		if err == nil {
			u.step()
			u.say(stats == LoadStats(l.l.Stats), l.Marked("source"))
		}
		return err
	}
}

// reader runs fn with a second, read-only DB.
func reader(fn func(u *using, r *DB) error) func(*using) error {
	return func(u *using) error {
		o := u.o
		o.ReadOnly = true
		r, err := Open("/db", &o)
		if err != nil {
			return err
		}
		defer r.Close()
		return fn(u, r)
	}
}

var all = Range{Load: true}

// uses are all uses.
var uses = []use{
	{"DB.Put", true, one(func(u *using) error { return u.db.Put(u.ctx, u.doc("c", 30)) }), false},
	{"DB.PutIfAbsent", true, one(func(u *using) error { return u.db.PutIfAbsent(u.ctx, u.doc("new", 30)) }), false},
	{"DB.PutIfVersion", true, one(func(u *using) error { return u.db.PutIfVersion(u.ctx, u.doc("a", 30), 1) }), false},
	{"DB.Apply", true, one(func(u *using) error {
		var b Batch
		b.Put(u.doc("new", 31))
		b.Delete("a")
		b.DeleteVersion("k", 1)
		b.RequireVersion("c", math.MaxUint64)
		err := u.db.Apply(u.ctx, &b)
		u.say(b.Deleted())
		return err
	}), false},
	{"DB.PutNovel", true, one(func(u *using) error {
		m, stored, err := u.db.PutNovel(u.ctx, u.doc("new", 0), Jaccard(0.3))
		u.say(m, stored)
		return err
	}), false},
	{"DB.PutNovel", true, one(func(u *using) error {
		_, _, err := u.db.PutNovel(u.ctx, u.doc("new", 77), Near(0))
		return err
	}), false},
	{"DB.AddNovel", true, func(u *using) error {
		done, err := u.db.AddNovel(u.ctx, []Doc{u.doc("n1", 50), u.doc("n2", 0), u.doc("c", 51)}, Near(1), nil)
		for range done {
			u.step()
		}
		u.say(done)
		return err
	}, false},
	{"DB.Begin DB.Commit DB.Update", true, one(func(u *using) error {
		return u.db.Update(u.ctx, func(tx *Tx) error {
			_, err := tx.Get(u.ctx, "k")
			if err == nil {
				err = tx.Put(u.ctx, u.doc("c", 30))
			}
			if err == nil {
				err = tx.Delete(u.ctx, "a")
			}
			if err == nil {
				n, failed := tx.Count(u.ctx, Range{})
				u.say(n)
				err = failed
			}
			return err
		})
	}), false},
	{"DB.Delete", true, one(func(u *using) error { return u.db.Delete(u.ctx, "a") }), false},
	{"DB.Prune", true, one(func(u *using) error {
		n, err := u.db.Prune(u.ctx, someTime.Add(5*time.Hour), nil)
		u.say(n)
		return err
	}), true},
	{"DB.Flush", true, one(func(u *using) error { return u.db.Flush(u.ctx) }), true},
	{"DB.Compact", true, one(func(u *using) error { return u.db.Compact(u.ctx, nil) }), true},
	{"DB.Compact", true, one(func(u *using) error { return u.db.Compact(u.ctx, &CompactOptions{Due: true}) }), true},
	{"DB.Repair", true, one(func(u *using) error {
		r, err := u.db.Repair(u.ctx, nil)
		if err == nil && r.Lost > 0 {
			err = &CorruptionError{File: r.Losses[0].File, Section: r.Losses[0].Section, Offset: -1, Err: r.Losses[0].Err}
		}
		return err
	}), true},
	{"DB.SetAllowed", true, one(func(u *using) error { return u.db.SetAllowed(u.ctx, true, Pair{A: "c", B: "d"}, Pair{A: "c", B: "e"}) }), true},
	{"DB.SetAllowed", true, one(func(u *using) error { return u.db.SetAllowed(u.ctx, false, Pair{A: "a", B: "b"}) }), true},
	{"DB.Ingest", true, one(func(u *using) error { return u.db.Ingest(u.ctx, "/packed.sst") }), true},
	{"DB.NewLoader Loader.Add Loader.Mark Loader.Marked Loader.Close", true, loads(false), true},
	{"DB.NewLoader Loader.Add Loader.Abort", true, loads(true), true},
	{"DB.Pack", true, one(func(u *using) error { return u.db.Pack(u.ctx, "/out.sst", nil) }), false},
	{"DB.Backup", true, one(func(u *using) error { return backupTo(u.db, u.ctx, "/out.simdb", nil) }), false},
	{"Recover", true, one(func(u *using) error {
		r, err := Recover(u.ctx, "/db", "/out.simdb", &RecoverOptions{fs: u.o.fs, now: u.o.now})
		u.say(r.Documents, r.Lost, len(r.Losses))
		return err
	}), false},
	{"DB.Close DB.Discard Open", true, func(u *using) error {
		created, err := Open("/new", &u.o)
		if err == nil {
			u.say(created.Metrics().Created)
			err = created.Discard()
		}
		if err = cmpOr(err, u.db.Close); err != nil {
			return err
		}
		db, err := Open("/db", &u.o)
		if err == nil {
			u.db = db
		}
		return err
	}, false},
	{"DB.Changes", true, func(u *using) error {
		return cmpOr(u.db.Put(u.ctx, u.doc("new", 33)), func() error { u.step(); return said(u, u.db.Changes(u.ctx, 1, false)) })
	}, false},
	{"DB.Refresh", true, reader(func(u *using, r *DB) error {
		err := u.db.Put(u.ctx, u.doc("new", 33))
		if err == nil {
			u.step()
			err = r.Refresh(u.ctx)
		}
		return cmpOr(err, func() error { return said(u, r.Range(u.ctx, all)) })
	}), false},
	{"DB.ReleaseDeleted", true, reader(func(u *using, r *DB) error {
		err := u.db.Compact(u.ctx, nil)
		if err == nil {
			_, err = r.ReleaseDeleted()
		}
		return cmpOr(err, func() error { return said(u, r.Range(u.ctx, all)) })
	}), false},
	{"OpenSet", false, func(u *using) error {
		o := u.o
		o.TTL = 0
		set, err := OpenSet([]string{"/db", "/packed.sst"}, &o)
		if err != nil {
			return err
		}
		defer set.Close()
		return said(u, set.Range(u.ctx, all))
	}, false},
	{"DB.HasExpired DB.Options DB.Hash DB.Metrics DB.SetCompactionRate", false, func(u *using) error {
		u.db.SetCompactionRate(0)
		words, _ := u.db.Hash("some words and more")
		o := u.db.Options()
		u.say(u.db.HasExpired(Doc{}), o.Bits, o.Layout, o.Features.Describe(), words, u.db.Metrics().Memory)
		return nil
	}, false},
	{"DB.Check", false, func(u *using) error {
		r, err := u.db.Check(u.ctx, nil)
		if err == nil && len(r.Problems) > 0 {
			err = r.Problems[0]
		}
		return u.answers(err, r.Documents)
	}, false},
	{"DB.Stats", false, func(u *using) error { s, err := u.db.Stats(); return u.answers(err, s.Documents) }, false},
	{"DB.Fields", false, func(u *using) error {
		fields, n, err := u.db.Fields(u.ctx, Range{}, nil)
		return u.answers(err, n, fmt.Sprint(fields))
	}, false},
	{"DB.Get", false, func(u *using) error { d, err := u.db.Get(u.ctx, "d"); return u.answers(err, d.ID, d.Text, entryOf(d)) }, false},
	{"DB.Count", false, func(u *using) error {
		n, err := u.db.Count(u.ctx, Range{Since: someTime.Add(3 * time.Hour)})
		return u.answers(err, n)
	}, false},
	{"DB.Range", false, func(u *using) error {
		return said(u, u.db.Range(u.ctx, Range{Reverse: true, Since: someTime.Add(time.Hour)}))
	}, false},
	{"DB.Search", false, func(u *using) error {
		return said(u, u.db.Search(u.ctx, u.doc("", 0), Near(64), &SearchOptions{Limit: 3}))
	}, false},
	{"DB.Near", false, func(u *using) error { return said(u, u.db.Near(u.ctx, 7, 30)) }, false},
	{"DB.Jaccard", false, func(u *using) error { return said(u, u.db.Jaccard(u.ctx, u.doc("", 0), 0.3)) }, false},
	{"DB.Pairs", false, func(u *using) error { return said(u, u.db.Pairs(u.ctx, Near(3), &SearchOptions{Unordered: true})) }, false},
	{"DB.Clusters", false, func(u *using) error { return said(u, u.db.Clusters(u.ctx, Near(3), &ClusterOptions{Components: true})) }, false},
	{"DB.Snapshot Snapshot.Allowed Snapshot.Close", false, on(func(u *using, s *Snapshot) error {
		u.say(slices.Collect(s.Allowed()))
		return s.Close()
	}), false},
	{"Snapshot.Get Snapshot.Lookup", false, on(func(u *using, s *Snapshot) error {
		d, err := s.Get(u.ctx, "c")
		e, err2 := lookup(s, u.ctx, "f")
		return cmpOr(u.answers(err, d.ID, entryOf(d)), func() error { return u.answers(err2, e) })
	}), false},
	{"Reader.Contents", false, on(func(u *using, s *Snapshot) error {
		return said(u, s.Contents(u.ctx, []string{"a", "d", "k", "none"}))
	}), false},
	{"Snapshot.Range", false, on(func(u *using, s *Snapshot) error {
		where := func(text, fields []byte) (bool, error) { return strings.Contains(string(fields), "en"), nil }
		lang := [][]FieldRange{{{Field: "lang", From: "en", To: "en"}}}
		for _, r := range []Range{all, {From: "b", To: "h", Where: where}, {Prefix: "a", Limit: 1}, {Unordered: true, Where: where}, {Fields: lang, Where: where}} {
			if err := said(u, s.Range(u.ctx, r)); err != nil {
				return err
			}
		}
		n, err := s.Count(u.ctx, Range{})
		return u.answers(err, n)
	}), false},
	{"Snapshot.Count Snapshot.Estimate", false, on(func(u *using, s *Snapshot) error {
		n, err := s.Estimate(u.ctx, Range{Fields: [][]FieldRange{{{Field: "n", From: "2", Above: true, Numbers: true}}}})
		return u.answers(err, n)
	}), false},
	{"Snapshot.Search", false, eachCriterion(func(u *using, s *Snapshot, by Criterion) error {
		return cmpOr(said(u, s.Search(u.ctx, Doc{ID: "c"}, by, nil)), func() error { return said(u, s.Search(u.ctx, u.doc("", 0), by, &SearchOptions{Limit: 2})) })
	}), false},
	{"Snapshot.CountMatches", false, eachCriterion(func(u *using, s *Snapshot, by Criterion) error {
		n, err := s.CountMatches(u.ctx, u.doc("", 0), by, nil)
		return u.answers(err, n)
	}), false},
	{"Snapshot.Any", false, eachCriterion(func(u *using, s *Snapshot, by Criterion) error {
		known, named, err := s.Any(u.ctx, []Doc{u.doc("", 0), {ID: "d"}, u.doc("x", 60)}, by, nil)
		return u.answers(err, known, named)
	}), false},
	{"Snapshot.Any", false, eachCriterion(func(u *using, s *Snapshot, by Criterion) error {
		known, _, err := s.Any(u.ctx, []Doc{u.doc("", 0), u.doc("x", 60)}, by, &SearchOptions{Unordered: true})
		return u.answers(err, known)
	}), false},
	{"Snapshot.SearchBatch", false, eachCriterion(func(u *using, s *Snapshot, by Criterion) error {
		return said(u, s.SearchBatch(u.ctx, []Doc{u.doc("", 0), {ID: "d"}, u.doc("x", 60)}, by, nil))
	}), false},
	{"Reader.Pairs Reader.CountPairs", false, eachCriterion(func(u *using, s *Snapshot, by Criterion) error {
		for _, o := range []*SearchOptions{nil, {Limit: 3}, {Unordered: true}} {
			if err := said(u, s.Pairs(u.ctx, by, o)); err != nil {
				return err
			}
		}
		n, err := s.CountPairs(u.ctx, by, nil)
		return u.answers(err, n)
	}), false},
	{"Reader.Clusters Reader.CountClusters", false, eachCriterion(func(u *using, s *Snapshot, by Criterion) error {
		first := func(a, b Doc) bool { return a.ID > b.ID }
		for _, o := range []*ClusterOptions{nil, {Before: first}, {Components: true}, {Of: "c"}, {Of: "c", Components: true}} {
			if err := said(u, s.Clusters(u.ctx, by, o)); err != nil {
				return err
			}
		}
		n, err := s.CountClusters(u.ctx, by, &ClusterOptions{Components: true})
		return u.answers(err, n)
	}), false},
	{"Snapshot.Plan", false, eachCriterion(func(u *using, s *Snapshot, by Criterion) error {
		plan, err := s.Plan(u.ctx, u.doc("", 0), by)
		return u.answers(err, len(plan))
	}), false},
	{"Snapshot.Compare", false, on(func(u *using, s *Snapshot) error {
		c, err := s.Compare(u.ctx, "c", "d")
		return u.answers(err, fmt.Sprintf("%+v", c) != "")
	}), false},
	{"Snapshot.Matcher", false, eachCriterion(func(u *using, s *Snapshot, by Criterion) error {
		match, err := s.Matcher(u.ctx, Doc{ID: "c"}, by)
		if err != nil {
			return u.answers(err)
		}
		m, ok, err := match(u.ctx, "h")
		return u.answers(err, m, ok)
	}), false},
	{"Snapshot.Passages Passages.All Passages.Plan Passages.In", false, on(func(u *using, s *Snapshot) error {
		p, err := s.Passages(u.ctx, Doc{ID: "c"}, 4, nil)
		if err != nil {
			return u.answers(err)
		}
		plan, err := p.Plan()
		u.say(len(plan), p.In("alpha beta gamma delta epsilon"))
		return cmpOr(err, func() error { return said(u, p.All(u.ctx)) })
	}), false},
}

// cmpOr returns err, or the result of next if err is nil.
func cmpOr(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

// TestUsesAreComplete checks that uses cover all methods.
func TestUsesAreComplete(t *testing.T) {
	named := map[string]bool{"Recover": true, "Open": true, "OpenSet": true}
	reads := reflect.TypeFor[*Reader]()
	for _, typ := range []reflect.Type{reads, reflect.TypeFor[*DB](), reflect.TypeFor[*Snapshot](), reflect.TypeFor[*Loader](), reflect.TypeFor[*Passages]()} {
		for i := range typ.NumMethod() {
			if _, promoted := reads.MethodByName(typ.Method(i).Name); !promoted || typ == reads {
				named[typ.Elem().Name()+"."+typ.Method(i).Name] = false
			}
		}
	}
	for _, use := range uses {
		for _, method := range strings.Fields(use.methods) {
			if _, name, of := strings.Cut(method, "."); of {
				if _, promoted := reads.MethodByName(name); promoted {
					method = "Reader." + name
				}
			}
			if _, is := named[method]; !is {
				t.Errorf("there is no %s", method)
			}
			named[method] = true
		}
	}
	for method, used := range named {
		if !used {
			t.Errorf("no use has %s", method)
		}
	}
}

// A kind is a kind of database, with an example.
type kind struct {
	name string
	o    Options
	mem  *vfstest.Mem
}

var someTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// kinds returns a database of every kind. Each has tables, a log, tombstones in both, documents
// with two versions, allowed pairs and a mark, and there is a packed table beside it. The first
// table has additional documents, which resemble no others.
func kinds(t *testing.T, more int) []kind {
	all := []kind{
		{name: "plain"}, {name: "several", o: Options{Features: Features{Several: true}}}, {name: "wide", o: Options{Bits: 256}},
		{name: "containment", o: Options{Containment: true}}, {name: "indexed", o: Options{Index: []string{"lang", "n"}}},
		{name: "no texts", o: Options{NoText: true, NoSketch: true, Features: Features{Several: true}}}, {name: "expiring", o: Options{TTL: 24 * time.Hour}},
	}
	dir := hostDir(t)
	for i := range all {
		k := &all[i]
		k.mem = vfstest.NewMem(dir)
		k.o.DisableAutoCompaction, k.o.Memory, k.o.now = true, 4<<20, func() time.Time { return someTime.Add(25 * time.Hour) }
		u := using{ctx: t.Context(), o: k.o, step: func() {}}
		u.o.fs = k.mem
		for _, path := range []string{"/other", "/db"} {
			u.db = must.Get(Open(path, &u.o))(t)
			if path == "/other" {
				must.Do(t, errors.Join(u.db.Put(u.ctx, u.doc("c", 20)), u.db.Put(u.ctx, u.doc("p", 21)), u.db.SetAllowed(u.ctx, true, Pair{A: "c", B: "p"})))
				must.Do(t, errors.Join(u.db.Pack(u.ctx, "/packed.sst", nil), u.db.Close()))
				continue
			}
			for i := range more {
				d := u.doc(fmt.Sprint("more", i), i%20)
				d.Text = ""
				for j := range 20 {
					d.Text += fmt.Sprint(" ", (i+1)*7919*(j+1)*(j+3)%10007)
				}
				must.Do(t, u.db.Put(u.ctx, d))
			}
			for n, id := range []string{"a", "b", "c", "d", "e", "f", "c", "d", "g", "h", "i", "d", "e", "j", "k"} {
				must.Do(t, u.db.Put(u.ctx, u.doc(id, n)))
				if n == 5 || n == 10 {
					must.Do(t, errors.Join(u.db.Delete(u.ctx, []string{"b", "g"}[n/10]), u.db.Flush(u.ctx)))
				}
			}
			must.Do(t, errors.Join(u.db.Delete(u.ctx, "h"), u.db.SetAllowed(u.ctx, true, Pair{A: "a", B: "b"}, Pair{A: "e", B: "k"}), u.db.Close()))
		}
	}
	return all
}

// doc returns a document with a distinct time. Every fifth is similar.
func (u *using) doc(id string, n int) Doc {
	d := Doc{ID: id, Text: fmt.Sprintf("alpha beta gamma delta epsilon zeta eta theta word%d iota kappa lambda mu nu xi omicron pi rho other%d", n%5, n%5),
		Time: someTime.Add(time.Duration(n) * time.Hour), Fields: fmt.Appendf(nil, `{"lang":"%s","n":%d}`, []string{"en", "de"}[n%2], n)}
	for i := range n % 3 {
		if u.o.Features.Several {
			d.Fingerprints = append(d.Fingerprints, []uint64{uint64(1<<n + i)})
		}
	}
	return d
}

// allThatIsIn returns the contents of a database as text.
func allThatIsIn(db *DB) (string, error) {
	u := using{db: db}
	for d, err := range db.Range(context.Background(), all) {
		if err != nil {
			return "", err
		}
		d.Seq = 0 // a run without effect may have used some sequence numbers
		u.say(plain(d))
	}
	r, err := db.Check(context.Background(), nil)
	if err == nil && len(r.Problems) > 0 {
		err = r.Problems[0]
	}
	u.say(slices.Collect(allowed(db)))
	return u.out.String(), err
}

var errInjected = fmt.Errorf("injected: %w", syscall.EIO)

// ran is the result of a use.
type ran struct {
	err   error
	out   string
	steps int
	after []string // contents of the database before, and after each step
}

// A trial is a run of a use with at most one failure.
type trial struct {
	*kind
	use    *use
	ctx    context.Context
	inject func(vfstest.Op) error // called for all file operations of the use
	page   *dead                  // nil for none

	rewritten bool // opening has written the table of page again
}

// says reports whether the answers of a run are right. Those from a table that was written again may
// come in another order, where none is promised, and its estimates differ.
func (tr *trial) says(out, want string) bool {
	if !tr.rewritten {
		return out == want
	}
	lines := func(s string) []string { return slices.Sorted(strings.SplitSeq(s, "\n")) }
	return strings.Contains(tr.use.methods, "Estimate") || slices.Equal(lines(out), lines(want))
}

// undisturbed returns the result of a use, the number of its context checks or file operations, and
// which of these come right after a change of the catalog.
func (k *kind) undisturbed(t *testing.T, u *use) (want ran, looks, operations int, published [2][]int) {
	ctx := exhaustive.EndAt(0)
	tr := trial{k, u, ctx, func(op vfstest.Op) error {
		ctx.Look()
		if operations++; op.Kind == vfstest.OpCommitted {
			published = [2][]int{append(published[0], ctx.Looks()), append(published[1], operations)}
		}
		return nil
	}, nil, false}
	if err := tr.run(&want, nil); err != nil {
		t.Fatalf("%s of %s: %v", u.methods, k.name, err)
	}
	return want, ctx.Looks(), operations, published
}

// run runs a use on a copy of the database, and returns an error if the result is wrong. want is
// the result of an undisturbed run, or nil if this is that run.
func (tr *trial) run(r, want *ran) (err error) {
	mem := tr.mem.KillClone()
	defer mem.Discard()
	faulty := vfstest.NewFaulty(mem, nil)
	u := &using{ctx: tr.ctx, o: tr.o}
	if u.o.fs = faulty; tr.page != nil {
		u.o.fs = deadPage{faulty, tr.page}
	}
	if u.db, err = Open("/db", &u.o); err != nil {
		return uncorrupt(err)
	}
	if tr.page != nil {
		names, failed := mem.List("/db")
		if failed != nil {
			return failed
		}
		tr.rewritten = !slices.Contains(names, tr.page.name)
	}
	defer func() { u.db.Close() }()
	look := func() {
		if want == nil {
			now, failed := allThatIsIn(u.db)
			r.after, err = append(r.after, now), errors.Join(err, failed)
		}
	}
	look()
	u.step = func() { r.steps++; look() }
	faulty.SetInject(tr.inject)
	if tr.page != nil {
		tr.page.die()
	}
	r.err = tr.use.run(u)
	faulty.SetInject(nil)
	r.out = u.out.String()
	if look(); want == nil {
		return errors.Join(err, r.err)
	}
	if err := tr.judge(r, want, u); err != nil || !tr.use.writes {
		return err
	}
	u.db.Close()
	return tr.reopen(r, want, mem)
}

// may returns the allowed contents of the database after a run.
func (r *ran) may(want *ran) []string {
	last := len(want.after) - 1
	switch {
	case r.err == nil:
		return want.after[last:]
	case errors.Is(r.err, context.Canceled):
		return want.after[r.steps : r.steps+1]
	}
	return want.after[r.steps:min(r.steps+2, last+1)]
}

// there returns an error if the contents of the database after a run are wrong.
func (r *ran) there(want *ran, db *DB) error {
	now, err := allThatIsIn(db)
	if may := r.may(want); err == nil && !slices.Contains(may, now) {
		err = fmt.Errorf("it says %v after %d of %d steps, and there is\n%s\nwant\n%s", r.err, r.steps, len(want.after)-2, now, strings.Join(may, "or\n"))
	}
	return err
}

// judge returns an error if the effects of a use are wrong, as far as its process can see.
func (tr *trial) judge(r, want *ran, u *using) error {
	ended := errors.Is(r.err, context.Canceled)
	switch {
	case r.err == nil && !tr.says(r.out, want.out) && !tr.saves():
		return fmt.Errorf("it says\n%s\nwant\n%s", r.out, want.out)
	case !ended && !errors.Is(r.err, errInjected) && !errors.Is(r.err, ErrFailed) && uncorrupt(r.err) != nil:
		return fmt.Errorf("its error is %w", r.err)
	case tr.page != nil:
		return nil
	}
	if err := r.there(want, u.db); err != nil && !errors.Is(err, ErrClosed) {
		return fmt.Errorf("in the same process: %w", err)
	}
	if !ended || r.steps > 0 {
		return nil
	}
	again := &using{ctx: context.Background(), db: u.db, o: u.o, step: func() {}}
	r.err, r.out = tr.use.run(again), again.out.String() // now it must succeed
	if u.db = again.db; r.err != nil || r.out != want.out {
		return fmt.Errorf("again it says %v\n%s\nwant\n%s", r.err, r.out, want.out)
	}
	return nil
}

// saves reports whether the use must continue without unreadable data.
func (tr *trial) saves() bool {
	_, ends := tr.ctx.(*exhaustive.Ending)
	return tr.use.methods == "Recover" && !ends
}

// reopen returns an error if the next process finds a wrong state.
func (tr *trial) reopen(r, want *ran, mem *vfstest.Mem) error {
	o := tr.o
	o.fs = mem
	db, err := Open("/db", &o)
	if err != nil {
		return fmt.Errorf("opening it again: %w", err)
	}
	defer db.Close()
	if err := r.there(want, db); err != nil {
		return fmt.Errorf("opened again: %w", err)
	}
	for _, path := range []string{"/out.simdb", "/out.sst"} {
		if what, err := files.Look(mem, path); err != nil || what != files.Database && what != files.Table {
			continue
		} else if r.err != nil && tr.use.methods == "Recover" {
			return fmt.Errorf("it says %v, and there is a database", r.err)
		}
		o.ReadOnly, o.TTL = true, 0
		copied, err := Open(path, &o)
		if err != nil {
			return err
		}
		defer copied.Close()
		if now, err := allThatIsIn(copied); err != nil || now != want.after[0] && !tr.saves() {
			return fmt.Errorf("in %s there is\n%s\nwant\n%s%w", path, now, want.after[0], err)
		}
	}
	return db.Put(context.Background(), Doc{ID: "z", Text: "goes on"})
}

// uncorrupt returns nil for an error that reports damage.
func uncorrupt(err error) error {
	if _, is := errors.AsType[*CorruptionError](err); is {
		return nil
	}
	return err
}

// TestPublishedTableStays drops a published table: this must have no effect.
func TestPublishedTableStays(t *testing.T) {
	db, path := create4test(t, nil)
	put(t, db, "a", 1)
	must.Do(t, db.Flush(t.Context()))
	table := snapshot4test(t, db).v.Version.Parts[0].Table
	if err := db.s.Drop(table); err != nil {
		t.Error(err)
	}
	if text, err := allThatIsIn(db); err != nil {
		t.Error(text, err)
	}
	if _, err := os.Stat(filepath.Join(path, table.Name)); err != nil {
		t.Error(err)
	}
}

// TestUses ends the context of every use at every check and file operation, and fails every file
// operation. Cases right after a change of the catalog are always included.
func TestUses(t *testing.T) {
	for _, k := range kinds(t, 0) {
		for i := range uses {
			u, step := &uses[i], 160
			if u.writes {
				step = 40
			}
			ends, fails := exhaustive.Every(t, step), exhaustive.Every(t, 2*step)
			want, looks, operations, published := k.undisturbed(t, u)
			for n := range looks {
				if ends.Takes(n) || slices.Contains(published[0], n) {
					ctx := exhaustive.EndAt(n + 1)
					tr := trial{&k, u, ctx, func(vfstest.Op) error { ctx.Look(); return nil }, nil, false}
					if err := tr.run(new(ran), &want); err != nil {
						t.Errorf("%s of %s: its context ends at look %d of %d: %v", u.methods, k.name, n+1, looks, err)
					}
				}
			}
			for n := range operations {
				if fails.Takes(n) || slices.Contains(published[1], n) {
					at, what := 0, vfstest.Op{}
					tr := trial{&k, u, t.Context(), func(op vfstest.Op) error {
						if at++; at == n+1 {
							what = op
							return errInjected
						}
						return nil
					}, nil, false}
					var r ran
					err := tr.run(&r, &want)
					if err == nil && r.err != nil && u.publishes && n >= slices.Max(published[1]) {
						err = fmt.Errorf("it says %w, when all is published", r.err)
					}
					if err != nil {
						t.Errorf("%s of %s: operation %d, %v %s, fails: %v", u.methods, k.name, n+1, what.Kind, what.Name, err)
					}
				}
			}
		}
	}
}

// TestPageUnreadable makes each page of a table unreadable, or damages its last byte: a read must
// return undamaged data, or report damage.
func TestPageUnreadable(t *testing.T) {
	for _, k := range kinds(t, 150) {
		names := must.Get(k.mem.List("/db"))(t)
		wants := make([]ran, len(uses))
		for i := range uses {
			wants[i], _, _, _ = k.undisturbed(t, &uses[i])
		}
		cases, writes := exhaustive.Every(t, 40), exhaustive.Every(t, 8)
		for _, name := range names {
			if !strings.HasSuffix(name, ".sst") {
				continue
			}
			info := must.Get(k.mem.Stat("/db/" + name))(t)
			const step = 1024 // tables must start at a multiple of 64
			for n := range cases.Of(int(info.Size/step) - 7) {
				for i := range uses {
					if u := &uses[i]; u.methods != "Recover" && (!u.writes || writes.Takes(n*len(uses)+i)) {
						for _, flips := range []bool{false, true} {
							tr := trial{&k, u, t.Context(), nil, &dead{name: name, at: (n + 5) * step, flips: flips}, false}
							if err := tr.run(new(ran), &wants[i]); err != nil {
								t.Errorf("%s of %s: %s up to %d, a byte: %v: %v", u.methods, k.name, name, (n+5)*step, flips, err)
							}
						}
					}
				}
			}
		}
	}
}

// A dead page is a page of a file, given by its end. It becomes unreadable at some moment, or its
// last byte is changed.
type dead struct {
	name        string
	at          int
	flips, dies bool
	maps        [][]byte // mappings of the page
}

func (d *dead) die() {
	d.dies = !d.flips
	for _, m := range d.maps {
		unix.Mprotect(m, unix.PROT_NONE)
	}
}

// A deadPage is a file system with a dead page.
type deadPage struct {
	vfs.FS
	*dead
}

type deadRoot struct {
	deadPage
	io.Closer
}

type deadFile struct {
	vfs.File
	*dead
}

// OpenRoot implements vfs.FS.
func (d deadPage) OpenRoot(dir string) (vfs.Root, error) {
	root, err := d.FS.OpenRoot(dir)
	return deadRoot{deadPage{root, d.dead}, root}, err
}

// Open implements vfs.FS.
func (d deadPage) Open(name string) (vfs.File, error) {
	f, err := d.FS.Open(name)
	if err == nil && filepath.Base(name) == d.name {
		f = deadFile{f, d.dead}
	}
	return f, err
}

// Mmap implements vfs.File.
func (f deadFile) Mmap() ([]byte, func() error, error) {
	data, _, err := f.File.Mmap()
	if err != nil {
		return nil, nil, err
	}
	page := os.Getpagesize()
	start := page + (page-f.at%page)%page
	mem, err := unix.Mmap(-1, 0, start+len(data), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	copy(mem[start:], data)
	if last := mem[start+f.at-page:][:page]; f.dies {
		err = unix.Mprotect(last, unix.PROT_NONE)
	} else if f.flips {
		mem[start+f.at-1] ^= 0x5a
	} else {
		f.maps = append(f.maps, last)
	}
	return mem[start:][:len(data):len(data)], func() error { return unix.Munmap(mem) }, err
}
