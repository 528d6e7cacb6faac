package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestKeeperOfIngested checks that, among the documents of an ingested table, the one that was
// written first in its original database is preferred, even after that table has been merged with
// others.
func TestKeeperOfIngested(t *testing.T) {
	ctx := t.Context()
	from, _ := create4test(t, &Options{NoSketch: true})
	r := rand.New(rand.NewPCG(4, 5))
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("id-%02d", i))
	}
	var keepers [10]string
	for _, i := range r.Perm(len(ids)) { // ten clusters of ten, some with equal fingerprints
		put(t, from, ids[i], 0x0123456789abcdef*uint64(i/10)^uint64(i%3))
		keepers[i/10] = cmp.Or(keepers[i/10], ids[i])
	}
	packed := filepath.Join(t.TempDir(), "packed.sst")
	must.Do(t, from.Pack(ctx, packed, nil))
	db, _ := create4test(t, &Options{NoSketch: true})
	put(t, db, "other", 0xffff0000ffff0000)
	must.Do(t, db.Ingest(ctx, packed))
	for _, stage := range []string{"ingested", "merged"} {
		for _, mode := range []bool{false, true} {
			members := collect(t, db.Clusters(ctx, Near(2), &ClusterOptions{Components: mode}))
			if len(members) != 100 {
				t.Fatalf("%s: %d members", stage, len(members))
			}
			for _, m := range members {
				if i := slices.Index(ids, m.ID); m.Keep != (m.ID == keepers[i/10]) {
					t.Fatalf("%s: %+v, the keeper is %s", stage, m, keepers[i/10])
				}
			}
		}
		must.Do(t, db.Compact(ctx, nil))
	}
}
