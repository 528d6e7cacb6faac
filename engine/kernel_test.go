package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table"
)

// TestUnknownKernel checks that every function that opens a database or a table refuses a kernel
// that the processor does not support, and leaves nothing behind.
func TestUnknownKernel(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	path, part := filepath.Join(dir, "db"), filepath.Join(dir, "part.sst")
	db, err := engine.Create(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Put(ctx, engine.Doc{ID: "a", Text: "one two three"}); err != nil {
		t.Fatal(err)
	}
	if err := db.Pack(ctx, part, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv(kernel.Env, "zz")
	fresh := filepath.Join(dir, "new")
	for name, open := range map[string]func() error{
		"Open":       func() error { _, err := engine.Open(path, nil); return err },
		"Open new":   func() error { _, err := engine.Open(fresh, nil); return err },
		"Open table": func() error { _, err := engine.Open(part, nil); return err },
		"Create":     func() error { _, err := engine.Create(fresh, nil); return err },
		"OpenSet":    func() error { _, err := engine.OpenSet([]string{path, part}, nil); return err },
		"Recover":    func() error { _, err := engine.Recover(ctx, path, fresh, nil); return err },
		"table.Open": func() error { _, err := table.Open(part); return err },
	} {
		if err := open(); err == nil || !strings.HasPrefix(err.Error(), `SIMDB_KERNEL="zz" is not a kernel`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
