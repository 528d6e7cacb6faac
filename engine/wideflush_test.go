package engine

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestWideFlushes checks that a memtable of wide fingerprints is flushed when its documents reach
// the limit, counting their words, and in the index of each word an entry, heads, and as much
// unused capacity after it has grown.
func TestWideFlushes(t *testing.T) {
	for _, bits := range []int{64, 1024} {
		o := &Options{Bits: bits, NoSync: true}
		db := must.Get(Open(filepath.Join(t.TempDir(), "db"), o))(t)
		r := rand.New(rand.NewPCG(1, 1))
		words := make([]uint64, bits/64)
		const n, overhead, entry, limit = 40_000, 300, 24 + 4*4, 16 << 20
		for i := range n {
			for j := range words {
				words[j] = r.Uint64()
			}
			d := Doc{ID: fmt.Sprint(i)}
			d.Fingerprints = []Fingerprint{words}
			must.Do(t, db.Put(t.Context(), d))
		}
		if got, most := db.Metrics().Flushes, int64(n*(overhead+len(words)*(8+2*entry))/limit); got > most {
			t.Errorf("%d bits: %d flushes, more than %d", bits, got, most)
		}
		must.Do(t, db.Close())
	}
}
