package merge

import "math/bits"

// Sources stores, for each element of the result of a merge, its input, in as many bits as the
// number of inputs needs.
type Sources struct {
	width uint
	words []uint64
	n     int
}

// NewSources returns an empty Sources for n elements from the given number of inputs.
func NewSources(n, inputs int) *Sources {
	s := &Sources{width: uint(bits.Len(uint(max(inputs, 1) - 1)))}
	s.words = make([]uint64, (uint64(n)*uint64(s.width)+63)/64+1)
	return s
}

// Append adds the next element.
func (s *Sources) Append(input int) {
	at := uint64(s.n) * uint64(s.width)
	s.words[at>>6] |= uint64(input) << (at & 63)
	if used := at & 63; used+uint64(s.width) > 64 {
		s.words[at>>6+1] |= uint64(input) >> (64 - used)
	}
	s.n++
}

// AppendRun adds the next n elements, which all come from the same input.
func (s *Sources) AppendRun(input, n int) {
	for ; n > 0 && (s.width == 0 || uint64(s.n)*uint64(s.width)&63 != 0 || 64%s.width != 0); n-- {
		s.Append(input)
	}
	if n <= 0 {
		return
	}
	per := 64 / int(s.width) // elements per word
	all := uint64(input) * (^uint64(0) / (1<<s.width - 1))
	for ; n >= per; n -= per {
		s.words[uint64(s.n)*uint64(s.width)>>6] = all
		s.n += per
	}
	for range n {
		s.Append(input)
	}
}

// Len returns the number of elements.
func (s *Sources) Len() int { return s.n }

// Get returns the input of element i.
func (s *Sources) Get(i int) int {
	at := uint64(i) * uint64(s.width)
	v := s.words[at>>6] >> (at & 63)
	if used := at & 63; used+uint64(s.width) > 64 {
		v |= s.words[at>>6+1] << (64 - used)
	}
	return int(v & (1<<s.width - 1))
}

// GetAll sets dst to the inputs of the elements from first on.
func (s *Sources) GetAll(dst []uint32, first int) {
	at, mask := uint64(first)*uint64(s.width), uint64(1)<<s.width-1
	for j := range dst {
		v := s.words[at>>6] >> (at & 63)
		if used := at & 63; used+uint64(s.width) > 64 {
			v |= s.words[at>>6+1] << (64 - used)
		}
		dst[j] = uint32(v & mask)
		at += uint64(s.width)
	}
}
