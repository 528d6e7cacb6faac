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
	var got strings.Builder
	got.WriteString("# id, words, distinct shingles, fingerprint, hashes of the sketch, CRC-32 of its encoding\n")
	s := NewFingerprinter(Params{Shingle: 3, Sketch: 128})
	for _, doc := range corpora.Docs(t, sample) {
		r := s.Text(doc.Text)
		fmt.Fprintf(&got, "%s\t%d\t%d\t%016x\t%d\t%08x\n", doc.ID, r.Words, r.Shingles, r.Fingerprint, len(r.Sketch),
			crc32.ChecksumIEEE(r.Sketch.AppendEncoded(nil)))
	}
	goldens.Compare(t, "testdata/sample.golden", got.String())
}
