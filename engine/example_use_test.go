package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/simdb/simdb/engine"
)

const (
	fox     = "the quick brown fox jumps over the lazy dog while the cat sleeps in the warm afternoon sun"
	foxCopy = "the quick brown fox jumps over the lazy dog while the cat sleeps in the warm evening sun"
	harvest = "farmers bring in the harvest before the first storms of autumn reach the northern valleys"
)

// check ends an example that cannot continue.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// must returns v, or ends the example.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// texts returns a new database with two documents, in a folder that remove deletes.
func texts() (db *engine.DB, folder string, remove func()) {
	folder = must(os.MkdirTemp("", "simdb"))
	db = must(engine.Open(filepath.Join(folder, "texts.simdb"), nil))
	ctx := context.Background()
	check(db.Put(ctx, engine.Doc{ID: "fox", Text: fox}))
	check(db.Put(ctx, engine.Doc{ID: "harvest", Text: harvest}))
	return db, folder, func() {
		check(db.Close())
		check(os.RemoveAll(folder))
	}
}

// Open creates the database if there is none. MustExist and ReadOnly change that.
func ExampleOpen() {
	folder := must(os.MkdirTemp("", "simdb"))
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "texts.simdb")

	_, err := engine.Open(path, &engine.Options{MustExist: true})
	fmt.Println(errors.Is(err, engine.ErrNotFound))

	db := must(engine.Open(path, nil))
	check(db.Put(context.Background(), engine.Doc{ID: "fox", Text: fox}))
	check(db.Close())

	db = must(engine.Open(path, &engine.Options{ReadOnly: true}))
	defer db.Close()
	err = db.Put(context.Background(), engine.Doc{ID: "harvest", Text: harvest})
	fmt.Println(errors.Is(err, engine.ErrReadOnly))
	// Output:
	// true
	// true
}

// Put replaces the document with the same ID. Get returns it with its text.
func ExampleDB_Put() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	check(db.Put(ctx, engine.Doc{ID: "fox", Text: "a new text", Fields: []byte(`{"lang":"en"}`)}))
	d := must(db.Get(ctx, "fox"))
	fmt.Printf("%s %s\n", d.Text, d.Fields)
	check(db.Delete(ctx, "fox"))
	_, err := db.Get(ctx, "fox")
	fmt.Println(errors.Is(err, engine.ErrNotFound))
	// Output:
	// a new text {"lang":"en"}
	// true
}

// Near finds fingerprints within k bits: of texts, or any 64-bit codes such as image hashes.
func ExampleDB_Near() {
	folder := must(os.MkdirTemp("", "simdb"))
	defer os.RemoveAll(folder)
	db := must(engine.Open(filepath.Join(folder, "images.simdb"), nil))
	defer db.Close()
	ctx := context.Background()
	for id, code := range map[string]uint64{"sunrise": 0xf0f0, "sunset": 0xf0f1, "harbour": 0x1234} {
		check(db.Put(ctx, engine.Doc{ID: id, Fingerprints: []engine.Fingerprint{{code}}}))
	}
	for m, err := range db.Near(ctx, 0xf0f3, 3) {
		check(err)
		fmt.Println(m.ID, m.Distance)
	}
	// Output:
	// sunset 1
	// sunrise 2
}

// Jaccard finds documents by the fraction of shared shingles. For short texts the score is exact;
// Error is the standard error of an estimate.
func ExampleDB_Jaccard() {
	db, _, remove := texts()
	defer remove()
	for m, err := range db.Jaccard(context.Background(), engine.Doc{Text: foxCopy}, 0.5) {
		check(err)
		fmt.Printf("%s %.2f exact: %t\n", m.ID, m.Score, m.Exact)
	}
	// Output:
	// fox 0.78 exact: true
}

// PutNovel stores a document unless it has a near-duplicate. The check and the write are one
// atomic step.
func ExampleDB_PutNovel() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	for _, d := range []engine.Doc{
		{ID: "copy", Text: foxCopy},
		{ID: "weather", Text: "rain is expected in the west tomorrow, with strong wind along the coast"},
	} {
		m, stored, err := db.PutNovel(ctx, d, engine.Jaccard(0.7))
		check(err)
		if stored {
			fmt.Println(d.ID, "is new")
		} else {
			fmt.Println(d.ID, "resembles", m.ID)
		}
	}
	// Output:
	// copy resembles fox
	// weather is new
}

// A snapshot does not see later writes, and blocks no writer.
func ExampleDB_Snapshot() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	snap := must(db.Snapshot())
	defer snap.Close()
	check(db.Delete(ctx, "fox"))

	d := must(snap.Get(ctx, "fox"))
	fmt.Println(d.Text == fox)
	_, err := db.Get(ctx, "fox")
	fmt.Println(err)
	// Output:
	// true
	// there is no document "fox"
}

// Passages finds the documents that share consecutive words with a text, and their positions.
func ExampleSnapshot_Passages() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	snap := must(db.Snapshot())
	defer snap.Close()

	quote := "They wrote: \"The cat sleeps in the warm AFTERNOON sun.\""
	search := must(snap.Passages(ctx, engine.Doc{Text: quote}, 5, nil))
	for m, err := range search.All(ctx) {
		check(err)
		for _, p := range m {
			fmt.Printf("%s: %d words at %d, in the quote at %d\n", p.ID, p.Words, p.At, p.QueryAt)
			fmt.Println(quote[p.QueryAt:p.QueryEnd])
		}
	}
	// Output:
	// fox: 8 words at 50, in the quote at 13
	// The cat sleeps in the warm AFTERNOON sun
}

// A Loader writes tables directly, which is much faster than Put for many documents.
func ExampleDB_NewLoader() {
	db, _, remove := texts()
	defer remove()
	l := must(db.NewLoader(context.Background(), &engine.LoadOptions{Replace: true}))
	for i := range 1000 {
		check(l.Add(engine.Doc{ID: fmt.Sprintf("page-%d", i), Text: fmt.Sprint("page ", i, " of ", harvest)}))
	}
	check(l.Add(engine.Doc{ID: "fox", Text: foxCopy}))
	stats := must(l.Close())
	fmt.Println(stats.Documents, "documents,", stats.Replaced, "replaced")
	// Output:
	// 1001 documents, 1 replaced
}

// Pack writes a database to one table file, and Ingest adds such a file to another database.
func ExampleDB_Ingest() {
	db, folder, remove := texts()
	defer remove()
	ctx := context.Background()
	file := filepath.Join(folder, "texts.sst")
	check(db.Pack(ctx, file, nil))

	other := must(engine.Open(filepath.Join(folder, "other.simdb"), nil))
	defer other.Close()
	check(other.Ingest(ctx, file))
	d := must(other.Get(ctx, "harvest"))
	fmt.Println(d.Text == harvest)
	// Output:
	// true
}

// A backup is itself a database. The next backup copies only new tables.
func ExampleDB_Backup() {
	db, folder, remove := texts()
	defer remove()
	ctx := context.Background()
	out := filepath.Join(folder, "backup")
	must(db.Backup(ctx, out, nil))
	check(db.Delete(ctx, "fox"))
	r := must(db.Backup(ctx, out, &engine.BackupOptions{Links: true}))

	restored := must(engine.Open(out, &engine.Options{ReadOnly: true}))
	defer restored.Close()
	s := must(restored.Snapshot())
	defer s.Close()
	for e, err := range s.Range(ctx, engine.Range{}) {
		check(err)
		fmt.Println(e.ID)
	}
	fmt.Println(r.Tables, "table")
	// Output:
	// harvest
	// 1 table
}

// Features of characters find similar titles in spite of small differences.
func ExampleFeatures() {
	folder := must(os.MkdirTemp("", "simdb"))
	defer os.RemoveAll(folder)
	db := must(engine.Create(filepath.Join(folder, "titles.simdb"), &engine.Options{
		Shingle: 3, Features: engine.Features{Unit: "chars", Fold: []string{"width"}},
	}))
	defer db.Close()
	ctx := context.Background()
	check(db.Put(ctx, engine.Doc{ID: "a", Text: "Great phone case"}))
	check(db.Put(ctx, engine.Doc{ID: "b", Text: "\uff27reat phone cases!"})) // it begins with a full-width G
	for m, err := range db.Search(ctx, engine.Doc{ID: "a"}, engine.Jaccard(0.8), nil) {
		check(err)
		fmt.Printf("%s %.2f\n", m.ID, m.Score)
	}
	fmt.Println(db.Options().Features.Describe())
	// Output:
	// b 0.93
	// chars; folded width
}

// A document with a title that counts three times as much as its body.
func ExampleJoinFields() {
	folder := must(os.MkdirTemp("", "simdb"))
	defer os.RemoveAll(folder)
	db := must(engine.Create(filepath.Join(folder, "articles.simdb"), &engine.Options{
		Shingle: 1, Features: engine.Features{Fields: []engine.Field{{Name: "title", Weight: 3}, {Name: "body", Weight: 1}}},
	}))
	defer db.Close()
	ctx := context.Background()
	check(db.Put(ctx, engine.Doc{ID: "a", Text: engine.JoinFields("one two", "the cat sat")}))
	check(db.Put(ctx, engine.Doc{ID: "b", Text: engine.JoinFields("one two", "the dog sat")}))
	for m, err := range db.Search(ctx, engine.Doc{ID: "a"}, engine.Jaccard(0.7), nil) {
		check(err)
		fmt.Printf("%s %.2f\n", m.ID, m.Score)
	}
	// Output:
	// b 0.80
}

// Range yields pages of documents in the order of their keys, the last first: each page begins
// after the last key of the previous one.
func ExampleDB_Range() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	for i := range 5 {
		check(db.Put(ctx, engine.Doc{ID: fmt.Sprintf("note/%d", i), Fields: []byte(fmt.Sprintf(`{"n":%d}`, i))}))
	}
	page := engine.Range{Prefix: "note/", Reverse: true, Load: true, Limit: 2}
	for range 2 {
		n := 0
		for d, err := range db.Range(ctx, page) {
			check(err)
			fmt.Println(d.ID, string(d.Fields))
			page.After = d.ID
			if n++; n == page.Limit {
				break
			}
		}
		fmt.Println("--")
	}
	// Output:
	// note/4 {"n":4}
	// note/3 {"n":3}
	// --
	// note/2 {"n":2}
	// note/1 {"n":1}
	// --
}

// If several programs change a document at the same time, each replaces the version that it has
// read, and tries again if there is a newer one.
func ExampleDB_PutIfVersion() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	fmt.Println(errors.Is(db.PutIfAbsent(ctx, engine.Doc{ID: "fox"}), engine.ErrExists))

	old := must(db.Get(ctx, "fox"))
	for {
		d := must(db.Get(ctx, "fox"))
		d.Fields = []byte(`{"read":true}`)
		err := db.PutIfVersion(ctx, d, d.Seq)
		if errors.Is(err, engine.ErrExists) { // somebody else has replaced it
			continue
		}
		check(err)
		break
	}

	var b engine.Batch
	b.RequireVersion("fox", old.Seq)
	b.RequireVersion("hare", 0) // there is none
	b.Delete("harvest")
	fmt.Println(errors.Is(db.Apply(ctx, &b), engine.ErrExists))
	// Output:
	// true
	// true
}

// A transaction reads, decides and writes. If others have changed meanwhile what it has read,
// nothing is written, and the program may try again.
func ExampleDB_Update() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	for {
		err := db.Update(ctx, func(tx *engine.Tx) error {
			d, err := tx.Get(ctx, "fox")
			if err != nil {
				return err
			}
			d.ID = "fox/2"
			return errors.Join(tx.Put(ctx, d), tx.Delete(ctx, "fox"))
		})
		if !errors.Is(err, engine.ErrConflict) {
			check(err)
			break
		}
	}

	err := db.Update(ctx, func(tx *engine.Tx) error {
		check(tx.Put(ctx, engine.Doc{ID: "hare", Text: "a hare"}))
		fmt.Println(must(tx.Count(ctx, engine.Range{})), "documents") // with its own write
		return db.Delete(ctx, "harvest")                              // not a part of the transaction
	})
	fmt.Println(err)
	// Output:
	// 3 documents
	// others have changed what the transaction has read
}

// Pairs matches all documents with each other; the options may be left out.
func ExampleDB_Pairs() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	check(db.Put(ctx, engine.Doc{ID: "fox 2", Text: foxCopy}))
	for p, err := range db.Pairs(ctx, engine.Jaccard(0.5), &engine.SearchOptions{Limit: 10}) {
		check(err)
		fmt.Printf("%s, %s: %.2f\n", p.A, p.B, p.Score)
	}
	// Output:
	// fox, fox 2: 0.78
}

// Each cluster has a document to keep, and the members that match it.
func ExampleDB_Clusters() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	check(db.Put(ctx, engine.Doc{ID: "fox 2", Text: foxCopy}))
	for m, err := range db.Clusters(ctx, engine.Jaccard(0.5), nil) {
		check(err)
		fmt.Println(m.Cluster, m.ID, m.Keep)
	}
	// Output:
	// 1 fox true
	// 1 fox 2 false
}

// A batch is written whole or not at all.
func ExampleDB_Apply() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	var b engine.Batch
	b.Put(engine.Doc{ID: "hare", Text: "a new text"})
	b.Delete("fox")
	check(db.Apply(ctx, &b))
	fmt.Println(b.Len(), b.Deleted())
	fmt.Println(db.Count(ctx, engine.Range{}))
	// Output:
	// 2 1
	// 2 <nil>
}

// Search accepts every criterion, and searches for a text, a fingerprint or a stored document.
func ExampleDB_Search() {
	db, _, remove := texts()
	defer remove()
	ctx := context.Background()
	for _, by := range []engine.Criterion{engine.Near(20), engine.Jaccard(0.5), engine.Cosine(0.5), engine.Contains(0.5)} {
		for m, err := range db.Search(ctx, engine.Doc{Text: foxCopy}, by, &engine.SearchOptions{Limit: 1}) {
			check(err)
			fmt.Println(by, m.ID)
		}
	}
	fmt.Println(db.Count(ctx, engine.Range{}))
	// Output:
	// NEAR 20 fox
	// JACCARD 0.5 fox
	// COSINE 0.5 fox
	// CONTAINS 0.5 fox
	// 2 <nil>
}

// AddNovel stores the documents that resemble no earlier ones; a database with a TTL forgets older
// documents.
func ExampleDB_AddNovel() {
	folder := must(os.MkdirTemp("", "simdb"))
	defer os.RemoveAll(folder)
	db := must(engine.Create(filepath.Join(folder, "feed.simdb"), &engine.Options{TTL: 48 * time.Hour}))
	defer db.Close()
	docs := []engine.Doc{{ID: "1", Text: fox}, {ID: "2", Text: foxCopy}, {ID: "3", Text: harvest}}
	done, err := db.AddNovel(context.Background(), docs, engine.Jaccard(0.7), nil)
	check(err)
	for i, n := range done {
		fmt.Printf("%s %t %q\n", docs[i].ID, n.Stored, n.Match.ID)
	}
	// Output:
	// 1 true ""
	// 2 false "1"
	// 3 true ""
}
