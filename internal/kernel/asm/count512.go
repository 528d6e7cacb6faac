package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Truth tables of VPTERNLOGQ for the two outputs of a full adder.
const (
	ternSum   = 0x96 // a ^ b ^ c
	ternCarry = 0xe8 // majority of a, b, c
)

// blocksAVX512 is the number of blocks of 128 words after which byte counters could overflow: each
// block adds at most 8 to a byte.
const blocksAVX512 = 31

// avx512 is the state of one kernel. A vector has eight words.
type avx512 struct {
	mixed              bool       // count mix(h+add) for the words h of x
	add, mul1, mul2    VecVirtual // constants of mix
	index, identity    VecVirtual // constants of positions
	x, n, counts       Register
	one, two, four, ei VecVirtual // running sums of weight 1, 2, 4, 8
	acc                VecVirtual // one byte counter for each position
}

// beginCount starts a kernel function.
func beginCount(name string, mixed bool) {
	signature := "func(counts *[64]uint32, x *uint64, n int)"
	doc := name + " adds positional counts of n words."
	if mixed {
		signature = "func(counts *[64]uint32, x *uint64, n int, add uint64)"
		doc = name + " adds positional counts of mix(h+add) for n words h."
	}
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(doc)
}

// countAVX512 emits a kernel that counts n words at x. It needs AVX-512 F, BW, DQ, VL, VBMI, BITALG
// and GFNI, and BMI2.
func countAVX512(name string, mixed bool) {
	beginCount(name, mixed)
	k := newAVX512(mixed)

	Comment("Fewer than 128 words: no adders.")
	VPXORQ(k.acc, k.acc, k.acc)
	CMPQ(k.n, U32(128))
	JLT(LabelRef("rest"))
	for _, v := range []VecVirtual{k.one, k.two, k.four, k.ei} {
		VPXORQ(v, v, v)
	}

	Label("outer")
	blocks := GP64()
	MOVQ(U32(blocksAVX512), blocks)
	Label("block")
	k.block()
	SUBQ(U32(128), k.n)
	CMPQ(k.n, U32(128))
	JLT(LabelRef("flush"))
	DECQ(blocks)
	JNZ(LabelRef("block"))

	Comment("Add the byte counters, of weight 16, to the counts.")
	Label("flush")
	k.flush(4)
	VPXORQ(k.acc, k.acc, k.acc)
	CMPQ(k.n, U32(128))
	JGE(LabelRef("outer"))

	Comment("What the running sums hold, at most 8*15 a position, by Horner's rule.")
	for _, v := range []VecVirtual{k.ei, k.four, k.two, k.one} {
		VPADDB(k.acc, k.acc, k.acc)
		k.positions(v)
	}

	Comment("Fewer than 128 words are left: at most 127 a position, 247 altogether.")
	Label("rest")
	SUBQ(U8(8), k.n)
	JLT(LabelRef("partial"))
	Label("vector")
	v := k.load(0)
	k.advance(1)
	k.positions(v)
	SUBQ(U8(8), k.n)
	JGE(LabelRef("vector"))

	Label("partial")
	ADDQ(U8(8), k.n)
	JZ(LabelRef("done"))
	k.partial()

	Label("done")
	k.flush(0)
	VZEROUPPER()
	RET()
}

// newAVX512 loads the arguments and constants.
func newAVX512(mixed bool) *avx512 {
	k := &avx512{mixed: mixed}
	for _, v := range []*VecVirtual{&k.index, &k.identity, &k.one, &k.two, &k.four, &k.ei, &k.acc} {
		*v = ZMM()
	}
	k.counts = Load(Param("counts"), GP64())
	k.x = Load(Param("x"), GP64())
	k.n = Load(Param("n"), GP64())
	VMOVDQU64(byteTranspose(), k.index)
	VPBROADCASTQ(qword("identity", 0x8040201008040201), k.identity)
	if mixed {
		k.add, k.mul1, k.mul2 = ZMM(), ZMM(), ZMM()
		broadcast("add", k.add)
		VPBROADCASTQ(qword("mul1", mul1), k.mul1)
		VPBROADCASTQ(qword("mul2", mul2), k.mul2)
	}
	return k
}

// load returns vector i from the current position, after mix if the kernel is mixed.
func (k *avx512) load(i int) VecVirtual {
	v := ZMM()
	m := Mem{Base: k.x, Disp: 64 * i}
	if k.mixed {
		VPADDQ(m, k.add, v)
		k.mix(v)
	} else {
		VMOVDQU64(m, v)
	}
	return v
}

// advance advances by n vectors.
func (k *avx512) advance(n int) { ADDQ(U32(64*n), k.x) }

// mix is the finaliser of SplitMix64.
func (k *avx512) mix(v VecVirtual) {
	t := ZMM()
	VPSRLQ(U8(30), v, t)
	VPXORQ(t, v, v)
	VPMULLQ(k.mul1, v, v)
	VPSRLQ(U8(27), v, t)
	VPXORQ(t, v, v)
	VPMULLQ(k.mul2, v, v)
	VPSRLQ(U8(31), v, t)
	VPXORQ(t, v, v)
}

// csa adds a and b to sum and returns the carry.
func (k *avx512) csa(sum, a, b VecVirtual) VecVirtual {
	carry := ZMM()
	VMOVDQA64(sum, carry)
	VPTERNLOGQ(U8(ternCarry), a, b, carry)
	VPTERNLOGQ(U8(ternSum), a, b, sum)
	return carry
}

// block counts sixteen vectors with a tree of adders. The carry of weight 16 is added to the byte
// counters.
func (k *avx512) block() {
	sixteen := adders(k.load, k.csa, [4]VecVirtual{k.one, k.two, k.four, k.ei})
	k.advance(16)
	k.positions(sixteen)
}

// adders adds sixteen vectors to the running sums of weight 1, 2, 4 and 8 with a tree of adders. It
// returns the carry of weight 16.
func adders(load func(i int) VecVirtual, csa func(sum, a, b VecVirtual) VecVirtual, sums [4]VecVirtual) VecVirtual {
	next := 0
	var tree func(level int) VecVirtual
	tree = func(level int) VecVirtual {
		if level < 0 {
			next++
			return load(next - 1)
		}
		a, b := tree(level-1), tree(level-1)
		return csa(sums[level], a, b)
	}
	return tree(3)
}

// positions adds to the byte counter of each position the number of words of v, out of eight, that
// have its bit set. It transposes the bytes of v, so that lane i has byte i of all words.
// Multiplying the identity by the lane as an 8x8 bit matrix then collects bit b of all these bytes
// in byte b.
func (k *avx512) positions(v VecVirtual) {
	t := ZMM()
	VPERMB(v, k.index, t)
	VGF2P8AFFINEQB(U8(0), t, k.identity, t)
	VPOPCNTB(t, t)
	VPADDB(t, k.acc, k.acc)
}

// partial counts the last n < 8 words.
func (k *avx512) partial() {
	bits := GP32()
	ones := GP32()
	MOVL(I32(-1), ones)
	BZHIL(k.n.(GPVirtual).As32(), ones, bits)
	mask := K()
	KMOVW(bits, mask)
	v := ZMM()
	VMOVDQU64_Z(Mem{Base: k.x}, mask, v)
	if k.mixed {
		VPADDQ(k.add, v, v)
		k.mix(v)
		VMOVDQA64_Z(v, mask, v)
	}
	k.positions(v)
}

// flush adds the byte counters, shifted left, to the 64 counts.
func (k *avx512) flush(shift int) {
	for i := range 4 {
		part := k.acc.AsX()
		if i > 0 {
			part = XMM()
			VEXTRACTI32X4(U8(i), k.acc, part)
		}
		wide := ZMM()
		VPMOVZXBD(part, wide)
		if shift > 0 {
			VPSLLD(U8(shift), wide, wide)
		}
		m := Mem{Base: k.counts, Disp: 64 * i}
		VPADDD(m, wide, wide)
		VMOVDQU32(wide, m)
	}
}
