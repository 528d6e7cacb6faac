package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// decode512 emits a decoder with two passes. The first pass converts the unary words into the bit
// numbers of their ones, by compressing the numbers 0..63 under each word. The second pass makes
// eight keys at a time from bit numbers and packed values: key i is base + (bit number - i)<<width
// + low.
func decode512(eight Mem) {
	numbers := GLOBL("numbers", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(i))
	}
	TEXT("decodeAVX512", NOSPLIT, "func(dst *[512]uint64, ones *[640]uint16, unary *byte, words int, packed *byte, l *[128]byte, width, groups int, base, mask uint64)")
	Pragma("noescape")
	Doc("decodeAVX512 stores the keys of groups*8 positions in dst. It ignores unary words after the",
		"512th. ones is a buffer. Keys after the last one are noise.")
	spreadOnes(numbers)
	joinKeys(eight)
	VZEROUPPER()
	RET()
}

// laneIndex returns the numbers 0 to 7 with eight bytes each.
func laneIndex() Mem {
	m := GLOBL("eight", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(i))
	}
	return m
}

// spreadOnes emits the first pass.
func spreadOnes(numbers Mem) {
	ones := Load(Param("ones"), GP64())
	p := Load(Param("unary"), GP64())
	words := Load(Param("words"), GP64())
	limit := GP64()
	LEAQ(Mem{Base: ones, Disp: 2 * 512}, limit)
	bytes, step, at := ZMM(), ZMM(), ZMM()
	VMOVDQU64(numbers, bytes)
	VPXORQ(at, at, at)
	sixtyFour := GP32()
	MOVL(U32(64), sixtyFour)
	VPBROADCASTW(sixtyFour, step)
	Label("word")
	w := GP64()
	MOVQ(Mem{Base: p}, w)
	KMOVQ(w, K1)
	found, low, high := ZMM(), ZMM(), ZMM()
	VPCOMPRESSB_Z(bytes, K1, found)
	VPMOVZXBW(found.AsY(), low)
	VEXTRACTI64X4(Imm(1), found, found.AsY())
	VPMOVZXBW(found.AsY(), high)
	VPADDW(at, low, low)
	VPADDW(at, high, high)
	VMOVDQU64(low, Mem{Base: ones})
	VMOVDQU64(high, Mem{Base: ones, Disp: 64})
	VPADDW(step, at, at)
	POPCNTQ(w, w)
	LEAQ(Mem{Base: ones, Index: w, Scale: 2}, ones)
	CMPQ(ones, limit)
	JA(LabelRef("keys"))
	ADDQ(Imm(8), p)
	DECQ(words)
	JNZ(LabelRef("word"))

	Label("keys")
}

// joinKeys emits the second pass; eight has the numbers 0..7.
func joinKeys(eight Mem) {
	ones := Load(Param("ones"), GP64())
	dst := Load(Param("dst"), GP64())
	packed := Load(Param("packed"), GP64())
	l := Load(Param("l"), GP64())
	width := Load(Param("width"), GP64())
	groups := Load(Param("groups"), GP64())
	shuffle, move, base, mask, index, next := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(Mem{Base: l}, shuffle)
	VMOVDQU64(Mem{Base: l, Disp: 64}, move)
	broadcast("base", base)
	broadcast("mask", mask)
	VMOVDQU64(eight, index)
	count := GP32()
	MOVL(U32(8), count)
	VPBROADCASTQ(count.As64(), next)
	shift := XMM()
	VMOVQ(width, shift)
	Label("group")
	prefix, value := ZMM(), ZMM()
	VPMOVZXWQ(Mem{Base: ones}, prefix)
	VPSUBQ(index, prefix, prefix)
	VPSLLQ(shift, prefix, prefix)
	VPADDQ(base, prefix, prefix)
	VPERMB(Mem{Base: packed}, shuffle, value)
	VPSRLVQ(move, value, value)
	VPTERNLOGQ(Imm(0xf8), mask, value, prefix) // prefix | value & mask
	VMOVDQU64(prefix, Mem{Base: dst})
	VPADDQ(next, index, index)
	ADDQ(Imm(16), ones)
	ADDQ(Imm(64), dst)
	ADDQ(width, packed)
	DECQ(groups)
	JNZ(LabelRef("group"))
}
