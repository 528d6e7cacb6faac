package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// avx2 is the state of one kernel. A vector has four words.
type avx2 struct {
	mixed              bool
	add                Mem // addend for mix
	bit                VecVirtual
	x, counts          Register
	one, two, four, ei VecVirtual // running sums of weight 1, 2, 4, 8
	acc                Mem        // eight vectors: byte i of vector b counts bit b of byte i, for each of four words
}

// countAVX2 emits a kernel that counts the 64*blocks words at x and, unless it is nil, the 64 words
// at tail. If mixed is true, it applies mix to the words. It only needs AVX2.
func countAVX2(name string, mixed bool) {
	signature := "func(counts *[64]uint32, x *uint64, blocks int, tail *[64]uint64)"
	doc := name + " adds positional counts of 64*blocks words, blocks <= 254, and of tail unless it is nil."
	if mixed {
		signature = "func(counts *[64]uint32, x *uint64, blocks int, tail *[64]uint64, add uint64)"
		doc = name + " adds positional counts of mix(h+add) like countAVX2."
	}
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(doc)
	k := newAVX2(mixed)
	blocks := Load(Param("blocks"), GP64())
	tail := Load(Param("tail"), GP64())
	TESTQ(blocks, blocks)
	JZ(LabelRef("tail"))

	Label("block")
	k.block()
	ADDQ(U32(16*32), k.x)
	DECQ(blocks)
	JNZ(LabelRef("block"))

	Comment("The tail is one more block, once.")
	Label("tail")
	TESTQ(tail, tail)
	JZ(LabelRef("done"))
	MOVQ(tail, k.x)
	XORQ(tail, tail)
	MOVQ(U32(1), blocks)
	JMP(LabelRef("block"))

	Label("done")
	k.finish()
	VZEROUPPER()
	RET()
}

// newAVX2 loads the arguments and clears the counters.
func newAVX2(mixed bool) *avx2 {
	k := &avx2{mixed: mixed, bit: YMM(), acc: AllocLocal(8 * 32)}
	k.counts = Load(Param("counts"), GP64())
	k.x = Load(Param("x"), GP64())
	if mixed {
		k.add = AllocLocal(32)
		v := YMM()
		broadcast("add", v)
		VMOVDQU(v, k.add)
	}
	VMOVDQU(repeated("lowbits", 0x0101010101010101), k.bit)
	for _, v := range []*VecVirtual{&k.one, &k.two, &k.four, &k.ei} {
		*v = YMM()
		VPXOR(*v, *v, *v)
	}
	for b := range 8 {
		VMOVDQU(k.one, k.acc.Offset(32*b))
	}
	return k
}

// loadAt returns vector i of a block, after mix if the kernel is mixed.
func (k *avx2) loadAt(i int) VecVirtual {
	v := YMM()
	VMOVDQU(Mem{Base: k.x, Disp: 32 * i}, v)
	if !k.mixed {
		return v
	}
	t := YMM()
	VPADDQ(k.add, v, v)
	VPSRLQ(U8(30), v, t)
	VPXOR(t, v, v)
	k.mul(v, "mul1", mul1)
	VPSRLQ(U8(27), v, t)
	VPXOR(t, v, v)
	k.mul(v, "mul2", mul2)
	VPSRLQ(U8(31), v, t)
	VPXOR(t, v, v)
	return v
}

// mul multiplies four words by a constant: with v = hi*2^32+lo, and c likewise, the product is
// lo*c.lo + (hi*c.lo + lo*c.hi) << 32.
func (k *avx2) mul(v VecVirtual, name string, c uint64) {
	low, high := repeated(name+"low", c&0xffffffff), repeated(name+"high", c>>32)
	cross, t := YMM(), YMM()
	VPSRLQ(U8(32), v, cross)
	VPMULUDQ(low, cross, cross)
	VPMULUDQ(high, v, t)
	VPADDQ(t, cross, cross)
	VPSLLQ(U8(32), cross, cross)
	VPMULUDQ(low, v, v)
	VPADDQ(cross, v, v)
}

// csa adds a and b to sum and returns the carry.
func (k *avx2) csa(sum, a, b VecVirtual) VecVirtual {
	carry, u := YMM(), YMM()
	VPXOR(a, sum, u)
	VPAND(a, sum, carry)
	VPXOR(b, u, sum)
	VPAND(b, u, u)
	VPOR(u, carry, carry)
	return carry
}

// block counts sixteen vectors with a tree of adders. The carry of weight 16 is added to the byte
// counters bit by bit.
func (k *avx2) block() {
	sixteen := adders(k.loadAt, k.csa, [4]VecVirtual{k.one, k.two, k.four, k.ei})
	for b := range 8 {
		t := k.bits(sixteen, b)
		VPADDB(k.acc.Offset(32*b), t, t)
		VMOVDQU(t, k.acc.Offset(32*b))
	}
}

// bits returns bit b of every byte of v.
func (k *avx2) bits(v VecVirtual, b int) VecVirtual {
	t := YMM()
	if b == 0 {
		VPAND(k.bit, v, t)
		return t
	}
	VPSRLW(U8(b), v, t)
	VPAND(k.bit, t, t)
	return t
}

// finish adds everything to the counts: 16 times the byte counters, and the running sums. The sums
// over the four words fit into 16 bits (4*(16*255+15)). Row b of the eight vectors of 16-bit
// counters belongs to the positions 8*i+b, so the rows are transposed before they are added.
func (k *avx2) finish() {
	var rows [8]VecVirtual
	zero := YMM()
	sums := AllocLocal(8 * 16)
	VPXOR(zero, zero, zero)
	for b := range 8 {
		rest := k.bits(k.ei, b)
		for _, v := range []VecVirtual{k.four, k.two, k.one} {
			VPADDB(rest, rest, rest)
			VPADDB(k.bits(v, b), rest, rest)
		}
		acc := YMM()
		VMOVDQU(k.acc.Offset(32*b), acc)
		s := k.fold(acc, zero)
		VPSLLW(U8(4), s, s)
		VPADDW(k.fold(rest, zero), s, s)
		high := XMM()
		VEXTRACTI128(U8(1), s, high)
		VPADDW(high, s.AsX(), high)
		VMOVDQU(high, sums.Offset(16*b))
	}
	for b := range rows {
		rows[b] = XMM()
		VMOVDQU(sums.Offset(16*b), rows[b])
	}
	for i, r := range transposeWords(rows) {
		wide := YMM()
		m := Mem{Base: k.counts, Disp: 32 * i}
		VPMOVZXWD(r, wide)
		VPADDD(m, wide, wide)
		VMOVDQU(wide, m)
	}
}

// fold adds the two words of each half of v, with bytes widened to 16 bits.
func (k *avx2) fold(v, zero VecVirtual) VecVirtual {
	low, high := YMM(), YMM()
	VPUNPCKLBW(zero, v, low)
	VPUNPCKHBW(zero, v, high)
	VPADDW(high, low, low)
	return low
}

// transposeWords transposes an 8x8 matrix of 16-bit integers.
func transposeWords(r [8]VecVirtual) [8]VecVirtual {
	var s [8]VecVirtual
	for i := range 4 {
		s[2*i], s[2*i+1] = XMM(), XMM()
		VPUNPCKLWD(r[2*i+1], r[2*i], s[2*i])
		VPUNPCKHWD(r[2*i+1], r[2*i], s[2*i+1])
	}
	var t [8]VecVirtual
	for i := range 2 {
		for j := range 2 {
			a, b := s[4*i+j], s[4*i+j+2]
			low, high := XMM(), XMM()
			VPUNPCKLDQ(b, a, low)
			VPUNPCKHDQ(b, a, high)
			t[4*i+2*j], t[4*i+2*j+1] = low, high
		}
	}
	var u [8]VecVirtual
	for i := range 4 {
		u[2*i], u[2*i+1] = XMM(), XMM()
		VPUNPCKLQDQ(t[i+4], t[i], u[2*i])
		VPUNPCKHQDQ(t[i+4], t[i], u[2*i+1])
	}
	return u
}
