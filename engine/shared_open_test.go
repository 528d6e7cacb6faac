package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// TestSharedOpenAtOnce opens a database, which is new, left by a kill, or has marks of an earlier life in
// its shared memory, many times at once: all can write, and all see everything.
func TestSharedOpenAtOnce(t *testing.T) {
	for _, what := range []string{"new", "failed", "holder"} {
		path := filepath.Join(t.TempDir(), "db")
		if what != "new" {
			db := must.Get(Open(path, &Options{Shared: true}))(t)
			put(t, db, "first", 1)
			must.Do(t, db.Close())
			root := must.Get(vfs.Disk.OpenRoot(path))(t)
			memory := must.Get(root.(vfs.Sharer).OpenShared(files.Shared))(t)
			memory.Words()[map[string]int{"failed": 56, "holder": 16}[what]].Store(1)
			memory.Close()
			root.Close()
		}
		const openers = 8
		var g sync.WaitGroup
		var all [openers]*DB
		for i := range openers {
			g.Go(func() {
				db, err := Open(path, &Options{Shared: true})
				if err == nil {
					all[i] = db
					err = db.Put(t.Context(), withNumber(fmt.Sprint(i), int64(i)))
				}
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
		g.Wait()
		if t.Failed() {
			return
		}
		for _, db := range all {
			for i := range openers {
				if _, err := db.Get(t.Context(), fmt.Sprint(i)); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
		if _, err := Open(path, nil); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: a process that does not share opens it: %v", what, err)
		}
		if _, err := Open(path, &Options{Shared: true, Bits: 128}); !errors.Is(err, ErrParams) {
			t.Errorf("%s: %v", what, err)
		}
		put(t, all[0], "last", 3)
		for _, db := range all {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
