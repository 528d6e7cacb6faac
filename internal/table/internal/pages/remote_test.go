package pages

import (
	"bytes"
	"io"
	"sync/atomic"
	"testing"
)

// counting counts the calls of ReadAt.
type counting struct {
	io.ReaderAt
	calls atomic.Int32
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.calls.Add(1)
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
