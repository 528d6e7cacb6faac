package query_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
)

// opened returns a database with four documents, and a function that removes it.
func opened() (db *engine.DB, remove func()) {
	dir, err := os.MkdirTemp("", "simdb-example-")
	if err != nil {
		log.Fatal(err)
	}
	if db, err = engine.Open(filepath.Join(dir, "example.simdb"), nil); err != nil {
		log.Fatal(err)
	}
	for id, text := range map[string]string{
		"doc-1":  "the quick brown fox jumps over the lazy dog by the river bank",
		"doc-2":  "the quick brown fox jumps over the lazy dog by the river",
		"copy/1": "The quick, brown fox jumps over the lazy dog by the river bank!",
		"doc-3":  "an entirely different text about something else",
	} {
		if err := db.Put(context.Background(), engine.Doc{ID: id, Text: text}); err != nil {
			log.Fatal(err)
		}
	}
	return db, func() {
		db.Close()
		os.RemoveAll(dir)
	}
}

// Run a query with parameters and read its rows.
func ExampleRun() {
	db, remove := opened()
	defer remove()

	rows, err := query.Run(context.Background(), db, `JACCARD(?, ?) AND NOT ID LIKE 'copy/%' LIMIT 10`, "doc-1", 0.5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows.Columns())
	for row, err := range rows.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.2f %v\n", row[0], row[1], row[3])
	}
	// Output:
	// [id score error exact]
	// doc-2 0.91 true
}

// A statement reads the state of the database at the call of Run, whatever is written while its
// rows are read.
func ExampleRun_snapshot() {
	ctx := context.Background()
	db, remove := opened()
	defer remove()

	rows, err := query.Run(ctx, db, `ID LIKE 'doc-%'`)
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Delete(ctx, "doc-2"); err != nil {
		log.Fatal(err)
	}
	for row, err := range rows.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row[0])
	}
	// Output:
	// doc-1
	// doc-2
	// doc-3
}

// EXPLAIN shows how a query is executed, last step first.
func ExampleRun_explain() {
	db, remove := opened()
	defer remove()

	rows, err := query.Run(context.Background(), db, `EXPLAIN ID LIKE 'doc-%' AND SINCE '2020-01-01' LIMIT 5`)
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range rows.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row[0])
	}
	// Output:
	// limit 5, offset 0
	// order by id: in the order found
	// find ID LIKE 'doc-%' AND SINCE '2020-01-01T00:00:00Z': a range of ids
}

// A ParseError shows its place in the statement.
func ExampleParseError() {
	_, err := query.Prepare(`NEER('doc-1', 3)`)
	if e, ok := errors.AsType[*query.ParseError](err); ok {
		fmt.Println(e)
		fmt.Println(e.Source())
	}
	// Output:
	// Parse error: unknown predicate "NEER", did you mean NEAR?
	//   NEER('doc-1', 3)
	//   ^
}

// A query is built in Go, and its rows are read into a struct.
func ExampleQuery() {
	db, remove := opened()
	defer remove()
	ctx := context.Background()
	err := db.Put(ctx, engine.Doc{ID: "doc-4", Text: "the quick brown fox jumps over the lazy dog by the river", Fields: []byte(`{"lang":"en"}`)})
	if err != nil {
		log.Fatal(err)
	}
	q := query.Jaccard("doc-1", 0.5).And(query.ID.Like("doc-%"), query.Field("lang").In("en", "de"))
	rows, err := q.Limit(10).Show("id", "lang", "score").Run(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	type found struct {
		ID    string
		Lang  string
		Score float64
	}
	for f, err := range query.Scan[found](rows) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s %.2f\n", f.ID, f.Lang, f.Score)
	}
	fmt.Println(q)
	// Output:
	// doc-4 en 0.91
	// JACCARD(?, ?) AND ID LIKE ? AND lang IN (?)
}

// A prepared statement is parsed once. One of its parameters is a list for IN.
func ExamplePrepare() {
	db, remove := opened()
	defer remove()
	p, err := query.Prepare("ID IN (?) AND NOT ID LIKE $mirror")
	if err != nil {
		log.Fatal(err)
	}
	rows, err := p.Run(context.Background(), db, []string{"doc-2", "copy/1", "doc-9"}, query.Named{Name: "mirror", Value: "copy/%"})
	if err != nil {
		log.Fatal(err)
	}
	for id, err := range query.Scan[string](rows) {
		fmt.Println(id, err)
	}
	// Output:
	// doc-2 <nil>
}

// A session has transactions: COMMIT writes all of a transaction at once, ROLLBACK nothing.
func ExampleSession() {
	db, remove := opened()
	defer remove()
	var s query.Session
	defer s.Close()
	for _, text := range []string{"BEGIN", "DELETE WHERE ID LIKE '%'", "ROLLBACK", "BEGIN", "DELETE 'doc-1'", `PUT {"id":"doc-5"}`, "COMMIT"} {
		rows, err := s.Run(context.Background(), db, text)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rows.Message())
	}
	// Output:
	// begun
	// deleted 4 documents
	// rolled back 4 writes
	// begun
	// deleted
	// stored
	// committed: stored 1 document, deleted 1
}
