package units

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/token"
)

// A window is a run of n words, and each window of a text is a unit. Adding all windows to a
// Repeats would need 17 bytes per word. So a first pass counts anchors: a window's anchor is the
// run of n/2 words in it with the least hash (winnowing: Schleimer, Wilkerson, Aiken 2003).
// Consecutive windows mostly share an anchor, and equal windows have equal anchors at the same
// distance from their beginnings. The second pass adds only the windows whose anchor occurs
// twice.

// Anchors counts anchors as zero, one or more, in 2 bits each. If two anchors share these bits,
// they count as one, and their windows are compared needlessly.
type Anchors struct{ slots []byte }

// NewAnchors returns Anchors that use memory bytes.
func NewAnchors(memory int64) *Anchors { return &Anchors{make([]byte, max(memory, 1))} }

// at returns the position of an anchor's bits.
func (a *Anchors) at(gram uint64) (slot *byte, shift int) {
	n, _ := bits.Mul64(token.Mix(gram), 4*uint64(len(a.slots)))
	return &a.slots[n/4], int(n % 4 * 2)
}

func (a *Anchors) add(grams []uint64) {
	for _, g := range grams {
		slot, shift := a.at(g)
		*slot |= (*slot>>shift&1*2 | 1) << shift
	}
}

// twice reports whether an anchor may have occurred twice.
func (a *Anchors) twice(gram uint64) bool {
	slot, shift := a.at(gram)
	return *slot>>shift&2 != 0
}

// The windows of a text use four times as much memory as the text. For a batch of more than
// maxAhead bytes, they are computed only when it is the batch's turn, and added in groups of
// maxFound.
const (
	maxAhead = 1 << 20
	maxFound = 1 << 15
)

// passages finds the windows of texts, or their anchors. It is not safe for concurrent use.
type passages struct {
	n         int // words in a window
	k         int // words in an anchor
	anchors   *Anchors
	add       bool     // find windows, not anchors
	to        *Repeats // if not nil, receives windows that are too many for a batch
	ofGrams   *token.Shingler
	ofWords   *token.Shingler
	normalize func([]byte) []byte // nil: texts are split into words unchanged
	grams     hashes              // runs of k words of the text
	words     hashes
	queue     []int
	roll      roll
}

// hashes implements token.Sink.
type hashes []uint64

// Shingles appends hashes.
func (h *hashes) Shingles(more []uint64) { *h = append(*h, more...) }

func newPassages(o Options, add bool) *passages {
	p := &passages{n: max(o.MinWords, 1), anchors: o.Anchors, add: add}
	p.k = min(max(p.n/2, 1), token.MaxShingle)
	p.ofGrams = token.New(token.Config{Shingle: p.k, Symbols: o.Spec.Symbols, Version: o.Spec.Version()})
	p.ofWords = token.New(token.Config{Shingle: 1, Symbols: o.Spec.Symbols, Version: o.Spec.Version()})
	p.normalize = o.Spec.Normalizer()
	p.roll = newRoll(p.n)
	return p
}

// extract finds the anchors of a batch, or its windows that may be repeated.
func (p *passages) extract(b *batch) (err error) {
	for i, s := range b.texts {
		text := unsafe.Slice(unsafe.StringData(s), len(s)) // the bytes are only read
		if p.normalize != nil {
			text = p.normalize(text)
		}
		p.grams = p.grams[:0]
		words := p.ofGrams.Bytes(text, &p.grams).Words
		b.count.Units += words
		if words < int64(p.n) {
			b.count.Short += words
			continue
		}
		hashed := 0 // number of windows
		p.eachAnchor(func(from, to int, gram uint64) {
			if !p.add {
				b.grams = append(b.grams, gram)
				return
			}
			if !p.anchors.twice(gram) {
				return
			}
			if hashed == 0 {
				p.words = p.words[:0]
				p.ofWords.Bytes(text, &p.words)
				p.roll.state = [2]uint64{}
			}
			part := token.Mix(gram) // all windows of an anchor are in one part, which makes runs
			for ; hashed < to; hashed++ {
				hash := p.roll.next(p.words, hashed, part)
				if hashed >= from {
					b.found = append(b.found, found{hash, At(b.first+uint32(i), uint32(hashed))})
				}
			}
			if p.to != nil && len(b.found) >= maxFound {
				err = cmp.Or(err, p.to.add(b.found))
				b.found = b.found[:0]
			}
		})
	}
	clear(b.texts)
	return err
}

// eachAnchor calls f for each anchor of the text, with the windows from..to-1 that it belongs to.
// Among equal least hashes in a window, the last is the anchor.
func (p *passages) eachAnchor(f func(from, to int, gram uint64)) {
	queue, head := p.queue[:0], 0 // positions of ascending hashes: each is the least one after its predecessor
	width := p.n - p.k + 1        // anchors in a window
	from, at := 0, -1
	for i, gram := range p.grams {
		for len(queue) > head && p.grams[queue[len(queue)-1]] >= gram {
			queue = queue[:len(queue)-1]
		}
		queue = append(queue, i)
		start := i - width + 1
		if start < 0 {
			continue
		}
		if queue[head] < start {
			head++
		}
		if queue[head] != at {
			if at >= 0 {
				f(from, start, p.grams[at])
			}
			from, at = start, queue[head]
		}
	}
	f(from, len(p.grams)-width+1, p.grams[at])
	p.queue = queue
}

// Splitter returns a function that appends the units of a text to dst; for passages, its words.
// The function is not safe for concurrent use.
func (o Options) Splitter() func(dst []Span, text string) []Span {
	cut, plain := features.NewCutter(o.Spec), o.Spec.Normalizer() == nil
	return func(dst []Span, text string) []Span {
		switch b := unsafe.Slice(unsafe.StringData(text), len(text)); { // the bytes are only read
		case o.Level != Passage:
			return Split(dst, text, o.Level)
		case plain:
			for from, to := range o.Spec.Rules().Bounds(b) {
				dst = append(dst, Span{from, to})
			}
		default:
			cut.Words(b, func(_ []byte, from, to int) { dst = append(dst, Span{from, to}) })
		}
		return dst
	}
}

// Remove appends the removals for a repeat to dst. It must be called for the repeats of a text in
// order. Lines and paragraphs are removed one by one. A word is removed if it is in a window that
// has occurred before; if the text repeats itself, like one word again and again, the words of the
// first window stay, unless All is set. Removed words without any staying word between them form one passage, whose
// First is the First of its first word.
func (o Options) Remove(dst []Removed, r Repeat) []Removed {
	at := r.At.Unit()
	if o.Level != Passage {
		for i := range r.N {
			dst = append(dst, Removed{at + i, at + i + 1, r.First + Place(i), r.Share, r.Score})
		}
		return dst
	}
	n := uint32(max(o.MinWords, 1))
	next := Removed{From: at, To: at + r.N - 1 + n, First: r.First}
	if r.First.Doc() == r.At.Doc() && r.First.Unit()+n > at && !o.All {
		next.From = r.First.Unit() + n
		next.First += Place(next.From - at)
	}
	for len(dst) > 0 && dst[len(dst)-1].To >= next.From {
		if last := dst[len(dst)-1]; last.From <= next.From {
			next.From, next.First = last.From, last.First
		}
		dst = dst[:len(dst)-1]
	}
	return append(dst, next)
}

// roll computes the hashes of all windows of a text: two polynomials over the hashes of the
// words, modulo a prime. Moving on by one word costs each polynomial two multiplications.
type roll struct {
	n     int
	out   [2]uint64 // bases raised to n
	state [2]uint64
}

const prime = 1<<61 - 1

// bases differ between processes, so that nobody can prepare texts with equal hashes.
var bases = [2]uint64{rand.Uint64N(prime-1<<32) + 1<<32, rand.Uint64N(prime-1<<32) + 1<<32}

func newRoll(n int) roll {
	r := roll{n: n, out: [2]uint64{1, 1}}
	for range n {
		for i, b := range bases {
			r.out[i] = times(r.out[i], b)
		}
	}
	return r
}

// next returns the hash of the window that begins at word at; its first byte is the part's.
// Windows must be hashed in order. The polynomials contribute 120 bits.
func (r *roll) next(words []uint64, at int, part uint64) xxh3.Uint128 {
	if at == 0 {
		for _, w := range words[:r.n] {
			r.take(w)
		}
	} else {
		r.take(words[at+r.n-1])
		for i := range r.state {
			r.state[i] = mod(r.state[i] + prime - times(lane(words[at-1], i), r.out[i]))
		}
	}
	return xxh3.Uint128{Hi: part&^(1<<56-1) | r.state[0]>>5, Lo: r.state[1]<<3 | r.state[0]&7}
}

// take adds a word.
func (r *roll) take(w uint64) {
	for i := range r.state {
		r.state[i] = mod(times(r.state[i], bases[i]) + lane(w, i))
	}
}

// lane returns the value of a word in polynomial i.
func lane(w uint64, i int) uint64 {
	if i == 1 {
		w = token.Mix(w)
	}
	return mod(w)
}

// mod returns a modulo the prime.
func mod(a uint64) uint64 {
	if a = a&prime + a>>61; a >= prime {
		a -= prime
	}
	return a
}

// times returns a times b modulo the prime; both must be less than the prime.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return mod(lo&prime + (hi<<3 | lo>>61))
}
