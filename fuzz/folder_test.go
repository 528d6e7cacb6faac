package fuzz

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
)

// A sound database that FuzzFolder damages: its files by name, its documents, and those that it had
// after each write since the last flush, which are in the log: if the end of the log is gone, it
// cannot be told from a log whose last writes never were.
type sound struct {
	m      *model
	states []*model
	files  map[string][]byte
}

// makeSound makes a database with tables, tombstones, a log, and a recent merge.
func makeSound(t testing.TB, number int) sound {
	r := rand.New(rand.NewPCG(uint64(number), 3))
	data := make([]byte, 4000)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	h := history{t: t, c: newChoices(data), dir: scratch(t), m: newModel(&engine.Options{NoSync: true, DisableAutoCompaction: true, MinJaccard: 0.5})}
	if h.m.o.Bits = 64; number > 0 {
		h.m.o.Bits, h.m.o.Index, h.m.o.Containment, h.m.o.Features.Several = 128, []string{"lang"}, true, true
	}
	h.m.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h.m.o.Shingle, h.m.o.Sketch, h.path = 3, 128, h.dir+"/x.simdb"
	h.db = must(create(h.path, *h.m.o))(t)
	s := sound{m: h.m, files: map[string][]byte{}}
	for i := range 45 {
		d := h.doc()
		check(t, h.db.Put(context.Background(), d.given()))
		h.m.put(d)
		if s.states = append(s.states, h.m.clone()); i%4 == 3 {
			id := h.c.id()
			if _, there := h.m.docs[id]; there {
				check(t, h.db.Delete(context.Background(), id))
				delete(h.m.docs, id)
			}
		}
		s.states = append(s.states, h.m.clone())
		if i == 9 || i == 19 || i == 35 {
			check(t, h.db.Flush(context.Background()))
			s.states = s.states[len(s.states)-1:]
		}
		if i == 19 {
			check(t, compact(h.db, false))
		}
	}
	for _, e := range must(os.ReadDir(h.path))(t) {
		s.files[e.Name()] = must(os.ReadFile(h.path + "/" + e.Name()))(t)
	}
	check(t, h.db.Close())
	return s
}

// patch damages one file of a folder.
func (c *choices) patch(files map[string][]byte) {
	names := slices.Sorted(maps.Keys(files))
	if len(names) == 0 {
		return
	}
	name := pick(c, names...)
	b := slices.Clone(files[name])
	at := 0
	if len(b) > 0 {
		if at = c.n(1<<16) * len(b) >> 16; c.once(3) {
			at = pick(c, 0, len(b)-1, at&^63, max(0, len(b)-1-c.n(64)), min(len(b)-1, c.n(64)))
		}
	}
	switch n := c.n(10); {
	case n == 0:
		delete(files, name)
		return
	case n == 1:
		b = b[:at]
	case n == 2:
		b = append(b, b[at:]...)
	case n == 3:
		clear(b[at:min(len(b), at+1+c.n(5000))])
	case n == 4: // another file, under this name
		b = slices.Clone(files[pick(c, names...)])
	case n == 5:
		files["9"+name] = b
		return
	case n == 6 && len(b) > 0:
		from := c.n(1<<16) * len(b) >> 16
		copy(b[at:], b[from:min(len(b), from+1+c.n(5000))])
	case len(b) > 0:
		b[at] ^= byte(1 + c.n(255))
	}
	files[name] = b
}

// FuzzFolder damages the files of a sound database. Nothing may panic or hang. What is read without
// an error is as in the sound database if Check finds nothing, and what Recover saves always is.
func FuzzFolder(f *testing.F) {
	seed(f, 20, 8, 8, 9, 9, 10, 10, 12, 12, 16, 20)
	sounds := [2]sound{makeSound(f, 0), makeSound(f, 1)}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newChoices(data[:min(len(data), 64)])
		s := sounds[c.n(len(sounds))]
		files, dir := maps.Clone(s.files), scratch(t)+"/x.simdb"
		for patches := 0; patches == 0 || !c.done() && patches < 4; patches++ {
			c.patch(files)
		}
		check(t, os.Mkdir(dir, 0o700))
		for name, b := range files {
			check(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		}
		x := damaged{t, c, s, dir}
		x.recover()
		x.open(true)
		x.open(false)
	})
}

// A damaged database.
type damaged struct {
	t testing.TB
	c *choices
	sound
	dir string
}

// tolerable reports whether damage may cause an error.
func tolerable(err error) bool {
	return err == nil || slices.ContainsFunc([]error{engine.ErrCorruption, engine.ErrNotFound, engine.ErrNotDatabase, engine.ErrParams, engine.ErrInvalid,
		engine.ErrFailed, fs.ErrNotExist}, func(is error) bool { return errors.Is(err, is) })
}

// open opens the folder, checks it and reads it whole.
func (x *damaged) open(readOnly bool) {
	o := *x.m.o
	o.ReadOnly, o.MustExist = readOnly, true
	db, err := open(x.dir, o)
	if !tolerable(err) {
		x.t.Fatal(err)
	}
	if err != nil {
		return
	}
	defer db.Close()
	report, err := db.Check(context.Background(), nil)
	if !tolerable(err) {
		x.t.Fatal(err)
	}
	s := must(db.Snapshot())(x.t)
	defer s.Close()
	if err == nil && len(report.Problems)+len(report.Orphans) == 0 {
		x.compare(s)
		return
	}
	// Damaged parts return errors, or earlier data.
	var known []string
	for id := range x.m.docs {
		known = append(known, id)
	}
	_, err = s.Get(context.Background(), pick(x.c, known...))
	errs := []error{err}
	for _, err := range s.Range(context.Background(), engine.Range{Load: true}) {
		errs = append(errs, err)
	}
	by := x.m.criterion(x.c)
	_, err = search(s, engine.Doc{Text: "one two three"}, by, 0)
	_, perr := pairsOf(s, by, engine.SearchOptions{})
	_, cerr := clustersOf(s, by, false)
	for _, err := range append(errs, err, perr, cerr) {
		if !tolerable(err) {
			x.t.Fatal(err)
		}
	}
}

// compare compares a snapshot in which Check finds no problem.
func (x *damaged) compare(s *engine.Snapshot) {
	var there []string
	for _, d := range collect(x.t, s.Range(context.Background(), engine.Range{Load: true})) {
		there = append(there, fmt.Sprint(docOf(d)))
	}
	for _, m := range x.states {
		if fmt.Sprint(m.sorted()) == fmt.Sprint(there) {
			m.compare(x.t, s, x.c)
			return
		}
	}
	x.t.Fatalf("Check finds nothing, but there are\n%q, not\n%q", there, x.m.sorted())
}

// recover saves what can be read to a new database.
func (x *damaged) recover() {
	to := x.dir + ".new"
	report, err := recoverTo(x.dir, to)
	if !tolerable(err) {
		x.t.Fatal(err)
	}
	if err != nil {
		return
	}
	db := must(open(to, engine.Options{}))(x.t)
	defer db.Close()
	if r, err := db.Check(context.Background(), nil); err != nil || len(r.Problems) > 0 {
		x.t.Fatal(r, err)
	}
	recovered := map[string]bool{}
	for _, e := range collect(x.t, db.Range(context.Background(), engine.Range{Load: true})) {
		d := docOf(e)
		recovered[d.String()] = true
		known := func(m *model) bool { was, ok := m.docs[d.id]; return ok && was.String() == d.String() }
		if !slices.ContainsFunc(x.states, known) && len(report.Doubts) == 0 {
			x.t.Fatalf("%v is recovered without doubt; it was %v\n%+v", d, x.m.docs[d.id], report)
		}
	}
	missing := len(x.m.docs)
	for _, m := range x.states {
		n := 0
		for _, d := range m.docs {
			if !recovered[d.String()] {
				n++
			}
		}
		missing = min(missing, n)
	}
	if int64(missing) > report.Lost && report.CatalogRead && len(report.Doubts) == 0 {
		x.t.Fatalf("%d documents are not recovered: %+v", missing, report)
	}
}
