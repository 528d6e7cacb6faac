package selfjoin

import (
	"github.com/simdb/simdb/internal/base"
)

// markBit marks a fingerprint in a join that is restricted to pairs with a marked side.
const markBit = 1 << 31

// group is a set of fingerprints with their numbers. The order within a group has no meaning, so
// groups are rearranged in place.
type group struct {
	keys []base.Fingerprint
	ids  []uint32 // the number in the caller's slice; markBit is set for a marked fingerprint
}

func (g group) len() int { return len(g.keys) }

func (g group) slice(lo, hi uint32) group { return group{g.keys[lo:hi], g.ids[lo:hi]} }

// vary returns the positions in which the fingerprints of g do not all agree.
func (g group) vary() uint64 {
	or, and := uint64(0), ^uint64(0)
	for _, x := range g.keys {
		or |= x
		and &= x
	}
	return or &^ and
}

// markedLast moves marked fingerprints to the end and returns the position of the first one.
func (g group) markedLast() int {
	at := len(g.ids)
	for i := 0; i < at; {
		if g.ids[i]&markBit == 0 {
			i++
			continue
		}
		at--
		g.keys[i], g.keys[at] = g.keys[at], g.keys[i]
		g.ids[i], g.ids[at] = g.ids[at], g.ids[i]
	}
	return at
}

// level is the scratch space of a split.
type level struct {
	start [1<<maxWidth + 1]uint32 // by bucket
	next  [1 << maxWidth]uint32   // by bucket: position of its next fingerprint
}

// split arranges g by bucket and stores the start of each bucket in l.start. It allocates scratch
// on first use.
func (l *level) split(g group, b block, scratch *group) {
	size := b.size()
	start := l.start[:size+1]
	clear(start)
	for _, x := range g.keys {
		start[b.bucket(x)+1]++
	}
	for i := range size {
		l.next[i] = start[i]
		start[i+1] += start[i]
	}
	if g.len() <= copiedGroup {
		if scratch.len() == 0 {
			*scratch = group{make([]base.Fingerprint, copiedGroup), make([]uint32, copiedGroup)}
		}
		l.copySplit(g, b, scratch.slice(0, uint32(g.len())))
	} else {
		l.swapSplit(g, b)
	}
}

// copiedGroup is the size of the largest group that is split with a copy, which is faster but
// needs memory.
const copiedGroup = 1 << 15

// copySplit splits a group using scratch, which has the same size.
func (l *level) copySplit(g group, b block, scratch group) {
	copy(scratch.keys, g.keys)
	copy(scratch.ids, g.ids)
	for i, x := range scratch.keys {
		to := &l.next[b.bucket(x)&(1<<maxWidth-1)]
		g.keys[*to], g.ids[*to] = x, scratch.ids[i]
		*to++
	}
}

// swapSplit splits a group in place (McIlroy, Bostic and McIlroy's American flag sort).
func (l *level) swapSplit(g group, b block) {
	next := &l.next
	for i := range uint32(b.size()) {
		for end := l.start[i+1]; next[i] < end; next[i]++ {
			at := next[i]
			x, id := g.keys[at], g.ids[at]
			to := b.bucket(x)
			if to == i {
				continue
			}
			for ; to != i; to = b.bucket(x) {
				p := next[to]
				next[to]++
				x, g.keys[p] = g.keys[p], x
				id, g.ids[p] = g.ids[p], id
			}
			g.keys[at], g.ids[at] = x, id
		}
	}
}
