// Package corpora reads collections of documents for tests.
package corpora

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Doc is a document of a collection.
type Doc struct{ ID, Text string }

// Docs returns the documents of a gzip file of JSON lines.
func Docs(t testing.TB, path string) (docs []Doc) {
	t.Helper()
	for d := json.NewDecoder(bytes.NewReader(Read(t, path))); d.More(); {
		var doc Doc
		if err := d.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

// Lines returns the lines of a gzip file, without their ends.
func Lines(t testing.TB, path string) iter.Seq[string] {
	t.Helper()
	return strings.SplitSeq(strings.TrimSuffix(string(Read(t, path)), "\n"), "\n")
}

// Read returns the decompressed content of a gzip file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Real returns the path of a file in SIMDB_DATA, the folder of large collections. If that is not
// set, it skips the test.
func Real(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("SIMDB_DATA")
	if dir == "" {
		t.Skip("SIMDB_DATA is not set")
	}
	return filepath.Join(dir, name)
}
