package kernel

// vertical is a set of 64 bit-sliced counters of 16 bits: bit p of plane l is binary digit l of
// counter p.
type vertical [16]uint64

// verticalMax is the number of words after which a vertical may overflow.
const verticalMax = 1<<16 - 1

// csa is a full adder in every bit position: a+b+c = 2*carry + sum.
func csa(a, b, c uint64) (sum, carry uint64) {
	u := a ^ b
	return u ^ c, a&b | u&c
}

// add counts the words of x. The caller must make sure that no counter exceeds verticalMax.
func (v *vertical) add(x []uint64) {
	for ; len(x) >= 16; x = x[16:] {
		v.add16((*[16]uint64)(x))
	}
	if len(x) > 0 {
		var pad [16]uint64
		copy(pad[:], x)
		v.add16(&pad)
	}
}

// add16 counts sixteen words with a tree of adders, and then adds the carry of weight 16 to the
// upper planes.
func (v *vertical) add16(x *[16]uint64) {
	one, a := csa(v[0], x[0], x[1])
	one, b := csa(one, x[2], x[3])
	two, c := csa(v[1], a, b)
	one, a = csa(one, x[4], x[5])
	one, b = csa(one, x[6], x[7])
	two, d := csa(two, a, b)
	four, e := csa(v[2], c, d)
	one, a = csa(one, x[8], x[9])
	one, b = csa(one, x[10], x[11])
	two, c = csa(two, a, b)
	one, a = csa(one, x[12], x[13])
	one, b = csa(one, x[14], x[15])
	two, d = csa(two, a, b)
	four, f := csa(four, c, d)
	eight, carry := csa(v[3], e, f)
	v[0], v[1], v[2], v[3] = one, two, four, eight
	for l := 4; carry != 0 && l < len(v); l++ {
		v[l], carry = v[l]^carry, v[l]&carry
	}
}

// flush adds the counters to counts. Eight planes are eight rows of 64 bits. Interpreted as bytes,
// and with each 8x8 block of bits transposed, they become the 64 counters with one byte each.
func (v *vertical) flush(counts *[64]uint32) {
	for g := 0; g < len(v); g += 8 {
		rows := (*[8]uint64)(v[g:])
		if g > 0 && rows[0]|rows[1]|rows[2]|rows[3]|rows[4]|rows[5]|rows[6]|rows[7] == 0 {
			continue
		}
		transposeBytes(rows)
		for i, r := range rows {
			r = transposeBits(r)
			c := (*[8]uint32)(counts[8*i:])
			for k := range c {
				c[k] += uint32(byte(r>>(8*k))) << g
			}
		}
	}
}

// transposeBytes transposes an 8x8 matrix of bytes: byte i of row j becomes byte j of row i.
func transposeBytes(r *[8]uint64) {
	for i := range 4 {
		t := (r[i]>>32 ^ r[i+4]) & 0x00000000ffffffff
		r[i], r[i+4] = r[i]^t<<32, r[i+4]^t
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		t := (r[i]>>16 ^ r[i+2]) & 0x0000ffff0000ffff
		r[i], r[i+2] = r[i]^t<<16, r[i+2]^t
	}
	for i := 0; i < 8; i += 2 {
		t := (r[i]>>8 ^ r[i+1]) & 0x00ff00ff00ff00ff
		r[i], r[i+1] = r[i]^t<<8, r[i+1]^t
	}
}

// transposeBits transposes an 8x8 matrix of bits: bit i of byte j becomes bit j of byte i.
func transposeBits(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}

// countGeneric is count in pure Go.
func countGeneric(counts *[64]uint32, x []uint64) {
	for len(x) > 0 {
		n := min(len(x), verticalMax)
		var v vertical
		v.add(x[:n])
		v.flush(counts)
		x = x[n:]
	}
}

// chunk is the number of mixed words that are computed at a time, in a buffer that fits into the
// first-level cache. It is a multiple of 16, the number of words that a tree of adders processes.
const chunk = 512

// countMixedGeneric is countMixed in pure Go.
func countMixedGeneric(counts *[64]uint32, x []uint64, add uint64) {
	var buf [chunk]uint64
	for len(x) > 0 {
		part := x[:min(len(x), verticalMax/chunk*chunk)]
		x = x[len(part):]
		var v vertical
		for len(part) > 0 {
			n := mixWords(&buf, part, add)
			v.add(buf[:n])
			part = part[n:]
		}
		v.flush(counts)
	}
}

// mixWords stores mix(h+add) in buf for as many words h of x as fit, and returns their number.
func mixWords(buf *[chunk]uint64, x []uint64, add uint64) int {
	n := copy(buf[:], x)
	for i, h := range buf[:n] {
		buf[i] = mix(h + add)
	}
	return n
}

// mix is the finaliser of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
