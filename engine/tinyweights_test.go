package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTinyWeights searches among documents whose features have so small weights that their sketches
// are not full. Such a sketch is a sample, too: every search must find what the join of texts does.
func TestTinyWeights(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, &Options{Features: Features{Unit: "features"}, NoSync: true})
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 60 {
		var all []string
		for f := range 20 {
			if r.IntN(12) > 0 {
				all = append(all, fmt.Sprintf(`"f%d": %g`, f+20*(i/6), 1e-4*(1+r.Float64())))
			}
		}
		okay(t, db.Put(ctx, Doc{ID: fmt.Sprintf("d%02d", i), Text: "{" + strings.Join(all, ",") + "}"}))
	}
	for _, flushed := range []bool{false, true} {
		if flushed {
			okay(t, db.Flush(ctx))
		}
		for _, share := range []float64{0.5, 0.7} {
			want := map[string]bool{}
			for _, p := range collect(t, db.Pairs(ctx, Jaccard(share), nil)) {
				want[p.A+p.B], want[p.B+p.A] = true, true
			}
			found := 0
			for i := range 60 {
				id := fmt.Sprintf("d%02d", i)
				for _, m := range collect(t, db.Search(ctx, Doc{ID: id}, Jaccard(share), nil)) {
					if found++; !want[id+m.ID] || !m.Exact {
						t.Errorf("at %g: %s %+v", share, id, m)
					}
				}
			}
			if found != len(want) || found < 20 {
				t.Errorf("at %g, flushed %t: %d found of %d", share, flushed, found, len(want))
			}
		}
	}
}
