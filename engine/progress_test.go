package engine

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestJoinProgress checks that joins report their stages in order and count documents and pairs,
// never beyond the total.
func TestJoinProgress(t *testing.T) {
	db := must.Get(Create(filepath.Join(t.TempDir(), "x"), nil))(t)
	defer db.Close()
	const n = 400
	for i := range n {
		text := fmt.Sprintf("the %d words of this text are those of %d others but for a number", i/4, i/8)
		must.Do(t, db.Put(t.Context(), Doc{ID: fmt.Sprint(i), Text: text}))
	}
	const want = "join sort"
	for _, by := range []Criterion{Near(6), Jaccard(0.5).Estimated(), Jaccard(0.5)} {
		for _, clusters := range []bool{false, true} {
			var stages []string
			report := func(p Progress) {
				if len(stages) == 0 || stages[len(stages)-1] != p.Stage {
					stages = append(stages, p.Stage)
				}
				units := map[string]string{"join": "documents", "sort": ""}
				if p.Done > p.Total || p.Unit != units[p.Stage] || p.Unit == "documents" && p.Total > n {
					t.Errorf("%v: %+v", by, p)
				}
			}
			if clusters {
				for _, err := range db.Clusters(t.Context(), by, &ClusterOptions{Progress: report}) {
					must.Do(t, err)
				}
			} else {
				for _, err := range db.Pairs(t.Context(), by, &SearchOptions{Progress: report}) {
					must.Do(t, err)
				}
			}
			got := strings.Join(stages, " ")
			if got != want {
				t.Errorf("%v, clusters %v: %s, want %s", by, clusters, got, want)
			}
		}
	}
}
