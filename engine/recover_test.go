package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// patient is a database to be damaged, with its expected contents.
type patient struct {
	name  string
	files map[string][]byte
	live  map[string]string          // living documents by ID
	past  map[string]map[string]bool // all versions that ever existed, by ID
	home  map[string]string          // the table that holds the document, or "log", by ID
	pairs []Pair
	o     *Options
}

// fate is a database during its creation.
type fate struct {
	t   *testing.T
	db  *DB
	p   *patient
	rng *rand.Rand
	now time.Time
}

// describe returns everything that Recover must restore of a document, as text.
func describe(d Doc, e entry) string {
	return fmt.Sprintf("%q %q %s %x %d", d.ID, d.Text, d.Fields, e.all, e.Time.UnixMicro())
}

// doc returns a new document.
func (f *fate) doc(id string) Doc {
	f.now = f.now.Add(time.Duration(1+f.rng.IntN(1000)) * time.Millisecond)
	d := Doc{ID: id, Time: f.now}
	if f.p.o.NoText || f.rng.IntN(9) == 0 {
		words := []uint64{f.rng.Uint64() >> f.rng.UintN(3)}
		for len(words) < f.p.o.Bits/64 {
			words = append(words, f.rng.Uint64()>>f.rng.UintN(64))
		}
		d.Fingerprints = []Fingerprint{words}
	}
	for range f.rng.IntN(60) {
		d.Text += "w" + strconv.Itoa(f.rng.IntN(5000)) + " "
	}
	if f.rng.IntN(3) == 0 {
		d.Fields = fmt.Appendf(nil, `{"n":%d}`, f.rng.IntN(1000))
	}
	e := entry{Time: d.Time}
	if e.all = d.Fingerprints; e.all == nil {
		if fp, _ := f.db.Hash(d.Text); fp != nil {
			e.all = []Fingerprint{fp}
		}
	}
	kept := d
	if f.p.o.NoText {
		kept.Text, kept.Fields = "", nil
	}
	if f.p.past[id] == nil {
		f.p.past[id] = map[string]bool{}
	}
	f.p.past[id][describe(kept, e)] = true
	return d
}

func (f *fate) do(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// put stores n documents, some of which replace others.
func (f *fate) put(n int) {
	for range n / 50 {
		var b Batch
		for range 50 {
			b.Put(f.doc(f.id()))
		}
		f.do(f.db.Apply(f.t.Context(), &b))
	}
	f.see()
}

// id returns a new ID, or an existing one.
func (f *fate) id() string { return "id-" + strconv.Itoa(f.rng.IntN(6000)) }

// remove deletes about n documents.
func (f *fate) remove(n int) {
	var b Batch
	for range n {
		b.Delete(f.id())
	}
	f.do(f.db.Apply(f.t.Context(), &b))
	f.see()
}

// load loads documents without the log.
func (f *fate) load(n int) {
	l, err := f.db.NewLoader(f.t.Context(), &LoadOptions{Replace: true})
	f.do(err)
	for range n {
		f.do(l.Add(f.doc(f.id())))
	}
	_, err = l.Close()
	f.do(err)
	f.see()
}

// see records the stored documents.
func (f *fate) see() {
	ctx := f.t.Context()
	now := map[string]string{}
	for e, err := range entriesOf(ctx, f.db, Range{}) {
		f.do(err)
		d, err := f.db.Get(ctx, e.ID)
		f.do(err)
		now[e.ID] = describe(d, e)
	}
	f.p.live = now
}

// patients describes the databases to damage.
var patients = []struct {
	name string
	o    Options
	live func(f *fate)
}{
	{"flushed", Options{TTL: 1e5 * time.Hour}, func(f *fate) {
		for range 4 {
			f.put(1500)
			f.remove(150)
			f.do(f.db.Flush(f.t.Context()))
		}
		f.put(300)
		f.remove(200)
		f.do(f.db.SetAllowed(f.t.Context(), true, Pair{A: "id-1", B: "id-2"}))
	}},
	{"merged", Options{}, func(f *fate) {
		for range 3 {
			f.load(1500)
			f.put(200)
			f.remove(100)
		}
		f.do(f.db.Compact(f.t.Context(), nil))
		f.load(2000)
		f.put(300)
		f.remove(300)
		_, err := f.db.Prune(f.t.Context(), f.now.Add(-2000*time.Second), nil)
		f.do(err)
		f.put(100)
		f.remove(100)
	}},
	{"numbers", Options{NoText: true, NoSketch: true, Bits: 192}, func(f *fate) {
		f.load(5000)
		f.remove(400)
		f.do(f.db.Flush(f.t.Context()))
		f.load(3000)
		f.put(100)
	}},
	{"log", Options{Bits: 128}, func(f *fate) {
		f.put(600)
		f.remove(100)
		f.put(200)
	}},
}

// madePatients caches the databases.
var madePatients = map[int]*patient{}

// makePatient makes a database, once for all tests.
func makePatient(t *testing.T, i int) *patient {
	t.Helper()
	if p := madePatients[i]; p != nil {
		return p
	}
	c := &patients[i]
	path := filepath.Join(t.TempDir(), "x.simdb")
	o := c.o
	o.DisableAutoCompaction = true
	p := &patient{name: c.name, files: map[string][]byte{}, past: map[string]map[string]bool{}, home: map[string]string{}, o: &o}
	db, err := Create(path, &o)
	must.Do(t, err)
	f := &fate{t: t, db: db, p: p, rng: rand.New(rand.NewPCG(uint64(i), 1)), now: time.Now().Add(-1e4 * time.Hour)}
	c.live(f)
	f.see()
	v, err := db.s.View()
	f.do(err)
	for id := range p.live {
		p.home[id] = "log"
		if at, err := v.Locate(id); err == nil && at.Mem == nil {
			p.home[id] = at.Part.Name
		}
	}
	v.Close()
	p.pairs = slices.Collect(allowed(db))
	f.do(db.Close())
	names, err := os.ReadDir(path)
	f.do(err)
	for _, e := range names {
		if p.files[e.Name()], err = os.ReadFile(filepath.Join(path, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	madePatients[i] = p
	return p
}

// recovered is the result of a recovery.
type recovered struct {
	report           RecoverReport
	back, old, wrong int
	lostOf           map[string]int // living documents that were not restored exactly, by home
}

// recoverFrom writes the files, recovers, and compares. It fails the test for errors that are wrong
// in every case.
func (p *patient) recoverFrom(t *testing.T, files map[string][]byte, what string) (r recovered, err error) {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "old.simdb"), filepath.Join(dir, "new.simdb")
	defer os.RemoveAll(dir)
	must.Do(t, os.Mkdir(from, 0o755))
	for name, data := range files {
		rewrite(t, filepath.Join(from, name), data)
	}
	r.lostOf = map[string]int{}
	r.report, err = Recover(ctx, from, to, nil)
	if got := readFolder(t, from); !maps.EqualFunc(got, files, bytes.Equal) {
		t.Fatalf("%s: the damaged database was changed", what)
	}
	if err != nil {
		if _, e := os.Stat(to); !errors.Is(e, fs.ErrNotExist) {
			t.Errorf("%s: %v, and something is left", what, err)
		}
		return r, err
	}
	db, err := Open(to, &Options{MustExist: true, DisableAutoCompaction: true})
	if err != nil {
		t.Fatalf("%s: the new database does not open: %v", what, err)
	}
	got := map[string]string{}
	for e, err := range entriesOf(ctx, db, Range{}) {
		if err != nil {
			t.Fatal(what, err)
		}
		d, err := db.Get(ctx, e.ID)
		if err != nil {
			t.Fatal(what, err)
		}
		got[e.ID] = describe(d, e)
	}
	for id, d := range got {
		switch {
		case p.live[id] == d:
			r.back++
		case p.past[id][d]:
			r.old++
		default:
			r.wrong++
		}
	}
	for id, d := range p.live {
		if got[id] != d {
			r.lostOf[p.home[id]]++
		}
	}
	if len(got) != int(r.report.Documents) {
		t.Errorf("%s: %d documents, the report says %d", what, len(got), r.report.Documents)
	}
	if pairs := slices.Collect(allowed(db)); r.report.CatalogRead && (!slices.Equal(pairs, p.pairs) || db.Options().TTL != p.o.TTL) {
		t.Errorf("%s: allowed pairs %v and ttl %v, not %v and %v", what, pairs, db.Options().TTL, p.pairs, p.o.TTL)
	}
	p.keepWriting(t, db, what)
	return r, nil
}

// keepWriting checks a new database, writes to it and closes it.
func (p *patient) keepWriting(t *testing.T, db *DB, what string) {
	t.Helper()
	ctx := context.Background()
	report, err := db.Check(ctx, nil)
	if err == nil && len(report.Problems) > 0 {
		err = report.Problems[0]
	}
	if err == nil {
		d := Doc{ID: "new", Time: time.Now()}
		d.Fingerprints = []Fingerprint{scriptWords(db.Options().Bits, 7)}
		err = db.Put(ctx, d)
	}
	if err == nil {
		err = db.Compact(ctx, nil)
	}
	if err == nil {
		_, err = db.Get(ctx, "new")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatalf("%s: the new database: %v", what, err)
	}
}

// doubtful returns the number of documents that may have come back according to the report.
func (r *recovered) doubtful() (n int64) {
	for _, d := range r.report.Doubts {
		if n += d.Documents; d.Documents < 0 {
			return math.MaxInt64
		}
	}
	return n
}

// judge checks the recovery of a database in which one file was damaged, or two were exchanged. The
// requirement is that 99.9 % of all undamaged documents come back; for undamaged files it is all
// documents. For damaged files, TestSalvage of package table and that of package wal set the
// requirement.
func (p *patient) judge(t *testing.T, r recovered, what string, damaged ...string) {
	t.Helper()
	if int64(r.old) > r.doubtful() {
		t.Errorf("%s: %d deleted or replaced documents came back, the report says that %d could: %v", what, r.old, r.doubtful(), r.report.Losses)
	}
	if r.wrong > 0 {
		t.Errorf("%s: %d documents are as they never were", what, r.wrong)
	}
	lost := 0
	for home, n := range r.lostOf {
		if lost += n; !slices.Contains(damaged, home) && home != "log" {
			t.Errorf("%s: %d documents of %s are lost: %v", what, n, home, r.report.Losses)
		}
	}
	if logs := slices.ContainsFunc(damaged, func(name string) bool { return strings.HasSuffix(name, ".wal") }); r.lostOf["log"] > 0 && !logs {
		t.Errorf("%s: %d documents of the log are lost: %v", what, r.lostOf["log"], r.report.Losses)
	}
	if inTables := int64(lost - r.lostOf["log"]); r.report.CatalogRead && inTables > r.report.Lost {
		t.Errorf("%s: %d documents of tables are lost, the report says %d: %v", what, inTables, r.report.Lost, r.report.Losses)
	}
	if len(r.report.Losses) == 0 && (lost > 0 || r.old > 0) {
		t.Errorf("%s: nothing is reported: %+v", what, r)
	}
}

// TestRecoverWhole recovers undamaged databases: everything must be there, in the same order.
func TestRecoverWhole(t *testing.T) {
	exhaustive.Sequential(t)
	for i := range patients {
		p := makePatient(t, i)
		r, err := p.recoverFrom(t, p.files, p.name)
		if err != nil || len(r.report.Losses)+len(r.report.Doubts) > 0 || r.back != len(p.live) || r.old+r.wrong > 0 {
			t.Errorf("%s: %+v, %v", p.name, r, err)
		}
	}
}

// TestRecover damages files of databases in all ways, one at a time.
func TestRecover(t *testing.T) {
	exhaustive.Sequential(t)
	cases := exhaustive.Every(t, 80)
	sum := map[string]*[3]int{} // by kind of damage: cases, restored documents, documents
	failed := 0
	for i := range patients {
		p := makePatient(t, i)
		names := slices.Sorted(maps.Keys(p.files))
		names = slices.DeleteFunc(names, func(n string) bool { return n == files.Lock || len(p.files[n]) == 0 })
		for n := range cases.Of(1000 / len(patients)) {
			kind, hurt, after := hurtFiles(rand.New(rand.NewPCG(uint64(i), uint64(n))), p.files, names, n)
			what := fmt.Sprintf("%s, case %d: %s of %v", p.name, n, kind, hurt)
			r, err := p.recoverFrom(t, after, what)
			if err != nil {
				if !errors.Is(err, ErrCorruption) || len(hurt) < 2 {
					t.Errorf("%s: %v", what, err)
				}
				failed++
				t.Logf("%s: %v", what, err)
				continue
			}
			p.judge(t, r, what, hurt...)
			if sum[kind] == nil {
				sum[kind] = new([3]int)
			}
			sum[kind][0]++
			sum[kind][1] += r.back
			sum[kind][2] += len(p.live)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(sum)) {
		s := sum[kind]
		t.Logf("%-12s %4d cases, %.3f %% of %d documents", kind, s[0], 100*float64(s[1])/float64(s[2]), s[2])
	}
	t.Logf("%d cases without a new database", failed)
}

// hurtFiles returns the files of a database after one damage, and the damaged files.
func hurtFiles(rng *rand.Rand, whole map[string][]byte, names []string, n int) (kind string, hurt []string, after map[string][]byte) {
	after = maps.Clone(whole)
	name := names[n%len(names)]
	data := bytes.Clone(whole[name])
	zero := func(size int) {
		at := rng.IntN((len(data)+size-1)/size) * size
		clear(data[at:min(at+size, len(data))])
	}
	switch kind = []string{"flip", "zero 512", "zero 4096", "cut", "empty", "delete", "swap", "noise", "misplaced"}[rng.IntN(9)]; kind {
	case "flip":
		data[rng.IntN(len(data))] ^= 1 << rng.UintN(8)
	case "zero 512":
		zero(512)
	case "zero 4096":
		zero(4096)
	case "noise":
		at := rng.IntN(len(data))
		for i := at; i < min(at+1+rng.IntN(600), len(data)); i++ {
			data[i] = byte(rng.Uint32())
		}
	case "misplaced": // a sector
		if len(data) >= 1024 {
			copy(data[rng.IntN(len(data)/512)*512:][:512], data[rng.IntN(len(data)/512)*512:])
		}
	case "cut":
		data = data[:rng.IntN(len(data))]
	case "empty":
		data = []byte{}
	case "delete":
		delete(after, name)
		return kind, []string{name}, after
	case "swap":
		other := names[rng.IntN(len(names))]
		after[name], after[other] = after[other], after[name]
		return kind, []string{name, other}, after
	}
	after[name] = data
	return kind, []string{name}, after
}

// TestRecoverFullDisk fails each write to the new database: Recover must leave nothing of the new
// database.
func TestRecoverFullDisk(t *testing.T) {
	exhaustive.Sequential(t)
	p := makePatient(t, 0)
	from := filepath.Join(t.TempDir(), "old.simdb")
	must.Do(t, os.Mkdir(from, 0o755))
	for name, data := range p.files {
		rewrite(t, filepath.Join(from, name), data)
	}
	for at := 1; ; at += 1 + at/10 {
		to := filepath.Join(t.TempDir(), "new.simdb")
		n := 0
		full := vfstest.NewFaulty(vfs.Disk, func(op vfstest.Op) error {
			if op.Kind.Changes() && op.Kind != vfstest.OpRemove {
				if n++; n >= at {
					return &fs.PathError{Op: op.Kind.String(), Path: op.Name, Err: syscall.ENOSPC}
				}
			}
			return nil
		})
		_, err := Recover(t.Context(), from, to, &RecoverOptions{fs: full})
		if err == nil {
			t.Logf("%d operations", n)
			return
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("operation %d: %v", at, err)
		}
		if _, e := os.Stat(to); !errors.Is(e, fs.ErrNotExist) {
			t.Fatalf("operation %d: something is left after %v", at, err)
		}
	}
}
