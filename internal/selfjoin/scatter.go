package selfjoin

import (
	"slices"
	"sync"

	"github.com/simdb/simdb/internal/base"
)

// scatterLeast is the least number of fingerprints for which a goroutine of scatter is
// worthwhile.
const scatterLeast = 1 << 16

// scatter arranges all fingerprints of j by bucket in the root group, in the caller's order
// within a bucket.
func (l *level) scatter(j *join, b block) {
	n, size := len(j.fps), b.size()
	parts := max(1, min(len(j.workers), n/scatterLeast))
	next := make([][]uint32, parts) // by part and bucket: position of the next fingerprint
	inParallel(parts, func(p int) {
		count := make([]uint32, size)
		for _, x := range j.fps[n*p/parts : n*(p+1)/parts] {
			count[b.bucket(x)]++
		}
		next[p] = count
	})
	at := uint32(0)
	for i := range size {
		l.start[i] = at
		for p := range parts {
			next[p][i], at = at, at+next[p][i]
		}
	}
	l.start[size] = at
	inParallel(parts, func(p int) { newScatterer(j.root, next[p]).add(j, b, n*p/parts, n*(p+1)/parts) })
}

// A scatterer moves fingerprints to the places of their buckets in a group that is larger than
// any cache. For each bucket it has a line, which buffers linePlaces consecutive places that
// start at a multiple of linePlaces; a full line is copied to the group. The lines stay in the
// second-level cache, so memory is written once per linePlaces fingerprints instead of once for
// each.
type scatterer struct {
	to    group
	first []uint32 // by bucket: place of its first fingerprint
	next  []uint32 // by bucket: place of its next fingerprint
	lines []line
}

// linePlaces is the number of keys in a cache line.
const linePlaces = 8

// A line buffers fingerprints of a bucket, each at its place modulo linePlaces.
type line struct {
	keys [linePlaces]base.Fingerprint
	ids  [linePlaces]uint32
}

// newScatterer returns a scatterer for buckets that begin at the places in next, which it
// modifies.
func newScatterer(to group, next []uint32) *scatterer {
	return &scatterer{to: to, first: slices.Clone(next), next: next, lines: make([]line, len(next))}
}

// add moves the fingerprints of j in [from, to).
func (s *scatterer) add(j *join, b block, from, to int) {
	for i, x := range j.fps[from:to] {
		bucket := b.bucket(x)
		at := s.next[bucket]
		s.next[bucket] = at + 1
		l := &s.lines[bucket]
		l.keys[at%linePlaces], l.ids[at%linePlaces] = x, j.id(from+i)
		if at%linePlaces == linePlaces-1 {
			s.flush(bucket)
		}
	}
	for bucket := range s.lines {
		s.flush(uint32(bucket))
	}
}

// flush copies the line of a bucket to the group: up to the next place, from the preceding
// multiple of linePlaces, or from the first place of the bucket, as earlier places belong to
// other buckets.
func (s *scatterer) flush(bucket uint32) {
	end := s.next[bucket]
	if end == s.first[bucket] {
		return
	}
	l, begin := &s.lines[bucket], (end-1)/linePlaces*linePlaces
	if begin >= s.first[bucket] && end-begin == linePlaces {
		*(*[linePlaces]base.Fingerprint)(s.to.keys[begin:end]) = l.keys
		*(*[linePlaces]uint32)(s.to.ids[begin:end]) = l.ids
		return
	}
	from := max(begin, s.first[bucket])
	copy(s.to.keys[from:end], l.keys[from-begin:])
	copy(s.to.ids[from:end], l.ids[from-begin:])
}

// inParallel calls f for 0..n-1, each in its own goroutine.
func inParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
