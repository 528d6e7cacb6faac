package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// docs are three documents in the order of their fingerprints.
var docs = []table.Document{
	{ID: []byte("a"), HasFingerprint: true, Fingerprint: 0x0f0f_0000_0000_0001, Text: []byte("one"), Sketch: []uint32{1, 2, 3, 4}},
	{ID: []byte("b"), HasFingerprint: true, Fingerprint: 0x0f0f_0000_0000_0003, Text: []byte("two"), Sketch: []uint32{1, 2, 3, 5}},
	{ID: []byte("c"), HasFingerprint: true, Fingerprint: 0x9f3c_5a00_1122_3344, Text: []byte("three"), Sketch: []uint32{7, 8}},
}

func tableFile() []byte {
	var file bytes.Buffer
	params := table.Params{Tokenizer: 1, Shingle: 3, Hash: 1, Sketch: 128, MinJaccard: 0.5, Layout: table.DefaultLayout, StoreText: true}
	w, err := table.NewWriter(&file, params, table.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for i := range docs {
		if err := w.Add(&docs[i]); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
}

// A table is written once, to a file or any other io.Writer, and opened by path.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "docs.sst")
	if err := os.WriteFile(path, tableFile(), 0o644); err != nil {
		log.Fatal(err)
	}

	r, err := table.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var d table.Document
	for doc := range r.NumDocs() {
		if err := r.Document(doc, &d); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s %016x %s\n", doc, d.ID, d.Fingerprint, d.Text)
	}
	// Output:
	// 0 a 0f0f000000000001 one
	// 1 b 0f0f000000000003 two
	// 2 c 9f3c5a0011223344 three
}

// Documents whose fingerprint differs from a given one in at most 3 bits.
func ExampleReader_Near() {
	r, err := table.OpenBytes(tableFile(), "docs.sst")
	if err != nil {
		log.Fatal(err)
	}
	hits, err := r.Near(0x0f0f_0000_0000_0000, 3, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		id, err := r.ID(h.Doc)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s differs in %d bits\n", id, h.Distance)
	}
	// Unordered output:
	// a differs in 1 bits
	// b differs in 2 bits
}

// A searcher that is reused makes many searches without allocating.
func ExampleJaccardSearcher() {
	r, err := table.OpenBytes(tableFile(), "docs.sst")
	if err != nil {
		log.Fatal(err)
	}
	var s table.JaccardSearcher
	hits, err := s.Jaccard(r, minhash.Sketch{1, 2, 3, 4}, 0.6, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Printf("document %d: %.2f, exact: %v\n", h.Doc, h.Score, h.Exact)
	}
	// Unordered output:
	// document 0: 1.00, exact: true
	// document 1: 0.60, exact: true
}

// Damage is reported with its place.
func ExampleCorruptionError() {
	file := tableFile()
	file[64] ^= 1 // the first byte of the first section
	r, err := table.OpenBytes(file, "docs.sst")
	if err != nil {
		log.Fatal(err)
	}
	err = r.Verify(context.Background(), nil)
	var corrupt *table.CorruptionError
	if errors.As(err, &corrupt) {
		fmt.Println(corrupt.File, corrupt.Section, corrupt.Offset)
	}
	// Output:
	// docs.sst blocks 64
}
