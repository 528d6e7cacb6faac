package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// TestReplayMany opens databases whose logs have more writes than are replayed together: repeated
// puts and deletes of documents in tables, with loads in between that overtake the log. A reader
// and a writer must find exactly the last version of each document.
func TestReplayMany(t *testing.T) {
	for _, writes := range []int{0, 1, 130, 1024, 2600} {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.simdb")
			opts := &Options{NoSketch: true, NoSync: true, DisableAutoCompaction: true}
			db := must.Get(Create(path, opts))(t)
			r := rand.New(rand.NewPCG(31, uint64(writes)))
			have := map[string]uint64{}
			load := func(from, to int) {
				var docs []Doc
				for i := from; i < to; i++ {
					d := Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{r.Uint64()}}}
					docs = append(docs, d)
					have[d.ID] = d.Fingerprints[0][0]
				}
				loadStored(t, db, docs...)
			}
			load(0, 300)
			load(200, 500)
			for i := range writes {
				id := fmt.Sprint(r.IntN(600))
				var err error
				if r.IntN(4) == 0 {
					delete(have, id)
					if err = db.Delete(t.Context(), id); errors.Is(err, ErrNotFound) {
						err = nil
					}
				} else {
					have[id] = r.Uint64()
					err = db.Put(t.Context(), Doc{ID: id, Fingerprints: []Fingerprint{{have[id]}}})
				}
				must.Do(t, err)
				if i%1000 == 500 {
					load(100, 120)
				}
			}
			check := func(o Options) {
				t.Helper()
				db := must.Get(Open(path, &o))(t)
				defer db.Close()
				got := map[string]uint64{}
				for e, err := range entriesOf(t.Context(), db, Range{}) {
					if _, twice := got[e.ID]; twice || err != nil {
						t.Fatalf("%s occurs twice, or %v", e.ID, err)
					}
					got[e.ID] = e.Fingerprint
				}
				if !maps.Equal(got, have) {
					t.Errorf("%d documents, want %d: %v and %v", len(got), len(have), slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(have)))
				}
			}
			check(Options{ReadOnly: true}) // while the writer has the log open
			must.Do(t, db.Close())
			check(Options{ReadOnly: true})
			check(*opts)
		})
	}
}

// forgetReplaced removes from the logs of a database what their writes replace, so that a replay
// looks all IDs up, as in logs that do not say it.
func forgetReplaced(t *testing.T, path string) {
	t.Helper()
	for _, name := range must.Get(filepath.Glob(filepath.Join(path, "*.wal")))(t) {
		var payloads [][]byte
		var first uint64
		res := must.Get(wal.Replay(vfs.Disk, name, wal.Options{Last: true}, func(p []byte) error {
			var recs []wal.Record
			err := wal.Decode(p, func(before uint64) error { first = before; return nil }, func(r wal.Record) error {
				r.Replaces = wal.Replaced{}
				recs = append(recs, r)
				return nil
			})
			if payloads = append(payloads, wal.EncodeStart(first)); len(recs) > 0 {
				payloads[len(payloads)-1] = wal.Encode(nil, recs)
				wal.SetFirst(payloads[len(payloads)-1], recs[0].Doc.Seq)
			}
			return err
		}))(t)
		if res.Header == (wal.Header{}) {
			continue // the next log, whose header was not written yet
		}
		must.Do(t, os.Remove(name))
		w := must.Get(wal.Create(vfs.Disk, name, res.Header))(t)
		for _, p := range payloads {
			must.Get(w.Append(p))(t)
		}
		must.Do(t, w.Close())
	}
}

// TestReplayReplaced kills a database in the middle of random histories of puts, deletes and batches
// beside loads, flushes and merges, so that writes in its logs replace documents of tables that are
// there, tables that were merged, flushed memtables and others. Another process must find exactly
// the last versions, whether the logs say what their writes replace or not.
func TestReplayReplaced(t *testing.T) {
	seen := map[wal.Where]int{}
	for c := range exhaustive.Some(t, 5, 60) {
		r := rand.New(rand.NewPCG(uint64(c), 41))
		path := filepath.Join(t.TempDir(), "x.simdb")
		opts := &Options{NoSketch: true, NoSync: true, DisableAutoCompaction: true, MemtableBytes: 1 << (13 + c%3), policy: eager}
		db := must.Get(Create(path, opts))(t)
		have := map[string]uint64{}
		doc := func() Doc {
			d := Doc{ID: fmt.Sprint(r.IntN(80)), Fingerprints: []Fingerprint{{r.Uint64()}}}
			have[d.ID] = d.Fingerprints[0][0]
			return d
		}
		for range 400 {
			var err error
			switch r.IntN(60) {
			case 0:
				var docs []Doc
				for range 1 + r.IntN(8) {
					docs = append(docs, doc())
				}
				loadStored(t, db, docs...)
			case 1:
				err = db.s.CompactDue(t.Context(), nil)
			case 2:
				err = db.Flush(t.Context())
			default:
				var b Batch
				for range 1 + r.IntN(3) {
					if r.IntN(4) > 0 {
						b.Put(doc())
						continue
					}
					id := fmt.Sprint(r.IntN(80))
					delete(have, id)
					b.Delete(id)
				}
				err = db.Apply(t.Context(), &b)
			}
			must.Do(t, err)
		}
		if c%2 == 0 { // writes in the log name tables that are merged now
			must.Do(t, db.s.CompactDue(t.Context(), nil))
		}
		until(t, "flushes", db.s.Idle)
		files := readFolder(t, path)
		must.Do(t, db.Close())
		for _, forget := range []bool{false, true} {
			killed := t.TempDir()
			for name, data := range files {
				rewrite(t, filepath.Join(killed, name), data)
				if _, isLog := strings.CutSuffix(name, ".wal"); isLog && !forget {
					_, err := wal.Replay(vfs.Disk, filepath.Join(killed, name), wal.Options{Last: true}, func(p []byte) error {
						return wal.Decode(p, func(uint64) error { return nil }, func(r wal.Record) error { seen[r.Replaces.Where]++; return nil })
					})
					must.Do(t, err)
				}
			}
			if forget {
				forgetReplaced(t, killed)
			}
			for _, readOnly := range []bool{true, false} {
				db := must.Get(Open(killed, &Options{ReadOnly: readOnly, DisableAutoCompaction: true}))(t)
				got := map[string]uint64{}
				for e, err := range entriesOf(t.Context(), db, Range{}) {
					if _, twice := got[e.ID]; twice || err != nil {
						t.Fatalf("case %d: %s occurs twice, or %v", c, e.ID, err)
					}
					got[e.ID] = e.Fingerprint
				}
				n, err := db.Count(t.Context(), Range{})
				if err = errors.Join(err, db.Close()); !maps.Equal(got, have) || int(n) != len(have) || err != nil {
					t.Errorf("case %d, forget %v: %d documents, counted %d, want %d, %v", c, forget, len(got), n, len(have), err)
				}
			}
		}
	}
	if seen[wal.Unknown] > 0 || seen[wal.NoTable] == 0 || seen[wal.InTable] == 0 {
		t.Errorf("places of replaced documents: %v", seen)
	}
	t.Logf("places of replaced documents: %v", seen)
}

// TestReplayDamaged opens a database whose log has many writes, and whose table is damaged where
// their IDs are looked up: the documents must be found by name if the log does not say where they
// are, and otherwise without reading the table.
func TestReplayDamaged(t *testing.T) {
	for _, forget := range []bool{false, true} {
		replayDamaged(t, forget)
	}
}

func replayDamaged(t *testing.T, forget bool) {
	path := filepath.Join(t.TempDir(), "x.simdb")
	opts := &Options{NoSketch: true, NoSync: true, DisableAutoCompaction: true}
	db := must.Get(Create(path, opts))(t)
	loadTable(t, db, 0, 5000)
	for i := range 500 {
		must.Do(t, db.Put(t.Context(), Doc{ID: fmt.Sprint(i * 3), Fingerprints: []Fingerprint{{uint64(i)}}}))
	}
	files := readFolder(t, path) // before Close records where the log ends
	must.Do(t, db.Close())
	for name, data := range files {
		rewrite(t, filepath.Join(path, name), data)
	}
	if forget {
		forgetReplaced(t, path)
	}
	for range flipEach(t, path, "ids", 0) {
		for _, readOnly := range []bool{true, false} {
			db := must.Get(Open(path, &Options{ReadOnly: readOnly, DisableAutoCompaction: true}))(t)
			listed := map[string]bool{}
			for e, err := range entriesOf(t.Context(), db, Range{}) {
				if listed[e.ID] || err != nil {
					t.Fatalf("%s occurs twice, or %v", e.ID, err)
				}
				listed[e.ID] = true
			}
			n, err := db.Count(t.Context(), Range{})
			if damaged := db.Metrics().Damaged; !forget && len(damaged) > 0 {
				t.Errorf("the table was read: %v", damaged)
			}
			if err = errors.Join(err, db.Close()); int(n) != len(listed) || len(listed) != 5000 || err != nil {
				t.Errorf("read-only %v: %d documents, %d listed, %v", readOnly, n, len(listed), err)
			}
		}
	}
}
