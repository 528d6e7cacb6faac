package worddiff

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	shownRuns    = 5
	shownWords   = 8 // on each side of a run
	contextWords = 3 // words before and after a run
)

// ShownChars is the greatest number of characters of a text that Words returns.
const ShownChars = 200

// Words returns the words of a that b lacks, and the words that b adds, by a shortest alignment of
// both: "one two … three" has two runs of words that are not adjacent in their text. It cuts each to
// ShownChars characters, of which the last is "…". If more than MaxEdits words differ, texts are not
// aligned: then a word is lacking as often as a has it more often than b.
func Words(a, b []string) (lacks, adds string) {
	runs, ok := Runs(a, b, MaxEdits)
	if !ok {
		runs = append(surplus(a, b), swapped(surplus(b, a))...)
	}
	var of [2]builder
	for _, r := range runs {
		of[0].add(a, r.A0, r.A1)
		of[1].add(b, r.B0, r.B1)
	}
	return of[0].text.String(), of[1].text.String()
}

// surplus returns the words that a has more often than b, as runs.
func surplus(a, b []string) (runs []Run) {
	more := map[string]int{}
	for _, w := range a {
		more[w]++
	}
	for _, w := range b {
		more[w]--
	}
	for i, w := range a {
		if more[w] > 0 {
			more[w]--
			runs = append(runs, Run{A0: i, A1: i + 1})
		}
	}
	return runs
}

func swapped(runs []Run) []Run {
	for i, r := range runs {
		runs[i] = Run{r.B0, r.B1, r.A0, r.A1}
	}
	return runs
}

// builder collects words of a text, in order.
type builder struct {
	text  strings.Builder
	chars int
	end   int // of the last run
	full  bool
}

func (b *builder) add(words []string, from, to int) {
	if from == to {
		return
	}
	apart := b.chars > 0 && from > b.end
	for _, w := range words[from:to] {
		if apart {
			w = "… " + w
		}
		if b.chars > 0 {
			w = " " + w
		}
		apart = false
		b.append(w)
	}
	b.end = to
}

// append appends a text, or its beginning if it does not fit.
func (b *builder) append(text string) {
	if b.full {
		return
	}
	n := utf8.RuneCountInString(text)
	if b.chars+n < ShownChars { // the last character is for the mark
		b.text.WriteString(text)
		b.chars += n
		return
	}
	b.full = true
	if b.chars > 0 {
		b.text.WriteString("…")
		return
	}
	for i := range text { // a single word that is too long
		if b.chars++; b.chars == ShownChars {
			b.text.WriteString(text[:i] + "…")
			return
		}
	}
}

// Difference describes one difference between two texts.
type Difference struct{ Name, Text string }

// Differences returns how many runs of words differ, and the first runs as
//
//	... the [-quick-] {+slow+} brown fox jumps ...
//
// where only a has [-...-] and only b has {+...+}.
func Differences(a, b []string) []Difference {
	runs, ok := Runs(a, b, MaxEdits)
	if !ok {
		return []Difference{{"runs of words that differ", fmt.Sprintf("not shown: more than %d words", MaxEdits)}}
	}
	rows := []Difference{{"runs of words that differ", fmt.Sprint(len(runs))}}
	for i, r := range runs[:min(len(runs), shownRuns)] {
		rows = append(rows, Difference{fmt.Sprintf("run %d, at word %d of a", i+1, r.A0+1), showRun(a, b, r)})
	}
	return rows
}

// showRun writes a run with the words around it.
func showRun(a, b []string, r Run) string {
	var out []string
	if r.A0 > contextWords {
		out = append(out, "...")
	}
	out = append(out, a[max(0, r.A0-contextWords):r.A0]...)
	for _, side := range []struct {
		words       []string
		open, close string
	}{{a[r.A0:r.A1], "[-", "-]"}, {b[r.B0:r.B1], "{+", "+}"}} {
		if n := len(side.words); n > shownWords {
			out = append(out, fmt.Sprintf("%s%s ... (%d words)%s", side.open, strings.Join(side.words[:shownWords], " "), n, side.close))
		} else if n > 0 {
			out = append(out, side.open+strings.Join(side.words, " ")+side.close)
		}
	}
	out = append(out, a[r.A1:min(len(a), r.A1+contextWords)]...)
	if r.A1+contextWords < len(a) {
		out = append(out, "...")
	}
	return strings.Join(out, " ")
}
