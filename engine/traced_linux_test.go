package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// traced uses a database in every way, and writes to the file "acknowledged" after each
// acknowledgement. TestSyncOrder traces it.
func traced(t *testing.T, dir string) {
	ctx := context.Background()
	acks := must.Get(os.Create(filepath.Join(dir, "acknowledged")))(t)
	defer acks.Close()
	path, packed := filepath.Join(dir, "new", "db"), filepath.Join(dir, "new", "packed.sst")
	var db *DB
	n := 0
	document := func() Doc {
		n++
		return Doc{ID: fmt.Sprint(n), Text: "some words", Fingerprints: []Fingerprint{{uint64(n)}}}
	}
	steps := map[string]func() error{
		"open": func() (err error) {
			db, err = Open(path, &Options{DisableAutoCompaction: true})
			return err
		},
		"put":    func() error { return db.Put(ctx, document()) },
		"delete": func() error { return db.Delete(ctx, fmt.Sprint(n)) },
		"novel": func() error {
			_, _, err := db.PutNovel(ctx, document(), Near(0))
			return err
		},
		"flush":   func() error { return db.Flush(ctx) },
		"compact": func() error { return db.Compact(ctx, nil) },
		"load": func() error {
			l, err := db.NewLoader(ctx, &LoadOptions{})
			if err != nil {
				return err
			}
			err = errors.Join(l.Add(document()), l.Add(document()))
			_, e := l.Close()
			return errors.Join(err, e)
		},
		"pack":   func() error { return db.Pack(ctx, packed, nil) },
		"ingest": func() error { return db.Ingest(ctx, packed) },
		"close":  func() error { return db.Close() },
	}
	for _, step := range []string{
		"open", "put", "put", "delete", "flush", "put", "novel", "compact", "load", "put", "load", "compact", "put", "pack", "put",
		"ingest", "put", "compact", "put", "close", "open", "put", "delete", "close", "open", "flush", "put", "compact", "close",
	} {
		if err := steps[step](); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		must.Get(acks.Write([]byte(step + "\n")))(t)
	}
}
