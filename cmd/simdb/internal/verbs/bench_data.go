package verbs

import "math/bits"

// splitMix is the SplitMix64 generator.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += splitMixStep
	return mix(uint64(*s))
}

const splitMixStep = 0x9e3779b97f4a7c15

// mix is the output function of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// flip returns x with 1 to 3 bits flipped.
func (s *splitMix) flip(x uint64) uint64 {
	n := 1 + int(s.next()%3)
	for y := x; ; {
		if y ^= 1 << (s.next() % 64); bits.OnesCount64(x^y) == n {
			return y
		}
	}
}

// fingerprint returns fingerprint i: a uniform one, or after all of these a copy. They are not
// kept, so that half a billion take no memory.
func (b *bench) fingerprint(i int) uint64 {
	if n := int(b.c.N); i >= n {
		rng := splitMix(i)
		return rng.flip(b.fingerprint((i - n) * 10))
	}
	return mix(42 + splitMixStep*uint64(i+1))
}

// query returns the i-th query: every other one is near a stored fingerprint.
func (b *bench) query(i int) uint64 {
	if i%2 == 0 {
		return b.rng.flip(b.fingerprint(int(b.rng.next() % uint64(b.n))))
	}
	return b.rng.next()
}
