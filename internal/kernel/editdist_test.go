package kernel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// slow computes the edit distance by the textbook algorithm.
func slow(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range b {
			d := diagonal
			if r != s {
				d = min(d, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// edited returns a with some edits, which may be isolated or adjacent.
func edited(rng *rand.Rand, a []rune, edits int, alphabet []rune) []rune {
	b := append([]rune(nil), a...)
	for edits > 0 {
		at, run := rng.IntN(len(b)+1), 1+rng.IntN(min(edits, 200))
		edits -= run
		switch rng.IntN(3) {
		case 0:
			more := make([]rune, run)
			for i := range more {
				more[i] = alphabet[rng.IntN(len(alphabet))]
			}
			b = append(b[:at:at], append(more, b[at:]...)...)
		case 1:
			b = append(b[:at], b[min(at+run, len(b)):]...)
		default:
			for i := at; i < min(at+run, len(b)); i++ {
				b[i] = alphabet[rng.IntN(len(alphabet))]
			}
		}
	}
	return b
}

// TestDistance compares distances with the textbook algorithm, for similar and other texts of all
// lengths near multiples of a word, and with limits near the distance.
func TestDistance(t *testing.T) {
	var wide []rune // most are stored in lists
	for r := rune(0x4e00); r < 0x4e00+3000; r++ {
		wide = append(wide, r)
	}
	alphabets := [][]rune{[]rune("ab"), []rune("abcdefgh é"), wide, []rune("a")}
	for round := range exhaustive.Every(t, 4).Of(3000) {
		rng := rand.New(rand.NewPCG(5, uint64(round)))
		alphabet := alphabets[rng.IntN(len(alphabets))]
		a := make([]rune, rng.IntN(1+[]int{8, 70, 130, 700, 2500}[rng.IntN(5)]))
		for i := range a {
			a[i] = alphabet[rng.IntN(len(alphabet))]
		}
		b := edited(rng, a, rng.IntN(2+len(a)), alphabet)
		if rng.IntN(3) == 0 {
			b = edited(rng, nil, rng.IntN(300), alphabet)
		}
		want, p := slow(a, b), NewPattern(string(a))
		for _, most := range []int{0, want / 3, want - 1, want, want + 1, 2*want + 3, len(a) + len(b)} {
			got, ok := p.Distance(t.Context(), b, most)
			if ok != (want <= most) || ok && got != want {
				t.Fatalf("round %d: %d and %d runes, at most %d: %d, %v, want %d\n%q\n%q", round, len(a), len(b), most, got, ok, want, string(a), string(b))
			}
			if d, near := p.Within(t.Context(), []byte(string(b)), len(b), most); near != ok || ok && d != got {
				t.Fatalf("round %d: %d and %d runes, at most %d: within %d, %v, want %d, %v\n%q\n%q", round, len(a), len(b), most, d, near, got, ok, string(a), string(b))
			}
		}
	}
}

// TestWithinPages compares texts with common beginnings and ends, which may end within runes and
// invalid bytes.
func TestWithinPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 6))
	bytes := func(most int) (s string) {
		alphabet := []string{"a", "b", "é", "è", "帝", "\xc3", "\xa9", "\xe5\xb8"}
		for range rng.IntN(most + 1) {
			s += alphabet[rng.IntN(len(alphabet))]
		}
		return s
	}
	for round := range 2000 {
		long := []int{0, 3, 20, 100, 400}
		start, end := bytes(long[rng.IntN(5)]), bytes(long[rng.IntN(5)])
		if round%100 == 0 {
			start += strings.Repeat("a", narrowRunes)
		}
		some := long[rng.IntN(4)]
		a, b := start+bytes(some)+end, start+bytes(some)+end
		want := slow([]rune(a), []rune(b))
		for _, most := range []int{want / 2, want - 1, want, want + 1, 63, 70, 200, 300} {
			if got, ok := NewPattern(a).Within(t.Context(), []byte(b), len([]rune(b)), most); ok != (want <= most) || ok && got != want {
				t.Fatalf("round %d, at most %d: %d, %v, want %d\n%q\n%q", round, most, got, ok, want, a, b)
			}
		}
	}
}

// TestDistanceOfBlocks moves, removes and inserts long pieces of texts, so that paths are far from
// the diagonal, and compares the distances.
func TestDistanceOfBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 6))
	piece := func(n int) []rune {
		r := make([]rune, n)
		for i := range r {
			r[i] = 'a' + rune(rng.IntN(6))
		}
		return r
	}
	for range 60 {
		x, y, z := piece(rng.IntN(1500)), piece(rng.IntN(1500)), piece(rng.IntN(1500))
		a := append(append(append([]rune(nil), x...), y...), z...)
		b := append(append(append([]rune(nil), y...), x...), z...)
		if rng.IntN(2) == 0 {
			b = append(append([]rune(nil), x...), z...)
		}
		want := slow(a, b)
		for _, most := range []int{want - 1, want, want + 1, want + 500, 10000} {
			if got, ok := NewPattern(string(a)).Distance(t.Context(), b, most); ok != (want <= most) || ok && got != want {
				t.Fatalf("%d and %d runes, at most %d: %d, %v, want %d", len(a), len(b), most, got, ok, want)
			}
		}
	}
}

// TestDistanceCancels cancels a long comparison.
func TestDistanceCancels(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	b := []rune(strings.Repeat("b", 1<<20))
	if _, ok := NewPattern(strings.Repeat("a", 1<<20)).Distance(ctx, b, 1<<20); ok {
		t.Error("a distance after the end")
	}
}

// BenchmarkDistance compares texts of a million runes: with edits everywhere, with a tenth of that,
// with fewer, and with no common part.
func BenchmarkDistance(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("etaoinshrdlucmfwypvbgkqjxz ,.")
	text := make([]rune, 1_000_000)
	for i := range text {
		text[i] = alphabet[rng.IntN(len(alphabet))]
	}
	p := NewPattern(string(text))
	for _, edits := range []int{0, 10_000, 90_000, 120_000, 1_000_000} {
		other := append([]rune(nil), text...)
		for range edits {
			other[rng.IntN(len(other))] = alphabet[rng.IntN(len(alphabet))]
		}
		most := len(text) / 10
		b.Run(fmt.Sprintf("edits=%d", edits), func(b *testing.B) {
			for b.Loop() {
				p.Distance(b.Context(), other, most)
			}
		})
	}
	short := []rune("Great phone, the best I have had so far")
	q := NewPattern("Great phones, the best that I have had")
	b.Run("short", func(b *testing.B) {
		for b.Loop() {
			q.Distance(b.Context(), short, 6)
		}
	})
}
