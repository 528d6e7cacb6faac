package dedup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records/inputs"
)

// seenOf decides texts one after the other, by the words of their n-grams.
type seenOf struct {
	n     int
	t     float64
	shown map[string]bool
}

// drops reports whether a text is dropped, and the share of it that has been seen. A text that is
// not asked about stays.
func (s *seenOf) drops(text string, asked bool) (share float64, drops bool) {
	words := features.Spec{}.Words(text)
	var grams []string
	for i := 0; i+s.n <= len(words); i++ {
		grams = append(grams, strings.Join(words[i:i+s.n], " "))
	}
	if grams == nil && len(words) > 0 {
		grams = []string{strings.Join(words, " ")}
	}
	seen := 0
	for _, g := range grams {
		if s.shown[g] {
			seen++
		}
	}
	if share = float64(seen) / float64(max(1, len(grams))); asked && seen > 0 && share >= s.t {
		return share, true
	}
	for _, g := range grams {
		s.shown[g] = true
	}
	return share, false
}

var blankLines = regexp.MustCompile(`\n\s*\n`)

// checkSeen compares both levels with brute force. known of the texts are in Against.
func checkSeen(t *testing.T, texts []string, known, n int, share float64, memory int64) (dropped [2]int) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, texts []string) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		for i, text := range texts {
			e.Encode(engine.Doc{ID: fmt.Sprint(i), Text: text})
		}
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, b.Bytes(), 0o600))
		return path
	}
	in := write("in.jsonl", texts[known:])
	j := Job{Seen: share, Memory: memory, Compared: inputs.Compared{Shingle: n}}
	if known > 0 {
		j.Against = []string{write("known.jsonl", texts[:known])}
	}
	type row struct {
		ID    string
		Rule  string
		Unit  int
		Score float64
	}
	for at, level := range []Level{Document, Paragraph} {
		brute := seenOf{n, share, map[string]bool{}}
		var want []row
		var left []string
		for i, text := range texts {
			asked := i >= known
			if level == Document {
				if s, drops := brute.drops(text, asked); drops {
					want = append(want, row{ID: fmt.Sprint(i - known), Rule: "seen", Score: s})
				} else if asked {
					left = append(left, text)
				}
				continue
			}
			var stay []string
			for k, p := range blankLines.Split(strings.Trim(text, " \t\n"), -1) {
				s, drops := brute.drops(p, asked && len(features.Spec{}.Words(p)) >= 10)
				if drops {
					want = append(want, row{fmt.Sprint(i - known), "seen", k + 1, s})
				} else {
					stay = append(stay, strings.TrimSpace(p))
				}
			}
			if len(stay) == 0 {
				want = append(want, row{ID: fmt.Sprint(i - known), Rule: "empty"})
			} else if asked {
				left = append(left, strings.Join(stay, "\n\n"))
			}
		}
		j.Level, j.Output, j.Audit = level, filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "audit.jsonl")
		r := must.Get(j.Write(context.Background(), &inputs.Env{}, []string{in}))(t)
		var got []row
		for _, line := range readLines(t, j.Audit)[1:] {
			var r row
			must.Do(t, json.Unmarshal(line, &r))
			got = append(got, r)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d-grams, share %v, %s: %d rows, want %d:\n%v\n%v", n, share, level, len(got), len(want), got, want)
		}
		var stayed []string
		for _, line := range readLines(t, j.Output) {
			var d engine.Doc
			must.Do(t, json.Unmarshal(line, &d))
			if level == Paragraph {
				d.Text = blankLines.ReplaceAllString(strings.TrimSpace(d.Text), "\n\n")
			}
			stayed = append(stayed, d.Text)
		}
		if !slices.Equal(stayed, left) {
			t.Fatalf("%d-grams, share %v, %s: %d documents stay, want %d", n, share, level, len(stayed), len(left))
		}
		dropped[at] = len(want)
		if int(r.Read) != len(texts)-known || int(r.Kept) != len(left) {
			t.Errorf("%+v, %d stay", r, len(left))
		}
	}
	return dropped
}

// readLines returns the lines of a file.
func readLines(t *testing.T, path string) [][]byte {
	t.Helper()
	data := must.Get(os.ReadFile(path))(t)
	return slices.Collect(bytes.Lines(data))
}

// plainText makes a text whose paragraphs blankLines separates as simdb does.
func plainText(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func TestSeen(t *testing.T) {
	var texts []string
	for i, d := range corpora.Docs(t, "../examples/licenses.jsonl.gz") {
		if i%3 == 0 {
			texts = append(texts, plainText(d.Text))
		}
	}
	for i, n := range []int{3, 5, 7, 13} {
		dropped := checkSeen(t, texts, i%2*40, n, []float64{0.5, 0.8, 0.8, 0.5}[i], []int64{64 << 10, 1 << 20}[i%2])
		if dropped[0] < 10 || dropped[1] < 200 {
			t.Errorf("%d-grams: %d are dropped", n, dropped)
		}
	}
}

func TestSeenReal(t *testing.T) {
	for _, name := range []string{"bible", "licenseclassifier", "npmdocs", "poetry_tang20k", "spdx", "udhr"} {
		var texts []string
		for _, d := range corpora.Docs(t, corpora.Real(t, name+".jsonl.gz")) {
			texts = append(texts, plainText(d.Text))
		}
		for _, n := range []int{3, 5, 7, 13} {
			for _, memory := range []int64{1 << 20, 0} {
				t.Log(name, n, memory, checkSeen(t, texts, 0, n, 0.8, memory))
			}
		}
	}
}

// TestSeenParagraphs has a paragraph of 60 words in 40 documents, each time with two other words.
func TestSeenParagraphs(t *testing.T) {
	for n, want := range map[int]int{3: 38, 5: 38} {
		var texts []string
		for d := range 40 {
			var words []string
			for i := range 60 {
				words = append(words, fmt.Sprint("word", i))
			}
			words[(7*d+3)%60], words[(7*d+33)%60] = fmt.Sprint("one", d), fmt.Sprint("two", d)
			texts = append(texts, fmt.Sprintf("%s\n\n%s", strings.Join(words, " "), strings.Repeat(fmt.Sprintf("own%d ", d), 20)))
		}
		if got := checkSeen(t, texts, 0, n, 0.8, 0); got != [2]int{0, want} {
			t.Errorf("%d-grams: %d", n, got)
		}
	}
}

// TestSeenRun checks a job without outputs, with documents without words.
func TestSeenRun(t *testing.T) {
	texts := []string{"a b c d e f", "", "a b c d e f g", "x", "x", " ", "c d e f g"} // "e f g" is only in the third, which is dropped
	j := Job{Seen: 0.8}
	r := must.Get(j.Run(context.Background(), Strings(slices.Values(texts))))(t)
	if got := slices.Collect(r.Kept()); !slices.Equal(got, []int{0, 1, 3, 5, 6}) || r.Report.Dropped != 2 || r.Report.Empty != 2 {
		t.Errorf("%v stay; %+v", got, r.Report)
	}
	var rows []string
	for row, err := range r.Dropped(context.Background()) {
		must.Do(t, err)
		rows = append(rows, fmt.Sprint(*row.ID, row.Keeper == nil, *row.Score, row.Rule))
	}
	if want := []string{"2true 0.8seen", "4true 1seen"}; !slices.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for _, j := range []Job{
		{Seen: 1.1}, {Seen: -1}, {Seen: 0.8, By: engine.Jaccard(0.8)}, {Seen: 0.8, Level: Passage}, {Seen: 0.8, Keep: Keep{Last}},
		{Seen: 0.8, Columns: Columns{"keeper"}}, {Seen: 0.8, Clusters: "c"}, {Seen: 0.8, Level: Line, MinCount: 3},
		{Level: Line, Compared: inputs.Compared{Shingle: 5}},
	} {
		if err := j.Check(); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v", j, err)
		}
	}
	if err := (&Job{Seen: 0.8, Level: Line, Columns: nil, Compared: inputs.Compared{Shingle: 5}}).Check(); err != nil {
		t.Error(err)
	}
}
