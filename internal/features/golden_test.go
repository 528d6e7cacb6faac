package features

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/corpora"
	goldens "github.com/simdb/simdb/internal/golden"
)

// TestGolden pins the fingerprints of whole documents in many scripts, from the sample of
// internal/token.
func TestGolden(t *testing.T) {
	const sample = "../token/testdata/sample.jsonl.gz"
	t.Run("version 2", func(t *testing.T) { testGolden(t, Spec{Fold: []string{V2}}, sample, "testdata/sample.golden") })
	t.Run("version 3", func(t *testing.T) { testGolden(t, Spec{}, sample, "testdata/sample3.golden") })
}

func testGolden(t *testing.T, of Spec, sample, golden string) {
	var got strings.Builder
	got.WriteString("# id, words, distinct shingles, fingerprint, hashes of the sketch, CRC-32 of its encoding\n")
	s := NewFingerprinter(Params{Shingle: 3, Sketch: 128, Features: of})
	for _, doc := range corpora.Docs(t, sample) {
		r := s.Text(doc.Text)
		fmt.Fprintf(&got, "%s\t%d\t%d\t%016x\t%d\t%08x\n", doc.ID, r.Words, r.Shingles, r.Fingerprint, len(r.Sketch),
			crc32.ChecksumIEEE(r.Sketch.AppendEncoded(nil)))
	}
	goldens.Compare(t, golden, got.String())
}
