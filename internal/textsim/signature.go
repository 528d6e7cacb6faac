package textsim

import (
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/token"
)

// A Signature says of a text what tells it from others that are not similar. Each of its sets has a
// bit for a hash of each element.
//
// An edit takes at most one rune out of a text and puts at most one in, and so at most two pairs of
// neighbours; an insertion takes no rune out and breaks one pair, a deletion the reverse. So of two
// texts at distance d, the second longer by x >= 0 runes, which takes x insertions at least, the
// first has at most d - x runes and 2 d - x pairs that the second does not have, and the second at
// most d and 2 d that the first does not have. A bit that one signature has and the other has not
// is an element, or more, that one text has and the other has not. This is how [EditFilter] works;
// [CosineFilter] has the bound of the words.
//
// Signatures are kept in memory alone: they are no part of any format, and may change.
type Signature struct {
	Runes uint32 // their number
	Edit  EditSignature
	Words WordSignature
}

// An EditSignature is the part of a Signature that edits change.
type EditSignature struct {
	Letters uint64    // runes, the k-th occurrence of a rune being an element of its own
	Pairs   [2]uint64 // pairs of neighbouring runes
}

// A WordSignature is the part of a Signature that says of words.
type WordSignature struct {
	Set   uint64 // words
	Count uint32 // their number, with repetitions
}

// A Signer makes signatures. It serves one goroutine.
type Signer struct {
	words  *token.Shingler
	counts [256]uint8
	before uint32 // the hash of the rune before
	sink   wordSink
}

// NewSigner returns a Signer.
func NewSigner() *Signer { return &Signer{words: token.NewShingler(1, 0)} }

// Sign returns the signature of a text; of one that is Blank that of no text.
func (s *Signer) Sign(text []byte) (g Signature) {
	if Blank(text) {
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

// SignHashes is Sign of a text that is given by a hash for each of its runes, without words.
func (s *Signer) SignHashes(hashes []uint64) (g Signature) {
	clear(s.counts[:])
	for _, h := range hashes {
		s.take(&g, uint32(h>>32))
	}
	return g
}

// take takes a rune, by its hash, into a signature.
func (s *Signer) take(g *Signature, h uint32) {
	// Runes share a slot here and there: then the elements are those of both together.
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

// wordSink takes words into a signature: it is a token.Sink.
type wordSink WordSignature

// Shingles takes shingles of one word.
func (s *wordSink) Shingles(hashes []uint64) {
	for _, h := range hashes {
		s.Set |= 1 << wordBit(h)
	}
	s.Count += uint32(len(hashes))
}

func wordBit(hash uint64) uint64 { return hash * 0x9e3779b97f4a7c15 >> 58 }

// An EditFilter is what signatures say of the texts that are similar to one by edit distance.
type EditFilter struct {
	of          EditSignature
	runes       int
	threshold   float64
	Least, Most int // runes of similar texts
}

// NewEditFilter returns the filter of a comparison by [Levenshtein].
func NewEditFilter(text string, threshold float64) *EditFilter {
	g := NewSigner().Sign([]byte(text))
	return g.EditFilter(threshold)
}

// EditFilter is NewEditFilter of the text of a signature. Both signatures must be made alike.
func (g *Signature) EditFilter(threshold float64) *EditFilter {
	n := int(g.Runes)
	f := &EditFilter{of: g.Edit, runes: n, threshold: threshold, Least: max(n-MostEdits(n, threshold), 1)}
	// A text of m >= n runes needs m - n edits. Of m that are too long all longer ones are.
	f.Most = int(min(float64(n)/threshold, math.MaxInt32)) + 2
	for f.Most > n && f.Most-n > MostEdits(f.Most, threshold) {
		f.Most--
	}
	return f
}

// An EditBound is an EditFilter for texts of one length.
type EditBound struct {
	of                    EditSignature
	lettersOut, lettersIn int // bits that only the text of the filter, and only the other, may have
	pairsOut, pairsIn     int
}

// Of returns the bound for texts of a number of runes in Least..Most.
func (f *EditFilter) Of(runes int) EditBound {
	d := MostEdits(max(runes, f.runes), f.threshold)
	longer, shorter := max(runes-f.runes, 0), max(f.runes-runes, 0) // the other text, by so much
	return EditBound{f.of, d - longer, d - shorter, 2*d - longer, 2*d - shorter}
}

// May reports whether a text of this signature may be similar.
func (b *EditBound) May(g *EditSignature) bool {
	out := bits.OnesCount64(b.of.Pairs[0]&^g.Pairs[0]) + bits.OnesCount64(b.of.Pairs[1]&^g.Pairs[1])
	in := bits.OnesCount64(g.Pairs[0]&^b.of.Pairs[0]) + bits.OnesCount64(g.Pairs[1]&^b.of.Pairs[1])
	return out <= b.pairsOut && in <= b.pairsIn &&
		bits.OnesCount64(b.of.Letters&^g.Letters) <= b.lettersOut && bits.OnesCount64(g.Letters&^b.of.Letters) <= b.lettersIn
}

// A CosineFilter is what signatures say of the texts that are similar to one by word counts.
//
// By the inequality of Cauchy and Schwarz, the cosine of the count vectors a and b is at most the
// length of what of a lies in the words of b, divided by the length of a. Words whose bit b's
// signature does not have are not in b. The same holds of b: its words whose bit a's signature does
// not have count at least one each, and the square of its length is at most what it would be if all
// of its words but one of each bit were the same.
type CosineFilter struct {
	words   uint64
	share   [64]float64 // of the squared length of a, by bit
	missing int         // bits of words that a similar text may be without, at most
	most    float64     // the sum of their shares, at most
}

// NewCosineFilter returns the filter of a comparison by [Cosine].
func NewCosineFilter(text string, threshold float64) *CosineFilter {
	a := make(wordCounts)
	token.NewShingler(1, 0).Text(text, a)
	f := &CosineFilter{most: 1 - threshold*threshold + 1e-9}
	sum := dot(a, a)
	for h, n := range a {
		f.words |= 1 << wordBit(h)
		f.share[wordBit(h)] += n * n / sum
	}
	if sum == 0 {
		f.missing = -1 // similar to nothing
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

// May reports whether a text of this signature may be similar. One without words is not.
func (f *CosineFilter) May(g *WordSignature) bool {
	missing := f.words &^ g.Set
	if bits.OnesCount64(missing) > f.missing || g.Set == 0 {
		return false
	}
	least := float64(bits.OnesCount64(g.Set)) // different words
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
