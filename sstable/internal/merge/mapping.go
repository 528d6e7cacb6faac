package merge

import (
	"math/bits"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
)

// A Mapping maps the numbers of an input, 0..n-1, to numbers that do not descend: those that
// merging gave them. It is an Elias-Fano code (Elias, J. ACM 1974; Vigna, WSDM 2013): of k inputs
// of equal sizes an element takes 2 + log2 k bits. It is filled in order, and then read by any
// number of goroutines.
type Mapping struct {
	width  uint     // of the low bits
	low    []uint64 // packed
	high   []uint64 // for each element a one at bit high part + its number
	sample []uint64 // of every sampled-th element, the bit of high that is its one
	n      uint32

	// apart reports that not every number is mapped to one more than the number before it. If it is
	// false, as of ranks of tables that were written one after the other, the first says all.
	apart bool
	first uint32
}

const sampled = 128

// NewMapping returns a mapping with room for n numbers, to numbers less than limit.
func NewMapping(n, limit uint32) *Mapping {
	m := &Mapping{}
	if n == 0 {
		return m
	}
	if limit > n {
		m.width = uint(bits.Len32(limit/n) - 1)
	}
	m.low = make([]uint64, (uint64(n)*uint64(m.width)+63)/64+1)
	m.high = make([]uint64, (uint64(n)+uint64(limit)>>m.width)/64+1)
	m.sample = make([]uint64, 0, n/sampled+1)
	return m
}

// Append maps the next number to v, which is not less than the one before, and less than the limit.
func (m *Mapping) Append(v uint32) {
	if m.n == 0 {
		m.first = v
	}
	m.apart = m.apart || v != m.first+m.n
	bit := uint64(v)>>m.width + uint64(m.n)
	if m.n%sampled == 0 {
		m.sample = append(m.sample, bit)
	}
	m.high[bit>>6] |= 1 << (bit & 63)
	if m.width > 0 {
		at := uint64(m.n) * uint64(m.width)
		low := uint64(v) & (1<<m.width - 1)
		m.low[at>>6] |= low << (at & 63)
		if used := at & 63; used+uint64(m.width) > 64 {
			m.low[at>>6+1] |= low >> (64 - used)
		}
	}
	m.n++
}

// Len returns how many numbers have been mapped.
func (m *Mapping) Len() uint32 { return m.n }

// Get returns what i is mapped to; i is less than Len.
func (m *Mapping) Get(i uint32) uint32 {
	if !m.apart {
		return m.first + i
	}
	first := m.sample[i/sampled]
	word, rank := first>>6, int(i%sampled)
	w := m.high[word] & (^uint64(0) << (first & 63))
	for {
		ones := bits.OnesCount64(w)
		if rank < ones {
			break
		}
		rank -= ones
		word++
		w = m.high[word]
	}
	high := word<<6 + uint64(kernel.Select(w, rank)) - uint64(i)
	if m.width == 0 {
		return uint32(high)
	}
	at := uint64(i) * uint64(m.width)
	low := m.low[at>>6] >> (at & 63)
	if used := at & 63; used+uint64(m.width) > 64 {
		low |= m.low[at>>6+1] << (64 - used)
	}
	return uint32(high<<m.width | low&(1<<m.width-1))
}

// together is how many numbers GetAll looks up together.
const together = 64

// GetAll replaces each of the numbers by what it is mapped to. Numbers in no order cost a cache
// miss or three each, as mappings are large: those of many numbers overlap.
func (m *Mapping) GetAll(numbers []uint32) {
	if !m.apart {
		for j, i := range numbers {
			numbers[j] = m.first + i
		}
		return
	}
	for len(numbers) > 0 {
		some := numbers[:min(together, len(numbers))]
		numbers = numbers[len(some):]
		for _, i := range some {
			kernel.PrefetchAt(unsafe.Pointer(&m.sample[i/sampled]), 8)
			kernel.PrefetchAt(unsafe.Pointer(&m.low[uint64(i)*uint64(m.width)>>6]), 8)
		}
		for _, i := range some {
			// About where the one is, if they are evenly apart up to the next sampled one.
			word := m.sample[i/sampled] >> 6
			if next := int(i/sampled) + 1; next < len(m.sample) {
				word += (m.sample[next]>>6 - word) * uint64(i%sampled) / sampled
			}
			kernel.PrefetchAt(unsafe.Pointer(&m.high[word]), 8)
		}
		for j, i := range some {
			some[j] = m.Get(i)
		}
	}
}
