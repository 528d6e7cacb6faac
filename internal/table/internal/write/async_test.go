package write

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// TestAsyncWriter writes pieces of all sizes; the output must be their concatenation.
func TestAsyncWriter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, total := range []int{0, 1, asyncBuffer - 1, asyncBuffer, asyncBuffer + 1, 5*asyncBuffer + 77} {
		var want, got bytes.Buffer
		w := NewAsyncWriter(&got)
		for want.Len() < total {
			p := make([]byte, min(1+r.IntN(2*asyncBuffer/(1+r.IntN(1000))), total-want.Len()))
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			want.Write(p)
			if n, err := w.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			clear(p)
		}
		if err := w.Close(); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d bytes of %d, or others; %v", got.Len(), total, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// stuckWriter fails after some bytes.
type stuckWriter struct{ left int }

var errStuck = errors.New("broken")

func (w *stuckWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errStuck
	}
	return len(p), nil
}

// TestAsyncWriterFails continues to write after an error: a later Write or Close must return it,
// and none may hang.
func TestAsyncWriterFails(t *testing.T) {
	for _, left := range []int{0, asyncBuffer, 3 * asyncBuffer} {
		w := NewAsyncWriter(&stuckWriter{left: left})
		var err error
		for range 100 {
			if _, err = w.Write(make([]byte, asyncBuffer/2)); err != nil {
				break
			}
		}
		if !errors.Is(err, errStuck) {
			t.Errorf("100 writes, the writer fails after %d bytes: %v", left, err)
		}
		for range 2 {
			if err := w.Close(); !errors.Is(err, errStuck) {
				t.Errorf("Close: %v", err)
			}
		}
	}
	w := NewAsyncWriter(&stuckWriter{})
	w.Write([]byte("x"))
	if err := w.Close(); !errors.Is(err, errStuck) {
		t.Errorf("an error of the last bytes: %v", err)
	}
}
