package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/engine"
)

// SearchBatch searches for many fingerprints together: here, for the documents within three bits of
// each.
func ExampleSnapshot_SearchBatch() {
	dir, err := os.MkdirTemp("", "simdb")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := engine.Create(filepath.Join(dir, "codes.simdb"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	for id, fp := range map[string]uint64{"sunrise": 0xf0f0, "sunset": 0xf0f1, "harbour": 0x1234} {
		if err := db.Put(ctx, engine.Doc{ID: id, Fingerprints: []engine.Fingerprint{{fp}}}); err != nil {
			log.Fatal(err)
		}
	}
	queries := []uint64{0xf0f1, 0xffffffff, 0x1235}
	docs := make([]engine.Doc, len(queries))
	for i := range queries {
		docs[i].Fingerprints = []engine.Fingerprint{{queries[i]}}
	}
	s, err := db.Snapshot()
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for m, err := range s.SearchBatch(ctx, docs, engine.Near(3), nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%#x is %d bits from %s\n", queries[m.Query], m.Distance, m.ID)
	}
	// Output:
	// 0xf0f1 is 0 bits from sunset
	// 0xf0f1 is 1 bits from sunrise
	// 0x1235 is 1 bits from harbour
}

// A cache applies changes and remembers the Seq of the last one, from which it continues.
func ExampleDB_Changes() {
	dir, err := os.MkdirTemp("", "simdb")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := engine.Create(filepath.Join(dir, "pages.simdb"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	cache, position := map[string]string{}, uint64(0)
	update := func() {
		for c, err := range db.Changes(ctx, position, false) {
			if errors.Is(err, engine.ErrExpired) {
				log.Fatal("begin again with an empty cache and position 0")
			}
			if err != nil {
				log.Fatal(err)
			}
			if delete(cache, c.ID); c.Op == "put" {
				cache[c.ID] = c.Text
			}
			position = c.Seq
		}
		fmt.Println(position, cache)
	}
	err = errors.Join(db.Put(ctx, engine.Doc{ID: "a", Text: "one"}), db.Put(ctx, engine.Doc{ID: "b", Text: "two"}))
	update()
	err = errors.Join(err, db.Delete(ctx, "a"), db.Put(ctx, engine.Doc{ID: "b", Text: "three"}))
	update()
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2 map[a:one b:two]
	// 4 map[b:three]
}
