package wal

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/golden"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

const (
	goldenFile = "testdata/v1.wal"
	formatDoc  = "../../../docs/format/wal.md"
)

var goldenPayloads = []string{"hello", "", "eight by"}

// goldenLog returns the log that docs/format/wal.md explains.
func goldenLog(t *testing.T) []byte {
	t.Helper()
	fs := vfstest.NewMem("")
	h := Header{Number: 7}
	for i := range h.Database {
		h.Database[i] = byte(0xa0 + i)
	}
	w := must.Get(Create(fs, "log", h))(t)
	for i, payload := range goldenPayloads {
		end := mustAppend(t, w, payload)
		if i == 0 {
			must.Do(t, w.Sync(end))
		}
	}
	must.Do(t, w.Close())
	return contentOf(t, fs, "log")
}

// TestGolden checks that logs of version 1 remain readable, and are still written in the same way.
func TestGolden(t *testing.T) {
	image := goldenLog(t)
	file := golden.Read(t, goldenFile, image)
	if !bytes.Equal(file, image) {
		t.Errorf("written now:\n%s\ngolden:\n%s", hex.Dump(image), hex.Dump(file))
	}
	got, res, err := collect(fileOf(t, file), "log", Options{})
	if err != nil || !slices.Equal(got, goldenPayloads) || !res.Clean || res.Header.Number != 7 {
		t.Errorf("%q, %+v, %v", got, res, err)
	}
}

// TestFormatDoc compares the hex in the description of the format with the golden log.
func TestFormatDoc(t *testing.T) {
	doc := must.Get(os.ReadFile(formatDoc))(t)
	_, rest, ok := strings.Cut(string(doc), "```hex\n")
	block, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("no hex block")
	}
	var shown []byte
	for line := range strings.Lines(block) {
		offset, line, _ := strings.Cut(strings.TrimSpace(line), " ")
		line, _, _ = strings.Cut(line, "#")
		if want := fmt.Sprintf("%04x", len(shown)); offset != want {
			t.Errorf("offset %q instead of %s", offset, want)
		}
		raw := must.Get(hex.DecodeString(strings.Join(strings.Fields(line), "")))(t)
		shown = append(shown, raw...)
	}
	if want := goldenLog(t); !bytes.Equal(shown, want) {
		t.Errorf("the document shows\n%s\ninstead of\n%s", hex.Dump(shown), hex.Dump(want))
	}
}
