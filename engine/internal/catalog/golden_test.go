package catalog

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/golden"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// The golden files are catalogs of version 1: without the records "closed" and "seq", with "closed"
// only, with both, and with a delta of tombstones.
const (
	oldestGolden = "testdata/v1.catalog.gz"
	olderGolden  = "testdata/v1-closed.catalog.gz"
	goldenFile   = "testdata/v1-seq.catalog.gz"
	newestGolden = "testdata/v1-deltas.catalog.gz"
	formatDoc    = "../../../docs/format/catalog.md"
)

// goldenState is the state whose records docs/format/catalog.md shows.
func goldenState() State {
	s := State{
		FormatVersion: Version,
		Created:       time.UnixMicro(1_700_000_000_000_000).UTC(),
		Params:        []byte{1, 2, 3},
		Options:       map[string]string{"ttl": "48h0m0s"},
		Tables: []Table{{
			Number: 12, Size: 0x123456, Docs: 70_000, Fingerprints: 69_999,
			MinTime: 1_700_000_000_000_001, MaxTime: 1_700_000_000_000_002, MinSeq: 1, MaxSeq: 70_000, Digest: 0xc0ffee11,
		}},
		Tombstones: map[uint64]*roaring.Bitmap{12: roaring.BitmapOf(1, 2, 69_000)},
		NextFile:   18,
		FlushedSeq: 70_000,
		FirstWAL:   17,
		Marks:      map[string]int64{"a.jsonl": 4096},
		LastSeq:    70_010,
		Closed:     LogEnd{Number: 17, Size: 0x1234},
	}
	for i := range s.UUID {
		s.UUID[i] = byte(0xa0 + i)
	}
	return s
}

// TestGolden opens catalogs of version 1 as they were once written.
func TestGolden(t *testing.T) {
	if golden.Update() {
		writeGolden(t)
	}
	older := goldenState()
	older.LastSeq = 0
	openGolden(t, olderGolden, older)
	older.Closed = LogEnd{}
	openGolden(t, oldestGolden, older)
	openGolden(t, goldenFile, goldenState())
	newest := goldenState()
	newest.model(goldenEdit)
	openGolden(t, newestGolden, newest)
}

// goldenEdit adds a delta to goldenState.
var goldenEdit = Edit{AddTombstones: map[uint64]*roaring.Bitmap{12: roaring.BitmapOf(7, 69_001)}}

// createGolden makes the newest catalog.
func createGolden(t *testing.T, name string) {
	mustCreate(t, vfs.Disk, name, goldenState())
	c, _ := mustOpen(t, vfs.Disk, name)
	must.Do(t, errors.Join(c.Apply(goldenEdit), c.Close()))
}

func openGolden(t *testing.T, file string, want State) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	must.Do(t, os.WriteFile(name, corpora.Read(t, file), 0o644))
	c, got := mustOpen(t, vfs.Disk, name)
	defer c.Close()
	if !equal(*got, want) {
		t.Errorf("%s: got %+v", file, got)
	}
	if err := c.Apply(Edit{DropTables: []uint64{12}}); err != nil {
		t.Error(err)
	}
}

func writeGolden(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	createGolden(t, name)
	image := fileBytes(t, name)
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	z.Write(image)
	must.Do(t, z.Close())
	must.Do(t, os.WriteFile(newestGolden, buf.Bytes(), 0o644))
}

// TestFormatDoc checks that the hex in the description of the format shows the records of the
// newest golden file.
func TestFormatDoc(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	createGolden(t, name)
	tree := must.Get(readTree(vfs.Disk, name))(t)
	var want strings.Builder
	for _, r := range tree.entries {
		writeHex(&want, "key  ", r.key)
		writeHex(&want, "value", r.value)
	}
	doc := fileBytes(t, formatDoc)
	_, rest, ok := strings.Cut(string(doc), "```hex\n")
	block, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("no hex block")
	}
	var shown strings.Builder
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimRight(line, " \n"); line != "" {
			shown.WriteString(line + "\n")
		}
	}
	if shown.String() != want.String() {
		t.Errorf("the document shows\n%s\ninstead of\n%s", shown.String(), want.String())
	}
}

// writeHex writes a title and bytes, 16 per line.
func writeHex(w io.Writer, title string, data []byte) {
	for len(data) > 0 {
		n := min(16, len(data))
		fmt.Fprintf(w, "%s  %s\n", title, strings.TrimSpace(fmt.Sprintf("% x", data[:n])))
		title, data = "     ", data[n:]
	}
}

func TestSectionNames(t *testing.T) {
	for key, want := range map[string]string{
		tableKey(12): "tables/12", tombstoneKey(12, 3): "tombstones/12/3", deltaKey(12, 3): "tombstones/12/+3", "marks/a": "marks/a", "tables/x": "tables/x", "\x00": `\x00`,
	} {
		if got := section([]byte(key)); got != want {
			t.Errorf("%x: %s", key, got)
		}
	}
}
