package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
)

// TestPackIngest packs two databases and ingests both into a third, whose answers must be those of
// a model.
func TestPackIngest(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(5, 5))
	m := &model{docs: map[string]entry{}}
	var packed []string
	for i := range 2 {
		db, _ := create4test(t, &Options{MemtableBytes: 10000})
		for range 300 {
			id, fp := fmt.Sprintf("p%03d", r.IntN(400)), r.Uint64()
			put(t, db, id, fp)
			m.put(id, fp, true)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.sst", i))
		must.Do(t, db.Pack(ctx, path, nil))
		if err := db.Pack(ctx, path, nil); !errors.Is(err, ErrExists) {
			t.Fatalf("packing over a file: %v", err)
		}
		packed = append(packed, path)
	}
	db, path := create4test(t, nil)
	stale := &model{docs: map[string]entry{}} // documents that ingested ones replace
	for id := range m.docs {
		put(t, db, id, 1)
		stale.put(id, 1, true)
		if len(stale.docs) == 50 {
			break
		}
	}
	before, err := db.Snapshot()
	must.Do(t, err)
	must.Do(t, db.Ingest(ctx, packed...))
	check := func(stage string) {
		t.Helper()
		s := snapshot4test(t, db)
		checkAgainst(t, r, s, m, false)
	}
	check("ingested")
	checkAgainst(t, r, before, stale, false)
	before.Close()
	for id := range m.docs { // writes after an ingest win, whatever numbers the table had
		put(t, db, id, 77)
		m.put(id, 77, true)
		break
	}
	check("written")
	must.Do(t, db.Close())
	if db, err = Open(path, nil); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	check("reopened")
	must.Do(t, db.Compact(ctx, nil))
	check("compacted")

	single := open4test(t, packed[1], nil)
	st, err := single.Stats()
	if err != nil || len(st.Tables) != 1 || st.Documents == 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := single.Put(ctx, Doc{ID: "x"}); !errors.Is(err, ErrReadOnly) {
		t.Fatalf("Put into a table file: %v", err)
	}
	other, _ := create4test(t, &Options{Shingle: 4})
	if err := other.Ingest(ctx, packed[0]); !errors.Is(err, ErrParams) {
		t.Fatalf("ingest with other parameters: %v", err)
	}
}

// TestPackErases packs a database whose tables still contain records of deleted documents: the file
// must have only the texts of its documents.
func TestPackErases(t *testing.T) {
	ctx := t.Context()
	db, path := create4test(t, &Options{DisableAutoCompaction: true})
	const n = 200
	var gone []string
	for i := range n {
		id := fmt.Sprint(i)
		must.Do(t, db.Put(ctx, Doc{ID: id, Text: fmt.Sprintf("text %d of many that share a block", i)}))
		if i%20 == 0 {
			gone = append(gone, id)
		}
		if i%50 == 49 {
			must.Do(t, db.Flush(ctx))
		}
	}
	deleteAll(t, db, gone)
	if err := db.Compact(ctx, &CompactOptions{Due: true}); err != nil { // merges four tables, whose blocks are copied
		t.Fatal(err)
	}
	packed := filepath.Join(t.TempDir(), "p.sst")
	must.Do(t, db.Pack(ctx, packed, nil))
	tables, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %q, %v", tables, err)
	}
	if inDB, inPack := recordsOf(t, tables[0]), recordsOf(t, packed); inDB != n || inPack != n-uint64(len(gone)) {
		t.Errorf("%d records in the database, %d packed, of %d documents and %d deleted ones", inDB, inPack, n-len(gone), len(gone))
	}
	// Compact removes the texts, too, although no document of the single table is dead.
	must.Do(t, db.Compact(ctx, nil))
	if tables, err = filepath.Glob(filepath.Join(path, "*.sst")); err != nil || len(tables) != 1 {
		t.Fatalf("tables %q, %v", tables, err)
	}
	if got := recordsOf(t, tables[0]); got != n-uint64(len(gone)) {
		t.Errorf("%d records after Compact, of %d documents", got, n-len(gone))
	}
	before := tables[0]
	must.Do(t, db.Compact(ctx, nil))
	if tables, err = filepath.Glob(filepath.Join(path, "*.sst")); err != nil || len(tables) != 1 || tables[0] != before {
		t.Errorf("a second Compact rewrote %q to %q, %v", before, tables, err)
	}
}

// recordsOf returns how many records a table file has, including records without a document.
func recordsOf(t *testing.T, path string) (n uint64) {
	t.Helper()
	r := must.Get(table.Open(path))(t)
	defer r.Close()
	for _, s := range r.Info().Sections {
		if s.Kind == table.KindRecords {
			n += s.Count
		}
	}
	return n
}
