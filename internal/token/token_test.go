package token

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"
)

// refWords is tokenizer version 1 by its definition, rune by rune.
func refWords(text string) (words [][]byte) {
	solo, open := false, false
	for _, r := range text {
		word, mark := unicode.IsLetter(r) || unicode.IsNumber(r), unicode.IsMark(r)
		alone := word && unicode.In(r, soloScripts...)
		if (word || mark) && (!open || !mark && (alone || solo)) {
			words, solo = append(words, nil), alone
		}
		if open = word || mark; open {
			words[len(words)-1] = utf8.AppendRune(words[len(words)-1], unicode.ToLower(r))
		}
	}
	return words
}

// refShingles hashes every shingle from its definition.
func refShingles(text string, k int, seed uint64) (hashes []uint64) {
	h, words := NewHasher(seed), refWords(text)
	k = min(k, len(words))
	for i := 0; k > 0 && i+k <= len(words); i++ {
		s := uint64(0)
		for _, w := range words[i : i+k] {
			s = s*power + h.Word(w)
		}
		hashes = append(hashes, finish(s))
	}
	return hashes
}

type collect struct{ hashes []uint64 }

func (c *collect) Shingles(hashes []uint64) { c.hashes = append(c.hashes, hashes...) }

// check compares every way of walking over text with the reference.
func check(t *testing.T, s *Shingler, text string, k int, seed uint64) {
	t.Helper()
	want := refShingles(text, k, seed)
	var got collect
	st := s.Text(text, &got)
	if !slices.Equal(got.hashes, want) {
		t.Fatalf("Text(%q): %d hashes, want %d", text, len(got.hashes), len(want))
	}
	if n := len(refWords(text)); st.Words != int64(n) || st.Bytes != int64(len(text)) || st.Invalid != refInvalid(text) {
		t.Fatalf("Text(%q): %+v, want %d words, %d invalid", text, st, n, refInvalid(text))
	}
	for _, r := range []interface{ Read([]byte) (int, error) }{
		strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text)),
	} {
		got.hashes = got.hashes[:0]
		rst, err := s.Read(r, &got)
		if err != nil || !slices.Equal(got.hashes, want) || rst != st {
			t.Fatalf("Read(%q): %d hashes, %+v, %v; want %d, %+v", text, len(got.hashes), rst, err, len(want), st)
		}
	}
}

func refInvalid(text string) (n int64) {
	for len(text) > 0 {
		r := []rune(text[:min(len(text), 4)])[0]
		size := len(string(r))
		if r == unicode.ReplacementChar && !strings.HasPrefix(text, "\uFFFD") {
			n, size = n+1, 1
		}
		text = text[size:]
	}
	return n
}

// pieces are what random texts are made of: every kind of byte and rune that a path treats in its
// own way.
var pieces = []string{
	"a", "Z", "0", "9", "ab", "The", "word", "sixteenlettersxx", "seventeenlettersx", "interNationalization0123456789abcdefghij",
	" ", " ", " ", " ", "\n", ".", ", ", "-", "_", "@", "[", "`", "{", "/", ":", "\x00", "\x7f", "  \t ",
	"é", "É", "ß", "İ", "\u212a", "ж", "Ж", "ǅ", "\u0301", "\u20dd", "’", "\u00a0", "\u2028", "漢", "字", "々", "〇", "ー", "カ", "ｶ", "ひ",
	"ก", "กำ", "กิ", "ิ", "ខ្មែរ", "မြန်မာ", "ລາວ", "๓", "😀", "𐐀", "𐐨", "𠀀", "½", "Ⅷ", "\ufe0f", "\ufffd", "\U0010ffff",
	"\xff", "\x80", "\xc3", "\xe6\xbc", "\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\x80", "\xef\xbf",
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	set := pieces
	if r.IntN(2) == 0 {
		set = pieces[:28] // ASCII
	}
	for range r.IntN(1 << r.IntN(12)) {
		p := set[r.IntN(len(set))]
		if r.IntN(40) == 0 {
			p = pieces[r.IntN(len(pieces))]
		}
		n := 1
		if r.IntN(100) == 0 {
			n = r.IntN(1 << r.IntN(12))
		}
		b.WriteString(strings.Repeat(p, n))
	}
	return b.String()
}

func TestShinglerAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{1, 2, 3, 4, 7, 100, 5000, 1 << 30} {
		s := NewShingler(k, 42)
		for range 150 {
			check(t, s, randomText(r), k, 42)
		}
	}
}

// refGrams hashes the n-grams of characters from their definition.
func refGrams(text string, n int, seed uint64) (hashes []uint64) {
	var b strings.Builder
	for _, r := range text {
		if unicode.In(r, unicode.L, unicode.M, unicode.N) {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteByte(' ')
		}
	}
	h, chars := NewHasher(seed), []rune(strings.Join(strings.Fields(b.String()), " "))
	n = min(n, len(chars))
	for i := 0; n > 0 && i+n <= len(chars); i++ {
		s := uint64(0)
		for _, c := range chars[i : i+n] {
			s = s*power + h.Word([]byte(string(c)))
		}
		hashes = append(hashes, finish(s))
	}
	return hashes
}

func TestCharGrams(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 5} {
		s := New(Config{Shingle: n, Seed: 42, CharGrams: true})
		for range 150 {
			text := randomText(r)
			want := refGrams(text, n, 42)
			var got, read collect
			st := s.Text(text, &got)
			rst, err := s.Read(iotest.HalfReader(strings.NewReader(text)), &read)
			if !slices.Equal(got.hashes, want) || !slices.Equal(read.hashes, want) || err != nil || st != rst {
				t.Fatalf("Text(%q): %d and %d hashes, %v; want %d", text, len(got.hashes), len(read.hashes), err, len(want))
			}
			if st.Invalid != refInvalid(text) || st.Bytes != int64(len(text)) {
				t.Fatalf("Text(%q): %+v", text, st)
			}
		}
	}
}

func TestStopWords(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	stop := []string{"The", "9", "字", "й"}
	for _, k := range []int{1, 3, 50} {
		s := New(Config{Shingle: k, StopWords: stop})
		for range 150 {
			text := randomText(r)
			words, all := refWords(text), refShingles(text, k, 0)
			var want []uint64
			for i, h := range all {
				if slices.ContainsFunc(words[i:min(i+k, len(words))], func(w []byte) bool {
					return slices.Contains([]string{"the", "9", "字", "й"}, string(w))
				}) {
					want = append(want, h)
				}
			}
			var got collect
			if s.Text(text, &got); !slices.Equal(got.hashes, want) {
				t.Fatalf("Text(%q): %d hashes, want %d of %d", text, len(got.hashes), len(want), len(all))
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []Config{{}, {Shingle: -1}, {Shingle: MaxShingle + 1}, {Shingle: 3, CharGrams: true, StopWords: []string{"a"}}} {
		if c.Validate() == nil {
			t.Errorf("%+v is valid", c)
		}
	}
	if err := (Config{Shingle: 3}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestLong walks over text too long to be tried at random: one line of words, and a single word.
func TestLong(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("All work and no play makes Jack a dull boy. ", 5000), strings.Repeat("x", 70_000),
		strings.Repeat("ж", 35_000), strings.Repeat("漢字", 1<<16), strings.Repeat("\u0301", 1<<15),
	} {
		check(t, NewShingler(3, 0), text, 3, 0)
	}
}

func TestDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for i := range 2_000_000 {
		b := []byte{byte(i), byte(i >> 8), byte(i >> 16), byte(r.Uint32())}
		b[0] |= 0x80
		b = b[:1+r.IntN(4)]
		got, raw, size := decode(b)
		want, n := utf8.DecodeRune(b)
		if enc, _ := encode(want); got != want || size != n || raw != enc {
			t.Fatalf("decode(%x) = %x, %x, %d; want %x, %d", b, got, raw, size, want, n)
		}
	}
}

// idle is a reader that never returns a byte.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestReadErrors(t *testing.T) {
	s := NewShingler(3, 0)
	if _, err := s.Read(idle{}, &collect{}); err != io.ErrNoProgress {
		t.Errorf("an idle reader: %v", err)
	}
	if _, err := s.Read(io.MultiReader(strings.NewReader("some text"), iotest.ErrReader(io.ErrClosedPipe)), &collect{}); err != io.ErrClosedPipe {
		t.Errorf("a failing reader: %v", err)
	}
}
