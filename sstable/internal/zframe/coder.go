package zframe

import "math/bits"

const (
	symbols = 64 // no symbol is larger
	// A table has 1<<leastLog states, so that every symbol may have one, to 1<<mostLog.
	leastLog = 6
	mostLog  = 8
)

// A coder writes symbols by finite state entropy (tANS; Duda, arXiv:1311.2540): each symbol has as
// many states as is its share, and the number of bits that a symbol takes depends on how many.
type coder struct {
	log    uint // of the number of states; 0 if there is one symbol, which takes no bits
	used   int  // the greatest symbol, and one
	counts [symbols]uint32
	shares [symbols]uint16
	next   [1 << mostLog]uint16 // states plus 1<<log, by symbol
	change [symbols]change
}

// A change says how a symbol changes the state.
type change struct {
	bits uint32 // added to a state, it gives the number of bits that are written in its upper half
	find int32  // added to the other bits of the state, where the next one is
}

// prepare makes the tables for the n symbols that have been counted.
func (c *coder) prepare(n int) {
	c.used = symbols
	for c.counts[c.used-1] == 0 {
		c.used--
	}
	if c.counts[c.used-1] == uint32(n) {
		c.log, c.next[0], c.change[c.used-1] = 0, 0, change{}
		return
	}
	c.log = uint(min(max(bits.Len(uint(n))-2, leastLog), mostLog))
	c.share(n)
	c.build()
}

// share sets shares, of 1<<log together, at least 1 of each symbol that occurs.
func (c *coder) share(n int) {
	left, most := 1<<c.log, 0
	scale := uint64(1) << (c.log + 32) / uint64(n)
	for s, count := range c.counts[:c.used] {
		c.shares[s] = 0
		if count > 0 {
			c.shares[s] = max(uint16((uint64(count)*scale+1<<31)>>32), 1)
		}
		left -= int(c.shares[s])
		if c.shares[s] > c.shares[most] {
			most = s
		}
	}
	for left < 0 { // those of rare symbols are taken from the largest, which stays the largest, or nearly
		take := min(-left, max(int(c.shares[most])/4, 1))
		c.shares[most] -= uint16(take)
		left += take
		for s, share := range c.shares[:c.used] {
			if share > c.shares[most] {
				most = s
			}
		}
	}
	c.shares[most] += uint16(left)
}

// build spreads the symbols over the states, as the format has it, and makes next and change.
func (c *coder) build() {
	size := 1 << c.log
	var spread [1 << mostLog]uint8
	at, step := 0, size>>1+size>>3+3
	for s, share := range c.shares[:c.used] {
		for range share {
			spread[at] = uint8(s)
			at = (at + step) & (size - 1)
		}
	}
	var places [symbols]uint16
	sum := uint16(0)
	for s, share := range c.shares[:c.used] {
		places[s] = sum
		if share > 0 { // bits that are written: log - log2(share), rounded up or down
			most := uint32(c.log)
			if share > 1 {
				most -= uint32(bits.Len16(share-1)) - 1
			}
			c.change[s] = change{most<<16 - uint32(share)<<most, int32(sum) - int32(share)}
		}
		sum += share
	}
	for i, s := range spread[:size] {
		p := &places[s%symbols]
		c.next[*p] = uint16(size + i)
		*p++
	}
}

// first returns a state of a symbol, with which a stream begins.
func (c *coder) first(symbol uint8) uint32 {
	if c.log == 0 {
		return 0
	}
	t := c.change[symbol%symbols]
	n := (t.bits + 1<<15) >> 16
	return uint32(c.next[uint8(int32((n<<16-t.bits)>>n)+t.find)])
}

// step returns the state behind a symbol, and the n bits that say which one was before.
func (c *coder) step(state uint32, symbol uint8) (next uint32, written uint64, n uint) {
	t := c.change[symbol%symbols]
	n = uint((state+t.bits)>>16) & 31
	return uint32(c.next[uint8(int32(state>>n)+t.find)]), uint64(state & (1<<n - 1)), n
}

// mode says how the table is written: by its only symbol, or by shares.
func (c *coder) mode() uint8 {
	if c.log == 0 {
		return 1
	}
	return 2
}

// appendTable appends the table: the symbol, or 4 bits for log - 5, and shares until all are given
// out. A share is written as share + 1, which is at most the number of those left, with one bit
// less where that is enough. Behind a share of 0 the number of the zeros that follow is written in
// digits of 2 bits, of which 3 says that another one follows.
func (c *coder) appendTable(dst []byte) []byte {
	if c.log == 0 {
		return append(dst, uint8(c.used-1))
	}
	w := shortStream{dst: dst}
	w.add(uint64(c.log-5), 4)
	left := uint64(1)<<c.log + 1
	for s := 0; left > 1; {
		value := uint64(c.shares[s]) + 1
		s++
		n := uint(bits.Len64(left))
		half := uint64(1) << (n - 1)
		short := 2*half - 1 - left // values below are written in one bit less
		switch {
		case value < short:
			w.add(value, n-1)
		case value < half:
			w.add(value, n)
		default:
			w.add(value+short, n)
		}
		left -= value - 1
		if value > 1 {
			continue
		}
		zeros := s
		for c.shares[s] == 0 {
			s++
		}
		for zeros = s - zeros; zeros >= 3; zeros -= 3 {
			w.add(3, 2)
		}
		w.add(uint64(zeros), 2)
	}
	return w.end()
}

// A shortStream appends few bits.
type shortStream struct {
	dst  []byte
	bits uint64
	n    uint
}

func (w *shortStream) add(v uint64, n uint) {
	w.bits |= v << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.dst = append(w.dst, byte(w.bits))
		w.bits >>= 8
	}
}

func (w *shortStream) end() []byte {
	if w.n == 0 {
		return w.dst
	}
	return append(w.dst, byte(w.bits))
}
