package query

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
)

// TestDeleteWhereSparesNewer replaces documents, while DELETE WHERE runs, by ones that it does not
// select: what was acknowledged stays, and the message counts what was deleted.
func TestDeleteWhereSparesNewer(t *testing.T) {
	ctx := t.Context()
	documents := exhaustive.Size(4000, 10000)
	db, err := engine.Create(t.TempDir()+"/x.simdb", &engine.Options{NoSketch: true, Sync: engine.SyncNever, MemtableBytes: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b engine.Batch
	for d := range documents {
		b.Put(engine.Doc{ID: fmt.Sprint(d), Fingerprint: new(uint64(0))})
	}
	if err := db.Apply(ctx, &b); err != nil {
		t.Fatal(err)
	}
	acked := map[string]bool{}
	var wg sync.WaitGroup
	wg.Go(func() {
		for d := range documents {
			id := fmt.Sprint(documents - 1 - d)
			if err := db.Put(context.Background(), engine.Doc{ID: id, Fingerprint: new(^uint64(0))}); err != nil {
				t.Error(err)
				return
			}
			acked[id] = true
		}
	})
	deleted := int64(0)
	for range 3 {
		rows, err := Run(ctx, db, "DELETE WHERE NEAR(0x0, 3)")
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		if _, err := fmt.Sscanf(rows.Message(), "deleted %d document", &n); err != nil || !strings.HasPrefix(rows.Message(), "deleted") {
			t.Fatalf("message %q: %v", rows.Message(), err)
		}
		deleted += n
	}
	wg.Wait()
	for id := range acked {
		if _, err := db.Get(ctx, id); err != nil {
			t.Errorf("%s was stored after it was looked at: %v", id, err)
		}
	}
	if m := db.Metrics(); m.Deletes != deleted {
		t.Errorf("the messages say %d deleted, %d were", deleted, m.Deletes)
	}
}
