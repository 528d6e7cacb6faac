package features

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/simhash"
)

// refWords splits text into words by the definition in docs/format/fingerprints.md.
func refWords(text []byte) (words []string) {
	text = []byte(unicodeFold.String(strings.ToValidUTF8(string(text), "\ufffd")))
	if s := string(text); !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		if s = strings.TrimSpace(s); s == "" || strings.ContainsRune(s, unicode.ReplacementChar) {
			return nil
		}
		return []string{s}
	}
	solo, open := false, false
	for _, r := range string(text) {
		word, mark := unicode.IsLetter(r) || unicode.IsNumber(r), unicode.IsMark(r)
		alone := word && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
		if (word || mark) && (!open || !mark && (alone || solo)) {
			words, solo = append(words, ""), alone
		}
		if open = word || mark; open {
			words[len(words)-1] += string(r)
		}
	}
	return words
}

// refShingles returns the hashes of all shingles by their definition, byte by byte.
func refShingles(words []string, k int) (hashes []uint64) {
	k = min(k, len(words))
	for i := 0; k > 0 && i+k <= len(words); i++ {
		s := uint64(0)
		for _, w := range words[i : i+k] {
			s = s*0xbea225f9eb34556d + refWord(w)
		}
		s = (s ^ s>>32) * 0xd6e8feb86659fd93
		hashes = append(hashes, s^s>>29)
	}
	return hashes
}

// refWord is the hash of a word for seed 0.
func refWord(w string) uint64 {
	const k0, k1 = 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4 | 1 // the first outputs of SplitMix64 from 0
	h := uint64(k1)
	if strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }) {
		w += "\xff"
	}
	for pad := w + strings.Repeat("\x00", (16-len(w)%16)%16); len(pad) > 0; pad = pad[16:] {
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64([]byte(pad[:8]))^k0, binary.LittleEndian.Uint64([]byte(pad[8:16]))^h)
		h = hi ^ lo
	}
	return h
}

// FuzzText compares words, shingles, fingerprint and sketch of arbitrary text, as a whole and in
// small pieces, with their definitions.
func FuzzText(f *testing.F) {
	if unicode.Version != "15.0.0" {
		f.Skip("the reference needs the tables of Unicode 15.0")
	}
	for _, s := range []string{
		"", "one", "🔥 🔥", "\u0301 ❤️!\x00", "It was the best of times, it was the worst of times", "ab c, a bc; A BC", "İstanbul Straße ǅ K",
		"漢字かな交じり文、コーヒー。", "ภาษาไทย ກີ ខ្មែរ မြန်မာ", "e\u0301\u20dd \u0301x", "\xff\xc3\xe6\xbcb\xf0\x9f\x98 a\xed\xa0\x80c\x00",
		strings.Repeat("x", 2112) + "ж", strings.Repeat("no more rhymes now, I mean it. ", 150), strings.Repeat("w", 2047) + " é",
		strings.Repeat("ж ", 1100), strings.Repeat("a-b_c.d", 400) + "漢" + strings.Repeat("seventeenletters1 ", 200),
	} {
		f.Add([]byte(s), uint8(3), uint8(1))
	}
	c := newTextCheck()
	f.Fuzz(func(t *testing.T, text []byte, k, times uint8) {
		text = text[:min(len(text), 8<<10)] // the reference is slow
		c.check(t, bytes.Repeat(text, 1+int(times)%8), int(k))
	})
}

// textCheck compares all results for a text with the definitions.
type textCheck struct {
	walks [8]*token.Shingler
	state *Fingerprinter
}

const checkedSketch = 16 // hashes of a sketch

func newTextCheck() *textCheck {
	c := &textCheck{state: NewFingerprinter(Params{Shingle: 3, Sketch: checkedSketch})}
	for k := range c.walks {
		c.walks[k] = token.NewShingler(k+1, 0)
	}
	return c
}

func (c *textCheck) check(t *testing.T, text []byte, k int) {
	words := refWords(text)
	k %= len(c.walks)
	walk, k := c.walks[k], k+1
	var got, read shingles
	st := walk.Bytes(text, &got)
	rst, err := walk.Read(iotest.HalfReader(bytes.NewReader(text)), &read)
	want := refShingles(words, k)
	if err != nil || st != rst || int(st.Words) != len(words) || !slices.Equal(got, want) || !slices.Equal(read, want) {
		t.Fatalf("k=%d, %q: %+v %+v %v, want %d words", k, text, st, rst, err, len(words))
	}
	if split := slices.Collect(token.Rules{}.Split(string(text))); !slices.Equal(split, words) {
		t.Fatalf("%q is split into %q, want %q", text, split, words)
	}
	set := refShingles(words, 3)
	slices.Sort(set)
	set = slices.Compact(set)
	r := c.state.Bytes(text)
	if r.Words != len(words) || r.Shingles != len(set) || r.Empty != (len(set) == 0) || r.Fingerprint != plainSimHash(set) ||
		!slices.Equal(r.Sketch, plainSketch(set, checkedSketch)) || r.Fingerprint != simhash.Sum64(set) {
		t.Fatalf("%q: %+v, want %d shingles, %x, %x", text, r, len(set), plainSimHash(set), plainSketch(set, checkedSketch))
	}
}

// TestRandomTexts is FuzzText without coverage guidance, which is faster.
func TestRandomTexts(t *testing.T) {
	pieces := []string{
		" ", " ", " ", "\n", ".", "-", "_", "@", "[", "`", "{", "/", ":", "\x00", "\x7f", "a", "Z", "0", "9", "the", "Word",
		"eightlet", "sixteenlettersxx", "seventeenletters1", "é", "É", "İ", "\u212a", "ж", "\u0301", "’", "漢", "々", "ー", "カ",
		"ก", "ิ", "မြ", "๓", "😀", "𐐀", "𠀀", "½", "\ufe0f", "\ufffd", "\xff", "\x80", "\xc3", "\xe6\xbc", "\xf0\x9f\x98", "\xed\xa0\x80",
	}
	c := newTextCheck()
	var text []byte
	for i := range exhaustive.Every(t, 100).Of(1_000_000) {
		r := rand.New(rand.NewPCG(uint64(i), 2))
		text = text[:0]
		if i%64 == 0 { // across the end of a segment
			text = append(bytes.Repeat([]byte("ab "), 1+r.IntN(750)), text...)
		}
		set := pieces
		if i%2 == 0 {
			set = pieces[:24] // ASCII
		}
		for range r.IntN(40) {
			text = append(text, set[r.IntN(len(set))]...)
		}
		c.check(t, text, r.IntN(8))
	}
}

// FuzzSketch decodes arbitrary bytes: an accepted sketch must have only one encoding.
func FuzzSketch(f *testing.F) {
	for _, s := range []minhash.Sketch{{}, {0}, {1 << 31}, {1, 2, 3, 4, 5}, {7, 70, 700, 7000, 70000, 700000, 1<<32 - 1}} {
		f.Add(s.AppendEncoded(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, rest, err := minhash.Decode(nil, data)
		if err == nil && !bytes.Equal(append(s.AppendEncoded(nil), rest...), data) {
			t.Fatalf("%x decodes to %x, which encodes to %x", data, s, s.AppendEncoded(nil))
		}
	})
}

// FuzzSketchPairs compares the score, the early exit and the bitmaps of two arbitrary sketches with
// their definitions.
func FuzzSketchPairs(f *testing.F) {
	f.Add([]byte("to be or not to be"), []byte("to be, that is the question"), uint8(4), uint8(200))
	f.Add(bytes.Repeat([]byte("0123456789abcdef"), 20), bytes.Repeat([]byte("0123456789abcdef"), 19), uint8(128), uint8(128))
	f.Fuzz(func(t *testing.T, x, y []byte, size, threshold uint8) {
		n, at := int(size)+1, (float64(threshold)+1)/256
		a, b := sketchOf(x, n), sketchOf(y, n)
		want, ok := refJaccard(a, b, n)
		got := minhash.Jaccard(a, b, n)
		if got.Score != want {
			t.Fatalf("Jaccard(%x, %x, %d) = %+v, want %v", a, b, n, got, want)
		}
		s, above := minhash.JaccardAtLeast(a, b, n, at)
		if above != (ok && want >= at) || above && s != got {
			t.Fatalf("JaccardAtLeast(%x, %x, %d, %v) = %+v, %v; want %v", a, b, n, at, s, above, want)
		}
		ma, mb := a.Bitmap(), b.Bitmap()
		if above && (ma.Missing(&mb) > minhash.MaxMissing(len(a), at) || mb.Missing(&ma) > minhash.MaxMissing(len(b), at)) {
			t.Fatalf("the bitmaps reject %x and %x, of score %v, at %v", a, b, want, at)
		}
		if pass := len(ma.Filter(nil, []minhash.Bitmap{mb}, minhash.MaxMissing(len(a), at))) == 1; above && !pass {
			t.Fatalf("the filter rejects %x and %x, of score %v, at %v", a, b, want, at)
		}
	})
}

// sketchOf makes a sketch whose hashes come from two bytes each.
func sketchOf(data []byte, n int) minhash.Sketch {
	var set []uint64
	for ; len(data) >= 2; data = data[2:] {
		set = append(set, uint64(binary.LittleEndian.Uint16(data))<<48|uint64(data[0])<<32)
	}
	return plainSketch(set, n)
}

// refJaccard returns the share of common hashes among all hashes up to the last one for which both
// sketches are complete.
func refJaccard(a, b minhash.Sketch, n int) (score float64, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	tau := uint32(1<<32 - 1)
	for _, s := range []minhash.Sketch{a, b} {
		if len(s) >= n {
			tau = min(tau, s[n-1])
		}
	}
	both, all := 0, 0
	for _, h := range a {
		if h <= tau {
			all++
			if slices.Contains(b, h) {
				both++
			}
		}
	}
	for _, h := range b {
		if h <= tau && !slices.Contains(a, h) {
			all++
		}
	}
	return float64(both) / float64(all), true
}
