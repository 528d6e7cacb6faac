package units

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// A Filter is a set of n-grams with false positives (Bloom, 1970, with one hash function).
type Filter []uint64

// NewFilter returns an empty Filter of the given size.
func NewFilter(bytes int64) Filter { return make(Filter, max(bytes/8, 1)) }

// NewMergeable returns an empty Filter of about the given size that Merge accepts.
func NewMergeable(bytes int64) Filter { return make(Filter, 1<<bits.Len64(uint64(max(bytes, 8)/8-1))) }

// slot returns the slot of an n-gram among n.
func slot(gram uint64, n int) uint64 {
	at, _ := bits.Mul64(gram, uint64(n))
	return at
}

// Has reports whether the Filter may have an n-gram.
func (f Filter) Has(gram uint64) bool { return f.has(gram) != 0 }

func (f Filter) has(gram uint64) int {
	at := slot(gram, 64*len(f))
	return int(f[at/64] >> (at % 64) & 1)
}

// Share returns the share of some n-grams that the Filter may have.
func (f Filter) Share(grams []uint64) float64 {
	seen := 0
	for _, g := range grams {
		seen += f.has(g)
	}
	return float64(seen) / float64(len(grams))
}

// Add adds n-grams.
func (f Filter) Add(grams []uint64) {
	for _, g := range grams {
		f.set(slot(g, 64*len(f)))
	}
}

func (f Filter) set(at uint64) { f[at/64] |= 1 << (at % 64) }

// Merge returns a Filter with the n-grams of both, in the memory of the larger one. The sizes are
// powers of two: a bit of the smaller one then stands for several bits of the larger one.
func (f Filter) Merge(o Filter) Filter {
	if len(o) > len(f) {
		f, o = o, f
	}
	if len(f) == len(o) {
		for i, word := range o {
			f[i] |= word
		}
		return f
	}
	each := uint64(len(f) / len(o))
	for i, word := range o {
		for ; word != 0; word &= word - 1 {
			from := (64*uint64(i) + uint64(bits.TrailingZeros64(word))) * each
			for at := range each {
				f.set(from + at)
			}
		}
	}
	return f
}

// Recent remembers some n-grams, each at its slot.
type Recent []uint64

// NewRecent returns an empty Recent with n slots.
func NewRecent(n int) Recent {
	r := make(Recent, max(n, 2))
	r[0] = math.MaxUint64 // no n-gram of slot 0
	return r
}

// Has reports whether an n-gram is remembered.
func (r Recent) Has(gram uint64) bool { return r[slot(gram, len(r))] == gram }

// Add remembers an n-gram, and reports whether it did not before.
func (r Recent) Add(gram uint64) bool {
	at := &r[slot(gram, len(r))]
	was := *at
	*at = gram
	return was != gram
}

// AppendBinary appends the Filter to dst. The error is always nil.
func (f Filter) AppendBinary(dst []byte) ([]byte, error) { return appendGrams(dst, f), nil }

// UnmarshalBinary reads a Filter for Merge.
func (f *Filter) UnmarshalBinary(b []byte) error {
	if n := len(b); n < 8 || n&(n-1) != 0 {
		return errMessage
	}
	*f = readGrams(b, nil)
	return nil
}

var errMessage = errors.New("units: damaged message")

func appendGrams(dst []byte, grams []uint64) []byte {
	for _, g := range grams {
		dst = binary.LittleEndian.AppendUint64(dst, g)
	}
	return dst
}

// readGrams appends the n-grams in b to dst.
func readGrams(b []byte, dst []uint64) []uint64 {
	for ; len(b) >= 8; b = b[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(b))
	}
	return dst
}
