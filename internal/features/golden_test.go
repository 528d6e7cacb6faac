package features

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"
)

// TestGolden pins the fingerprints of whole documents in many scripts: those of the sample of
// internal/token.
func TestGolden(t *testing.T) {
	const sample, golden = "../token/testdata/sample.jsonl.gz", "testdata/sample.golden"
	f, err := os.Open(sample)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	got.WriteString("# id, words, distinct shingles, fingerprint, hashes of the sketch, CRC-32 of its encoding\n")
	s := NewFingerprinter(Params{Shingle: 3, Sketch: 128})
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var doc struct{ ID, Text string }
		if err := json.Unmarshal(lines.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		r := s.Text(doc.Text)
		fmt.Fprintf(&got, "%s\t%d\t%d\t%016x\t%d\t%08x\n", doc.ID, r.Words, r.Shingles, r.Fingerprint, len(r.Sketch),
			crc32.ChecksumIEEE(r.Sketch.AppendEncoded(nil)))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the fingerprints differ from %s", golden)
	}
}
