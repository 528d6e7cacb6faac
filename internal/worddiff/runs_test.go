package worddiff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/token"
)

// TestRuns applies the runs to one text, which must give the other, and checks that they are
// as short as possible.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := make([]string, r.IntN(12)), make([]string, r.IntN(12))
		for _, words := range [][]string{a, b} {
			for i := range words {
				words[i] = string(rune('a' + r.IntN(4)))
			}
		}
		runs, ok := Runs(a, b, MaxEdits)
		if !ok {
			t.Fatal(a, b)
		}
		var made []string
		at, edits := 0, 0
		for i, e := range runs {
			if e.A0 < at || e.A1 < e.A0 || e.B1 < e.B0 || i > 0 && e.A0 == at && e.B0 == runs[i-1].B1 {
				t.Fatalf("%v to %v: runs %v", a, b, runs)
			}
			made = append(append(made, a[at:e.A0]...), b[e.B0:e.B1]...)
			at = e.A1
			edits += e.A1 - e.A0 + e.B1 - e.B0
		}
		if made = append(made, a[at:]...); !slices.Equal(made, b) {
			t.Fatalf("%v to %v: runs %v make %v", a, b, runs, made)
		}
		if want := len(a) + len(b) - 2*longestCommon(a, b); edits != want {
			t.Fatalf("%v to %v: %d edits, %d would do", a, b, edits, want)
		}
	}
}

// longestCommon returns the length of the longest common subsequence.
func longestCommon(a, b []string) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if row[j+1] = max(row[j+1], row[j]); x == y {
				row[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func wordsOf(text string) []string { return slices.Collect(token.Rules{}.Split(text)) }

func TestDifferences(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want []string
	}{
		{"The quick brown fox", "the QUICK, brown fox!", []string{"0"}},
		{"one two three four five six seven eight", "one two three 4 five six seven eight", []string{"1", "one two three [-four-] {+4+} five six seven ..."}},
		{"a b c d e f g", "a b c d e f g h", []string{"1", "... e f g {+h+}"}},
		{"", "x", []string{"1", "{+x+}"}},
		{"\u0e34a한 \u0378x", "\u0e34a한 y", []string{"1", "\u0e34a한 [-x-] {+y+}"}},
		{"1 2 3 4 5 6 7 8 9 10", "", []string{"1", "[-1 2 3 4 5 6 7 8 ... (10 words)-]"}},
	} {
		rows := Differences(wordsOf(tc.a), wordsOf(tc.b))
		var got []string
		for _, r := range rows {
			got = append(got, r.Text)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q and %q: %q, want %q", tc.a, tc.b, got, tc.want)
		}
	}
	long := strings.Repeat("a b ", MaxEdits)
	if rows := Differences(wordsOf(long), wordsOf(strings.Repeat("c ", MaxEdits))); len(rows) != 1 || !strings.HasPrefix(rows[0].Text, "not shown") {
		t.Errorf("of texts without common words: %v", rows)
	}
}
