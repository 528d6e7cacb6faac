package hamming

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
)

// Limits of a Layout.
const (
	maxLayoutBlocks = 16
	MaxTables       = 64
)

// Layout says how the 64 bits of a fingerprint are split into blocks and which blocks lead each
// permuted table (Manku, Jain, Das Sarma: Detecting Near-Duplicates for Web Crawling, WWW 2007,
// section 3). The bits are split into Blocks consecutive blocks, most significant first, whose
// sizes differ by at most one, the larger ones first. Every choice of Lead blocks leads one table.
//
//	4:1   4 tables, led by 16 bits each                    2:1   2 tables, 32 bits
//	5:2  10 tables, 25 to 26 bits                          6:3  20 tables, 31 to 33 bits
//	8:2  28 tables, 16 bits
//
// With a Lead of 0, leads are nested: every block in turn leads, followed by one part of the other
// bits, which are split into Blocks parts again.
//
//	4x4  16 tables, led by 16 + 12 bits
//
// Table 0 is led by the first block, or the first choice of blocks, and its permutation is the
// identity. Layouts with Lead 1 rotate the fingerprint; the others move the leading bits to the
// front and preserve the order of the rest.
type Layout struct {
	Blocks int // m, 1..16
	Lead   int // c, blocks that lead a table, 1..Blocks; 0: nested
}

// DefaultLayout has four tables led by 16 bits each.
var DefaultLayout = Layout{Blocks: 4, Lead: 1}

// LayoutBySize, the zero Layout, means the result of ChooseLayout. A database may have it in its
// parameters, a table never does.
var LayoutBySize = Layout{}

// sizeLayouts are the layouts of tables by size, each for tables of up to a number of fingerprints.
// The limits are constants, not results of the cost model, so that a table is the same on every
// processor. TestChooseLayout compares them with the model.
var sizeLayouts = []struct {
	most   int64
	layout Layout
}{
	{24 << 20, Layout{Blocks: 4, Lead: 1}},
	{2 << 30, Layout{Blocks: 3, Lead: 1}},
	{math.MaxInt64, Layout{Blocks: 2, Lead: 1}},
}

// ChooseLayout returns the layout for a table of n fingerprints. It depends only on n:
//
//	to 24 Mi   4:1      to 2 Gi   3:1      above   2:1
//
// With more fingerprints, leads must be longer, so that a search still compares few fingerprints;
// shorter leads need fewer probes. docs/performance.md has the measurements behind the limits.
func ChooseLayout(n int64) Layout {
	for _, s := range sizeLayouts {
		if n <= s.most {
			return s.layout
		}
	}
	return DefaultLayout
}

// ParseLayout parses a layout such as "4:1" or "4x4". "4" means the same as "4:1".
func ParseLayout(s string) (Layout, error) {
	blocks, lead, split := strings.Cut(s, ":")
	if !split {
		lead = "1"
		if outer, inner, nested := strings.Cut(s, "x"); nested && inner == outer {
			blocks, lead = outer, "0"
		}
	}
	m, err := strconv.Atoi(blocks)
	c, err2 := strconv.Atoi(lead)
	if err != nil || err2 != nil || split && c == 0 {
		return Layout{}, fmt.Errorf("layout %q is not of the form BLOCKS:LEAD, such as 4:1, or 4x4", s)
	}
	l := Layout{Blocks: m, Lead: c}
	return l, l.Validate()
}

// String returns the form that ParseLayout reads; "by size" for LayoutBySize.
func (l Layout) String() string {
	if l == LayoutBySize {
		return "by size"
	}
	if l.Lead == 0 {
		return fmt.Sprintf("%dx%d", l.Blocks, l.Blocks)
	}
	return fmt.Sprintf("%d:%d", l.Blocks, l.Lead)
}

// Validate returns an error if tables cannot be built with the layout.
func (l Layout) Validate() error {
	switch {
	case l.Blocks < 1 || l.Blocks > maxLayoutBlocks:
		return fmt.Errorf("layout %v: the number of blocks must be 1 to %d", l, maxLayoutBlocks)
	case l.Lead < 0 || l.Lead > l.Blocks:
		return fmt.Errorf("layout %v: the leading blocks must be 1 to %d", l, l.Blocks)
	case l.Lead == 0 && l.Blocks < 2:
		return fmt.Errorf("layout %v nests nothing", l)
	case l.Tables() > MaxTables:
		return fmt.Errorf("layout %v needs %d tables, more than %d", l, l.Tables(), MaxTables)
	}
	return nil
}

// Tables returns the number of permuted tables: the number of choices of Lead blocks, or of a block
// and a part.
func (l Layout) Tables() int {
	if l.Lead == 0 {
		return l.Blocks * l.Blocks
	}
	return binomial(l.Blocks, l.Lead)
}

// radius returns the least r such that, for any k differing bits, some table has at most r
// differing bits in its lead.
func (l Layout) radius(k int) int {
	m, c := l.Blocks, l.Lead
	// The worst case of the pigeonhole principle: an adversary who places the k bits spreads them
	// evenly, so that even the best choice of blocks has as many as possible.
	if c > 0 {
		// The c blocks with the fewest bits have the most if the bits are spread evenly: k/m in
		// each, and one more in k%m blocks.
		return c*(k/m) + max(0, c-(m-k%m))
	}
	// The block with the fewest has e <= k/m bits; then the part with the fewest has at most
	// (k-e)/m.
	r := 0
	for e := range k/m + 1 {
		r = max(r, e+(k-e)/m)
	}
	return r
}

// Permute moves the bits of a fingerprint to their places in table. Layout and table must be valid.
func (l Layout) Permute(table int, fp base.Fingerprint) uint64 { return l.perms()[table].apply(fp) }

// Unpermute is the inverse of Permute.
func (l Layout) Unpermute(table int, key uint64) base.Fingerprint {
	return l.perms()[table].invert(key)
}

// LeadMask returns the bits of a fingerprint that lead table, as a mask. Layout and table must be
// valid.
func (l Layout) LeadMask(table int) base.Fingerprint { return l.perms()[table].leadMask }

// perm is the permutation of one table. Each move rotates the bits of its mask to the left by rot.
type perm struct {
	first    move             // the only move of a rotation
	rest     []move           // further moves, for layouts with Lead > 1
	leadMask base.Fingerprint // the leading blocks, as bits of the fingerprint
	leadBits int              // number of leading bits
}

type move struct {
	mask base.Fingerprint // bits of the fingerprint
	rot  int              // bits by which they rotate to the left
}

// apply returns the key of a fingerprint. It only moves bits, so the difference of two keys is the
// permuted difference of the fingerprints, with the same number of bits set.
func (p *perm) apply(fp base.Fingerprint) uint64 {
	key := bits.RotateLeft64(fp&p.first.mask, p.first.rot)
	for _, m := range p.rest {
		key |= bits.RotateLeft64(fp&m.mask, m.rot)
	}
	return key
}

// invert returns the fingerprint of a key, or from the difference of two keys the difference of
// their fingerprints.
func (p *perm) invert(key uint64) base.Fingerprint {
	fp := bits.RotateLeft64(key, -p.first.rot) & p.first.mask
	for _, m := range p.rest {
		fp |= bits.RotateLeft64(key, -m.rot) & m.mask
	}
	return fp
}

// permCache caches the permutations of each layout. Goroutines that compute them at the same time
// compute the same, so it does not matter whose result is stored.
var permCache [maxLayoutBlocks + 1][maxLayoutBlocks + 1]atomic.Pointer[[]perm]

func (l Layout) perms() []perm {
	slot := &permCache[l.Blocks][l.Lead]
	if p := slot.Load(); p != nil {
		return *p
	}
	p := l.makePerms()
	slot.Store(&p)
	return p
}

// segment is a range of size consecutive bits, start bits from the most significant one.
type segment struct{ start, size int }

// makePerms enumerates the choices of leading blocks in lexicographic order, so that the first
// blocks come first.
func (l Layout) makePerms() []perm {
	ps := make([]perm, 0, l.Tables())
	whole := []segment{{0, base.FingerprintBits}}
	if l.Lead == 0 {
		for i := range l.Blocks {
			block, rest := cutSegments(whole, l.Blocks, i)
			for j := range l.Blocks {
				part, others := cutSegments(rest, l.Blocks, j)
				ps = append(ps, makePerm(append(append([]segment(nil), block...), part...), others))
			}
		}
		return ps
	}
	chosen := make([]int, l.Lead)
	for i := range chosen {
		chosen[i] = i
	}
	for {
		lead, rest := cutSegments(whole, l.Blocks, chosen...)
		p := makePerm(lead, rest)
		if l.Lead == 1 {
			p.first, p.rest = move{mask: ^uint64(0), rot: lead[0].start}, nil
		}
		ps = append(ps, p)
		i := l.Lead - 1
		for i >= 0 && chosen[i] == l.Blocks-l.Lead+i {
			i--
		}
		if i < 0 {
			return ps
		}
		chosen[i]++
		for j := i + 1; j < l.Lead; j++ {
			chosen[j] = chosen[j-1] + 1
		}
	}
}

// cutSegments concatenates the bits of segments and cuts them into m blocks, the larger ones first.
// It returns the bits of the chosen blocks (ascending) and of the others.
func cutSegments(segments []segment, m int, chosen ...int) (lead, others []segment) {
	total := 0
	for _, s := range segments {
		total += s.size
	}
	for i := range m {
		size := total / m
		if i < total%m {
			size++
		}
		to := &others
		if len(chosen) > 0 && chosen[0] == i {
			to, chosen = &lead, chosen[1:]
		}
		for size > 0 {
			n := min(size, segments[0].size)
			*to = append(*to, segment{segments[0].start, n})
			if size -= n; n < segments[0].size {
				segments = append([]segment{{segments[0].start + n, segments[0].size - n}}, segments[1:]...)
			} else {
				segments = segments[1:]
			}
		}
	}
	return lead, others
}

// makePerm moves the lead to the front, followed by the rest.
func makePerm(lead, rest []segment) perm {
	var p perm
	var moves []move
	to := 0
	for i, s := range append(append([]segment(nil), lead...), rest...) {
		mask := ^uint64(0) << (64 - s.size) >> s.start
		if i < len(lead) {
			p.leadMask |= mask
			p.leadBits += s.size
		}
		// Neighbours that move by the same number of places are one move: every move costs a search
		// two operations per table.
		if n := len(moves); n > 0 && moves[n-1].rot == s.start-to {
			moves[n-1].mask |= mask
		} else {
			moves = append(moves, move{mask: mask, rot: s.start - to})
		}
		to += s.size
	}
	p.first, p.rest = moves[0], moves[1:]
	return p
}

func binomial(n, k int) int {
	c := 1
	for i := range min(k, n-k) {
		c = c * (n - i) / (i + 1)
	}
	return c
}

// ways returns the number of ways to choose k of n.
func ways(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return math.Round(c)
}
