package pages

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// counting counts the calls of ReadAt, which fail while away is set.
type counting struct {
	io.ReaderAt
	calls atomic.Int32
	away  atomic.Bool
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.calls.Add(1)
	if c.away.Load() {
		return 0, io.ErrNoProgress
	}
	return c.ReaderAt.ReadAt(p, off)
}

// TestWanted announces parts: those that are missing are read together with the next part, and others
// are forgotten, also in a session that announces the same parts again and again.
func TestWanted(t *testing.T) {
	file := make([]byte, 100*chunk+5)
	for i := range file {
		file[i] = byte(i / chunk * 7)
	}
	r := &counting{ReaderAt: bytes.NewReader(file)}
	data := make([]byte, len(file))
	p, err := Remote(r, data, "x.sst")
	if err != nil {
		t.Fatal(err)
	}
	before := r.calls.Load()
	p.Fetch(40*chunk, 41*chunk)
	p.Fetch(43*chunk+1, 43*chunk+2)
	p.Need(10*chunk, 11*chunk)
	if calls := r.calls.Load() - before; calls != 2 {
		t.Errorf("%d requests for two places, want 2", calls)
	}
	for range 1000 {
		p.Fetch(40*chunk, 44*chunk)
		p.Fetch(10*chunk, 10*chunk+1)
	}
	if n := len(p.src.wanted); n != 0 {
		t.Errorf("%d parts are still announced after all have been read", n)
	}
	p.Need(43*chunk, 44*chunk)
	if calls := r.calls.Load() - before; calls != 2 {
		t.Errorf("%d requests after all parts have been read, want 2", calls)
	}
	p.Whole()
	if !bytes.Equal(data, file) {
		t.Error("the memory differs from the file")
	}
}

// TestAway needs many parts of a file whose server is away: only the first parts are requested, and all
// are read once it is back.
func TestAway(t *testing.T) {
	file := bytes.Repeat([]byte("simdb"), 100*16*chunk/5)
	r := &counting{ReaderAt: bytes.NewReader(file)}
	data := make([]byte, len(file))
	p, err := Remote(r, data, "x.sst")
	if err != nil {
		t.Fatal(err)
	}
	r.calls.Store(0)
	r.away.Store(true)
	for part := range int64(90) {
		p.Fetch(16*part*chunk, (16*part+1)*chunk)
	}
	if err := p.src.need(0, chunk); !errors.Is(err, io.ErrNoProgress) || r.calls.Load() > parallel+1 { // one for the part alone
		t.Errorf("%d requests to a server that is away: %v", r.calls.Load(), err)
	}
	r.away.Store(false)
	if p.Whole(); !bytes.Equal(data, file) {
		t.Error("the memory differs from the file")
	}
}

// holed is a file with a chunk that cannot be read. It can send several parts by one request, unless single
// is set.
type holed struct {
	counting
	hole     int64 // a chunk; negative for none
	single   bool
	mu       sync.Mutex
	most     int // parts, and bytes, of the largest request
	mostSize int
}

var errHole = errors.New("a hole")

func (h *holed) ReadAt(p []byte, off int64) (int, error) {
	h.calls.Add(1)
	return h.read(p, off)
}

func (h *holed) read(p []byte, off int64) (int, error) {
	n, err := h.ReaderAt.ReadAt(p, off)
	if off <= h.hole*chunk && off+int64(len(p)) > h.hole*chunk {
		return 0, errHole
	}
	return n, err
}

func (h *holed) ReadParts(parts [][]byte, offs []int64) (ok bool, err error) {
	if h.single {
		return false, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls.Add(1)
	size := 0
	for i, part := range parts {
		if size += len(part); err == nil {
			_, err = h.read(part, offs[i])
		}
	}
	h.most, h.mostSize = max(h.most, len(parts)), max(h.mostSize, size)
	return true, err
}

// TestHole announces a chunk that cannot be read, near and far from the part that is needed, and then needs
// it.
func TestHole(t *testing.T) {
	file := bytes.Repeat([]byte("simdb"), 400*chunk/5)
	for _, hole := range []int64{9, 12, 100} {
		for _, single := range []bool{false, true} {
			data := make([]byte, len(file))
			r := &holed{counting: counting{ReaderAt: bytes.NewReader(file)}, hole: hole, single: single}
			p, err := Remote(r, data, "x.sst")
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []int64{hole, 50, 51, 200} {
				p.Fetch(at*chunk, at*chunk+1)
			}
			if err := p.src.need(10*chunk, 12*chunk); err != nil || !bytes.Equal(data[10*chunk:12*chunk], file[10*chunk:12*chunk]) {
				t.Errorf("hole at %d, single %v: %v", hole, single, err)
			}
			if err := p.src.need((hole-1)*chunk, (hole+1)*chunk); !errors.Is(err, errHole) || !strings.Contains(err.Error(), "x.sst: bytes") {
				t.Errorf("the hole at %d: %v", hole, err)
			}
			r.hole = -1
			if p.Whole(); !bytes.Equal(data, file) {
				t.Error("the memory differs from the file")
			}
		}
	}
}

// TestManyParts announces more parts than one request may have.
func TestManyParts(t *testing.T) {
	file := make([]byte, 8000*chunk)
	for i := range file {
		file[i] = byte(i / chunk * 7)
	}
	r := &holed{counting: counting{ReaderAt: bytes.NewReader(file)}, hole: -1}
	data := make([]byte, len(file))
	p, err := Remote(r, data, "x.sst")
	if err != nil {
		t.Fatal(err)
	}
	r.calls.Store(0)
	wanted := map[int64]bool{}
	for i := range int64(700) {
		for at := 10 * i; at < 10*i+1+i/300*2; at++ { // the last parts have several chunks
			wanted[at] = true
			p.Fetch(at*chunk, at*chunk+1)
		}
	}
	p.Need(0, 1)
	for at := range wanted {
		if !bytes.Equal(data[at*chunk:(at+1)*chunk], file[at*chunk:(at+1)*chunk]) {
			t.Fatalf("chunk %d has not been read", at)
		}
	}
	if r.most > mostParts || r.mostSize > together {
		t.Errorf("a request for %d parts of %d bytes", r.most, r.mostSize)
	}
	if calls := r.calls.Load(); calls < 7 || calls > 12 {
		t.Errorf("%d requests", calls)
	}
}
