package main

import (
	"cmp"
	"math"
	"slices"
)

// lsh is locality-sensitive hashing of MinHash signatures by bands (Leskovec, Rajaraman, Ullman,
// Mining of Massive Datasets, section 3.4): sets whose signatures agree in all rows of a band are
// candidates. It does not score them.
type lsh struct {
	rows  int
	bands [][]bandEntry
	mul   []uint64 // by hash function
	seen  []uint32 // scratch: by set, the last query that found it
	query uint32
}

// bandEntry is a set with the hash of its rows in one band. Entries are sorted by hash.
type bandEntry struct {
	hash uint64
	set  uint32
}

func newLSH(sets [][]uint64, rows, bands int) *lsh {
	l := &lsh{rows: rows, bands: make([][]bandEntry, bands), seen: make([]uint32, len(sets))}
	s := splitmix(1)
	for range rows * bands {
		l.mul = append(l.mul, s.next()|1)
	}
	for i, set := range sets {
		for b, h := range l.signature(set) {
			l.bands[b] = append(l.bands[b], bandEntry{h, uint32(i)})
		}
	}
	for _, band := range l.bands {
		slices.SortFunc(band, func(a, b bandEntry) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.set, b.set)) })
	}
	return l
}

// signature returns the hash of each band.
func (l *lsh) signature(set []uint64) []uint64 {
	keys := make([]uint64, len(l.bands))
	for i, mul := range l.mul {
		least := uint64(math.MaxUint64)
		for _, h := range set {
			x := h * mul
			least = min(least, x^x>>32)
		}
		b := i / l.rows
		x := splitmix(keys[b] ^ least)
		keys[b] = x.next()
	}
	return keys
}

// near returns the candidates for a signature, without duplicates.
func (l *lsh) near(signature []uint64) (sets []uint32) {
	l.query++
	for b, h := range signature {
		band := l.bands[b]
		i := interpolate(band, h)
		for ; i < len(band) && band[i].hash == h; i++ {
			if s := band[i].set; l.seen[s] != l.query {
				l.seen[s] = l.query
				sets = append(sets, s)
			}
		}
	}
	return sets
}

// interpolate returns the first entry with a hash of at least h. As hashes are uniform, it starts
// near the expected position.
func interpolate(band []bandEntry, h uint64) int {
	const around = 512
	guess := int(float64(h) / (1 << 64) * float64(len(band)))
	lo, hi := max(guess-around, 0), min(guess+around, len(band))
	if lo > 0 && band[lo-1].hash >= h {
		lo = 0
	}
	if hi < len(band) && band[hi].hash < h {
		hi = len(band)
	}
	i, _ := slices.BinarySearchFunc(band[lo:hi], h, func(e bandEntry, h uint64) int { return cmp.Compare(e.hash, h) })
	return lo + i
}
