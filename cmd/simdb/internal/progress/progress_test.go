package progress

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/simdb/simdb/engine"
)

func TestAmounts(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 999949: "999.9 kB", 999999: "1.0 MB", 5e12: "5.0 TB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -100: "-100", -1000: "-1,000", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}

// safe is a buffer for several goroutines.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var plain, js, short safe
		p, j, s := New(Plain, &plain, false), New(JSON, &js, false), New(Plain, &short, true)
		for _, m := range []*Meter{p, j, s} {
			m.Report(engine.Progress{Stage: "load", Done: 1, Unit: "bytes"})
		}
		time.Sleep(800 * time.Millisecond)
		s.Stop()
		for range 10 {
			time.Sleep(110 * time.Millisecond)
			r := engine.Progress{Stage: "load", Done: time.Now().UnixMilli() % 1e9, Total: 1e10, Unit: "bytes"}
			p.Report(r)
			j.Report(r)
		}
		p.Stop()
		j.Stop()
		p.Stop()
		if got := plain.b.String(); !strings.HasPrefix(got, "load: ") || !strings.Contains(got, " of 10.0 GB (") || !strings.Contains(got, "/s, ") {
			t.Errorf("plain: %q", got)
		}
		var o map[string]any
		if err := json.Unmarshal(js.b.Bytes(), &o); err != nil || o["stage"] != "load" || o["total"] != 1e10 {
			t.Errorf("json: %q, %v", js.b.String(), err)
		}
		if short.b.Len() > 0 {
			t.Errorf("a short operation showed %q", short.b.String())
		}
	})
}

func TestBar(t *testing.T) {
	var out safe
	m := New(Auto, &out, true)
	for range 14 {
		time.Sleep(100 * time.Millisecond)
		m.Report(engine.Progress{Stage: "pairs", Done: 5, Total: 10, Unit: "documents"})
	}
	m.Stop()
	if got := out.b.String(); !strings.Contains(got, "pairs  [") || !strings.Contains(got, "5 documents of 10 documents (50 %)") {
		t.Errorf("bar: %q", got)
	}
	var none safe
	New(Auto, &none, false).Stop()
	if none.b.Len() > 0 {
		t.Errorf("not a terminal: %q", none.b.String())
	}
}
