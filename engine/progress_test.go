package engine

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Joins name their stages in order and count in documents and pairs, never beyond the total.
func TestJoinProgress(t *testing.T) {
	db, err := Create(filepath.Join(t.TempDir(), "x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const n = 400
	for i := range n {
		text := fmt.Sprintf("the %d words of this text are those of %d others but for a number", i/4, i/8)
		if err := db.Put(t.Context(), Doc{ID: fmt.Sprint(i), Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	for by, want := range map[Criterion]string{Near(6): "join sort", Jaccard(0.5): "join sort", Jaccard(0.5).Verified(): "join verify sort"} {
		for _, clusters := range []bool{false, true} {
			var stages []string
			report := func(p Progress) {
				if len(stages) == 0 || stages[len(stages)-1] != p.Stage {
					stages = append(stages, p.Stage)
				}
				units := map[string]string{"join": "documents", "verify": "pairs", "sort": ""}
				if p.Done > p.Total || p.Unit != units[p.Stage] || p.Unit == "documents" && p.Total > n {
					t.Errorf("%v: %+v", by, p)
				}
			}
			if clusters {
				for _, err := range db.Clusters(t.Context(), by, &ClusterOptions{Progress: report}) {
					if err != nil {
						t.Fatal(err)
					}
				}
			} else {
				for _, err := range db.Pairs(t.Context(), by, report) {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			got := strings.Join(stages, " ")
			if clusters && by.by.Verified { // joins and verifies by turns
				if !strings.Contains(got, "join") || !strings.Contains(got, "verify") || !strings.HasSuffix(got, " sort") {
					t.Errorf("%v, clusters: %s", by, got)
				}
			} else if got != want {
				t.Errorf("%v, clusters %v: %s, want %s", by, clusters, got, want)
			}
		}
	}
}
