package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// Contents, which SHOW, ORDER BY and COUNT BY call for every document, reads texts and fields only:
// with at most two allocations for each document.
func TestContentsReadsNothingElse(t *testing.T) {
	ctx := context.Background()
	db := must.Get(Open(filepath.Join(t.TempDir(), "db"), nil))(t)
	defer db.Close()
	var ids []string
	var b Batch
	for i := range 1000 {
		ids = append(ids, fmt.Sprint("d", i))
		b.Put(Doc{ID: ids[i], Text: fmt.Sprint("the text of number ", i), Fields: []byte(`{"a":1}`)})
	}
	must.Do(t, db.Apply(ctx, &b))
	must.Do(t, db.Compact(ctx, nil))
	n := 0
	allocs := testing.AllocsPerRun(1, func() {
		n = 0
		for d, err := range db.Contents(ctx, append(ids, "none", ids[0])) {
			if err != nil || string(d.Text) != fmt.Sprint("the text of number ", d.Index%1001) || string(d.Fields) != `{"a":1}` {
				t.Fatal(d, err)
			}
			n++
		}
	})
	if n != len(ids)+1 || !exhaustive.Race && allocs > 2*float64(n) {
		t.Errorf("%d documents, %v allocations", n, allocs)
	}
}
