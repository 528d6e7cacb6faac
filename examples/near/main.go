// Command near shows the Go API on one page: it opens a database, stores documents, and finds
// similar ones.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "near-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	db, err := engine.Open(filepath.Join(dir, "corpus.simdb"), nil)
	if err != nil {
		return err
	}
	defer db.Close()

	text := "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"
	if err := db.Put(ctx, engine.Doc{ID: "a", Text: text}); err != nil {
		return err
	}

	// Store only new documents: the check and the write are one atomic step.
	m, stored, err := db.PutNovel(ctx, engine.Doc{ID: "b", Text: text + "!"}, engine.Near(3))
	if err != nil {
		return err
	}
	fmt.Printf("b stored: %v; it resembles %s, %d bits away\n", stored, m.ID, m.Distance)

	// Search by fingerprint.
	words, _ := db.Hash("permission is hereby granted free of charge to any person obtaining a copy of this Software")
	fp := words[0] // a fingerprint of 64 bits
	for m, err := range db.Near(ctx, fp, 6) {
		if err != nil {
			return err
		}
		fmt.Printf("found %s at distance %d\n", m.ID, m.Distance)
	}

	// The query language, with parameters.
	rows, err := query.Run(ctx, db, `NEAR(?, 6) AND ID LIKE 'a%' LIMIT 10`, fp)
	if err != nil {
		return err
	}
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		fmt.Println(rows.Columns(), row)
	}
	return nil
}
