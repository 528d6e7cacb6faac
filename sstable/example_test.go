package sstable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// docs are three documents in the order of their fingerprints.
var docs = []sstable.Document{
	{ID: "a", Fingerprint: []uint64{0x0f0f_0000_0000_0001}, Text: "one", Sketch: minhash.Sketch{1, 2, 3, 4}},
	{ID: "b", Fingerprint: []uint64{0x0f0f_0000_0000_0003}, Text: "two", Sketch: minhash.Sketch{1, 2, 3, 5}},
	{ID: "c", Fingerprint: []uint64{0x9f3c_5a00_1122_3344}, Text: "three", Sketch: minhash.Sketch{7, 8}},
}

// example returns a table of docs.
func example() []byte {
	var file bytes.Buffer
	w, err := sstable.NewWriter(&file, sstable.Params{Sketch: 128, MinJaccard: 0.5, StoreText: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range docs {
		if err := w.Add(d); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
}

// open opens the table of docs.
func open() *sstable.Reader {
	r, err := sstable.OpenBytes(example(), "docs.sst")
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// A table is written once, to a file or any other io.Writer, and opened by path.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "docs.sst")
	if err := os.WriteFile(path, example(), 0o644); err != nil {
		log.Fatal(err)
	}

	r, err := sstable.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for d, err := range r.Documents() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %016x %s\n", d.ID, d.Fingerprint[0], d.Text)
	}
	// Output:
	// a 0f0f000000000001 one
	// b 0f0f000000000003 two
	// c 9f3c5a0011223344 three
}

// A document by its ID.
func ExampleReader_Lookup() {
	r := open()
	doc, found, err := r.Lookup("b")
	if err != nil || !found {
		log.Fatal(found, err)
	}
	d, err := r.Document(doc)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(doc, d.Text)
	// Output:
	// 1 two
}

// Documents whose fingerprint differs from a given one in at most 3 bits.
func ExampleReader_Near() {
	r := open()
	hits, err := r.Near([]uint64{0x0f0f_0000_0000_0000}, 3)
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
	// Output:
	// a differs in 1 bits
	// b differs in 2 bits
}

// Which of many fingerprints are near one in the file.
func ExampleReader_NearBatch() {
	r := open()
	queries := [][]uint64{{0x9f3c_5a00_1122_3345}, {0x5555_5555_5555_5555}}
	for h, err := range r.NearBatch(context.Background(), queries, 3) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("query %d: document %d\n", h.Query, h.Doc)
	}
	// Output:
	// query 0: document 2
}

// Documents with many of the hashes of a sketch.
func ExampleReader_Jaccard() {
	hits, err := open().Jaccard(minhash.Sketch{1, 2, 3, 4}, 0.6)
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Printf("document %d: %.2f, exact: %v\n", h.Doc, h.Score, h.Exact)
	}
	// Output:
	// document 0: 1.00, exact: true
	// document 1: 0.60, exact: true
}

// Damage is reported with its place.
func ExampleCorruptionError() {
	file := example()
	file[64] ^= 1 // the first byte of the first section
	r, err := sstable.OpenBytes(file, "docs.sst")
	if err != nil {
		log.Fatal(err)
	}
	err = r.Verify(context.Background(), nil)
	if corrupt, ok := errors.AsType[*sstable.CorruptionError](err); ok {
		fmt.Println(corrupt.File, corrupt.Section, corrupt.Offset)
	}
	// Output:
	// docs.sst blocks 64
}
