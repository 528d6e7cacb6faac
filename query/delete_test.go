package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// TestDeleteWhereSparesNewer replaces documents while DELETE WHERE runs. The new versions do not
// match the selection: acknowledged versions stay, and the message counts the deleted documents.
func TestDeleteWhereSparesNewer(t *testing.T) {
	ctx := t.Context()
	documents := exhaustive.Size(4000, 10000)
	db, err := engine.Create(t.TempDir()+"/x.simdb", &engine.Options{NoSketch: true, NoSync: true, MemtableBytes: 200_000})
	must.Do(t, err)
	defer db.Close()
	var b engine.Batch
	for d := range documents {
		b.Put(engine.Doc{ID: fmt.Sprint(d), Fingerprints: []engine.Fingerprint{{uint64(0)}}})
	}
	must.Do(t, db.Apply(ctx, &b))
	acked := map[string]bool{}
	var wg sync.WaitGroup
	wg.Go(func() {
		for d := range documents {
			id := fmt.Sprint(documents - 1 - d)
			if err := db.Put(context.Background(), engine.Doc{ID: id, Fingerprints: []engine.Fingerprint{{^uint64(0)}}}); err != nil {
				t.Error(err)
				return
			}
			acked[id] = true
		}
	})
	deleted := int64(0)
	for range 3 {
		rows := must.Get(Run(ctx, db, "DELETE WHERE NEAR(0x0, 3)"))(t)
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

// TestTransactionErrors checks that a transaction is unchanged after an error, and can be
// committed.
func TestTransactionErrors(t *testing.T) {
	db := openTest(t, &engine.Options{NoSketch: true, NoSync: true, Memory: 1 << 20})
	var b engine.Batch
	for i := range 1500 {
		b.Put(engine.Doc{ID: fmt.Sprintf("doc-%04d", i)})
	}
	must.Do(t, db.Apply(t.Context(), &b))
	var s Session
	run := func(ctx context.Context, text string, args ...any) (string, error) {
		rows, err := s.Run(ctx, db, text, args...)
		if err != nil {
			return "", err
		}
		return rows.Message(), nil
	}
	run(t.Context(), "BEGIN")
	cancelled, cancel := context.WithCancel(t.Context())
	s.Progress = func(engine.Progress) { cancel() }
	for i, failing := range []struct {
		ctx  context.Context
		text string
		args []any
	}{
		{t.Context(), "PUT ?", []any{engine.Doc{ID: strings.Repeat("x", 70_000)}}},
		{t.Context(), "PUT ?", []any{engine.Doc{ID: "large", Text: strings.Repeat("x", 2<<20)}}},
		{t.Context(), "DELETE 'none'", nil},
		{cancelled, "DELETE WHERE ID LIKE '%'", nil},
		{cancelled, "COMMIT", nil},
	} {
		if said, err := run(failing.ctx, failing.text, failing.args...); err == nil {
			t.Errorf("%s: %s", failing.text, said)
		}
		if said, err := run(t.Context(), "PUT ?", engine.Doc{ID: fmt.Sprint(i)}); err != nil || said != "stored" {
			t.Errorf("after %s: %s, %v", failing.text, said, err)
		}
	}
	large := engine.Doc{ID: "3", Text: strings.Repeat("x", 800_000)}
	if _, err := run(t.Context(), "PUT ?", large); err != nil {
		t.Error(err)
	}
	if said, err := run(t.Context(), "DELETE WHERE ID LIKE 'doc-%'"); !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("%s, %v", said, err)
	}
	if said, err := run(t.Context(), "DELETE WHERE ID = 'doc-0001'"); err != nil || said != "deleted 1 document" {
		t.Error(said, err)
	}
	if said, err := run(t.Context(), "DELETE 'doc-0001'"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("deleted twice: %s, %v", said, err)
	}
	if said, err := run(t.Context(), "COMMIT"); err != nil || said != "committed: stored 6 documents, deleted 1" {
		t.Error(said, err)
	}
	db = openTest(t, &engine.Options{NoSync: true, Memory: 1 << 20})
	said, err := run(t.Context(), "BEGIN")
	for i := 0; i < 5000 && err == nil; i++ {
		said, err = run(t.Context(), "PUT ?", engine.Doc{ID: fmt.Sprint(i), Text: "text"})
	}
	if !errors.Is(err, engine.ErrTooLarge) {
		t.Error(said, err)
	}
	s.Close()
}
