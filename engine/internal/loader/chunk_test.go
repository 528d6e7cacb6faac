package loader

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/view"
)

// TestChunk looks IDs up, adds documents, and compares the batch with them; then it repeats this
// with the reused memory of the chunk.
func TestChunk(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	now := func() time.Time { return time.UnixMicro(12345) }
	for range 30 {
		c := newChunk(1, true)
		for range 3 {
			var want []view.Doc
			at, timed := map[string]int{}, r.IntN(2) == 0
			for i := range r.IntN(3000) {
				d := view.Doc{ID: fmt.Sprint(r.IntN(2500))}
				if timed && r.IntN(3) == 0 {
					d.Time = time.UnixMicro(int64(r.IntN(1000)))
				}
				if r.IntN(100) == 0 {
					d.ID = strings.Repeat("long", r.IntN(16_000)) + d.ID
				}
				if r.IntN(4) > 0 {
					d.Fingerprint = new(r.Uint64N(500) << 30)
				}
				pos, slot := c.find(d.ID, c.begin(d.ID))
				if before, ok := at[d.ID]; ok != (pos >= 0) || ok && pos != before {
					t.Fatalf("document %q is at %d, want %d, %v", d.ID, pos, before, ok)
				}
				if pos >= 0 {
					continue
				}
				at[d.ID] = c.len()
				if c.filled() && r.IntN(4) > 0 { // otherwise append grows them
					c.grow(r.Int64N(4000))
				}
				c.add(&d, slot, now)
				want = append(want, d)
				if i%1000 == 0 {
					if gather, _ := c.memory(); gather < int64(c.len()*gatherDoc) {
						t.Fatal(gather)
					}
				}
			}
			checkChunk(t, c, want)
			c = c.reuse()
		}
	}
}

// TestChunkGrows checks that the arrays of a chunk have capacity for the expected documents and few
// more, and that the next chunk reuses the same arrays.
func TestChunkGrows(t *testing.T) {
	now := func() time.Time { return time.UnixMicro(12345) }
	for _, most := range []int{0, 100, 1000, 70_000} {
		c := newChunk(1, false)
		for range 2 {
			for range most + most/20 {
				if c.filled() {
					c.grow(int64(most))
				}
				c.add(&view.Doc{ID: "id", Fingerprint: new(uint64)}, idSlot{}, now)
			}
			ids, fps := cap(c.batch.IDs), cap(c.batch.Fingerprints)
			if n := max(192, most+most/8); ids > n || fps > n {
				t.Errorf("room for %d IDs and %d fingerprints, %d were said to come", ids, fps, most)
			}
			c = c.reuse()
			if cap(c.batch.IDs) != ids || cap(c.batch.Fingerprints) != fps {
				t.Error("the arrays are not used again")
			}
		}
	}
}

// checkChunk compares the batch of a chunk with documents.
func checkChunk(t *testing.T, c *chunk, want []view.Doc) {
	t.Helper()
	b := &c.batch
	if b.Len() != len(want) || len(b.Fingerprints) != len(want) {
		t.Fatalf("%d documents, %d fingerprints, want %d", b.Len(), len(b.Fingerprints), len(want))
	}
	for i, d := range want {
		bare := i/64 < len(b.Bare) && b.Bare[i/64]>>(i%64)&1 == 1
		if string(c.id(i)) != d.ID || bare != (d.Fingerprint == nil) || !bare && b.Fingerprints[i] != *d.Fingerprint {
			t.Fatalf("document %d is %q, %d, %v", i, c.id(i), b.Fingerprints[i], bare)
		}
		at := int64(12345)
		if !d.Time.IsZero() {
			at = d.Time.UnixMicro()
		}
		if c.timed && b.Times[i] != at || !c.timed && !d.Time.IsZero() {
			t.Fatalf("document %d has time %d, want %d", i, b.Times[i], at)
		}
	}
}
