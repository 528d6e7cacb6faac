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

// refWords splits text into words by the definition, rune by rune.
func refWords(text string) [][]byte {
	text = refFold(text)
	if strings.ContainsFunc(text, isLetterOrNumber) {
		return refRuns(text)
	}
	if text = strings.TrimFunc(text, unicode.IsSpace); text == "" || strings.ContainsRune(text, unicode.ReplacementChar) {
		return nil
	}
	return [][]byte{[]byte(text)}
}

func isLetterOrNumber(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func refHash(h Hasher, word []byte) uint64 {
	if strings.ContainsFunc(string(word), func(r rune) bool { return !isLetterOrNumber(r) && !unicode.IsMark(r) }) {
		word = append(slices.Clip(word), 0xff)
	}
	return h.Word(word)
}

// refSymbols is refWords with runs of symbols as words.
func refSymbols(text string) (words [][]byte) {
	text = refFold(text)
	class := func(r rune) int {
		switch {
		case isLetterOrNumber(r) || unicode.IsMark(r):
			return 1
		case unicode.IsSpace(r):
			return 0
		}
		return 2
	}
	for runes := []rune(text); len(runes) > 0; {
		n := 1
		for n < len(runes) && class(runes[n]) == class(runes[0]) {
			n++
		}
		switch run := string(runes[:n]); class(runes[0]) {
		case 1:
			words = append(words, refRuns(run)...)
		case 2:
			words = append(words, []byte(run))
		}
		runes = runes[n:]
	}
	return words
}

// refRuns returns the words of letters, marks and numbers.
func refRuns(text string) (words [][]byte) {
	solo, open := false, false
	for _, r := range text {
		word, mark := isLetterOrNumber(r), unicode.IsMark(r)
		alone := word && unicode.In(r, soloScripts...)
		if (word || mark) && (!open || !mark && (alone || solo)) {
			words, solo = append(words, nil), alone
		}
		if open = word || mark; open {
			words[len(words)-1] = utf8.AppendRune(words[len(words)-1], r)
		}
	}
	return words
}

// refShingles hashes every shingle of words by the definition.
func refShingles(words [][]byte, k int, seed uint64) (hashes []uint64) {
	h := NewHasher(seed)
	k = min(k, len(words))
	for i := 0; k > 0 && i+k <= len(words); i++ {
		s := uint64(0)
		for _, w := range words[i : i+k] {
			s = s*power + refHash(h, w)
		}
		hashes = append(hashes, finish(s))
	}
	return hashes
}

type collect struct{ hashes []uint64 }

func (c *collect) Shingles(hashes []uint64) { c.hashes = append(c.hashes, hashes...) }

// check compares all ways to walk over text with the reference.
func check(t *testing.T, s *Shingler, text string, words [][]byte, k int, seed uint64) {
	t.Helper()
	want := refShingles(words, k, seed)
	var got collect
	st := s.Text(text, &got)
	if !slices.Equal(got.hashes, want) {
		t.Fatalf("Text(%q): %d hashes, want %d", text, len(got.hashes), len(want))
	}
	if n := len(words); st.Words != int64(n) || st.Bytes != int64(len(text)) || st.Invalid != refInvalid(text) {
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

// pieces are the building blocks of random texts: all kinds of bytes and runes that a path treats
// differently.
var pieces = []string{
	"a", "Z", "0", "9", "ab", "The", "word", "sixteenlettersxx", "seventeenlettersx", "interNationalization0123456789abcdefghij",
	" ", " ", " ", " ", "\n", ".", ", ", "-", "_", "@", "[", "`", "{", "/", ":", "\x00", "\x7f", "  \t ",
	"é", "É", "ß", "İ", "ς", "ﬃ", "\u0345", "ᾳ", "Ⓐ", "Ꭰ", "ꭰ", "\u212a", "ж", "Ж", "ǅ", "\u0301", "\u20dd", "’", "\u00a0", "\u2028", "漢", "字", "々", "〇", "ー", "カ", "ｶ", "ひ",
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
			text := randomText(r)
			check(t, s, text, refWords(text), k, 42)
		}
	}
}

func TestSymbolsAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, k := range []int{1, 2, 3, 100, 5000} {
		s := New(Config{Shingle: k, Seed: 42, Symbols: true})
		for range 150 {
			text := randomText(r)
			check(t, s, text, refSymbols(text), k, 42)
		}
	}
}

// TestTextsWithoutWords has different kinds of texts without letters and numbers: each is a single
// word, for any shingle size, and not equal to any other.
func TestTextsWithoutWords(t *testing.T) {
	texts := []string{
		"", "😂😂😂", "🔥🔥", "🔥 🔥", "❤️", "☀️", "👨‍👩‍👧", "👨‍👩‍👦", "🇩🇪", "🇫🇷", "!", "!\x00", "\x00", "\x00\x00", "...", "¯\\_(-)_/¯",
		"\u0301", "\u0301 \u0301", "\u0301\u0301", "!\u0301", "\u200f!", "⠓⠑", "→ ←", "→  ←", "┌─┐", "== !=", "- - -", strings.Repeat("=", 80),
		strings.Repeat("=", 81), strings.Repeat("\u0301 ", 3000) + ".", strings.Repeat("\u0301 ", 3000) + "!", strings.Repeat("!", 100_000), "\u200b",
	}
	for _, c := range []Config{{Shingle: 3}, {Shingle: 1}, {Shingle: 3, CharGrams: true}, {Shingle: 1, CharGrams: true}} {
		s, seen := New(c), map[uint64]string{}
		for _, text := range texts {
			padded := "\n\u3000 " + text + strings.Repeat(" ", 1+len(text)) + "\u2028\t"
			var got, read collect
			st := s.Text(padded, &got)
			rst, err := s.Read(iotest.HalfReader(strings.NewReader(padded)), &read)
			if text == "" {
				if len(got.hashes) != 0 || st.Words != 0 {
					t.Errorf("white space has %d shingles", len(got.hashes))
				}
				continue
			}
			if want := refShingles([][]byte{[]byte(text)}, c.Shingle, 0); !slices.Equal(got.hashes, want) || !slices.Equal(read.hashes, want) ||
				st != rst || err != nil || st.Words != 1 {
				t.Errorf("%+v: %.20q has shingles %x, read %x, want %x; %+v", c, text, got.hashes, read.hashes, want, st)
			} else if other, ok := seen[want[0]]; ok {
				t.Errorf("%.20q is equal to %.20q", text, other)
			} else {
				seen[want[0]] = text
			}
		}
		for _, text := range []string{"\xff\xfe, \xfd", "\ufffd!", strings.Repeat("\u0301 ", 3000) + "\ufffd"} {
			var got collect
			if s.Text(text, &got); got.hashes != nil {
				t.Errorf("%.20q, which could not be read, has shingles", text)
			}
		}
	}
}

// refGrams hashes the n-grams of characters by the definition.
func refGrams(text string, n int, seed uint64, symbols bool) (hashes []uint64) {
	if !symbols && !strings.ContainsFunc(text, isLetterOrNumber) {
		return refShingles(refWords(text), n, seed)
	}
	var b strings.Builder
	for _, r := range refFold(text) {
		switch {
		case unicode.In(r, unicode.L, unicode.M, unicode.N):
			b.WriteRune(r)
		case symbols && !unicode.IsSpace(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	h, chars := NewHasher(seed), []rune(strings.Join(strings.FieldsFunc(b.String(), unicode.IsSpace), " "))
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
	for i, n := range []int{1, 2, 5, 1, 4} {
		s := New(Config{Shingle: n, Seed: 42, CharGrams: true, Symbols: i > 2})
		for range 150 {
			text := randomText(r)
			want := refGrams(text, n, 42, i > 2)
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

func TestRequire(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	require := []string{"The", "9", "字", "й"}
	for _, k := range []int{1, 3, 50} {
		s := New(Config{Shingle: k, Require: require})
		for range 150 {
			text := randomText(r)
			words := refWords(text)
			all := refShingles(words, k, 0)
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
	for _, c := range []Config{{}, {Shingle: -1}, {Shingle: MaxShingle + 1}, {Shingle: 3, CharGrams: true, Require: []string{"a"}}} {
		if c.Validate() == nil {
			t.Errorf("%+v is valid", c)
		}
	}
	if err := (Config{Shingle: 3}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestLong walks over texts that are too long for random tests: one line of words, and a single
// word.
func TestLong(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("All work and no play makes Jack a dull boy. ", 5000), strings.Repeat("x", 70_000),
		strings.Repeat("ж", 35_000), strings.Repeat("漢字", 1<<16), strings.Repeat("\u0301", 1<<15),
	} {
		check(t, NewShingler(3, 0), text, refWords(text), 3, 0)
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
