package corpus

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
)

// TestRank sorts IDs with common prefixes, IDs that are prefixes of others or end in zeros, and
// duplicates, in memory and in a file.
func TestRank(t *testing.T) {
	for run := range 60 {
		r := rand.New(rand.NewPCG(uint64(run), 5))
		l := NewListing(Options{Sets: true, Memory: []int64{64, 16 << 20}[run%2], Dir: t.TempDir()})
		x := NewExtractor(t.Context(), features.Params{Shingle: 3}, l.Corpus)
		var ids []string
		for i := range r.IntN(300) {
			id := strings.Repeat("http://", r.IntN(3))
			switch r.IntN(4) {
			case 0:
				id += strings.Repeat("\x00", r.IntN(20))
			case 1:
				id = strings.Repeat("x", i)
			case 2:
				id += strings.Repeat("x", 100) + string(rune('a'+r.IntN(26)))
			default:
				for range r.IntN(12) {
					id += string(rune('a' + r.IntN(3)))
				}
			}
			ids = append(ids, id)
			must.Do(t, cmp.Or(l.AddID(id), x.Add(&engine.Doc{ID: id, Text: "one two three four"}, nil)))
		}
		must.Do(t, cmp.Or(x.Finish(), l.Rank(t.Context())))
		x.Stop()
		want := make([]uint32, len(ids))
		for i := range want {
			want[i] = uint32(i)
		}
		slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(ids[a], ids[b]) })
		repeated := int64(0)
		for i, n := range want {
			if last := i+1 == len(want) || ids[want[i+1]] != ids[n]; !last {
				repeated++
			}
			if id, err := l.id(n); string(id) != ids[n] || err != nil {
				t.Fatalf("run %d: the id of %d is %q, not %q (%v)", run, n, id, ids[n], err)
			}
		}
		if !slices.Equal(l.byID, want) || l.Repeated != repeated {
			t.Fatalf("run %d: %v, not %v; %d repeated, not %d", run, l.byID, want, l.Repeated, repeated)
		}
		must.Do(t, l.Close())
	}
}
