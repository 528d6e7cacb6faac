package fingerprint

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/minhash"
)

// english returns about size bytes of text with the word lengths of English, from a seeded vocabulary whose words have
// the frequencies of Zipf's law.
func english(r *rand.Rand, size int) string {
	const vocabulary = 40000
	words := make([]string, vocabulary)
	for i := range words {
		n := 1 + r.IntN(4) + min(i/8, 4) + r.IntN(4)*min(1, i/100) // frequent words are short
		b := make([]byte, n)
		for j := range b {
			b[j] = "etaoinshrdlcumwfgypbvk"[int(r.ExpFloat64()*5)%22]
		}
		words[i] = string(b)
	}
	z := rand.NewZipf(r, 1.07, 3, vocabulary-1)
	var b strings.Builder
	for b.Len() < size {
		w := words[z.Uint64()]
		if r.IntN(12) == 0 {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		b.WriteString(w)
		b.WriteString([]string{" ", " ", " ", " ", " ", " ", " ", " ", ", ", ". ", "\n", " - "}[r.IntN(12)])
	}
	return b.String()[:size]
}

type discard struct{ n int }

func (d *discard) Shingles(hashes []uint64) { d.n += len(hashes) }

// benchTexts are the texts of the benchmarks: documents of one size each, enough of them not to be predictable.
func benchTexts() map[string][]string {
	r := rand.New(rand.NewPCG(1, 2))
	texts := map[string][]string{}
	for name, size := range map[string]int{"english-2.3KB": 2300, "english-48KB": 48 << 10} {
		for range 3 << 20 / size {
			texts[name] = append(texts[name], english(r, size))
		}
	}
	return texts
}

func BenchmarkText(b *testing.B) {
	texts := benchTexts()
	for _, name := range []string{"english-2.3KB", "english-48KB"} {
		bytes := 0
		for _, t := range texts[name] {
			bytes += len(t)
		}
		run := func(kind string, f func(text string)) {
			b.Run(fmt.Sprintf("%s/%s", kind, name), func(b *testing.B) {
				b.SetBytes(int64(bytes))
				for b.Loop() {
					for _, t := range texts[name] {
						f(t)
					}
				}
			})
		}
		walk := token.NewShingler(3, 0)
		var d discard
		run("shingles", func(t string) { walk.Text(t, &d) })
		bottom := minhash.NewBottom(128)
		run("minhash", func(t string) {
			bottom.Reset(int64(len(t) / bytesPerWord))
			walk.Text(t, bottom)
			bottom.Sketch()
		})
		simhash := New(Params{Shingle: 3})
		run("simhash", func(t string) { simhash.Text(t) })
		both := New(Params{Shingle: 3, Sketch: 128})
		run("both", func(t string) { both.Text(t) })
	}
}
