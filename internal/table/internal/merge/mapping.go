package merge

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
)

// A Mapping maps the numbers of an input, 0..n-1, to ascending (or equal) numbers in the result. It
// is filled in order; afterwards any number of goroutines may read it.
//
// As long as each number is mapped to one more than its predecessor, as the ranks of tables that
// were written one after the other, only the first result is stored. Otherwise one of two codes is
// used. If the results are less than nearGap apart on average, and not more than mostNear, each
// group of groupLen numbers occupies 16 bytes, so that a look-up costs one cache miss. If not, the
// mapping is an Elias-Fano code, which is smaller but costs three.
type Mapping struct {
	n, capacity, limit uint32
	first              uint32
	apart              bool // false while each number is mapped to one more than its predecessor

	groups []group
	now    [groupLen]uint32 // results of the current group
	far    []uint32         // results of groups in which some difference needs more than a byte

	*eliasFano // nil if there are groups
}

const (
	groupLen = 12
	nearGap  = 8
	mostNear = 1 << 26 // so that groups need at most 90 MB
)

// A group has the results of groupLen numbers:
//
//	+------------+-------------+------------------------------------------+
//	| result   4 | place     1 | differences from it              11 x 1  |
//	+------------+-------------+------------------------------------------+
//
// Place is normally 0. If it is inFar, result is a position in far, where the results are stored.
type group struct {
	first uint32
	place uint8
	more  [groupLen - 1]uint8
}

const inFar = 1

// NewMapping returns a mapping for up to n numbers, to numbers less than limit.
func NewMapping(n, limit uint32) *Mapping { return &Mapping{capacity: n, limit: limit} }

// Append maps the next number to v, which must not be less than the last result, and less than the
// limit.
func (m *Mapping) Append(v uint32) {
	if !m.apart {
		if m.n == 0 {
			m.first = v
		}
		if v == m.first+m.n {
			m.n++
			return
		}
		m.part()
	}
	m.append(v)
}

// AppendRun maps the next n numbers to v, v+1 and so on.
func (m *Mapping) AppendRun(v, n uint32) {
	if !m.apart && n > 0 && (m.n == 0 || v == m.first+m.n) {
		if m.n == 0 {
			m.first = v
		}
		m.n += n
		return
	}
	for i := range n {
		m.Append(v + i)
	}
}

// part creates the code, from the results so far.
func (m *Mapping) part() {
	m.apart = true
	if m.limit <= mostNear && m.limit/nearGap < m.capacity {
		m.groups = make([]group, 0, m.capacity/groupLen+1)
	} else {
		m.eliasFano = newEliasFano(m.capacity, m.limit)
	}
	n := m.n
	m.n = 0
	for i := range n {
		m.append(m.first + i)
	}
}

func (m *Mapping) append(v uint32) {
	if m.eliasFano != nil {
		m.eliasFano.append(m.n, v)
		m.n++
		return
	}
	at := m.n % groupLen
	if at == 0 {
		m.groups = append(m.groups, group{first: v})
	}
	m.now[at] = v
	m.n++
	g := &m.groups[len(m.groups)-1]
	switch d := v - m.now[0]; {
	case at == 0:
	case g.place == inFar:
		m.far = append(m.far, v)
	case d < 1<<8:
		g.more[at-1] = uint8(d)
	default:
		g.place, g.first = inFar, uint32(len(m.far))
		m.far = append(m.far, m.now[:at+1]...)
	}
}

// Len returns the number of mapped numbers.
func (m *Mapping) Len() uint32 { return m.n }

// Get returns the result for i; i must be less than Len.
func (m *Mapping) Get(i uint32) uint32 {
	switch {
	case !m.apart:
		return m.first + i
	case m.eliasFano != nil:
		return m.eliasFano.get(i)
	}
	return m.inGroup(i)
}

// inGroup is Get for groups.
func (m *Mapping) inGroup(i uint32) uint32 {
	g, at := &m.groups[i/groupLen], i%groupLen
	if g.place == inFar {
		return m.far[g.first+at]
	}
	if at == 0 {
		return g.first
	}
	return g.first + uint32(g.more[at-1])
}

// together is how many numbers GetAll looks up together.
const together = 64

// GetAll replaces each number by its result. If the numbers are not sorted, each costs cache
// misses, because mappings are large; GetAll lets the misses of many numbers overlap.
func (m *Mapping) GetAll(numbers []uint32) {
	switch {
	case !m.apart:
		for j, i := range numbers {
			numbers[j] = m.first + i
		}
	case m.eliasFano != nil:
		m.eliasFano.getAll(numbers)
	default:
		for some := range slices.Chunk(numbers, together) {
			for _, i := range some {
				kernel.PrefetchAt(unsafe.Pointer(&m.groups[i/groupLen]), 1)
			}
			for j, i := range some {
				some[j] = m.inGroup(i)
			}
		}
	}
}

// eliasFano is an Elias-Fano code (Elias, J. ACM 1974; Vigna, WSDM 2013). With k inputs of equal
// sizes, an element needs 2 + log2 k bits.
type eliasFano struct {
	width  uint     // width of the low bits
	low    []uint64 // packed
	high   []uint64 // for each element, a one at bit (high part + number of the element)
	sample []uint64 // for every sampled-th element, the position of its bit in high
}

const sampled = 128

func newEliasFano(n, limit uint32) *eliasFano {
	m := &eliasFano{}
	if limit > n {
		m.width = uint(bits.Len32(limit/n) - 1)
	}
	m.low = make([]uint64, (uint64(n)*uint64(m.width)+63)/64+1)
	m.high = make([]uint64, (uint64(n)+uint64(limit)>>m.width)/64+1)
	m.sample = make([]uint64, 0, n/sampled+1)
	return m
}

// append adds element i.
func (m *eliasFano) append(i, v uint32) {
	bit := uint64(v)>>m.width + uint64(i)
	if i%sampled == 0 {
		m.sample = append(m.sample, bit)
	}
	m.high[bit>>6] |= 1 << (bit & 63)
	if m.width > 0 {
		at := uint64(i) * uint64(m.width)
		low := uint64(v) & (1<<m.width - 1)
		m.low[at>>6] |= low << (at & 63)
		if used := at & 63; used+uint64(m.width) > 64 {
			m.low[at>>6+1] |= low >> (64 - used)
		}
	}
}

func (m *eliasFano) get(i uint32) uint32 {
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

// getAll is GetAll for this code.
func (m *eliasFano) getAll(numbers []uint32) {
	for some := range slices.Chunk(numbers, together) {
		for _, i := range some {
			kernel.PrefetchAt(unsafe.Pointer(&m.sample[i/sampled]), 8)
			kernel.PrefetchAt(unsafe.Pointer(&m.low[uint64(i)*uint64(m.width)>>6]), 8)
		}
		for _, i := range some {
			// The approximate position of the one, if ones are evenly spaced up to the next sampled
			// one.
			word := m.sample[i/sampled] >> 6
			if next := int(i/sampled) + 1; next < len(m.sample) {
				word += (m.sample[next]>>6 - word) * uint64(i%sampled) / sampled
			}
			kernel.PrefetchAt(unsafe.Pointer(&m.high[word]), 8)
		}
		for j, i := range some {
			some[j] = m.get(i)
		}
	}
}
