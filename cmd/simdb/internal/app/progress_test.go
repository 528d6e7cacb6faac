package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/simdb/simdb/engine"
)

// safe is a buffer that several goroutines may use.
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
		p, j, s := newMeter(progressPlain, &plain, false), newMeter(progressJSON, &js, false), newMeter(progressPlain, &short, true)
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

// screen returns the lines that a terminal shows after the output out. It interprets CSI n A
// (cursor up) and CSI J (erase the rest).
func screen(t *testing.T, out string) string {
	t.Helper()
	lines, at := []string{""}, 0
	for len(out) > 0 {
		var n int
		switch i := strings.IndexAny(out, "\n\x1b"); {
		case i != 0:
			if i < 0 {
				i = len(out)
			}
			lines[at], out = lines[at]+out[:i], out[i:]
		case out[0] == '\n':
			if at, out = at+1, out[1:]; at == len(lines) {
				lines = append(lines, "")
			}
		case strings.HasPrefix(out, "\x1b[J"):
			lines, out = lines[:at+1], out[3:]
			lines[at] = ""
		default:
			if _, err := fmt.Sscanf(out, "\x1b[%dA", &n); err != nil || n > at {
				t.Fatalf("%q at line %d: %v", out[:min(10, len(out))], at, err)
			}
			at, out = at-n, out[strings.IndexByte(out, 'A')+1:]
		}
	}
	return strings.Join(lines, "\n")
}

func TestBar(t *testing.T) {
	synctest.Test(t, testBar)
}

// testBar runs in the fake time of a synctest bubble.
func testBar(t *testing.T) {
	var out safe
	out.Write([]byte("$ simdb load\n"))
	m := newMeter(progressAuto, &out, true)
	stages := []engine.Progress{
		{Stage: "pairs", Done: 5, Total: 10, Unit: "documents"},
		{Stage: "pairs", Done: 10, Total: 10, Unit: "documents"},
		{Stage: "writing"},
		{Stage: "check", Done: 30, Total: 20},
		{Stage: "check", Done: 40, Total: 20},
	}
	if m.Above([]byte("no bar\n")) {
		t.Error("a bar is there at once")
	}
	m.Report(stages[0])
	time.Sleep(silence)
	for i, stage := range stages {
		m.Report(stage)
		if i == 2 {
			m.Write([]byte("a word\n"))
			if !m.Above([]byte("another\n")) {
				t.Error("no bar")
			}
		}
		time.Sleep(3 * barEvery)
	}
	m.Stop()
	got := out.b.String()
	for _, want := range []string{"pairs  [", "5 of 10 documents (50 %)", "writing ", "check  ["} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if m.Above([]byte("no bar\n")) {
		t.Error("a bar is still there")
	}
	if left := screen(t, got); left != "$ simdb load\na word\nanother\n" {
		t.Errorf("%q is left of %q", left, got)
	}
	var none safe
	newMeter(progressAuto, &none, false).Stop()
	if none.b.Len() > 0 {
		t.Errorf("not a terminal: %q", none.b.String())
	}
}
