package loader

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
)

// TestPublishedThenClosed closes the database once a table of a load has been published: the load
// must report it as stored, and only the next document may fail, because its ID cannot be looked
// up.
func TestPublishedThenClosed(t *testing.T) {
	for _, replace := range []bool{false, true} {
		db, err := store.Create(filepath.Join(t.TempDir(), "db"), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := New(t.Context(), db, Options{Replace: replace})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"a", "b"} {
			if err := l.Add(&view.Doc{ID: id, Text: "some words of " + id}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.next(); err != nil {
			t.Fatal(err)
		}
		published := <-l.writing.result
		l.writing.result <- published
		if err := errors.Join(published.err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if err := l.Wait(); err != nil || l.Stats.Documents != 2 {
			t.Errorf("replace %v: %d documents published, %v", replace, l.Stats.Documents, err)
		}
		if err := l.Add(&view.Doc{ID: "c", Text: "other words"}); !replace && !errors.Is(err, files.ErrClosed) {
			t.Errorf("after the database was closed: %v", err)
		}
		l.Abort()
	}
}
