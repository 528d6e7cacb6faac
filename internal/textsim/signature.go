package textsim

import (
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/token"
)

// A Signature summarises a text, to distinguish it from texts that are not similar. Each of its
// sets has a bit for a hash of each element.
//
// An edit removes at most one rune of a text and adds at most one, and therefore at most two pairs
// of adjacent runes. An insertion removes no rune and one pair; a deletion adds no rune and one
// pair. Let two texts have distance d, and let the second be longer by x >= 0 runes, which requires
// at least x insertions. Then the first has at most d - x runes and 2 d - x pairs that the second
// lacks, and the second at most d runes and 2 d pairs that the first lacks. A bit that only one
// signature has stands for at least one element that only its text has. [EditFilter] is based on
// this; [CosineFilter] has the bound for words.
//
// Signatures exist only in memory. They are not part of any format, and may change.
type Signature struct {
	Runes uint32 // number of runes
	Edit  EditSignature
	Words WordSignature
}

// An EditSignature is the part of a Signature for edit distances.
type EditSignature struct {
	Letters uint64    // runes; the k-th occurrence of a rune is a separate element
	Pairs   [2]uint64 // pairs of adjacent runes
}

// A WordSignature is the part of a Signature for words.
type WordSignature struct {
	Set   uint64 // words
	Count uint32 // number of words, with repetitions
}

// A Signer makes signatures. Only one goroutine may use it at a time.
type Signer struct {
	fold   *features.TextFolder
	words  *token.Shingler
	counts [256]uint8
	before uint32 // hash of the previous rune
	sink   wordSink
}

// NewSigner returns a Signer for texts with these features.
func NewSigner(of features.Spec) *Signer {
	return &Signer{fold: of.NewTextFolder(), words: newWords(of)}
}

// Sign returns the signature of a text. The signature of a Blank text is zero.
func (s *Signer) Sign(text []byte) (g Signature) {
	if text = s.fold.Fold(text); Blank(text) {
		return g
	}
	clear(s.counts[:])
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		i += n
		s.take(&g, uint32(r)*0x9e3779b1)
	}
	s.sink = wordSink{}
	s.words.Bytes(text, &s.sink)
	g.Words = WordSignature(s.sink)
	return g
}

// SignHashes returns the signature, without words, of a text that is given by a hash of each rune.
func (s *Signer) SignHashes(hashes []uint64) (g Signature) {
	clear(s.counts[:])
	for _, h := range hashes {
		s.take(&g, uint32(h>>32))
	}
	return g
}

// take adds a rune, given by its hash, to a signature.
func (s *Signer) take(g *Signature, h uint32) {
	// Some runes share a slot, and count as the same rune.
	slot := h >> 24
	if s.counts[slot] < math.MaxUint8 {
		s.counts[slot]++
		g.Edit.Letters |= 1 << ((slot*0x85ebca6b + uint32(s.counts[slot])*0xc2b2ae35) >> 26)
	}
	if g.Runes > 0 {
		pair := (s.before ^ bits.RotateLeft32(h, 15)) * 0x27d4eb2f >> 25
		g.Edit.Pairs[pair/64] |= 1 << (pair % 64)
	}
	s.before = h
	g.Runes++
}

// wordSink is a token.Sink that adds words to a signature.
type wordSink WordSignature

// Shingles adds shingles of one word.
func (s *wordSink) Shingles(hashes []uint64) {
	for _, h := range hashes {
		s.Set |= 1 << wordBit(h)
	}
	s.Count += uint32(len(hashes))
}

func wordBit(hash uint64) uint64 { return hash * 0x9e3779b97f4a7c15 >> 58 }

// An EditFilter rules out texts, by their signatures, that cannot be similar to a given text by
// edit distance.
type EditFilter struct {
	of          EditSignature
	runes       int
	threshold   float64
	Least, Most int // bounds for the number of runes of similar texts
}

// NewEditFilter returns the filter for a comparison by [Levenshtein].
func NewEditFilter(of features.Spec, text string, threshold float64) *EditFilter {
	g := NewSigner(of).Sign([]byte(text))
	return g.EditFilter(threshold)
}

// EditFilter is NewEditFilter for a text with the signature g. Both signatures must have been made
// by the same method.
func (g *Signature) EditFilter(threshold float64) *EditFilter {
	n := int(g.Runes)
	f := &EditFilter{of: g.Edit, runes: n, threshold: threshold, Least: max(n-MostEdits(n, threshold), 1)}
	// A text of m >= n runes needs m - n edits. If m is too long, all longer texts are, too.
	f.Most = int(min(float64(n)/threshold, math.MaxInt32)) + 2
	for f.Most > n && f.Most-n > MostEdits(f.Most, threshold) {
		f.Most--
	}
	return f
}

// An EditBound is an EditFilter for texts of one length.
type EditBound struct {
	of                    EditSignature
	lettersOut, lettersIn int // limits for bits that only the text of the filter, or only the other text, has
	pairsOut, pairsIn     int
}

// Of returns the bound for texts with a number of runes in Least..Most.
func (f *EditFilter) Of(runes int) EditBound {
	d := MostEdits(max(runes, f.runes), f.threshold)
	longer, shorter := max(runes-f.runes, 0), max(f.runes-runes, 0) // difference in length, if the other text is longer, or shorter
	return EditBound{f.of, d - longer, d - shorter, 2*d - longer, 2*d - shorter}
}

// May reports whether a text with this signature may be similar.
func (b *EditBound) May(g *EditSignature) bool {
	out := bits.OnesCount64(b.of.Pairs[0]&^g.Pairs[0]) + bits.OnesCount64(b.of.Pairs[1]&^g.Pairs[1])
	in := bits.OnesCount64(g.Pairs[0]&^b.of.Pairs[0]) + bits.OnesCount64(g.Pairs[1]&^b.of.Pairs[1])
	return out <= b.pairsOut && in <= b.pairsIn &&
		bits.OnesCount64(b.of.Letters&^g.Letters) <= b.lettersOut && bits.OnesCount64(g.Letters&^b.of.Letters) <= b.lettersIn
}

// A CosineFilter rules out texts, by their signatures, that cannot be similar to a given text by
// word counts.
//
// Let a and b be the count vectors of the given text and the other text. By the Cauchy-Schwarz
// inequality, their cosine is at most the length of a restricted to the words of b, divided by the
// length of a. Words whose bit is missing in b's signature are not in b. The same holds with a and
// b exchanged: words of b whose bit is missing in a's signature count at least one each, and the
// squared length of b is largest if all its words, except for one per bit, are the same.
type CosineFilter struct {
	words   uint64
	share   [64]float64 // share of the squared length of a, by bit
	missing int         // limit for the bits of words that a similar text may lack
	most    float64     // limit for the sum of their shares
}

// NewCosineFilter returns the filter for a comparison by [Cosine].
func NewCosineFilter(of features.Spec, text string, threshold float64) *CosineFilter {
	a := make(wordCounts)
	newWords(of).Bytes(of.NewTextFolder().Fold([]byte(text)), a)
	f := &CosineFilter{most: 1 - threshold*threshold + 1e-9}
	sum := dot(a, a)
	for h, n := range a {
		f.words |= 1 << wordBit(h)
		f.share[wordBit(h)] += n * n / sum
	}
	if sum == 0 {
		f.missing = -1 // nothing is similar
	}
	var shares []float64
	for i, s := range f.share {
		if f.words>>i&1 != 0 {
			shares = append(shares, s)
		}
	}
	slices.Sort(shares)
	left := f.most
	for _, s := range shares {
		if left -= s; left < 0 {
			break
		}
		f.missing++
	}
	return f
}

// May reports whether a text with this signature may be similar. It returns false for texts without
// words.
func (f *CosineFilter) May(g *WordSignature) bool {
	missing := f.words &^ g.Set
	if bits.OnesCount64(missing) > f.missing || g.Set == 0 {
		return false
	}
	least := float64(bits.OnesCount64(g.Set)) // number of different words, at least
	same := float64(g.Count) - least + 1
	if float64(bits.OnesCount64(g.Set&^f.words)) > f.most*(same*same+least-1) {
		return false
	}
	sum := 0.0
	for ; missing != 0; missing &= missing - 1 {
		sum += f.share[bits.TrailingZeros64(missing)]
	}
	return sum <= f.most
}
