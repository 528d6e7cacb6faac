package fuzz

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// choices turns the bytes of an input into decisions. After the last byte, decisions come from a
// generator that the whole input seeds, so that short inputs make complete tests, too.
type choices struct {
	left []byte
	rest *rand.Rand
}

func newChoices(data []byte) *choices {
	h := fnv.New64a()
	h.Write(data)
	return &choices{left: data, rest: rand.New(rand.NewPCG(h.Sum64(), 1))}
}

// done reports whether the input has no more bytes.
func (c *choices) done() bool { return len(c.left) == 0 }

// n chooses a number from 0 to n-1, n at most 65536.
func (c *choices) n(n int) int {
	v := 0
	for most := 1; most < n; most <<= 8 {
		if c.done() {
			return c.rest.IntN(n)
		}
		v, c.left = v<<8|int(c.left[0]), c.left[1:]
	}
	return v % n
}

// once is true for one of n choices.
func (c *choices) once(n int) bool { return c.n(n) == n-1 }

func pick[T any](c *choices, of ...T) T { return of[c.n(len(of))] }

var vocabulary = []string{"one", "two", "three", "four", "five", "Six", "É", "日本", "w7"}

// strange are texts with few or no words.
var strange = []string{"", " ", "==", "\u00a0\n", "日本日本", "ONE", "a\x00b", "☀ one"}

// text chooses a text: often an earlier one with a few words changed.
func (c *choices) text(earlier []string) string {
	var words []string
	switch how := c.n(16); {
	case how == 15:
		return pick(c, strange...)
	case how == 14 && c.once(2):
		for i := range 20 + c.n(130) {
			words = append(words, fmt.Sprint("w", i))
		}
	case how < 6 || len(earlier) == 0:
		for range 1 + c.n(9) {
			words = append(words, pick(c, vocabulary...))
		}
	default:
		words = strings.Fields(pick(c, earlier...))
	}
	for range c.n(4) {
		if at := c.n(len(words) + 1); at == len(words) || c.once(3) {
			words = slices.Insert(words, at, pick(c, vocabulary...))
		} else if c.once(2) {
			words[at] = pick(c, vocabulary...)
		} else {
			words = slices.Delete(words, at, at+1)
		}
	}
	return strings.Join(words, pick(c, " ", " ", ", ", "\n"))
}

// print chooses a fingerprint near an earlier one, or near a few fixed ones.
func (c *choices) print(words int) (fp []uint64) {
	for range words {
		fp = append(fp, pick(c, 0, 0xff, ^uint64(0), 0xaaaa_5555_0f0f_3333))
	}
	for range c.n(6) {
		fp[c.n(words)] ^= 1 << c.n(64)
	}
	return fp
}

// scratch returns a folder for the files of one input, in memory where the system has such folders.
func scratch(t testing.TB) string {
	parent := "/dev/shm"
	if st, err := os.Stat(parent); err != nil || !st.IsDir() {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "simdb-fuzz")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// seed adds n inputs of random bytes of some sizes, so that a target without a corpus covers most of
// its steps.
func seed(f *testing.F, n int, sizes ...int) {
	for i := range n {
		r, data := rand.New(rand.NewPCG(uint64(i), uint64(n))), make([]byte, sizes[i%len(sizes)])
		for j := range data {
			data[j] = byte(r.Uint32())
		}
		f.Add(data)
	}
}

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same fails the test if two lists differ.
func same[T comparable](t testing.TB, got, want []T, what string, args ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Fatalf("%s: %d results, want %d; from %d on\n got %+v\nwant %+v", fmt.Sprintf(what, args...), len(got), len(want), i,
			got[i:min(len(got), i+4)], want[i:min(len(want), i+4)])
	}
}
