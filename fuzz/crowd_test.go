package fuzz

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
)

// Joins process many similar items otherwise than a few: sets form crowds from 64 on and use an
// index after 256, and the number of fingerprints determines the blocks.

// variants makes sets of numbers below 64. A set has one of up to three numbers for each slot, or
// none; the first may be usual, so that the sets have a centre.
func (c *choices) variants(n int) (all [][]int) {
	slots, of, usual, missing := 1+c.n(20), 1+c.n(3), pick(c, 0, 50, 80, 95), pick(c, 0, 3, 20)
	r := rand.New(rand.NewPCG(uint64(c.n(1<<16)), 2))
	for range n {
		var set []int
		for slot := range slots {
			choice := 0
			if r.IntN(100) >= usual {
				choice = r.IntN(of)
			}
			if r.IntN(100) >= missing {
				set = append(set, 3*slot+choice)
			}
		}
		all = append(all, set)
	}
	return all
}

// sentences makes texts of variants; none is empty.
func (c *choices) sentences(n int) (all []string) {
	for _, set := range c.variants(n) {
		all = append(all, strings.Trim(fmt.Sprint("x ", set), "]["))
	}
	return all
}

// prints makes fingerprints: each is one of some centres with a few bits changed.
func (c *choices) prints(n, words int) (all [][]uint64) {
	centres, most, r := min(n, pick(c, 1, 8, 64, 1000)), 1+c.n(16), rand.New(rand.NewPCG(uint64(c.n(1<<16)), 2))
	for i := range n {
		if all = append(all, make([]uint64, words)); i >= centres {
			copy(all[i], all[r.IntN(centres)])
		}
		for j := range words {
			for k := r.IntN(most); i >= centres && k > 0; k-- {
				all[i][j] ^= 1 << r.IntN(64)
			}
			if i < centres {
				all[i][j] = r.Uint64()
			}
		}
	}
	return all
}

func (b *batch) names(order []int) (names []string) {
	for _, n := range order {
		names = append(names, b.docs[n].id)
	}
	return names
}

// crowd adds documents, which are compared by something else than their texts.
func (b *batch) crowd(by int) {
	for n := len(b.docs) + by + b.c.n(100); len(b.docs) < n; {
		b.docs, b.n = append(b.docs, doc{id: fmt.Sprintf("d%03d", len(b.docs)), text: "one"}), append(b.n, len(b.docs)%5)
	}
}

// fingerprints compares fingerprints of any width.
func (b *batch) fingerprints() {
	words := pick(b.c, 1, 1, 2, 3, 16)
	if b.c.once(3) {
		b.crowd(pick(b.c, 60, 250, 700))
	}
	b.m.o.Bits = 64 * words
	order, prefer := b.preferred()
	wide := b.c.prints(len(b.docs), words)
	if i := b.c.n(2 * len(wide)); words > 1 && i < len(wide) {
		wide[i] = nil
	}
	apart := func(x, y int) (n int, ok bool) {
		for i := range wide[x] {
			if ok = wide[y] != nil; ok {
				n += bits.OnesCount64(wide[x][i] ^ wide[y][i])
			}
		}
		return n, ok
	}
	k := b.c.n(32 * words)
	if len(wide) > 60 {
		k %= pick(b.c, 2, 5, 16) // most pairs do not match
	}
	if n, ok := apart(b.c.n(len(wide)), b.c.n(len(wide))); ok && (n < 16 || len(wide) < 60) {
		k = n // the distance of two of them
	}
	r := &relation{names: b.names(order)}
	r.equal = func(x, y int) bool { return wide[order[x]] != nil && slices.Equal(wide[order[x]], wide[order[y]]) }
	r.match = func(x, y int) (float64, bool) {
		n, ok := apart(order[x], order[y])
		return float64(-n), ok && n <= k
	}
	of := func(o *dedup.Options) *dedup.Collection { return dedup.WideFingerprints(wide, o) }
	if words == 1 {
		narrow := slices.Concat(wide...)
		of = func(o *dedup.Options) *dedup.Collection { return dedup.Fingerprints(narrow, o) }
	}
	b.compare(of, engine.Near(k), r, true, prefer)
}

// sets compares sets of hashes.
func (b *batch) sets() {
	if b.c.once(2) {
		b.crowd(pick(b.c, 60, 60, 250))
	}
	order, prefer := b.preferred()
	elements := b.c.variants(len(b.docs))
	lists, sets := make([][]uint64, len(elements)), make([]uint64, len(elements)) // sets have a bit for each element
	for i := range elements {
		lists[i] = []uint64{}
		for _, e := range elements[i] {
			lists[i], sets[i] = append(lists[i], uint64(e)*[]uint64{1, golden}[e%2]), sets[i]|1<<e
		}
	}
	contained, t := b.c.once(2), pick(b.c, thresholds...)
	size := func(x int) int { return bits.OnesCount64(sets[x]) }
	score := func(x, y int) float64 {
		n := bits.OnesCount64(sets[x] & sets[y])
		if contained {
			return ratio(n, min(size(x), size(y)))
		}
		return ratio(n, size(x)+size(y)-n)
	}
	if s := score(b.c.n(len(sets)), b.c.n(len(sets))); s > 0 && b.c.once(2) {
		t = s
	}
	by, r := engine.Jaccard(t), &relation{names: b.names(order), self: 1}
	r.match = func(x, y int) (float64, bool) {
		s := score(order[x], order[y])
		return s, s >= t
	}
	if contained {
		by, r.size = engine.Contains(t), func(x int) int { return size(order[x]) }
	}
	b.compare(func(o *dedup.Options) *dedup.Collection { return dedup.Sets(lists, o) }, by, r, false, prefer)
}
