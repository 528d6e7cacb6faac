package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// lanes2Size is the size of the element of lanes2 of a width.
const lanes2Size = 160

// unpack2 loads half i (0 or 1) of the eight packed values at p: four values, which still have the
// bits of their neighbours above them. l is the element of lanes2 of their width.
func unpack2(p, l Register, i int) VecVirtual {
	v, pair := YMM(), GP64()
	if i == 0 {
		VMOVDQU(Mem{Base: p}, v.AsX())
	} else {
		MOVQ(Mem{Base: l, Disp: 128 + 16}, pair)
		VMOVDQU(Mem{Base: p, Index: pair, Scale: 1}, v.AsX())
	}
	MOVQ(Mem{Base: l, Disp: 128 + 8 + 16*i}, pair)
	VINSERTI128(Imm(1), Mem{Base: p, Index: pair, Scale: 1}, v, v)
	VPSHUFB(Mem{Base: l, Disp: 32 * i}, v, v)
	VPSRLVQ(Mem{Base: l, Disp: 64 + 32*i}, v, v)
	return v
}

// lanesOf adds to lanes, the address of lanes2, the offset of the element of a width.
func lanesOf(lanes, width Register) GPVirtual {
	l := GP64()
	LEAQ(Mem{Base: width, Index: width, Scale: 4}, l)
	SHLQ(Imm(5), l)
	ADDQ(lanes, l)
	return l
}

// lowBits sets mask to ones in the lowest bits of each lane, as many as the register width says.
func lowBits(width Register, mask VecVirtual) {
	drop, less := GP64(), XMM()
	MOVQ(U32(64), drop)
	SUBQ(width, drop)
	VMOVQ(drop, less)
	VPCMPEQQ(mask, mask, mask)
	VPSRLQ(less, mask, mask)
}

// scanSpans2 compares whole groups of eight values, like scanPacked2, and tests the position of near
// values only. A call for each span would need as long as the comparison of two groups.
func scanSpans2(nibbles Mem) {
	TEXT("scanSpansAVX2", NOSPLIT, "func(dst *uint64, spans *byte, n int, lanes *[65][160]byte) (count int)")
	Pragma("noescape")
	Doc("scanSpansAVX2 is scanSpansAVX512.")
	dst, n, lanes := Load(Param("dst"), GP64()), Load(Param("n"), GP64()), Load(Param("lanes"), GP64())
	s := span{at: Load(Param("spans"), GP64())}
	number, first := GP64(), GP64()
	XORQ(number, number)
	c := scan2{query: YMM(), mask: YMM(), limit: YMM()}
	c.constants(nibbles)

	Label("span")
	s.load()
	l := lanesOf(lanes, s.w)
	lowBits(s.w, c.mask)
	VPBROADCASTQ(Mem{Base: s.at, Disp: spanQuery}, c.query)
	bound, x := GP64(), XMM()
	MOVBQZX(Mem{Base: s.at, Disp: spanBound}, bound)
	VMOVQ(bound, x)
	VPBROADCASTQ(x, c.limit)
	MOVQ(s.from, first)
	SHRQ(Imm(3), first)
	skip := GP64()
	MOVQ(first, skip)
	IMULQ(s.w, skip)
	ADDQ(skip, s.p)
	SHLQ(Imm(3), first)

	Label("group")
	low, high := unpack2(s.p, l, 0), unpack2(s.p, l, 1)
	near := c.compareBoth(low, high)
	JZ(LabelRef("next"))
	Label("near")
	pos, from := GP64(), GP64()
	TZCNTL(near, pos.As32())
	ADDQ(first, pos)
	CMPQ(pos, s.to)
	JCC(LabelRef("end"))
	MOVWQZX(Mem{Base: s.at, Disp: spanFrom}, from)
	CMPQ(pos, from)
	JCS(LabelRef("before"))
	ADDQ(number, pos)
	MOVQ(pos, Mem{Base: dst})
	ADDQ(Imm(8), dst)
	Label("before")
	BLSRL(near, near)
	JNZ(LabelRef("near"))
	Label("next")
	ADDQ(s.w, s.p)
	ADDQ(Imm(8), first)
	CMPQ(first, s.to)
	JCS(LabelRef("group"))

	Label("end")
	ADDQ(Imm(spanSize), s.at)
	one := GP64()
	MOVQ(U64(1<<32), one)
	ADDQ(one, number)
	DECQ(n)
	JNZ(LabelRef("span"))
	SUBQ(NewParamAddr("dst", 0), dst)
	SHRQ(Imm(3), dst)
	Store(dst, Return("count"))
	VZEROUPPER()
	RET()
}

// decode2 emits a decoder with two passes, like decode512. The first one stores the bit numbers of
// four ones at a time; those after the last one of a word are overwritten by the next word.
func decode2(eight Mem) {
	TEXT("decodeAVX2", NOSPLIT, "func(dst *[512]uint64, ones *[640]uint16, unary *byte, words int, packed *byte, l *[160]byte, width, groups int, base uint64)")
	Pragma("noescape")
	Doc("decodeAVX2 is decodeAVX512.")
	ones, p, words := Load(Param("ones"), GP64()), Load(Param("unary"), GP64()), Load(Param("words"), GP64())
	limit, bit := GP64(), GP64()
	LEAQ(Mem{Base: ones, Disp: 2 * 512}, limit)
	XORQ(bit, bit)
	Label("word")
	w, after := GP64(), GP64()
	MOVQ(Mem{Base: p}, w)
	storeBits(w, bit, ones, after, "one")
	CMPQ(ones, limit)
	JA(LabelRef("keys"))
	ADDQ(Imm(64), bit)
	ADDQ(Imm(8), p)
	DECQ(words)
	JNZ(LabelRef("word"))

	Label("keys")
	Load(Param("ones"), ones)
	dst, packed, l := Load(Param("dst"), GP64()), Load(Param("packed"), GP64()), Load(Param("l"), GP64())
	width, groups := Load(Param("width"), GP64()), Load(Param("groups"), GP64())
	mask, base, next, shift := YMM(), broadcast("base", YMM()), YMM(), XMM()
	lowBits(width, mask)
	VMOVQ(width, shift)
	number := GP64()
	MOVQ(U32(8), number)
	VMOVQ(number, next.AsX())
	VPBROADCASTQ(next.AsX(), next)
	index := [2]VecVirtual{YMM(), YMM()}
	for i := range index {
		VMOVDQU(eight.Offset(32*i), index[i])
	}
	Label("group")
	for i := range index {
		prefix, value := YMM(), unpack2(packed, l, i)
		VPAND(mask, value, value)
		VPMOVZXWQ(Mem{Base: ones, Disp: 8 * i}, prefix)
		VPSUBQ(index[i], prefix, prefix)
		VPSLLQ(shift, prefix, prefix)
		VPADDQ(base, prefix, prefix)
		VPADDQ(value, prefix, prefix)
		VMOVDQU(prefix, Mem{Base: dst, Disp: 32 * i})
		VPADDQ(next, index[i], index[i])
	}
	ADDQ(Imm(16), ones)
	ADDQ(Imm(64), dst)
	ADDQ(width, packed)
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// storeBits stores bit plus the number of each 1-bit of w (changed) at dst, four at a time, and
// advances dst behind them. It needs a register, end.
func storeBits(w, bit, dst, end Register, name string) {
	POPCNTQ(w, end)
	LEAQ(Mem{Base: dst, Index: end, Scale: 2}, end)
	Label(name)
	CMPQ(dst, end)
	JCC(LabelRef(name + "End"))
	for i := range 4 {
		at := GP64()
		TZCNTQ(w, at)
		BLSRQ(w, w)
		ADDQ(bit, at)
		MOVW(at.As16(), Mem{Base: dst, Disp: 2 * i})
	}
	ADDQ(Imm(8), dst)
	JMP(LabelRef(name))
	Label(name + "End")
	MOVQ(end, dst)
}

// edges2 emits edgesAVX512 without vectors. The last four offsets of the last mask stay within the 64
// of that mask, because no mask has more than 64 edges.
func edges2() {
	TEXT("edgesAVX2", NOSPLIT, "func(dst *uint16, masks *uint64, n int) int")
	Pragma("noescape")
	Doc("edgesAVX2 is Edges for n masks, with BMI1 and POPCNT.")
	dst, masks, left := Load(Param("dst"), GP64()), Load(Param("masks"), GP64()), Load(Param("n"), GP64())
	before, bit := GP64(), GP64()
	XORQ(before, before)
	XORQ(bit, bit)
	Label("mask")
	SUBQ(U8(1), left)
	JLT(LabelRef("done"))
	m, e, end := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: masks}, m)
	ADDQ(U8(8), masks)
	LEAQ(Mem{Base: before, Index: m, Scale: 2}, e)
	XORQ(m, e)
	MOVQ(m, before)
	SHRQ(U8(63), before)
	storeBits(e, bit, dst, end, "edge")
	ADDQ(Imm(64), bit)
	JMP(LabelRef("mask"))
	Label("done")
	SUBQ(NewParamAddr("dst", 0), dst)
	SHRQ(U8(1), dst)
	Store(dst, ReturnIndex(0))
	RET()
}

// hashWords2 emits hashWordsAVX512 with the multiplication of BMI2 to 128 bits.
func hashWords2() {
	TEXT("hashWordsAVX2", NOSPLIT, "func(dst *uint64, text *byte, edges *uint16, groups int, k0 uint64, k1 uint64) int")
	Pragma("noescape")
	Doc("hashWordsAVX2 is HashWords for a number of groups, with BMI2.")
	dst, text := Load(Param("dst"), GP64()), Load(Param("text"), GP64())
	edges, groups := Load(Param("edges"), GP64()), Load(Param("groups"), GP64())
	k0, k1, lower, none := Load(Param("k0"), GP64()), Load(Param("k1"), GP64()), GP64(), GP64()
	MOVQ(U64(0x2020202020202020), lower)
	XORQ(none, none)
	Label("group")
	word := GP64()
	MOVQ(U32(8), word)
	Label("word")
	start, n, b := GP64(), GP64(), GP64()
	MOVWQZX(Mem{Base: edges}, start)
	MOVWQZX(Mem{Base: edges, Disp: 2}, n)
	ADDQ(text, start)
	ADDQ(text, n)
	SUBQ(start, n)
	CMPQ(n, Imm(16))
	JHI(LabelRef("done")) // the words before it in its group are hashed again later
	SHLQ(Imm(3), n)
	MOVQ(Mem{Base: start}, RDX)
	MOVQ(Mem{Base: start, Disp: 8}, b)
	ORQ(lower, RDX)
	ORQ(lower, b)
	BZHIQ(n, RDX, RDX)
	SUBQ(Imm(64), n)
	CMOVQMI(none, n)
	BZHIQ(n, b, b)
	XORQ(k0, RDX)
	XORQ(k1, b)
	low, high := GP64(), GP64()
	MULXQ(b, low, high)
	XORQ(high, low)
	MOVQ(low, Mem{Base: dst})
	ADDQ(Imm(8), dst)
	ADDQ(Imm(4), edges)
	DECQ(word)
	JNZ(LabelRef("word"))
	DECQ(groups)
	JNZ(LabelRef("group"))
	Label("done")
	SUBQ(NewParamAddr("dst", 0), dst)
	SHRQ(Imm(3), dst)
	ANDQ(I8(-8), dst)
	Store(dst, ReturnIndex(0))
	RET()
}

// filter2 emits a filter of one bitmap after the other, without vectors: population counts of words
// need fewer instructions than those of vectors without VPOPCNTQ. It does not branch on bitmaps.
func filter2() {
	TEXT("filterAVX2", NOSPLIT, "func(dst *uint32, q, bitmaps *[4]uint64, n, first, max int) (count int)")
	Pragma("noescape")
	Doc("filterAVX2 is filterGo for n bitmaps, n >= 1, with BMI1 and POPCNT. It overwrites n elements of dst.")
	dst, p, q := Load(Param("dst"), GP64()), Load(Param("bitmaps"), GP64()), Load(Param("q"), GP64())
	n, first, less := Load(Param("n"), GP64()), Load(Param("first"), GP64()), Load(Param("max"), GP64())
	INCQ(less)
	var words [4]GPVirtual
	for i := range words {
		words[i] = GP64()
		MOVQ(Mem{Base: q, Disp: 8 * i}, words[i])
	}
	count := GP64()
	XORQ(count, count)
	Label("bitmap")
	var lack [4]GPVirtual
	for i := range lack {
		lack[i] = GP64()
		MOVQ(Mem{Base: p, Disp: 8 * i}, lack[i])
		ANDNQ(words[i], lack[i], lack[i])
		POPCNTQ(lack[i], lack[i])
	}
	ADDQ(lack[1], lack[0])
	ADDQ(lack[3], lack[2])
	ADDQ(lack[2], lack[0])
	MOVL(first.(GPVirtual).As32(), Mem{Base: dst, Index: count, Scale: 4})
	CMPQ(lack[0], less)
	ADCQ(Imm(0), count) // plus 1 if below
	INCQ(first)
	ADDQ(Imm(32), p)
	DECQ(n)
	JNZ(LabelRef("bitmap"))
	Store(count, Return("count"))
	RET()
}
