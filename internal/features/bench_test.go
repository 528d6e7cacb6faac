package features

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/minhash"
)

// english returns about size bytes of text with the word lengths of English. The words have the
// frequencies of Zipf's law.
func english(r *rand.Rand, size int) string {
	const vocabulary = 40000
	words := make([]string, vocabulary)
	for i := range words {
		n := 1 + r.IntN(4) + min(i/30, 2) + r.IntN(5)*min(1, i/200) // frequent words are short
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

// chinese returns about size bytes of Han characters, with a punctuation mark after about every
// ten.
func chinese(r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteRune('一' + rune(r.ExpFloat64()*1000))
		if r.IntN(10) == 0 {
			b.WriteString("，")
		}
	}
	return b.String()
}

// cyrillic returns about size bytes of words in Cyrillic letters.
func cyrillic(r *rand.Rand, size int) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return c - 'a' + 'а'
		}
		return c
	}, english(r, size*5/9))
}

// mixed returns about size bytes of words, every eighth with an accented letter, as in French or
// German.
func mixed(r *rand.Rand, size int) string {
	words := strings.Split(english(r, size), " ")
	for i, w := range words {
		if r.IntN(8) == 0 {
			words[i] = strings.Replace(w, "a", "ä", 1) + "é"
		}
	}
	return strings.Join(words, " ")
}

// A corpus is a set of documents for a benchmark, large enough not to be predictable.
type corpus struct {
	name  string
	texts []string
	bytes int64
}

// benchCorpora returns half a megabyte of each kind of text.
func benchCorpora(b *testing.B) (cs []corpus) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range []struct {
		name string
		size int
		text func(*rand.Rand, int) string
	}{
		{"english-2.3KB", 2300, english}, {"english-48KB", 48 << 10, english}, {"chinese-48KB", 48 << 10, chinese},
		{"cyrillic-48KB", 48 << 10, cyrillic}, {"mixed-48KB", 48 << 10, mixed},
	} {
		c := corpus{name: k.name}
		for c.bytes < 1<<19 {
			text := k.text(r, k.size)
			c.texts = append(c.texts, text)
			c.bytes += int64(len(text))
		}
		cs = append(cs, c)
	}
	return append(cs, realCorpora(b)...)
}

// realCorpora returns pieces of licences and of package documentation from the folder SIMDB_DATA,
// if that is set.
func realCorpora(b *testing.B) (cs []corpus) {
	if os.Getenv("SIMDB_DATA") == "" {
		return nil
	}
	for _, name := range []string{"spdx", "npmdocs"} {
		var all strings.Builder
		for _, doc := range corpora.Docs(b, corpora.Real(b, name+".jsonl.gz")) {
			all.WriteString(doc.Text + "\n")
		}
		for _, size := range []int{2300, 48 << 10} {
			c := corpus{name: fmt.Sprintf("%s-%.1fKB", name, float64(size)/1000), bytes: 1 << 19}
			for text := all.String()[:1<<19]; len(text) > 0; text = text[min(size, len(text)):] {
				c.texts = append(c.texts, text[:min(size, len(text))])
			}
			cs = append(cs, c)
		}
	}
	return cs
}

// BenchmarkText measures only the walk, the walk with each fingerprint, and with both.
func BenchmarkText(b *testing.B) {
	walk, bottom := token.NewShingler(3, 0), minhash.NewBottom(128)
	simhash, both := NewFingerprinter(Params{Shingle: 3}), NewFingerprinter(Params{Shingle: 3, Sketch: 128})
	var d discard
	for _, c := range benchCorpora(b) {
		for _, k := range []struct {
			name string
			text func(string)
		}{
			{"shingles", func(t string) { walk.Text(t, &d) }},
			{"minhash", func(t string) {
				bottom.Reset(int64(len(t) / token.BytesPerWord))
				walk.Text(t, bottom)
				if _, ok := bottom.Sketch(); !ok { // as in Fingerprinter
					bottom.Reset(0)
					walk.Text(t, bottom)
					bottom.Sketch()
				}
			}},
			{"simhash", func(t string) { simhash.Text(t) }},
			{"both", func(t string) { both.Text(t) }},
		} {
			b.Run(k.name+"/"+c.name, func(b *testing.B) {
				b.SetBytes(c.bytes)
				for b.Loop() {
					for _, t := range c.texts {
						k.text(t)
					}
				}
			})
		}
	}
}

// BenchmarkFeatures measures fingerprint and sketch with other kinds of features.
func BenchmarkFeatures(b *testing.B) {
	fields := []Field{{Name: "title", Weight: 3}, {Name: "body", Weight: 1}}
	for _, k := range []struct {
		name  string
		k     int
		spec  Spec
		split bool // use a tenth of the text as the title
	}{
		{"words:3", 3, Spec{}, false},
		{"tokens", 1, Spec{}, false},
		{"chars:5", 5, Spec{Unit: Chars}, false},
		{"fields", 3, Spec{Fields: fields}, true},
		{"stop-words", 3, Spec{StopWords: []string{"a", "in", "of", "the", "to"}}, false},
		{"require-word", 3, Spec{RequireWords: []string{"a", "in", "of", "the", "to"}}, false},
		{"symbols", 3, Spec{Symbols: true}, false},
		{"numbers", 3, Spec{Mask: []string{MaskNumbers}}, false},
		{"dates", 3, Spec{Mask: []string{MaskDates}}, false},
		{"nfkc", 3, Spec{Fold: []string{"width"}}, false},
		{"nfkc,strip", 3, Spec{Fold: []string{"width", "accents"}}, false},
		{"set", 1, Spec{Unit: Set, SetField: "set"}, false},
	} {
		state := NewFingerprinter(Params{Shingle: k.k, Sketch: 128, Features: k.spec})
		for _, c := range benchCorpora(b) {
			b.Run(k.name+"/"+c.name, func(b *testing.B) {
				texts := c.texts
				if k.split {
					texts = nil
					for _, t := range c.texts {
						texts = append(texts, JoinFields(t[:len(t)/10], t[len(t)/10:]))
					}
				}
				b.SetBytes(c.bytes)
				for b.Loop() {
					for _, t := range texts {
						state.Text(t)
					}
				}
			})
		}
	}
}
