package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/remotetest"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/files"
	_ "github.com/simdb/simdb/records/parquet"
)

// start starts a server, and shortens the pauses.
func start(t *testing.T) *remotetest.Server {
	before := pause
	pause = time.Millisecond
	t.Cleanup(func() { pause = before; transport.CloseIdleConnections() })
	return remotetest.Start(t)
}

func seeded(t *testing.T) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("SIMDB_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("SIMDB_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func read(name string) ([]byte, error) { return place.ReadFile(context.Background(), name) }

// TestSameBytes reads files of all sizes through all schemes from servers that break connections,
// ignore ranges, or give no ETag.
func TestSameBytes(t *testing.T) {
	s, r := start(t), seeded(t)
	names := map[string]string{
		"/bkt/dir/a %+ä?.bin": "s3://bkt/dir/a %+ä?.bin", "/bkt/plain": "gs://bkt/plain", "/web/x.bin": s.URL + "/web/x.bin",
		"/datasets/o/n/p/q.bin": "hf://datasets/o/n/p/q.bin",
	}
	for _, size := range []int{0, 1, firstBytes - 1, firstBytes, firstBytes + 1, 3*firstBytes + r.IntN(1<<20)} {
		content := noise(r, size)
		for at, name := range names {
			s.Put(at, content)
			for _, mode := range []string{"", "ranges ignored", "no tags", "breaks", "breaks, ranges ignored"} {
				s.NoRanges, s.NoTags, s.Break = strings.Contains(mode, "ignored"), mode == "no tags", nil
				if strings.HasPrefix(mode, "breaks") && size > 0 {
					var n atomic.Int64
					s.Break = func(*http.Request) int64 {
						if n.Add(1)%3 == 0 {
							return -1
						}
						return int64(size)/4*n.Load()%int64(size) + 1
					}
				}
				got, err := read(name)
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s, %d bytes, %s: %d bytes, %v", name, size, mode, len(got), err)
				}
			}
		}
	}
}

// TestRanges reads parts of a file in random order, and compares them with the file.
func TestRanges(t *testing.T) {
	s, r := start(t), seeded(t)
	content := noise(r, 20<<20)
	s.Put("/bkt/x", content)
	f, err := place.Open(context.Background(), "s3://bkt/x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := f.(io.ReaderAt)
	s.Log()
	off, want := 0, 0
	for off < 12<<20 { // in sequence, like the pages of a column
		n := 1 + r.IntN(100_000)
		p := make([]byte, n)
		if got, err := at.ReadAt(p, int64(off)); got != n || err != nil || !bytes.Equal(p, content[off:off+n]) {
			t.Fatalf("%d bytes at %d: %d, %v", n, off, got, err)
		}
		off, want = off+n, want+n
	}
	requests, sent := s.Log()
	if len(requests) > 16 || sent > int64(want)*3/2 {
		t.Errorf("%d bytes in sequence needed %d requests and %d bytes", want, len(requests), sent)
	}
	for range 300 {
		off, n := r.IntN(len(content)+10), r.IntN(200_000)
		p := make([]byte, n)
		got, err := at.ReadAt(p, int64(off))
		want := content[min(off, len(content)):min(off+n, len(content))]
		if !bytes.Equal(p[:got], want) || (err == io.EOF) != (len(want) < n) || err != nil && err != io.EOF {
			t.Fatalf("%d bytes at %d: %d, %v", n, off, got, err)
		}
	}
	s.Put("/bkt/x", noise(r, 20<<20))
	var failed error
	for off := int64(0); off < 20<<20 && failed == nil; off += 1 << 20 {
		_, failed = at.ReadAt(make([]byte, 10), off)
	}
	if !errors.Is(failed, errChanged) {
		t.Errorf("a changed file: %v", failed)
	}
}

// TestParquet checks that the parts of a Parquet file with columns that are not used are not sent.
func TestParquet(t *testing.T) {
	type row struct {
		ID    string `parquet:"id"`
		Text  string `parquet:"text"`
		Large []byte `parquet:"large"`
	}
	s, r := start(t), seeded(t)
	var b bytes.Buffer
	w := pq.NewGenericWriter[row](&b, pq.MaxRowsPerRowGroup(400))
	for i := range 1200 {
		if _, err := w.Write([]row{{fmt.Sprint(i), string(bytes.Repeat([]byte("word "), 20)), noise(r, 4000)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.Put("/bkt/x.parquet", b.Bytes())
	src, err := records.Open("s3://bkt/x.parquet", records.Options{Need: records.NeedText})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	n := 0
	for rec, err := range src.Records(context.Background()) {
		if err != nil || rec.Doc.Text == "" {
			t.Fatal(rec, err)
		}
		n++
	}
	requests, sent := s.Log()
	t.Logf("%d requests and %d of %d bytes", len(requests), sent, b.Len())
	if n != 1200 || sent > int64(b.Len())/8 || len(requests) > 12 {
		t.Errorf("%d rows: %d of %d bytes were sent: %v", n, sent, b.Len(), requests)
	}
}

// TestChanged changes a file between two connections.
func TestChanged(t *testing.T) {
	s := start(t)
	ignored := func(_ http.ResponseWriter, r *http.Request) bool { r.Header.Del("If-Match"); return false }
	for i, tags := range []bool{true, true, false} {
		s.NoTags, s.Before = !tags, nil
		if i == 1 { // some servers do not know If-Match
			s.Before = ignored
		}
		s.Put("/bkt/x", bytes.Repeat([]byte("a"), 1<<20))
		f, err := place.Open(context.Background(), "s3://bkt/x")
		if err != nil {
			t.Fatal(err)
		}
		s.Put("/bkt/x", bytes.Repeat([]byte("b"), 1<<20+map[bool]int{true: 0, false: 1}[tags]))
		if got, err := io.ReadAll(f); !errors.Is(err, errChanged) || bytes.Contains(got, []byte("b")) {
			t.Errorf("case %d, ETag %v: %d bytes, %v", i, tags, len(got), err)
		}
		f.Close()
	}
}

// TestRefusals checks errors: they give the reason, name no secret, and come at once where
// repetitions are useless.
func TestRefusals(t *testing.T) {
	s := start(t)
	s.Put("/bkt/x", []byte("content"))
	s.Signed = true
	if got, err := read("s3://bkt/x"); string(got) != "content" {
		t.Error(string(got), err)
	}
	if got, err := read("gs://bkt/x"); string(got) != "content" {
		t.Error(string(got), err)
	}
	for _, c := range []struct{ name, env, value, want string }{
		{"s3://bkt/x", "AWS_SECRET_ACCESS_KEY", "geheim", "open s3://bkt/x: the server says 403 Forbidden: SignatureDoesNotMatch: The request signature does not match: the credentials come from"},
		{"gs://bkt/x", "GS_SECRET_ACCESS_KEY", "geheim", "gcloud auth print-access-token"},
		{"s3://bkt/y", "", "", "open s3://bkt/y: no such file or directory (the server says 404 Not Found: NoSuchKey"},
		{"s3://bkt/x", "AWS_PROFILE", "", ""},
		{"s3://B_/x", "", "", "s3://BUCKET/KEY"},
		{"s3://bkt/", "", "", "it is a folder: a pattern names the files in it, such as s3://bkt/*.jsonl"},
		{"hf://datasets/o", "", "", "hf://datasets/OWNER/NAME[@REVISION]/PATH"},
		{"https:///x", "", "", "not a URL with a host"},
		{"s3://bkt/x", "AWS_ENDPOINT_URL", "localhost", `the endpoint "localhost" is not a URL`},
		{"http://user:geheim@127.0.0.1:1/x?sig=geheim", "", "", "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.env != "" {
				t.Setenv(c.env, c.value)
			}
			s.Log()
			_, err := read(c.name)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(strings.TrimPrefix(err.Error(), "open "+c.name), "geheim") {
				t.Errorf("%v; want %q", err, c.want)
			}
			if requests, _ := s.Log(); len(requests) > 1 {
				t.Errorf("%v", requests)
			}
			if strings.Contains(c.want, "no such") != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v is or is not fs.ErrNotExist", err)
			}
		})
	}
}

// TestRepetitions checks that busy servers are asked again, after the time that they say, and that
// this ends.
func TestRepetitions(t *testing.T) {
	s := start(t)
	s.Put("/bkt/x", []byte("content"))
	var n, least atomic.Int64
	var last time.Time
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if n.Add(-1) < 0 {
			return false
		}
		if !last.IsZero() {
			least.Store(int64(time.Since(last)))
		}
		last = time.Now()
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	n.Store(2)
	if got, err := read("s3://bkt/x"); string(got) != "content" {
		t.Error(string(got), err)
	}
	if time.Duration(least.Load()) < time.Second {
		t.Errorf("the next request came after %v, the server said 1s", time.Duration(least.Load()))
	}
	s.Before = func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(http.StatusBadGateway); return true }
	if _, err := read("s3://bkt/x"); err == nil || !strings.Contains(err.Error(), "502") {
		t.Error(err)
	}
	s.Before = nil
	s.Put("/bkt/x", make([]byte, 1<<20))
	s.Break = func(*http.Request) int64 { return 0 }
	if _, err := read("s3://bkt/x"); err == nil || !strings.Contains(err.Error(), "the connection broke at byte 0 of 1048576, 6 times") {
		t.Error(err)
	}
}

// TestSilence checks that a connection on which nothing arrives is replaced, and that the end of the
// context ends a read.
func TestSilence(t *testing.T) {
	s := start(t)
	content := bytes.Repeat([]byte("x"), 1<<20)
	s.Put("/bkt/x", content)
	before := silence
	silence = 50 * time.Millisecond
	defer func() { silence = before }()
	var n atomic.Int64
	s.NoTags = true
	f, err := place.Open(context.Background(), s.URL+"/bkt/x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if n.Add(1) != 2 {
			return false
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", firstBytes, len(content)-1, len(content)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(content[:1000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	n.Store(1)
	if got, err := io.ReadAll(f); !bytes.Equal(got, content) {
		t.Error(len(got), err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s.Before = nil
	g, err := place.Open(ctx, s.URL+"/bkt/x")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	stop := errors.New("stop")
	cancel(stop)
	if _, err := io.ReadAll(g); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestPatterns lists more files than a part of a list has.
func TestPatterns(t *testing.T) {
	s := start(t)
	s.Signed, s.PageFiles = true, 7
	var want []string
	for i := range 40 {
		s.Put(fmt.Sprintf("/bkt/dir/part %02d+.jsonl", i), []byte{byte(i)})
		s.Put(fmt.Sprintf("/datasets/o/n/dir/part-%02d.jsonl", i), nil)
		want = append(want, fmt.Sprintf("s3://bkt/dir/part %02d+.jsonl", i))
	}
	for _, other := range []string{"/bkt/dir/", "/bkt/dir/x.csv", "/bkt/dir/deep/y.jsonl", "/bkt/dir/.hidden.jsonl", "/bkt/dirt.jsonl"} {
		s.Put(other, nil)
	}
	for pattern, n := range map[string]int{
		"s3://bkt/dir/*.jsonl": 40, "gs://bkt/dir/part 0*": 10, "s3://bkt/**/*.jsonl": 42, "s3://bkt/dir/part ?[13]+.{jsonl,csv}": 8,
		"s3://bkt/dir/*/*": 1, "hf://datasets/o/n/dir/*.jsonl": 40, "hf://datasets/o/n/**": 40,
	} {
		s.Signed = !strings.HasPrefix(pattern, "hf")
		names, err := files.Expand(pattern, false)
		if err != nil || len(names) != n {
			t.Errorf("%s: %d, %v", pattern, len(names), err)
		}
		if n == 40 && strings.HasPrefix(pattern, "s3") && !slices.Equal(names, want) {
			t.Error(names)
		}
	}
	s.Log()
	if st, err := place.Stat(context.Background(), "s3://bkt/dir/part 03+.jsonl"); err != nil || st.Size() != 1 {
		t.Error(st, err)
	}
	if _, err := files.Expand("s3://bkt/none/*", false); err == nil || !strings.Contains(err.Error(), "s3://bkt/none/*: no file matches") {
		t.Error(err)
	}
	if _, err := files.Expand("s3://bkt*/x", false); err == nil {
		t.Error("a bucket was a pattern")
	}
}

// TestHub checks that the server to which the Hub redirects does not get the token, and names with
// revisions.
func TestHub(t *testing.T) {
	s := start(t)
	s.Put("/datasets/o/n/a b.txt", []byte("content"))
	t.Setenv("HF_TOKEN", "geheim")
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if got := r.Header.Get("Authorization"); (got == "Bearer geheim") == strings.HasPrefix(r.URL.Path, "/cdn") {
			t.Errorf("%s: authorization %q", r.URL, got)
		}
		return false
	}
	if got, err := read("hf://datasets/o/n@main/a b.txt"); string(got) != "content" {
		t.Error(string(got), err)
	}
	for name, want := range map[string]string{
		"hf://datasets/o/n@refs/convert/parquet/d/x.parquet": "/datasets/o/n/resolve/refs%2Fconvert%2Fparquet/d/x.parquet",
		"hf://o/n/x y":             "/o/n/resolve/main/x%20y",
		"hf://spaces/o/n@v1.0/a/b": "/spaces/o/n/resolve/v1.0/a/b",
	} {
		u, err := hubTarget(context.Background(), name)
		if err != nil || u.url.EscapedPath() != want {
			t.Errorf("%s: %v, %v", name, u.url, err)
		}
	}
}

// TestAddresses checks the addresses of Amazon, and where endpoint, region and keys come from.
func TestAddresses(t *testing.T) {
	start(t)
	dir := t.TempDir()
	write := func(name, content string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", write("config", "[default]\nregion = eu-central-1\n[profile lab]\nregion = x\nendpoint_url = http://localhost:9000/s3\naws_access_key_id = LABKEY\naws_secret_access_key = l\n"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", write("credentials", "[default]\naws_access_key_id = DEFAULTKEY\naws_secret_access_key = d\n"))
	for _, c := range []struct{ profile, name, url, key string }{
		{"", "s3://bucket/a b/+c", "https://bucket.s3.eu-central-1.amazonaws.com/a%20b/%2Bc", "DEFAULTKEY"},
		{"", "s3://my.bucket/k", "https://s3.eu-central-1.amazonaws.com/my.bucket/k", "DEFAULTKEY"},
		{"lab", "s3://bucket/k", "http://localhost:9000/s3/bucket/k", "LABKEY"},
		{"absent", "s3://bucket/k", "https://bucket.s3.us-east-1.amazonaws.com/k", ""},
	} {
		t.Setenv("AWS_PROFILE", c.profile)
		u, err := s3.target(context.Background(), c.name)
		if err != nil || u.url.String() != c.url {
			t.Errorf("%s: %v, %v", c.name, u.url, err)
			continue
		}
		r, _ := http.NewRequest("GET", u.url.String(), nil)
		err = u.sign(r)
		if (err == nil) != (c.key != "") || !strings.Contains(r.Header.Get("Authorization"), c.key) {
			t.Errorf("%s %s: %q, %v", c.profile, c.name, r.Header.Get("Authorization"), err)
		}
	}
	t.Setenv("AWS_PROFILE", "")
	u, err := s3.target(context.Background(), "s3://elsewhere/k")
	if err != nil {
		t.Fatal(err)
	}
	answer := &http.Response{Header: http.Header{"X-Amz-Bucket-Region": {"ap-south-1"}}}
	if !u.moved(answer) || u.url.Host != "elsewhere.s3.ap-south-1.amazonaws.com" || u.moved(answer) {
		t.Error(u.url)
	}
}

// TestRedirect checks that a redirect is followed, without the credentials of the first server.
func TestRedirect(t *testing.T) {
	s := start(t)
	s.Put("/x", []byte("content"))
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, strings.Replace(s.URL, "127.0.0.1", "localhost", 1)+"/x", http.StatusMovedPermanently)
			return true
		}
		if r.Header.Get("Authorization") != "" {
			t.Error(r.Header)
		}
		return false
	}
	if got, err := read(strings.Replace(s.URL, "http://", "http://user:password@", 1) + "/old"); string(got) != "content" {
		t.Error(string(got), err)
	}
}
