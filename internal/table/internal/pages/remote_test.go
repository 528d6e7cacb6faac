package pages

import (
	"bytes"
	"errors"
	"io"
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

// TestAway needs many parts of a file whose server is away: it is not asked for each, and the parts are
// read once it is back.
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
	if err := p.src.need(0, chunk); !errors.Is(err, io.ErrNoProgress) || r.calls.Load() > parallel {
		t.Errorf("%d requests to a server that is away: %v", r.calls.Load(), err)
	}
	r.away.Store(false)
	if p.Whole(); !bytes.Equal(data, file) {
		t.Error("the memory differs from the file")
	}
}
