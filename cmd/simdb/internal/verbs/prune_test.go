package verbs

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
)

// TestDeleteRows deletes more documents than one batch has. Some are replaced after the query has
// found them: those must stay, and must not be counted.
func TestDeleteRows(t *testing.T) {
	const n, replaced = 2*pruneBatch + 7, 3
	ctx := t.Context()
	db, err := engine.Create(t.TempDir()+"/x.simdb", &engine.Options{NoSync: true, NoSketch: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	doc := func(i, until int) engine.Doc {
		return engine.Doc{ID: fmt.Sprint(i), Fields: json.RawMessage(fmt.Sprintf(`{"until":%d}`, until))}
	}
	var b engine.Batch
	for i := range n {
		b.Put(doc(i, 1))
	}
	if err := db.Apply(ctx, &b); err != nil {
		t.Fatal(err)
	}
	rows, err := query.Run(ctx, db, "until < 2 SHOW id, seq")
	if err != nil {
		t.Fatal(err)
	}
	for i := range replaced {
		if err := db.Put(ctx, doc(i*pruneBatch, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if deleted, err := deleteRows(ctx, db, rows); err != nil || deleted != n-replaced {
		t.Errorf("%d deleted of %d, of which %d were replaced: %v", deleted, n, replaced, err)
	}
	if s, err := db.Stats(); err != nil || s.Documents != replaced {
		t.Errorf("%d documents stay, %v", s.Documents, err)
	}
}
