package units

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// bruteSeen returns the units that are removed, deciding one after the other by the texts of their
// n-grams. Texts are lines of words of ASCII letters.
func bruteSeen(docs []string, o Options, t float64, known int, only bool) (removed []Repeat) {
	shown := map[string]bool{}
	for d, text := range docs {
		all := []string{text}
		if o.Level != Document {
			all = naive(text, o.Level)
		}
		for n, unit := range all {
			words := strings.Fields(unit)
			var grams []string
			for i := 0; i+o.Shingle <= len(words); i++ {
				grams = append(grams, strings.Join(words[i:i+o.Shingle], " "))
			}
			if grams == nil && len(words) > 0 {
				grams = []string{strings.Join(words, " ")}
			}
			short := o.Level != Document && len(words) < o.MinWords
			seen := 0
			for _, g := range grams {
				if shown[g] {
					seen++
				}
			}
			share := float64(seen) / float64(max(len(grams), 1))
			if d >= known && !short && seen > 0 && share >= t {
				removed = append(removed, Repeat{At: At(uint32(d), uint32(n)), N: 1, Share: share})
				continue
			}
			if d < known || !only {
				for _, g := range grams {
					shown[g] = true
				}
			}
		}
	}
	return removed
}

// findSeen returns the units that a Seen removes.
func findSeen(t *testing.T, docs []string, o Options, share float64, memory, bytes int64, known int, only bool) (removed []Repeat, links uint32) {
	t.Helper()
	s := NewSeen(share, memory, bytes, func() (*os.File, error) { return os.CreateTemp(t.TempDir(), "") })
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	o.Seen = s
	for again := false; ; again = true {
		x := NewExtractor(context.Background(), o, nil)
		for d, text := range docs {
			if d == known {
				must.Do(t, x.Finish())
				s.Know(int64(known), only)
			}
			must.Do(t, x.Add(text))
		}
		must.Do(t, x.Finish())
		if x.Stop(); again || !s.Again() {
			break
		}
	}
	must.Do(t, s.Find(context.Background()))
	for r, err := range s.All() {
		must.Do(t, err)
		removed = append(removed, r)
	}
	for _, n := range s.chains {
		links += n
	}
	return removed, links
}

// randomTexts returns texts of lines that are edited copies of earlier ones, and of parts of them.
func randomTexts(r *rand.Rand) []string {
	var lines, texts []string
	words := 3 + r.IntN(200)
	for range 1 + r.IntN(150) {
		var text []string
		for range r.IntN(4) {
			var line []string
			if len(lines) > 0 && r.IntN(3) > 0 {
				line = strings.Fields(lines[r.IntN(len(lines))])
				if n := len(line); n > 0 {
					line = slices.Clone(line[r.IntN(n)/3:])
				}
				for range r.IntN(3) {
					line = append(line, strings.Fields(lines[r.IntN(len(lines))])...)
				}
			}
			for range r.IntN(12) {
				line = append(line, fmt.Sprintf("w%c", 'a'+r.IntN(words)%26)+strings.Repeat("z", r.IntN(words)/26))
			}
			lines = append(lines, strings.Join(line, " "))
			text = append(text, lines[len(lines)-1])
		}
		texts = append(texts, strings.Join(text, "\n"))
	}
	return texts
}

// TestSeen compares the removed units with those that deciding one after the other removes, with
// much memory, with filters that say nothing, and with temporary files.
func TestSeen(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 4))
	removed, links := 0, uint32(0)
	for i := range 120 {
		docs := randomTexts(r)
		o := Options{Level: []Level{Document, Paragraph, Line}[i%3], Shingle: 1 + r.IntN(7), MinWords: r.IntN(9)}
		share := []float64{0.1, 0.3, 0.5, 0.8, 0.999, 1}[r.IntN(6)]
		known, only := 0, i%5 == 0
		if i%2 == 0 {
			known = r.IntN(len(docs) + 1)
		}
		if known == len(docs) {
			known = 0
		}
		want := bruteSeen(docs, o, share, known, only)
		for _, memory := range [][2]int64{{1 << 20, 1 << 30}, {1 << 16, 0}, {3000, 1 << 30}}[:2+i/2%2] {
			got, chains := findSeen(t, docs, o, share, memory[0], memory[1], known, only)
			if !slices.Equal(got, want) {
				t.Fatalf("case %d: share %v of %d-grams, %s, %d known, only %v, memory %d:\n%v, want\n%v", i, share, o.Shingle, o.Level, known, only, memory[0], got, want)
			}
			links += chains
		}
		removed += len(want)
	}
	if removed < 1500 || links < 3000 {
		t.Errorf("%d units are removed, %d n-grams of several suspects", removed, links)
	}
}

// What was removed shows nothing: a chain of texts, each of which adds a word, does not remove what
// only removed texts have.
func TestSeenChain(t *testing.T) {
	var words, docs []string
	for i := range 60 {
		words = append(words, fmt.Sprint("w", i))
		if i >= 9 {
			docs = append(docs, strings.Join(words, " "))
		}
	}
	o := Options{Level: Document, Shingle: 1}
	removed, _ := findSeen(t, docs, o, 0.8, 1<<20, 0, 0, false)
	left := map[string]bool{}
	for d, text := range docs {
		if !slices.ContainsFunc(removed, func(r Repeat) bool { return r.At.Doc() == uint32(d) }) {
			for w := range strings.FieldsSeq(text) {
				left[w] = true
			}
		}
	}
	if len(removed) < 30 || len(left) < 48 { // the last text that stays has at least 0.8 of the last one's words
		t.Errorf("%d of %d texts are removed, %d words are left", len(removed), len(docs), len(left))
	}
}

// The second pass must read the same texts.
func TestSeenChanged(t *testing.T) {
	for name, second := range map[string][]string{"other": {"a b c d", "a b"}, "fewer": {"a b c d"}} {
		s := NewSeen(0.5, 1<<20, 0, nil)
		o := Options{Level: Document, Shingle: 1, Seen: s}
		err := error(nil)
		for _, docs := range [][]string{{"a b c d", "a b c"}, second} {
			x := NewExtractor(context.Background(), o, nil)
			s.Know(0, false)
			for _, text := range docs {
				x.Add(text)
			}
			if e := x.Finish(); e != nil {
				err = e
			}
			x.Stop()
			s.Again()
		}
		if err == nil {
			err = s.Find(context.Background())
		}
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
