package learning

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
	} {
		var out strings.Builder
		var written []learn.Label
		got, err := interview(corpus, nil, 4, strings.NewReader(tc.answers), &out, func(l learn.Label) error {
			written = append(written, l)
			return nil
		})
		var same []bool
		used := map[string]bool{}
		for _, l := range got {
			same = append(same, l.Same)
			if used[l.A] || used[l.B] {
				t.Errorf("%q: %s or %s is asked about twice", tc.answers, l.A, l.B)
			}
			used[l.A], used[l.B] = true, true
		}
		if err != nil || !slices.Equal(same, tc.want) || !slices.Equal(got, written) {
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
	if _, err := interview(few, nil, 4, strings.NewReader("y\ny\n"), &out, func(learn.Label) error { return nil }); err != nil || !strings.Contains(out.String(), "no more pairs") {
		t.Error(err, out.String())
	}
}
