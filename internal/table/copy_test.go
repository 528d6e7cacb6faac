package table

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/simdb/simdb/internal/base"
)

// TestWriteTo copies a table and flips every byte of the copy in turn: opening or VerifySums must
// detect it.
func TestWriteTo(t *testing.T) {
	var docs []Document
	for i := range 3 {
		docs = append(docs, Document{ID: []byte{byte('a' + i)}, Fingerprint: uint64(i), HasFingerprint: true, Seq: uint64(i + 1)})
	}
	file, _ := buildTable(t, testParams, WriterOptions{}, docs)
	r := openTable(t, file)
	var out bytes.Buffer
	if n, err := r.WriteTo(&out); n != int64(len(file)) || err != nil || !bytes.Equal(out.Bytes(), file) {
		t.Fatalf("%d bytes of %d: %v", n, len(file), err)
	}
	if err := r.VerifySums(t.Context(), nil); err != nil {
		t.Error(err)
	}
	for i := range out.Len() {
		flipped := bytes.Clone(out.Bytes())
		flipped[i] ^= 1
		r, err := OpenBytes(flipped, "table")
		if err == nil {
			err = r.VerifySums(t.Context(), nil)
			r.Close()
		}
		if !errors.Is(err, base.ErrCorruption) && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := r.VerifySums(ended, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
