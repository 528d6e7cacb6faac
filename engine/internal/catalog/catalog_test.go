package catalog

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// sample returns a state with every field set; n scales it.
func sample(rng *rand.Rand, n int) State {
	s := State{
		FormatVersion: Version,
		UUID:          [16]byte{1, 2, 3, 15: 16},
		Created:       time.UnixMicro(1_700_000_000_123_456).UTC(),
		Params:        []byte("shingle=3"),
		Options:       map[string]string{"ttl": "48h", "": "empty name", "empty": ""},
		Tombstones:    map[uint64]*roaring.Bitmap{},
		Marks:         map[string]int64{"load/a.jsonl": -1, "load/b.jsonl": 1 << 40},
		NextFile:      1000,
		FlushedSeq:    77,
		FirstWAL:      12,
		LastSeq:       99,
		Closed:        LogEnd{Number: 13, Size: 1 << 33},
		Allowed:       []IDPair{{"\x00", "\xff\xfe"}, {"a", "a/b"}, {"a", "b"}, {"b", strings.Repeat("c", 6000)}},
	}
	for i := range n {
		t := Table{
			Number: uint64(i*3 + 1), Size: rng.Int64N(1 << 40), Docs: 200_000, Fingerprints: rng.Uint32N(200_000),
			MinTime: -rng.Int64(), MaxTime: rng.Int64(), MinSeq: uint64(i), MaxSeq: uint64(i + 1), Digest: rng.Uint32(),
		}
		s.Tables = append(s.Tables, t)
		if i%2 == 0 {
			s.Tombstones[t.Number] = randomBitmap(rng, t.Docs)
		}
	}
	return s
}

func randomBitmap(rng *rand.Rand, docs uint32) *roaring.Bitmap {
	b := roaring.New()
	for range 1 + rng.IntN(20) {
		b.Add(rng.Uint32N(docs))
	}
	if rng.IntN(3) == 0 {
		start := uint64(rng.Uint32N(docs))
		b.AddRange(start, min(start+uint64(rng.IntN(3000)), uint64(docs)))
	}
	return b
}

// equal reports whether two states are equal; it compares bitmaps by content.
func equal(a, b State) bool {
	same := func(x, y *roaring.Bitmap) bool { return x.Equals(y) }
	if !maps.EqualFunc(a.Tombstones, b.Tombstones, same) || !slices.Equal(a.Tables, b.Tables) {
		return false
	}
	a.Tombstones, b.Tombstones, a.Tables, b.Tables, a.stored, b.stored = nil, nil, nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

func mustOpen(t *testing.T, fs vfs.FS, name string) (*Catalog, *State) {
	t.Helper()
	c, s, err := Open(fs, name)
	must.Do(t, err)
	return c, s
}

func mustCreate(t *testing.T, fs vfs.FS, name string, s State) {
	t.Helper()
	must.Do(t, Create(fs, name, s))
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 7, 400} {
		t.Run(fmt.Sprint(n, " tables"), func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "CATALOG")
			want := sample(rand.New(rand.NewPCG(1, uint64(n))), n)
			mustCreate(t, vfs.Disk, name, want)
			c, got := mustOpen(t, vfs.Disk, name)
			defer c.Close()
			if !equal(want, *got) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			before := mustRead(t, vfs.Disk, name, want) // while c has it open
			must.Do(t, c.Apply(Edit{SetMarks: map[string]int64{"x": 1}}))
			want.model(Edit{SetMarks: map[string]int64{"x": 1}})
			if after := mustRead(t, vfs.Disk, name, want); after != before+1 {
				t.Errorf("transaction %d, and then %d", before, after)
			}
			for range 2 {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
			if err := boltCheck(name); err != nil {
				t.Error(err)
			}
		})
	}
}

// mustRead reads a catalog, which must have the state want, and returns the number of its last
// transaction.
func mustRead(t *testing.T, fs vfs.FS, name string, want State) uint64 {
	t.Helper()
	s, txid, err := Read(fs, name)
	must.Do(t, err)
	if !equal(want, *s) {
		t.Errorf("read %+v, want %+v", s, want)
	}
	if now, err := Transaction(fs, name); err != nil || now != txid {
		t.Errorf("transaction %d, %v, want %d", now, err, txid)
	}
	return txid
}

// TestReadBesideWriter reads a catalog repeatedly while it is written. Each state read must be one
// that was written, and they must be in order.
func TestReadBesideWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	s := sample(rand.New(rand.NewPCG(1, 2)), 50)
	mustCreate(t, vfs.Disk, name, s)
	c, _ := mustOpen(t, vfs.Disk, name)
	defer c.Close()
	c.db.NoSync = true
	writes := exhaustive.Size[int64](300, 2000)
	done := make(chan error, 1)
	go func() {
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range writes { // changes both marks, the tombstones of a table, and its neighbours' pages
			dead := roaring.New()
			for range rng.IntN(2000) {
				dead.Add(rng.Uint32N(s.Tables[0].Docs))
			}
			e := Edit{SetMarks: map[string]int64{"a": i, "z": i}, SetTombstones: map[uint64]*roaring.Bitmap{s.Tables[0].Number: dead}}
			if err := c.Apply(e); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	last, read, moved := int64(0), 0, 0
	for {
		got, _, err := Read(vfs.Disk, name)
		switch {
		case err != nil: // it was written meanwhile
			moved++
		case got.Marks["a"] != got.Marks["z"] || got.Marks["a"] < last || len(got.Tables) != len(s.Tables):
			t.Fatalf("marks %d and %d after %d, %d tables", got.Marks["a"], got.Marks["z"], last, len(got.Tables))
		default:
			last = got.Marks["a"]
			read++
		}
		select {
		case err := <-done:
			must.Do(t, err)
			if got, _, err := Read(vfs.Disk, name); err != nil || got.Marks["a"] != writes-1 {
				t.Fatalf("at the end: %v, %v", got, err)
			}
			if read == 0 {
				t.Errorf("nothing was read, %d times it was written meanwhile", moved)
			}
			return
		default:
		}
	}
}

func readOptions() *bbolt.Options {
	o := boltOptions()
	o.ReadOnly = true
	return o
}

// boltCheck lets bbolt check the pages of a catalog that nobody has open.
func boltCheck(path string) error {
	db, err := bbolt.Open(path, 0o644, readOptions())
	if err != nil {
		return err
	}
	err = db.View(func(tx *bbolt.Tx) (err error) {
		for damage := range tx.Check() { // read to the end: its goroutine waits for us
			err = errors.Join(err, damage)
		}
		return err
	})
	return errors.Join(err, db.Close())
}

// TestClosedMark checks when the end of the newest log costs a transaction: only if it is new and
// the log is needed.
func TestClosedMark(t *testing.T) {
	s := sample(rand.New(rand.NewPCG(1, 1)), 1)
	s.Closed = LogEnd{}
	commits := 0
	fs := vfstest.NewFaulty(vfs.Disk, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpCommit {
			commits++
		}
		return nil
	})
	name := filepath.Join(t.TempDir(), "CATALOG")
	mustCreate(t, fs, name, s)
	c, _ := mustOpen(t, fs, name)
	for _, step := range []struct {
		end  LogEnd
		news bool
	}{
		{LogEnd{s.FirstWAL - 1, 100}, false}, // not needed
		{LogEnd{s.FirstWAL, 100}, true},
		{LogEnd{s.FirstWAL, 100}, false}, // known
		{LogEnd{s.FirstWAL, 108}, true},
		{LogEnd{s.FirstWAL + 7, 108}, true},
	} {
		commits = 0
		must.Do(t, c.Apply(Edit{SetClosed: &step.end}))
		if step.news {
			s.Closed = step.end
		}
		if news := commits > 0; news != step.news {
			t.Errorf("%+v: a transaction: %t", step.end, news)
		}
	}
	must.Do(t, c.Close())
	c, got := mustOpen(t, fs, name)
	if !equal(*got, s) {
		t.Errorf("got %+v, want %+v", got, s)
	}
	must.Do(t, c.Close())
}

// model applies an edit to a state, as Apply should.
func (s *State) model(e Edit) {
	for _, number := range e.DropTables {
		s.Tables = slices.DeleteFunc(s.Tables, func(t Table) bool { return t.Number == number })
		delete(s.Tombstones, number)
	}
	s.Tables = append(s.Tables, e.AddTables...)
	slices.SortFunc(s.Tables, compareTables)
	for number, b := range e.SetTombstones {
		delete(s.Tombstones, number)
		if b != nil && !b.IsEmpty() {
			s.Tombstones[number] = b.Clone()
		}
	}
	for number, b := range e.AddTombstones {
		if b == nil || b.IsEmpty() {
			continue
		}
		if s.Tombstones[number] == nil {
			s.Tombstones[number] = roaring.New()
		}
		s.Tombstones[number] = roaring.Or(s.Tombstones[number], b)
	}
	setIf(&s.NextFile, e.NextFile)
	setIf(&s.FlushedSeq, e.FlushedSeq)
	setIf(&s.FirstWAL, e.FirstWAL)
	s.LastSeq = max(s.LastSeq, e.LastSeq)
	if e.SetClosed != nil && e.SetClosed.Number >= s.FirstWAL {
		s.Closed = *e.SetClosed
	}
	s.Allowed = append(slices.DeleteFunc(slices.Clone(s.Allowed), func(p IDPair) bool { return slices.Contains(e.Unallow, p) }), e.Allow...)
	slices.SortFunc(s.Allowed, comparePairs)
	if s.Allowed = slices.Compact(s.Allowed); len(s.Allowed) == 0 {
		s.Allowed = nil
	}
	maps.Copy(s.Marks, e.SetMarks)
}

func randomEdit(rng *rand.Rand, s *State) Edit {
	e := Edit{SetTombstones: map[uint64]*roaring.Bitmap{}, AddTombstones: map[uint64]*roaring.Bitmap{}, SetMarks: map[string]int64{}}
	for range rng.IntN(3) {
		next := s.NextFile + uint64(len(e.AddTables))
		e.AddTables = append(e.AddTables, Table{Number: next, Size: 1 << 20, Docs: 150_000, MinSeq: next, MaxSeq: next})
		if rng.IntN(2) == 0 {
			e.SetTombstones[next] = randomBitmap(rng, 150_000)
		}
	}
	nextFile := s.NextFile + uint64(len(e.AddTables))
	e.NextFile = &nextFile
	for _, table := range s.Tables {
		switch rng.IntN(8) {
		case 0:
			e.DropTables = append(e.DropTables, table.Number)
		case 1:
			b := randomBitmap(rng, table.Docs)
			if old := s.Tombstones[table.Number]; old != nil {
				b.Or(old)
			}
			e.SetTombstones[table.Number] = b
		case 2:
			e.SetTombstones[table.Number] = nil
		case 3, 4, 5:
			some := roaring.New()
			for range rng.IntN(30) {
				some.Add(rng.Uint32N(max(table.Docs, 1)))
			}
			if table.Docs > 0 {
				e.AddTombstones[table.Number] = some
			}
		}
	}
	name := string(rune('a' + rng.IntN(4)))
	if pair := (IDPair{name, name + name}); rng.IntN(2) == 0 {
		e.Allow = append(e.Allow, pair, IDPair{"0", name})
	} else {
		e.Unallow = append(e.Unallow, pair)
	}
	switch rng.IntN(4) {
	case 0:
		e.SetClosed = &LogEnd{Number: rng.Uint64N(100), Size: rng.Int64()}
	case 1:
		e.SetMarks[name] = rng.Int64()
		e.LastSeq = rng.Uint64N(1000)
	case 2:
		seq := rng.Uint64()
		e.FlushedSeq, e.FirstWAL = &seq, &seq
	}
	return e
}

func TestApplyFollowsModel(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 2))
		fs := vfstest.NewMem(t.TempDir())
		want := sample(rng, 5)
		mustCreate(t, fs, "CATALOG", want)
		c, _ := mustOpen(t, fs, "CATALOG")
		for step := range 60 {
			e := randomEdit(rng, &want)
			must.Do(t, c.Apply(e))
			want.model(e)
			if step%10 != 9 {
				continue
			}
			must.Do(t, c.Close())
			var got *State
			if c, got = mustOpen(t, fs, "CATALOG"); !equal(want, *got) {
				t.Fatalf("seed %d, step %d: got %+v, want %+v", seed, step, got, want)
			}
		}
		c.Close()
	}
}

func TestInvalidEditsChangeNothing(t *testing.T) {
	fs := vfstest.NewMem(t.TempDir())
	want := sample(rand.New(rand.NewPCG(3, 3)), 3)
	mustCreate(t, fs, "CATALOG", want)
	c, _ := mustOpen(t, fs, "CATALOG")
	defer c.Close()
	for what, e := range map[string]Edit{
		"add a table that is there": {AddTables: []Table{{Number: 1}}},
		"add a table twice":         {AddTables: []Table{{Number: 2}, {Number: 2}}},
		"drop and add":              {AddTables: []Table{{Number: 1}}, DropTables: []uint64{1}},
		"drop a missing table":      {DropTables: []uint64{2}},
		"drop twice":                {DropTables: []uint64{1, 1}},
		"tombstones of none":        {SetTombstones: map[uint64]*roaring.Bitmap{2: roaring.BitmapOf(1)}},
		"tombstones of a dropped":   {DropTables: []uint64{1}, SetTombstones: map[uint64]*roaring.Bitmap{1: roaring.BitmapOf(1)}},
		"tombstone past the table":  {SetTombstones: map[uint64]*roaring.Bitmap{1: roaring.BitmapOf(200_000)}},
		"more prints than docs":     {AddTables: []Table{{Number: 2, Fingerprints: 1}}},
		"a pair of one":             {Allow: []IDPair{{"a", "a"}}},
		"a pair in disorder":        {Allow: []IDPair{{"b", "a"}}},
		"a pair with an empty ID":   {Allow: []IDPair{{"", "a"}}},
		"a pair with a long ID":     {Allow: []IDPair{{"a", strings.Repeat("b", maxID+1)}}},
		"long name":                 {SetMarks: map[string]int64{string(make([]byte, maxName+1)): 1}},
	} {
		ops := fs.Ops()
		if err := c.Apply(e); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
		if fs.Ops() != ops {
			t.Errorf("%s: the file was touched", what)
		}
	}
	if err := c.Apply(Edit{SetMarks: map[string]int64{"after": 1}}); err != nil {
		t.Error(err)
	}
}

func TestCreateRefuses(t *testing.T) {
	fs := vfstest.NewMem(t.TempDir())
	if err := Create(fs, "CATALOG", State{FormatVersion: Version + 1}); !errors.Is(err, ErrVersion) {
		t.Errorf("later version: %v", err)
	}
	if err := Create(fs, "CATALOG", State{Tables: []Table{{}, {}}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a table twice: %v", err)
	}
	mustCreate(t, fs, "CATALOG", State{})
	if err := Create(fs, "CATALOG", State{}); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("over another: %v", err)
	}
	if _, _, err := Open(fs, "NONE"); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestLocked(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	mustCreate(t, vfs.Disk, name, State{})
	c, _ := mustOpen(t, vfs.Disk, name)
	defer c.Close()
	if _, _, err := Open(vfs.Disk, name); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
}

func TestFailedCommitPoisons(t *testing.T) {
	for _, kind := range []vfstest.OpKind{vfstest.OpCommit, vfstest.OpCommitted} {
		mem := vfstest.NewMem(t.TempDir())
		mustCreate(t, mem, "CATALOG", State{})
		fail := false
		fs := vfstest.NewFaulty(mem, func(op vfstest.Op) error {
			if fail && op.Kind == kind {
				return syscall.EIO
			}
			return nil
		})
		c, _ := mustOpen(t, fs, "CATALOG")
		fail = true
		edit := Edit{SetMarks: map[string]int64{"a": 1}}
		first := c.Apply(edit)
		if !errors.Is(first, syscall.EIO) {
			t.Errorf("%v: %v", kind, first)
		}
		fail = false
		ops := mem.Ops()
		if err := c.Apply(edit); err != first || mem.Ops() != ops {
			t.Errorf("%v: not poisoned: %v", kind, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		c, s := mustOpen(t, fs, "CATALOG")
		if got, want := s.Marks["a"], kind == vfstest.OpCommitted; (got == 1) != want {
			t.Errorf("%v: mark %d after reopening", kind, got)
		}
		c.Close()
		if err := c.Apply(edit); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// TestOpenMakesDurable checks that Open syncs the state that it has read: a killed process may have
// left an unsynced transaction, and files that it no longer lists are removed after Open.
func TestOpenMakesDurable(t *testing.T) {
	mem := vfstest.NewMem(t.TempDir())
	mustCreate(t, mem, "CATALOG", State{})
	synced := 0
	var fail error
	fs := vfstest.NewFaulty(mem, func(op vfstest.Op) error {
		if op.Kind != vfstest.OpSync || op.Name != "CATALOG" {
			return nil
		}
		synced++
		return fail
	})
	c, _ := mustOpen(t, fs, "CATALOG")
	if synced == 0 {
		t.Error("the catalog was not synced")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	fail = syscall.EIO
	if _, _, err := Open(fs, "CATALOG"); !errors.Is(err, syscall.EIO) {
		t.Errorf("a catalog that cannot be synced is opened: %v", err)
	}
}

// TestCrashEverywhere crashes creation and a series of edits at every operation: the catalog must
// have the state before or after the edit in progress, or, before the creation is finished, not
// exist.
func TestCrashEverywhere(t *testing.T) {
	host := t.TempDir()
	run := func(fs *vfstest.Mem) (states []State, err error) {
		rng := rand.New(rand.NewPCG(4, 4))
		s := sample(rng, 3)
		if err := Create(fs, "CATALOG", s); err != nil {
			return states, err
		}
		c, opened, err := Open(fs, "CATALOG")
		if err != nil {
			return states, err
		}
		defer c.Close()
		states = append(states, *opened)
		for range 5 {
			e := randomEdit(rng, &s)
			s.model(e)
			last := clone(s)
			states = append(states, last)
			if err := c.Apply(e); err != nil {
				return states, err
			}
		}
		return states, nil
	}
	whole := vfstest.NewMem(host)
	all := must.Get(run(whole))(t)
	for op := 1; op <= whole.Ops()+1; op++ {
		fs := vfstest.NewMem(host)
		fs.CrashAt(op)
		states, err := run(fs)
		if (err == nil) != (op > whole.Ops()) {
			t.Fatalf("crash at %d: %v", op, err)
		}
		for i, keep := range []float64{0, .5, .5, 1} {
			after := fs.CrashClone(keep, uint64(i))
			c, got, err := Open(after, "CATALOG")
			switch {
			case errors.Is(err, iofs.ErrNotExist) && len(states) == 0:
			case err != nil:
				t.Fatalf("crash at %d: %v", op, err)
			case len(states) == 0 && !equal(*got, all[0]):
				t.Fatalf("crash at %d: got %+v, which nobody wrote", op, got)
			case len(states) > 0 && !equal(*got, states[len(states)-1]) && (len(states) < 2 || !equal(*got, states[len(states)-2])):
				t.Fatalf("crash at %d: got %+v, want the last of %d states or the one before", op, got, len(states))
			}
			if err == nil {
				c.Close()
			}
			after.Discard()
		}
		fs.Discard()
	}
}

func clone(s State) State {
	c := s
	c.Tables = slices.Clone(s.Tables)
	c.Options, c.Marks, c.Tombstones = maps.Clone(s.Options), maps.Clone(s.Marks), maps.Clone(s.Tombstones)
	return c
}

func TestErrnoOf(t *testing.T) {
	err := errnoOf(fmt.Errorf("file resize error: %s", &iofs.PathError{Op: "truncate", Path: "x", Err: syscall.ENOSPC}))
	if !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if err := errnoOf(bolterrors.ErrDatabaseNotOpen); !errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		t.Error(err)
	}
}

// TestTombstonesLinear changes the tombstones of a table with a billion documents: the time must
// grow with the number of chunks, not with its square, and few bytes may be written if few chunks
// have changed.
func TestTombstonesLinear(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	const most = 15_000
	mustCreate(t, vfs.Disk, name, State{Tables: []Table{{Number: 1, Docs: most << 16}, {Number: 2, Docs: most << 16}}, Params: []byte{1}})
	c, _ := mustOpen(t, vfs.Disk, name)
	defer c.Close()
	// One document of each chunk is dead, and then a second one.
	fill := func(table uint64, chunks int) (fastest time.Duration) {
		dead := roaring.New()
		for i := range uint32(chunks) {
			dead.Add(i << 16)
		}
		must.Do(t, c.Apply(Edit{SetTombstones: map[uint64]*roaring.Bitmap{table: dead}}))
		records, err := tombstoneRecords(table, most<<16, dead)
		must.Do(t, err)
		fastest = time.Hour
		err = c.db.View(func(tx *bbolt.Tx) error {
			for range 5 {
				start := time.Now()
				if drops := stale(tx.Bucket([]byte(bucketName)), tombstones{table: table, chunks: records}); len(drops) > 0 {
					t.Errorf("%d chunks are stale", len(drops))
				}
				fastest = min(fastest, time.Since(start))
			}
			return nil
		})
		must.Do(t, err)
		before := c.Written()
		dead.Add(7)
		must.Do(t, c.Apply(Edit{SetTombstones: map[uint64]*roaring.Bitmap{table: dead}}))
		if n := c.Written() - before; n < 2*pageSize || n > 16*pageSize {
			t.Errorf("%d bytes are written for a document of one of %d chunks", n, chunks)
		}
		return fastest
	}
	few, many := fill(1, 500), fill(2, most)
	if many > 120*few+10*time.Millisecond {
		t.Errorf("%v for 500 chunks, %v for %d", few, many, most)
	}
	must.Do(t, c.Apply(Edit{SetTombstones: map[uint64]*roaring.Bitmap{2: roaring.BitmapOf(1<<16, 5<<16)}}))
	if s, _, err := Read(vfs.Disk, name); err != nil || s.Tombstones[2].GetCardinality() != 2 {
		t.Errorf("%v, %v", s.Tombstones[2], err)
	}
}
