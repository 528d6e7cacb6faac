package main

// splitmix is the generator SplitMix64 (Steele, Lea, Flood 2014), so that other languages can
// generate the same fingerprints.
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// flip flips n distinct bits of x.
func (s *splitmix) flip(x uint64, n int) uint64 {
	for seen := uint64(0); n > 0; {
		b := uint64(1) << (s.next() % 64)
		if seen&b == 0 {
			seen |= b
			x ^= b
			n--
		}
	}
	return x
}

// fingerprints returns n uniform fingerprints followed by a copy of every tenth with 1 to 3 bits
// flipped. Documents are numbered by their place. Of the nq queries, those with even numbers are
// stored fingerprints with 1 to 3 bits flipped, the others are uniform.
func fingerprints(n, nq int, seed uint64) (fps, queries []uint64) {
	s := splitmix(seed)
	fps = make([]uint64, 0, n+n/10+1)
	for range n {
		fps = append(fps, s.next())
	}
	for i := 0; i < n; i += 10 {
		fps = append(fps, s.flip(fps[i], 1+int(s.next()%3)))
	}
	for i := range nq {
		x := s.next()
		if i%2 == 0 {
			x = s.flip(fps[x%uint64(len(fps))], 1+int(s.next()%3))
		}
		queries = append(queries, x)
	}
	return fps, queries
}
