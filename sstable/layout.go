package sstable

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"sync/atomic"
)

// Limits of a Layout.
const (
	maxLayoutBlocks = 16
	maxTables       = 64
)

// Layout says how the 64 bits of a fingerprint are split and which of them lead each permuted table (Manku, Jain, Das Sarma:
// Detecting Near-Duplicates for Web Crawling, WWW 2007, section 3). The bits are cut into Blocks consecutive blocks, most
// significant first, of sizes that differ by at most one (the larger ones first); every choice of Lead of them leads one table.
//
//	4:1   4 tables, led by 16 bits each (the default)      2:1   2 tables, 32 bits
//	5:2  10 tables, 25 to 26 bits                          6:3  20 tables, 31 to 33 bits      8:2  28 tables, 16 bits
//
// Table 0 is led by the first Lead blocks, and its permutation is the identity. Layouts with Lead 1 rotate the fingerprint;
// the others move the leading blocks to the front and keep the order of the rest.
type Layout struct {
	Blocks int // m, 1..16
	Lead   int // c, blocks that lead a table, 1..Blocks
}

// DefaultLayout has four tables led by 16 bits each.
var DefaultLayout = Layout{Blocks: 4, Lead: 1}

// ParseLayout reads "4:1", or "4", which means the same.
func ParseLayout(s string) (Layout, error) {
	blocks, lead, split := strings.Cut(s, ":")
	l := Layout{Lead: 1}
	var err error
	if l.Blocks, err = strconv.Atoi(blocks); err == nil && split {
		l.Lead, err = strconv.Atoi(lead)
	}
	if err != nil {
		return Layout{}, fmt.Errorf("layout %q is not of the form BLOCKS:LEAD, such as 4:1", s)
	}
	return l, l.Validate()
}

// String returns the form that ParseLayout reads.
func (l Layout) String() string { return fmt.Sprintf("%d:%d", l.Blocks, l.Lead) }

// Validate reports whether the layout is one that tables can be built with.
func (l Layout) Validate() error {
	switch {
	case l.Blocks < 1 || l.Blocks > maxLayoutBlocks:
		return fmt.Errorf("layout %v: the number of blocks must be 1 to %d", l, maxLayoutBlocks)
	case l.Lead < 1 || l.Lead > l.Blocks:
		return fmt.Errorf("layout %v: the leading blocks must be 1 to %d", l, l.Blocks)
	case l.Tables() > maxTables:
		return fmt.Errorf("layout %v needs %d tables, more than %d", l, l.Tables(), maxTables)
	}
	return nil
}

// Tables returns the number of permuted tables: the ways of choosing Lead of Blocks.
func (l Layout) Tables() int { return binomial(l.Blocks, l.Lead) }

// Permute moves the bits of a fingerprint to where table has them. Layout and table must be valid.
func (l Layout) Permute(table int, fp uint64) uint64 { return l.perms()[table].apply(fp) }

// Unpermute is the inverse of Permute.
func (l Layout) Unpermute(table int, key uint64) uint64 { return l.perms()[table].invert(key) }

// perm is the permutation of one table: the bits of mask move left by rot, for each of a few moves.
type perm struct {
	first    move   // the only move of a rotation
	rest     []move // more moves, of layouts with Lead > 1
	leadMask uint64 // the leading blocks, as bits of the fingerprint
	leadBits int    // how many they are: the length of the table's prefix
}

type move struct {
	mask uint64 // bits of the fingerprint
	rot  int    // by how many they rotate left
}

func (p *perm) apply(fp uint64) uint64 {
	key := bits.RotateLeft64(fp&p.first.mask, p.first.rot)
	for _, m := range p.rest {
		key |= bits.RotateLeft64(fp&m.mask, m.rot)
	}
	return key
}

func (p *perm) invert(key uint64) uint64 {
	fp := bits.RotateLeft64(key, -p.first.rot) & p.first.mask
	for _, m := range p.rest {
		fp |= bits.RotateLeft64(key, -m.rot) & m.mask
	}
	return fp
}

// permCache holds the permutations of each layout once they have been asked for.
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

// makePerms enumerates the choices of leading blocks in lexicographic order, so that blocks 0..Lead-1 come first.
func (l Layout) makePerms() []perm {
	ps := make([]perm, 0, l.Tables())
	chosen := make([]int, l.Lead)
	for i := range chosen {
		chosen[i] = i
	}
	for {
		ps = append(ps, l.makePerm(chosen))
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

// block returns the distance of block i from the most significant bit, and its size in bits.
func (l Layout) block(i int) (start, size int) {
	size, larger := 64/l.Blocks, 64%l.Blocks
	start = i*size + min(i, larger)
	if i < larger {
		size++
	}
	return start, size
}

func (l Layout) makePerm(chosen []int) perm {
	var p perm
	isLead := make([]bool, l.Blocks)
	for _, b := range chosen {
		start, size := l.block(b)
		isLead[b] = true
		p.leadMask |= blockMask(start, size)
		p.leadBits += size
	}
	if l.Lead == 1 {
		start, _ := l.block(chosen[0])
		p.first = move{mask: ^uint64(0), rot: start}
		return p
	}
	order := append([]int(nil), chosen...)
	for b := range l.Blocks {
		if !isLead[b] {
			order = append(order, b)
		}
	}
	var moves []move
	to := 0
	for _, b := range order {
		start, size := l.block(b)
		m := move{mask: blockMask(start, size), rot: start - to}
		if n := len(moves); n > 0 && moves[n-1].rot == m.rot {
			moves[n-1].mask |= m.mask
		} else {
			moves = append(moves, m)
		}
		to += size
	}
	p.first, p.rest = moves[0], moves[1:]
	return p
}

// blockMask has size bits set, the first of them start bits from the most significant one.
func blockMask(start, size int) uint64 { return ^uint64(0) << (64 - size) >> start }

func binomial(n, k int) int {
	c := 1
	for i := range min(k, n-k) {
		c = c * (n - i) / (i + 1)
	}
	return c
}
