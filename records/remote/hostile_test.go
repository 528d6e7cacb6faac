package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/simdb/simdb/internal/place"
)

// TestShortParts reads from a server that always sends fewer bytes than it was asked for: the reads end,
// with all bytes, or an error if none of those that are wanted come.
func TestShortParts(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 20_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var from int
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
		to := min(from+1000, len(content))
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(content)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(content[from:to])
	}))
	defer s.Close()
	f, err := place.Open(t.Context(), s.URL+"/x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	part := make([]byte, 5000)
	if _, err := f.(io.ReaderAt).ReadAt(part, 70_000); err != nil || !bytes.Equal(part, content[70_000:75_000]) {
		t.Errorf("a part from the middle: %v", err)
	}
	if _, err := f.(io.ReaderAt).ReadAt(part[:10], int64(len(content)-10)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the end, before which the server stops: %v", err)
	}
}

// TestSecretsStay sends credentials to the host of the file, but not over a connection in the clear if
// the file's is encrypted.
func TestSecretsStay(t *testing.T) {
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }))
	defer s.Close()
	for scheme, want := range map[string]string{"http": "Bearer secret", "https": ""} {
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		u.Scheme = scheme
		to := &target{url: u, sign: func(r *http.Request) error { r.Header.Set("Authorization", "Bearer secret"); return nil }}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := to.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); got != want {
			t.Errorf("%s: %q, want %q", scheme, got, want)
		}
	}
}
