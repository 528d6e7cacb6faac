package records

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// TestUnpacked copies compressed content to a temporary file, and checks that excessive growth is
// an error.
func TestUnpacked(t *testing.T) {
	for size, want := range map[int]string{1 << 20: "", maxUnpacked + 1<<20: "grow to more than 100 times"} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		for range size >> 20 {
			w.Write(make([]byte, 1<<20))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := newStream("zeros.gz", io.NopCloser(&packed), -1, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, n, err := s.ReaderAt()
		if want == "" && (n != int64(size) || err != nil) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes: %d, %v", size, n, err)
		}
		s.Release()
		s.Close()
	}
}
