package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/place"
)

// several is the method of a file of which several parts are read at once.
type several interface {
	ReadParts(parts [][]byte, offs []int64) (bool, error)
}

// pieceParts reads three parts, one by one or, if the server sends them so, by one request.
func pieceParts(t *testing.T, p place.Pieces, content []byte) (together bool, err error) {
	t.Helper()
	offs, parts := []int64{500_000, 7, 200_000}, [][]byte{make([]byte, 3000), make([]byte, 1), make([]byte, 100_000)}
	together, err = p.(several).ReadParts(parts, offs)
	for i := range offs {
		if !together {
			if _, err := p.ReadAt(parts[i], offs[i]); err != nil {
				return false, err
			}
		}
		if err == nil && !bytes.Equal(parts[i], content[offs[i]:][:len(parts[i])]) {
			t.Errorf("other bytes from %d on", offs[i])
		}
	}
	return together, err
}

// TestPieces reads parts of a file from servers of all kinds.
func TestPieces(t *testing.T) {
	s, r := start(t), seeded(t)
	content := noise(r, 1<<20)
	s.Put("/bkt/x", content)
	s.Put("/bkt/small", content[:100])
	s.Put("/bkt/empty", nil)
	var broken atomic.Int64
	hide := func(say func(r *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
		return func(_ http.ResponseWriter, r *http.Request) bool {
			if say(r) {
				r.Header.Del("Range")
			}
			return false
		}
	}
	none := func(*http.Request) int64 { return -1 }
	for what, c := range map[string]struct {
		name     string
		before   func(http.ResponseWriter, *http.Request) bool
		breaks   func(*http.Request) int64
		together bool
		requests int
	}{
		"a web server":     {s.URL + "/bkt/x", nil, none, true, 2},
		"S3":               {"s3://bkt/x", nil, none, false, 4},
		"one range":        {s.URL + "/bkt/x", hide(func(r *http.Request) bool { return strings.Contains(r.Header.Get("Range"), ",") }), none, false, 5},
		"no last bytes":    {s.URL + "/bkt/x", hide(func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Range"), "bytes=-") }), none, true, 4},
		"broken":           {s.URL + "/bkt/x", nil, func(*http.Request) int64 { return map[bool]int64{true: 700, false: -1}[broken.Add(1)%2 == 1] }, false, -1},
		"refuses several":  {s.URL + "/bkt/x", refuseSeveral, none, false, 5},
		"several are junk": {s.URL + "/bkt/x", junk, none, false, 5},
		"a part again":     {s.URL + "/bkt/x", again, none, false, 5},
	} {
		s.Before, s.Break = c.before, c.breaks
		s.Log()
		p, err := place.OpenPieces(context.Background(), c.name, 5000)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		together, err := pieceParts(t, p, content)
		requests, _ := s.Log()
		if err != nil || p.Size() != 1<<20 || together != c.together && what != "broken" || c.requests >= 0 && len(requests) != c.requests {
			t.Errorf("%s: size %d, together %v, %v: %q", what, p.Size(), together, err, requests)
		}
		if what == "refuses several" {
			if _, err := pieceParts(t, p, content); err != nil {
				t.Error(err)
			}
			if requests, _ := s.Log(); len(requests) != 3 {
				t.Errorf("%s: asked again for several: %q", what, requests)
			}
		}
		end := make([]byte, 6000)
		if n, err := p.ReadAt(end, 1<<20-5500); n != 5500 || err != io.EOF || !bytes.Equal(end[:n], content[1<<20-5500:]) {
			t.Errorf("%s: %d bytes at the end, %v", what, n, err)
		}
	}
	s.Before, s.Break = nil, nil
	if p, err := place.OpenPieces(context.Background(), s.URL+"/bkt/small", 5000); err != nil || p.Size() != 100 {
		t.Error(err)
	}
	if _, err := place.OpenPieces(context.Background(), s.URL+"/bkt/none", 5000); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for name, ranges := range map[string]bool{"/bkt/x": true, "/bkt/empty": false} {
		s.NoRanges = ranges
		if _, err := place.OpenPieces(context.Background(), s.URL+name, 5000); err == nil || ranges && !errors.Is(err, errWhole) {
			t.Error(name, err)
		}
	}
}

// refuseSeveral refuses requests for several parts.
func refuseSeveral(w http.ResponseWriter, r *http.Request) bool {
	if !strings.Contains(r.Header.Get("Range"), ",") {
		return false
	}
	w.WriteHeader(http.StatusNotImplemented)
	return true
}

// junk answers requests for several parts with parts that are too short.
func junk(w http.ResponseWriter, r *http.Request) bool {
	if !strings.Contains(r.Header.Get("Range"), ",") {
		return false
	}
	w.Header().Set("ETag", r.Header.Get("If-Match"))
	w.Header().Set("Content-Type", "multipart/byteranges; boundary=x")
	w.WriteHeader(http.StatusPartialContent)
	for range 3 {
		fmt.Fprint(w, "--x\r\nContent-Range: bytes 500000-502999/1048576\r\n\r\nshort\r\n")
	}
	return true
}

// TestPiecesChanged changes a file while its parts are read.
func TestPiecesChanged(t *testing.T) {
	s, r := start(t), seeded(t)
	for _, scheme := range []string{s.URL + "/", "s3://"} {
		for _, ignored := range []bool{false, true} {
			content := noise(r, 1<<20)
			s.Put("/bkt/x", content)
			p, err := place.OpenPieces(context.Background(), scheme+"bkt/x", 5000)
			if err != nil {
				t.Fatal(err)
			}
			s.Put("/bkt/x", noise(r, 1<<20))
			if s.Before = nil; ignored { // some servers do not know If-Match
				s.Before = func(_ http.ResponseWriter, r *http.Request) bool { r.Header.Del("If-Match"); return false }
			}
			if _, err := pieceParts(t, p, content); !errors.Is(err, errChanged) {
				t.Errorf("%s, ignored %v: %v", scheme, ignored, err)
			}
		}
	}
}

// again answers a request for 3000 bytes, one byte and 100000 bytes with the last two, the one byte so often
// that the parts have together as many bytes as the request.
func again(w http.ResponseWriter, r *http.Request) bool {
	if !strings.Contains(r.Header.Get("Range"), ",") {
		return false
	}
	w.Header().Set("ETag", r.Header.Get("If-Match"))
	w.Header().Set("Content-Type", "multipart/byteranges; boundary=x")
	w.WriteHeader(http.StatusPartialContent)
	fmt.Fprintf(w, "--x\r\nContent-Range: bytes 200000-299999/1048576\r\n\r\n%s\r\n", make([]byte, 100_000))
	for range 3001 {
		fmt.Fprint(w, "--x\r\nContent-Range: bytes 7-7/1048576\r\n\r\n0\r\n")
	}
	fmt.Fprint(w, "--x--\r\n")
	return true
}

// TestSearchesThatEnd asks a server that does not answer: a search ends with its context, but not while another
// one waits for the same part, and the table can be searched afterwards.
func TestSearchesThatEnd(t *testing.T) {
	s := start(t)
	path := filepath.Join(t.TempDir(), "x.simdb")
	db, err := engine.Open(path, &engine.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		err = errors.Join(err, db.Put(t.Context(), engine.Doc{ID: fmt.Sprint("d", i), Text: fmt.Sprintf("text %d of number %d and %x", i, i*i, i*7919)}))
	}
	err = errors.Join(err, db.Pack(t.Context(), path+".sst", nil), db.Close())
	content, e := os.ReadFile(path + ".sst")
	if err = errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
	s.Put("/x.sst", content)
	table, err := place.OpenPieces(context.Background(), s.URL+"/x.sst", 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	if db, err = engine.Open("x.sst", &engine.Options{Table: table}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	asked, silent := make(chan bool, 100), make(chan bool)
	speak := sync.OnceFunc(func() { close(silent) })
	late := time.AfterFunc(10*time.Second, func() {
		t.Error("a search did not end")
		speak()
	})
	defer late.Stop()
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		asked <- true
		select {
		case <-silent:
		case <-r.Context().Done():
		}
		return false
	}
	stop := errors.New("stop")
	get := func(ctx context.Context, id string) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := db.Get(ctx, id)
			done <- err
		}()
		return done
	}
	first, cancel := context.WithCancelCause(context.Background())
	go func() {
		<-asked
		cancel(stop)
	}()
	for _, err := range db.Jaccard(first, engine.Doc{Text: "text 1 of number 1 and 1eef"}, 0.5) {
		if !errors.Is(err, stop) {
			t.Errorf("a search that ended: %v", err)
		}
	}
	if first.Err() == nil {
		t.Error("a search needed nothing of the server")
	}
	if t.Failed() {
		return
	}
	second, cancel := context.WithCancelCause(context.Background())
	one, two := get(second, "d7"), get(t.Context(), "d7")
	<-asked
	r := &table.(*pieces).readers
	for both := false; !both && !t.Failed(); time.Sleep(time.Millisecond) {
		r.mu.Lock()
		both = r.running == 2
		r.mu.Unlock()
	}
	cancel(stop)
	speak()
	<-one // it waits for the same part
	if err := <-two; err != nil {
		t.Errorf("a search beside one that ended: %v", err)
	}
	s.Before = nil
	if d, err := db.Get(t.Context(), "d2999"); err != nil || d.ID != "d2999" {
		t.Error(d, err)
	}
	if r.running != 0 || r.waiting != 0 || r.context() != context.Background() {
		t.Errorf("%d searches run, %d wait", r.running, r.waiting)
	}
}
