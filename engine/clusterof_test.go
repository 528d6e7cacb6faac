package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// TestClusterOf compares ClusterOf for a sample of the documents with Clusters: for chains, for
// crowds around a centre and for equal documents, written in any order. A walk must find them
// without forming the other clusters, unless the walk is long.
func TestClusterOf(t *testing.T) {
	ctx, share := t.Context(), exhaustive.Every(t, 10)
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 5))
		db, _ := create4test(t, &Options{MemtableBytes: 30_000, NoSync: true})
		n := 250
		for _, i := range r.Perm(n) {
			words := make([]string, 30)
			for w := range words {
				words[w] = fmt.Sprintf("f%dw%d", i%6, w)
			}
			switch {
			case i%6 < 2: // a chain
				for w := range i / 6 {
					words[w%30] = fmt.Sprintf("c%dw%d", i%6, w)
				}
			case i%6 < 5:
				for range r.IntN(5) {
					words[r.IntN(30)] = fmt.Sprint("x", r.IntN(9))
				}
			}
			must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprint("d", i), Text: strings.Join(words, " ")}))
		}
		snap := must.Get(db.Snapshot())(t)
		defer snap.Close()
		for _, by := range []Criterion{Near(0), Near(6), Near(14), Jaccard(0.4).Estimated(), Jaccard(0.65).Estimated(), Jaccard(0.9).Estimated(), Jaccard(0.4), Jaccard(0.65), Jaccard(0.9)} {
			of := map[string][]Member{}
			var cluster []Member
			flush := func() {
				for _, m := range cluster {
					of[m.ID] = cluster
				}
				cluster = nil
			}
			for _, m := range collect(t, snap.Clusters(ctx, by, nil)) {
				if m.Keep {
					flush()
				}
				m.Cluster = 1
				cluster = append(cluster, m)
			}
			flush()
			for i := range share.Of(n) {
				id := fmt.Sprint("d", i)
				if got := collect(t, snap.Clusters(ctx, by, &ClusterOptions{Of: id})); !slices.Equal(got, of[id]) {
					t.Fatalf("seed %d, %+v, %s: %+v, want %+v", seed, by, id, got, of[id])
				}
				w := &walk{s: snap, ctx: ctx, by: by, groups: map[string]*walked{}}
				if _, found, err := w.cluster(id, &ClusterOptions{}); err != nil || !found {
					t.Fatalf("%+v, %s is not found by a walk: %v", by, id, err)
				}
			}
		}
		if len(collect(t, snap.Clusters(ctx, Jaccard(0.4).Estimated(), &ClusterOptions{Of: "d3", Components: true}))) == 0 {
			t.Error("no component")
		}
	}
}
