package engine

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/must"
)

// TestIDAliveTwice stores documents repeatedly, each time in another table, and then removes the
// tombstones of the earlier versions.
func TestIDAliveTwice(t *testing.T) {
	ctx := context.Background()
	db := must.Get(store.Create(filepath.Join(t.TempDir(), "a.simdb"), store.Options{NoAutoCompaction: true}))(t)
	defer db.Close()
	for _, ids := range []string{"abc", "cde", "ceg"} {
		var ops []store.Operation
		for _, id := range strings.Split(ids, "") {
			ops = append(ops, store.Put(view.Doc{ID: id, Text: "a text of " + id}))
		}
		must.Get(db.Write(ctx, ops))(t)
		must.Do(t, db.Flush(ctx))
	}
	v := must.Get(db.View())(t)
	defer v.Close()
	if len(v.Version.Parts) != 3 {
		t.Fatalf("%d tables", len(v.Version.Parts))
	}
	if problems := duplicateIDs(ctx, v); len(problems) > 0 {
		t.Fatalf("a good database: %v", problems)
	}
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		defer func(dead *view.Tombstones) { p.Dead = dead }(p.Dead)
		p.Dead = view.NewTombstones(roaring.New())
	}
	problems := duplicateIDs(ctx, v)
	twice := map[string]int{}
	for _, p := range problems {
		for _, id := range []string{"c", "e"} {
			if strings.Contains(p.Error(), `"`+id+`" is stored in two places`) || strings.Contains(p.Error(), " "+id+" is stored in two places") {
				twice[id]++
			}
		}
	}
	if len(problems) != 4 || twice["c"] != 3 || twice["e"] != 1 {
		t.Errorf("c is in three tables and e in two: %v", problems)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if problems := duplicateIDs(ctx, v); len(problems) == 0 {
		t.Error("no error when cancelled")
	}
}
