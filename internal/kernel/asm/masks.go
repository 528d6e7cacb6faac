package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isWord reports whether a byte is part of a word.
func isWord(b byte) bool {
	return '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

// bytes returns n bytes in memory; byte i is f(i).
func bytes(name string, n int, f func(i int) byte) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range n {
		DATA(i, U8(f(i)))
	}
	return m
}

// masksAVX512 emits a kernel that looks bytes up in a table of 128 entries, whose high bits make up
// the mask.
func masksAVX512() {
	TEXT("masksAVX512", NOSPLIT, "func(dst *uint64, text *byte, blocks int) int")
	Pragma("noescape")
	Doc("masksAVX512 is Masks for a number of blocks, with AVX-512 BW and VBMI.")
	table := bytes("wordtable", 128, func(i int) byte {
		if isWord(byte(i)) {
			return 0x80
		}
		return 0
	})
	dst, text := Load(Param("dst"), GP64()), Load(Param("text"), GP64())
	blocks := Load(Param("blocks"), GP64())
	low, high := ZMM(), ZMM()
	VMOVDQU64(table, low)
	VMOVDQU64(table.Offset(64), high)
	i := GP64()
	XORQ(i, i)

	Label("block")
	CMPQ(i, blocks)
	JGE(LabelRef("done"))
	v, foreign, words := ZMM(), K(), K()
	VMOVDQU64(Mem{Base: text}, v)
	VPMOVB2M(v, foreign)
	KORTESTQ(foreign, foreign)
	JNZ(LabelRef("done"))
	VPERMI2B(high, low, v)
	VPMOVB2M(v, words)
	KMOVQ(words, Mem{Base: dst, Index: i, Scale: 8})
	endBlock(text, i)
}

// masksAVX2 emits a kernel that compares bytes with the bounds of the ranges.
func masksAVX2() {
	TEXT("masksAVX2", NOSPLIT, "func(dst *uint64, text *byte, blocks int) int")
	Pragma("noescape")
	Doc("masksAVX2 is Masks for a number of blocks, with AVX2.")
	dst, text := Load(Param("dst"), GP64()), Load(Param("text"), GP64())
	blocks := Load(Param("blocks"), GP64())
	constant := func(name string, b byte) VecVirtual {
		v := YMM()
		VMOVDQU(bytes(name, 32, func(int) byte { return b }), v)
		return v
	}
	lower := constant("lower", 0x20)
	below0, above9 := constant("below0", '0'-1), constant("above9", '9'+1)
	belowA, aboveZ := constant("belowa", 'a'-1), constant("abovez", 'z'+1)
	i := GP64()
	XORQ(i, i)

	Label("block")
	CMPQ(i, blocks)
	JGE(LabelRef("done"))
	var half, mask [2]Register
	for h := range half {
		half[h], mask[h] = YMM(), GP64()
		VMOVDQU(Mem{Base: text, Disp: 32 * h}, half[h])
	}
	all, foreign := YMM(), GP32()
	VPOR(half[0], half[1], all)
	VPMOVMSKB(all, foreign)
	TESTL(foreign, foreign)
	JNZ(LabelRef("done"))
	for h, v := range half {
		t, u, w := YMM(), YMM(), YMM()
		VPOR(lower, v, t)
		VPCMPGTB(belowA, t, u)
		VPCMPGTB(t, aboveZ, t)
		VPAND(t, u, u)
		VPCMPGTB(below0, v, t)
		VPCMPGTB(v, above9, w)
		VPAND(t, w, w)
		VPOR(u, w, w)
		VPMOVMSKB(w, mask[h].(GPVirtual).As32())
	}
	SHLQ(U8(32), mask[1])
	ORQ(mask[0], mask[1])
	MOVQ(mask[1], Mem{Base: dst, Index: i, Scale: 8})
	endBlock(text, i)
}

// endBlock ends the loop over blocks of text, and the kernel; i is the number of completed blocks.
func endBlock(text, i Register) {
	ADDQ(U8(64), text)
	INCQ(i)
	JMP(LabelRef("block"))

	Label("done")
	Store(i, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// edgesAVX512 emits a kernel that compresses the numbers 0..63 by the edges of a mask. It stores
// all 64 results; those of the next mask overwrite the ones that are not edges.
func edgesAVX512() {
	TEXT("edgesAVX512", NOSPLIT, "func(dst *uint16, masks *uint64, n int) int")
	Pragma("noescape")
	Doc("edgesAVX512 is Edges for n masks, with AVX-512 BW, VBMI2 and POPCNT.")
	dst, masks := Load(Param("dst"), GP64()), Load(Param("masks"), GP64())
	left := Load(Param("n"), GP64())
	numbers, base, step := ZMM(), ZMM(), ZMM()
	VMOVDQU64(bytes("byteNumbers", 64, func(i int) byte { return byte(i) }), numbers)
	sixtyFour := GP32()
	MOVL(U32(64), sixtyFour)
	VPBROADCASTW(sixtyFour, step)
	VPXORQ(base, base, base)
	start, before := GP64(), GP64()
	MOVQ(dst, start)
	XORQ(before, before)

	Label("mask")
	SUBQ(U8(1), left)
	JLT(LabelRef("done"))
	m, e := GP64(), GP64()
	MOVQ(Mem{Base: masks}, m)
	ADDQ(U8(8), masks)
	LEAQ(Mem{Base: before, Index: m, Scale: 2}, e)
	XORQ(m, e)
	MOVQ(m, before)
	SHRQ(U8(63), before)
	edges, packed, wide := K(), ZMM(), ZMM()
	KMOVQ(e, edges)
	VPCOMPRESSB_Z(numbers, edges, packed)
	POPCNTQ(e, e)
	VPMOVZXBW(packed.AsY(), wide)
	VPADDW(base, wide, wide)
	VMOVDQU64(wide, Mem{Base: dst})
	rest := YMM()
	VEXTRACTI64X4(U8(1), packed, rest)
	VPMOVZXBW(rest, wide)
	VPADDW(base, wide, wide)
	VMOVDQU64(wide, Mem{Base: dst, Disp: 64})
	VPADDW(step, base, base)
	LEAQ(Mem{Base: dst, Index: e, Scale: 2}, dst)
	JMP(LabelRef("mask"))

	Label("done")
	SUBQ(start, dst)
	SHRQ(U8(1), dst)
	Store(dst, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
