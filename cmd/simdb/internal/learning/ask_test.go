package learning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/learn"
	"github.com/simdb/simdb/engine"
)

// TestInterview answers questions: a wrong answer is asked again, a skipped pair is not a label and is
// not asked about again, and q or the end of the input ends the questions.
func TestInterview(t *testing.T) {
	var docs []engine.Doc
	for i := range 20 {
		for _, more := range []string{"", " again"} {
			docs = append(docs, engine.Doc{ID: fmt.Sprint(len(docs)), Text: strings.Repeat(fmt.Sprintf("w%d ", i), 3) + "one two three four five six \x1b[2J" + more})
		}
	}
	corpus, err := learn.New(t.Context(), docs, learn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		answers string
		want    []bool
		asked   int
	}{
		{"y\nn\nq\n", []bool{true, false}, 3},
		{"maybe\n\nYES\ns\nno\n", []bool{true, false}, 4},
		{"", nil, 1},
		{"y\ny\ny\ny\n", []bool{true, true, true, true}, 4},
		{"b\ny\nback\nn\n\ny\nq\n", []bool{false, true}, 6},
		{"y\ns\nn\nb\nb\ny\nq\n", []bool{true}, 7},
	} {
		var out strings.Builder
		path := filepath.Join(t.TempDir(), "labels.jsonl")
		f, err := app.OpenToAppend(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := interview(t.Context(), corpus, nil, 4, strings.NewReader(tc.answers), &out, f)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		written, failed := learn.ReadLabels(t.Context(), path, nil)
		for i := range written {
			written[i].Line = 0
		}
		var same []bool
		used := map[string]bool{}
		for _, l := range got {
			same = append(same, l.Same)
			if used[l.A] || used[l.B] {
				t.Errorf("%q: %s or %s is asked about twice", tc.answers, l.A, l.B)
			}
			used[l.A], used[l.B] = true, true
		}
		if err != nil || failed != nil || !slices.Equal(same, tc.want) || !slices.Equal(got, written) {
			t.Errorf("%q: labels %v, written %v, %v", tc.answers, got, written, err)
		}
		if n := strings.Count(out.String(), " of 4: "); n != tc.asked || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q: %d questions, want %d:\n%s", tc.answers, n, tc.asked, out.String())
		}
	}
	var out strings.Builder
	few, err := learn.New(t.Context(), docs[:2], learn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := app.OpenToAppend(filepath.Join(t.TempDir(), "labels.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := interview(t.Context(), few, nil, 4, strings.NewReader("y\ny\n"), &out, f); err != nil || !strings.Contains(out.String(), "no more pairs") {
		t.Error(err, out.String())
	}
	// An interruption does not wait for a line.
	ctx, cancel := context.WithCancelCause(t.Context())
	silent, end := io.Pipe()
	defer end.Close()
	stop := errors.New("stop")
	time.AfterFunc(10*time.Millisecond, func() { cancel(stop) })
	if labels, err := interview(ctx, corpus, []learn.Label{{A: "0", B: "1"}}, 4, silent, &out, f); !errors.Is(err, stop) || len(labels) != 1 {
		t.Error(labels, err)
	}
	// Nor does a broken input end like a whole one.
	if _, err := interview(t.Context(), corpus, nil, 4, iotest.ErrReader(stop), &out, f); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestBackBesideAnother takes no answer back after which another program has appended one.
func TestBackBesideAnother(t *testing.T) {
	var docs []engine.Doc
	for i := range 8 {
		docs = append(docs, engine.Doc{ID: fmt.Sprint(i), Text: fmt.Sprintf("w%d one two three four five six", i/2)})
	}
	corpus, err := learn.New(t.Context(), docs, learn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	f, err := app.OpenToAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const foreign = "{\"a\":\"x\",\"b\":\"y\",\"same\":true}\n"
	var out strings.Builder
	both := writerFunc(func(b []byte) (int, error) {
		if strings.Contains(string(b), "2 of 4: ") && !strings.Contains(out.String(), "2 of 4: ") {
			if _, _, err := app.AppendLine(f, []byte(foreign)); err != nil {
				t.Error(err)
			}
		}
		return out.Write(b)
	})
	got, err := interview(t.Context(), corpus, nil, 4, strings.NewReader("y\nb\nq\n"), both, f)
	written, failed := learn.ReadLabels(t.Context(), path, nil)
	if err != nil || failed != nil || len(got) != 1 || len(written) != 2 || !strings.Contains(out.String(), "the answer stays") {
		t.Errorf("labels %v, %v; written %v, %v:\n%s", got, err, written, failed, out.String())
	}
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestDifference shows two texts and where they differ.
func TestDifference(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, tc := range []struct{ a, b, want string }{
		{"one two", "one three", "a: one two|b: one three|one [-two-] {+three+}"},
		{"one two", "One, two", "a: one two|b: One, two|runs of words that differ: 0"},
		{long + "a", long + "b", "... word word word [-a-] {+b+}"},
		{strings.Repeat("a b c d ", 7), strings.Repeat("x b c d ", 7), "(5 of 7 differences)"},
	} {
		if got := strings.Join(Difference(learn.Pair{TextA: tc.a, TextB: tc.b}), "|"); got != tc.want && !(strings.HasSuffix(got, tc.want) && tc.want[0] == '(') {
			t.Errorf("%q and %q: %s, want %s", tc.a, tc.b, got, tc.want)
		}
	}
}
