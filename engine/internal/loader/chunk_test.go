package loader

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// TestIDFilter adds hashes and looks up these and others.
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

// TestLoadChunk adds documents, some of them again, and compares what a table gets with a stable
// sort.
func TestLoadChunk(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for range 30 {
		c := newChunk(r.IntN(300))
		c.first = 77
		var want []sstable.Document
		at := map[string]int{}
		for i := range r.IntN(3000) {
			d := view.Doc{ID: fmt.Sprint(r.IntN(2500)), Text: strings.Repeat("x", r.IntN(30)), Time: time.UnixMicro(int64(r.IntN(1000)))}
			if r.IntN(200) == 0 {
				d.Text = strings.Repeat("long", blockBytes/8*r.IntN(8))
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
