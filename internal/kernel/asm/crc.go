package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// crc512 emits crcAVX512. Gopal et al., Fast CRC Computation for Generic Polynomials Using
// PCLMULQDQ Instruction (Intel, 2009): a lane of 128 bits that is d bits before another one is
// replaced by its two halves times x^(d+32) and x^(d-32) modulo the polynomial, and added to it.
// Four registers are folded 256 bytes ahead at a time, which hides the latency of the products.
// Then they are folded into one register, this into one lane, and the CRC32C instruction reduces
// the lane.
func crc512() {
	far, near, lanes := foldBy("crcFar", 2048, 2048, 2048, 2048), foldBy("crcNear", 512, 512, 512, 512), foldBy("crcLanes", 384, 256, 128, 0)
	TEXT("crcAVX512", NOSPLIT, "func(p *byte, n int, state uint32) uint32")
	Pragma("noescape")
	Doc("crcAVX512 returns the state of a CRC32C, which is its inverse, after the n bytes at p, given the",
		"state before; n must be at least 256.")
	p, n := Load(Param("p"), GP64()), Load(Param("n"), GP64())
	state := GP64()
	XORL(state.As32(), state.As32())
	Load(Param("state"), state.As32())

	var z [4]VecVirtual
	for i := range z {
		z[i] = ZMM()
		VMOVDQU64(Mem{Base: p, Disp: 64 * i}, z[i])
	}
	first := XMM()
	VMOVQ(state, first)
	VPXORQ(first.AsZ(), z[0], z[0])
	k := ZMM()
	VMOVDQU64(far, k)
	ADDQ(U32(256), p)
	SUBQ(U32(256), n)
	CMPQ(n, U32(256))
	JB(LabelRef("joined"))
	Label("far")
	for i := range z {
		fold(z[i], k, Mem{Base: p, Disp: 64 * i})
	}
	ADDQ(U32(256), p)
	SUBQ(U32(256), n)
	CMPQ(n, U32(256))
	JAE(LabelRef("far"))

	Label("joined")
	VMOVDQU64(near, k)
	for i := 1; i < len(z); i++ {
		fold(z[0], k, z[i])
	}
	CMPQ(n, Imm(64))
	JB(LabelRef("lanes"))
	Label("near")
	fold(z[0], k, Mem{Base: p})
	ADDQ(Imm(64), p)
	SUBQ(Imm(64), n)
	CMPQ(n, Imm(64))
	JAE(LabelRef("near"))

	Label("lanes")
	reduce(z[0], k, lanes, state)
	crcBytes(p, n, state)
	Store(state.As32(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// reduce sets state to the checksum of the four lanes of z.
func reduce(z, k VecVirtual, lanes Mem, state GPVirtual) {
	last, high, low := XMM(), ZMM(), ZMM()
	VEXTRACTI64X2(Imm(3), z, last)
	VMOVDQU64(lanes, k)
	VPCLMULQDQ(Imm(0), k, z, low)
	VPCLMULQDQ(Imm(0x11), k, z, high)
	VPXORQ(high, low, low)
	for lane := range 3 {
		part := XMM()
		VEXTRACTI64X2(Imm(uint64(lane)), low, part)
		VPXORQ(part, last, last)
	}
	half := GP64()
	XORL(state.As32(), state.As32())
	VMOVQ(last, half)
	CRC32Q(half, state)
	VPEXTRQ(Imm(1), last, half)
	CRC32Q(half, state)
}

// crcBytes adds the n bytes at p to state.
func crcBytes(p, n Register, state GPVirtual) {
	TESTQ(n, n)
	JZ(LabelRef("done"))
	CMPQ(n, Imm(8))
	JB(LabelRef("bytes"))
	Label("words")
	CRC32Q(Mem{Base: p}, state)
	ADDQ(Imm(8), p)
	SUBQ(Imm(8), n)
	CMPQ(n, Imm(8))
	JAE(LabelRef("words"))
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("bytes")
	CRC32B(Mem{Base: p}, state.As32())
	INCQ(p)
	DECQ(n)
	JNZ(LabelRef("bytes"))
	Label("done")
}

// fold moves z forward by the distance of k, and adds next.
func fold(z, k VecVirtual, next Op) {
	high := ZMM()
	VPCLMULQDQ(Imm(0x11), k, z, high)
	VPCLMULQDQ(Imm(0), k, z, z)
	VPTERNLOGQ(Imm(0x96), next, high, z) // XOR of all three
}

// foldBy returns the factors that move each of four lanes forward by a number of bits; 0 drops a
// lane.
func foldBy(name string, by ...int) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, d := range by {
		var low, high uint64
		if d > 0 {
			low, high = power(d+32), power(d-32)
		}
		DATA(16*i, U64(low))
		DATA(16*i+8, U64(high))
	}
	return m
}

// power returns x^n modulo the polynomial with its bits reversed and shifted by one, as the product
// of two reversed numbers requires.
func power(n int) uint64 {
	const polynomial = 0x1edc6f41
	v := uint32(1)
	for range n {
		top := v >> 31
		if v <<= 1; top > 0 {
			v ^= polynomial
		}
	}
	return uint64(bits.Reverse32(v)) << 1
}
