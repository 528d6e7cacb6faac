package fuzz

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
)

// Joins process many similar items in other ways than a few: they form crowds from 64 on, compare
// them with an index after a window of 256, and choose blocks of fingerprints by their number. A
// few bytes choose a crowd.

// seeded returns a generator that the next bytes seed.
func (c *choices) seeded() *rand.Rand { return rand.New(rand.NewPCG(uint64(c.n(1<<16)), 2)) }

// variants makes sets of numbers below 64. A set has one of up to three numbers for each slot, or
// none; the first may be usual, so that the sets have a centre.
func (c *choices) variants(n int) (all [][]int) {
	slots, of, usual, missing := 1+c.n(20), 1+c.n(3), pick(c, 0, 50, 80, 95), pick(c, 0, 3, 20)
	r := c.seeded()
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
		text := "x"
		for _, e := range set {
			text += " " + strconv.FormatInt(int64(e), 36)
		}
		all = append(all, text)
	}
	return all
}

// prints makes fingerprints: each is one of some centres with a few bits changed.
func (c *choices) prints(n, words int) (all [][]uint64) {
	centres, most, r := min(n, pick(c, 1, 8, 64, 1000)), 1+c.n(16), c.seeded()
	for i := range n {
		fp := make([]uint64, words)
		if i < centres {
			for j := range fp {
				fp[j] = r.Uint64()
			}
		} else {
			copy(fp, all[r.IntN(centres)])
			for range r.IntN(most) {
				fp[r.IntN(words)] ^= 1 << r.IntN(64)
			}
		}
		all = append(all, fp)
	}
	return all
}

// crowd adds documents, which are compared by something else than their texts.
func (b *batch) crowd(by int) {
	for n := len(b.docs) + by + b.c.n(100); len(b.docs) < n; {
		b.docs, b.n = append(b.docs, doc{id: fmt.Sprintf("d%03d", len(b.docs)), text: "one"}), append(b.n, len(b.docs)%5)
	}
}

// items returns the documents as items, in an order of preference.
func (b *batch) items(order []int) *relation {
	r := &relation{}
	for _, n := range order {
		r.names = append(r.names, b.docs[n].id)
	}
	return r
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
	if len(wide) < 30 {
		for i := range wide {
			if wide[i] = b.c.print(words); words > 1 && b.c.once(9) {
				wide[i] = nil
			}
		}
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
	r := b.items(order)
	r.equal = func(x, y int) bool { return wide[order[x]] != nil && slices.Equal(wide[order[x]], wide[order[y]]) }
	r.match = func(x, y int) (float64, bool) {
		n, ok := apart(order[x], order[y])
		return float64(-n), ok && n <= k
	}
	of := func(o *dedup.Options) *dedup.Collection { return dedup.WideFingerprints(wide, o) }
	if words == 1 {
		narrow := make([]uint64, len(wide))
		for i := range wide {
			narrow[i] = wide[i][0]
		}
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
		if most := pick(b.c, 9, 30, 60); len(elements) < 30 {
			if elements[i] = nil; i > 0 && b.c.once(2) {
				elements[i] = slices.Clone(elements[b.c.n(i)])
			}
			for range b.c.n(14) {
				elements[i] = append(elements[i], b.c.n(most))
			}
		}
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
	by, r := engine.Jaccard(t), b.items(order)
	r.self = 1
	r.match = func(x, y int) (float64, bool) {
		s := score(order[x], order[y])
		return s, s >= t
	}
	if contained {
		by, r.size = engine.Contains(t), func(x int) int { return size(order[x]) }
	}
	b.compare(func(o *dedup.Options) *dedup.Collection { return dedup.Sets(lists, o) }, by, r, false, prefer)
}
