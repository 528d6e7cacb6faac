package table

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestOpenEveryWay opens one table by path, from an io.ReaderAt and from memory.
func TestOpenEveryWay(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(83, 84)), 300)
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	path := filepath.Join(t.TempDir(), "a.sst")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	byPath, err1 := Open(path)
	byReader, err2 := OpenReaderAt(bytes.NewReader(data), int64(len(data)), "a.sst")
	inMemory, err3 := OpenBytes(data, "a.sst")
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Reader{byPath, byReader, inMemory} {
		checkReader(t, r, testParams, docs)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := OpenReaderAt(bytes.NewReader(data), int64(len(data))+1, "a.sst"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("more bytes than there are: %v", err)
	}
	var corrupt *CorruptionError
	if _, err := OpenReaderAt(bytes.NewReader(data), int64(len(data))-1, "a.sst"); !errors.As(err, &corrupt) ||
		corrupt.File != "a.sst" || corrupt.Section != "trailer" || !errors.Is(err, ErrCorruption) {
		t.Errorf("a byte less: %v", err)
	}
	if _, err := OpenReaderAt(bytes.NewReader(data), -1, "a.sst"); err == nil {
		t.Error("a negative size is taken")
	}
}
