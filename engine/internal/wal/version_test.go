package wal

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// registerVersion2 registers a version 2 whose frames store the complement of the type, so that no
// other version can read them.
func registerVersion2(t *testing.T) {
	formats[2] = format{
		appendFrame: func(buf []byte, seed uint32, pos, synced int64, typ byte, payload []byte) []byte {
			return appendFrame(buf, seed, pos, synced, ^typ, payload)
		},
		decodeHead: func(buf []byte, pos, size int64) (h frameHead, ok bool) {
			buf = slices.Clone(buf[:frameHeader])
			buf[15] = ^buf[15]
			return decodeHead(buf, pos, size)
		},
	}
	t.Cleanup(func() { delete(formats, 2) })
}

// TestNextVersion reads a log of version 2 beside the golden one of version 1, cuts its torn end in
// its own version, and refuses it by name if version 2 is unknown.
func TestNextVersion(t *testing.T) {
	h := Header{Number: 9}
	image, seed := encodeHeaderOf(2, h)
	end := func(p string) func(pos int64) []byte {
		return func(pos int64) []byte { return appendFrame(nil, seed, pos, 0, ^byte(typeData), []byte(p)) }
	}
	for _, frame := range []func(int64) []byte{end("of version"), end("two")} {
		image = append(image, frame(int64(len(image)))...)
	}
	torn := append(slices.Clone(image), make([]byte, 24)...)

	fs := fileOf(t, torn)
	if _, _, err := collect(fs, "log", Options{Last: true}); !errors.Is(err, ErrVersion) ||
		!strings.Contains(err.Error(), "version 2; this program reads 1") {
		t.Fatalf("an unknown version: %v", err)
	}
	registerVersion2(t)
	golden, err := os.ReadFile(goldenFile)
	must.Do(t, err)
	if got, res, err := collect(fileOf(t, golden), "log", Options{}); err != nil || res.Version != 1 || !slices.Equal(got, goldenPayloads) {
		t.Fatalf("version 1: %q, %+v, %v", got, res, err)
	}
	want := []string{"of version", "two"}
	got, res, err := collect(fs, "log", Options{Last: true})
	if err != nil || res.Version != 2 || !res.Torn || !slices.Equal(got, want) {
		t.Fatalf("version 2: %q, %+v, %v", got, res, err)
	}
	must.Get(Cut(fs, "log", res))(t)
	got, res, err = collect(fs, "log", Options{Header: &h})
	if err != nil || res.Version != 2 || !res.Clean || !slices.Equal(got, want) {
		t.Fatalf("version 2 after it was cut: %q, %+v, %v", got, res, err)
	}
}
