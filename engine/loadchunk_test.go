package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/sstable"
)

// TestIDFilter adds hashes and asks for them and for others.
func TestIDFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{0, 1, 100, 30_000} {
		for _, most := range []int64{0, 1000, 1 << 30} {
			f, in := newIDFilter(n, most), make([]uint64, n)
			for i := range in {
				in[i] = r.Uint64()
				f.add(in[i])
			}
			for _, h := range in {
				if !f.has(h) {
					t.Fatalf("%d of at most %d bytes: a hash that was added is not there", n, most)
				}
			}
			wrong := 0
			for range 10_000 {
				if f.has(r.Uint64()) {
					wrong++
				}
			}
			if n <= f.capacity() && wrong > 100 {
				t.Errorf("%d in %d bytes: %d of 10000 that were not added are there", n, f.bytes(), wrong)
			}
			if int64(f.bytes()) > most+filterLine {
				t.Errorf("%d bytes, at most %d were asked for", f.bytes(), most)
			}
		}
	}
}

// TestLoadChunk adds documents, some of them again, and compares what a table gets with a stable sort.
func TestLoadChunk(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for range 30 {
		c := newLoadChunk(r.IntN(300))
		c.first = 77
		var want []sstable.Document
		at := map[string]int{}
		for i := range r.IntN(3000) {
			d := Doc{ID: fmt.Sprint(r.IntN(2500)), Text: strings.Repeat("x", r.IntN(30)), Time: time.UnixMicro(int64(r.IntN(1000)))}
			if r.IntN(200) == 0 {
				d.Text = strings.Repeat("long", loadBlock/8*r.IntN(8))
			}
			if r.IntN(3) == 0 {
				d.Fields = []byte("{}")
			}
			if r.IntN(4) > 0 {
				d.Fingerprint = new(r.Uint64N(500) << 30)
			}
			pos, slot := c.find(d.ID, c.begin(d.ID))
			if before, ok := at[d.ID]; ok != (pos >= 0) || ok && pos != before {
				t.Fatalf("document %q is at %d, want %d, %v", d.ID, pos, before, ok)
			}
			if pos >= 0 {
				c.docs[pos].dropped = true
				want[pos].ID = nil
			}
			c.add(&d, slot)
			at[d.ID] = i
			w := sstable.Document{ID: []byte(d.ID), Text: []byte(d.Text), Fields: d.Fields, Time: d.Time.UnixMicro(), Seq: 77 + uint64(i)}
			if d.Fingerprint != nil {
				w.Fingerprint, w.HasFingerprint = *d.Fingerprint, true
			}
			want = append(want, w)
		}
		want = slices.DeleteFunc(want, func(d sstable.Document) bool { return d.ID == nil })
		slices.SortStableFunc(want, func(a, b sstable.Document) int { return a.Compare(&b) })
		n := 0
		err := c.eachIn(c.tableOrder(), func(d *sstable.Document) error {
			w := &want[n]
			if string(d.ID) != string(w.ID) || string(d.Text) != string(w.Text) || string(d.Fields) != string(w.Fields) ||
				d.Time != w.Time || d.Seq != w.Seq || d.HasFingerprint != w.HasFingerprint || d.Fingerprint != w.Fingerprint {
				t.Fatalf("document %d is %+v, want %+v", n, d, w)
			}
			n++
			return nil
		})
		if err != nil || n != len(want) {
			t.Fatalf("%d documents, want %d, %v", n, len(want), err)
		}
	}
}

// TestLoadKnowsIDs loads without Replace, in many small tables, IDs that are in tables, in the memtable, in the table being written,
// deleted, and new, while another loader and writers add others: ErrExists says which are stored.
func TestLoadKnowsIDs(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 9))
	for _, memory := range []int64{20 * loadDocOverhead, 300 * loadDocOverhead, 0} {
		db, _ := create4test(t, &Options{NoSketch: true, Sync: SyncNever, MemtableBytes: 30_000})
		stored := map[string]bool{}
		id := func() string { return fmt.Sprint("id-", r.IntN(3000)) }
		put := func(n int) {
			for range n {
				d := Doc{ID: id(), Fingerprint: new(r.Uint64())}
				if err := db.Put(ctx, d); err != nil {
					t.Fatal(err)
				}
				stored[d.ID] = true
			}
		}
		put(300)
		for id := range maps.Clone(stored) {
			if r.IntN(4) == 0 {
				if err := db.Delete(ctx, id); err != nil {
					t.Fatal(err)
				}
				delete(stored, id)
			}
		}
		l := must(db.NewLoader(ctx, LoadOptions{MemoryBytes: memory}))(t)
		added := int64(0)
		n := 4000
		if memory > 0 {
			n = 1500
		}
		for i := range n {
			d := Doc{ID: id(), Fingerprint: new(r.Uint64())}
			err := l.Add(d)
			if want := stored[d.ID]; errors.Is(err, ErrExists) != want || err != nil && !want {
				t.Fatalf("memory %d: adding document %d, %q: %v; stored before: %v", memory, i, d.ID, err, want)
			}
			if err == nil {
				added++
				stored[d.ID] = true
			}
			if i%400 == 399 { // what others have written counts from the next table on
				put(100)
				if err := l.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		st, err := l.Close()
		if err != nil {
			t.Fatal(err)
		}
		snap := must(db.Snapshot())(t)
		defer snap.Close()
		n = 0
		for e, err := range snap.Entries(ctx, "") {
			if err != nil || !stored[e.ID] {
				t.Fatalf("%q is stored, %v", e.ID, err)
			}
			n++
		}
		if n != len(stored) || st.Replaced != 0 || st.Documents > added {
			t.Errorf("memory %d: %d documents are stored, want %d; %d of %d added: %+v", memory, n, len(stored), st.Documents, added, st)
		}
	}
}

// TestLoadCancelled ends a load by its context: nothing of it is left, and the database can be written to.
func TestLoadCancelled(t *testing.T) {
	db, path := create4test(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	l := must(db.NewLoader(ctx, LoadOptions{}))(t)
	for i := range 5000 {
		if err := l.Add(Doc{ID: fmt.Sprint(i), Text: "some words"}); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if st, err := l.Close(); !errors.Is(err, context.Canceled) || st.Documents != 0 {
		t.Fatal(st, err)
	}
	if err := l.Add(Doc{ID: "x"}); err == nil {
		t.Fatal("a load that has ended takes documents")
	}
	put(t, db, "after", 1)
	if files, err := filepath.Glob(filepath.Join(path, "*.sst")); err != nil || len(files) > 0 {
		t.Fatal(files, err)
	}
	if st, err := db.Stats(); err != nil || st.Documents != 1 {
		t.Fatal(st, err)
	}
}
