package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// broadcast fills v with a 64-bit parameter and returns v. It avoids Load to a vector and MOVQ for
// parameters: these moves have no VEX prefix, and would wait for vectors in use.
func broadcast(name string, v VecVirtual) VecVirtual {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VPBROADCASTQ(p.Addr, v)
	return v
}

// repeat returns a vector with eight copies of value.
func repeat(value uint64) VecVirtual {
	v, r := ZMM(), GP64()
	MOVQ(U64(value), r)
	VPBROADCASTQ(r, v)
	return v
}

// hashWordsAVX512 emits a kernel that hashes eight words at a time.
func hashWordsAVX512() {
	TEXT("hashWordsAVX512", NOSPLIT,
		"func(dst *uint64, text *byte, edges *uint16, groups int, k0 uint64, k1 uint64) int")
	Pragma("noescape")
	Doc("hashWordsAVX512 is HashWords for a number of groups, with AVX-512 F, DQ and VL.")
	dst, text := Load(Param("dst"), GP64()), Load(Param("text"), GP64())
	edges, groups := Load(Param("edges"), GP64()), Load(Param("groups"), GP64())
	k0, k1 := broadcast("k0", ZMM()), broadcast("k1", ZMM())
	lower, ones, sixtyFour, low32 := repeat(0x2020202020202020), repeat(1<<64-1), repeat(64), repeat(1<<32-1)
	longest, sixteen := YMM(), GP32()
	MOVL(U32(16), sixteen)
	VPBROADCASTD(sixteen, longest)
	done := GP64()
	XORQ(done, done)

	Label("group")
	CMPQ(done, groups)
	JGE(LabelRef("done"))
	Comment("Lengths: the high halves of (end<<16 | start) - start<<16.")
	ends, lengths, long := YMM(), YMM(), K()
	VMOVDQU(Mem{Base: edges}, ends)
	VPSLLD(U8(16), ends, lengths)
	VPSUBD(lengths, ends, lengths)
	VPSRLD(U8(16), lengths, lengths)
	VPCMPUD(U8(6), longest, lengths, long)
	KORTESTB(long, long)
	JNZ(LabelRef("done"))

	even, odd := fourWords(text, edges, 0), fourWords(text, edges, 1)
	a, b := ZMM(), ZMM()
	VPUNPCKLQDQ(odd, even, a)
	VPUNPCKHQDQ(odd, even, b)

	Comment("Cut a word of n bytes by the complements of ones << 8n and ones << max(8n, 64)-64.")
	shift, cut := ZMM(), ZMM()
	VPMOVZXDQ(lengths, shift)
	VPSLLQ(U8(3), shift, shift)
	VPSLLVQ(shift, ones, cut)
	VPTERNLOGQ(U8(0x54), cut, lower, a) // (a | lower) &^ cut
	VPMAXUQ(sixtyFour, shift, shift)
	VPSUBQ(sixtyFour, shift, shift)
	VPSLLVQ(shift, ones, cut)
	VPTERNLOGQ(U8(0x54), cut, lower, b)
	VPXORQ(k0, a, a)
	VPXORQ(k1, b, b)
	VMOVDQU64(foldProduct(a, b, low32), Mem{Base: dst})
	ADDQ(U8(64), dst)
	ADDQ(U8(32), edges)
	INCQ(done)
	JMP(LabelRef("group"))

	Label("done")
	SHLQ(U8(3), done)
	Store(done, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// fourWords loads 16 bytes from the start of the words first, first+2, first+4 and first+6 of a
// group.
func fourWords(text, edges Register, first int) VecVirtual {
	var halves [2]VecVirtual
	for h := range halves {
		halves[h] = YMM()
		for i := range 2 {
			start := GP64()
			MOVWQZX(Mem{Base: edges, Disp: 4 * (first + 4*h + 2*i)}, start)
			m := Mem{Base: text, Index: start, Scale: 1}
			if i == 0 {
				VMOVDQU(m, halves[h].AsX())
			} else {
				VINSERTI128(U8(1), m, halves[h], halves[h])
			}
		}
	}
	v := ZMM()
	VINSERTI64X4(U8(1), halves[1], halves[0].AsZ(), v)
	return v
}

// foldProduct returns the XOR of the halves of the 128-bit products of a and b.
func foldProduct(a, b, low32 VecVirtual) VecVirtual {
	product := func(x, y VecVirtual) VecVirtual {
		v := ZMM()
		VPMULUDQ(y, x, v)
		return v
	}
	high := func(x VecVirtual) VecVirtual {
		v := ZMM()
		VPSRLQ(U8(32), x, v)
		return v
	}
	ah, bh := high(a), high(b)
	ll, hl, lh, hh := product(a, b), product(ah, b), product(a, bh), product(ah, bh)
	low := ZMM()
	VPMULLQ(b, a, low)
	Comment("The carries: t = hl + ll>>32, u = lh + t mod 2^32, high half = hh + t>>32 + u>>32.")
	t, u := high(ll), ZMM()
	VPADDQ(hl, t, t)
	VPANDQ(low32, t, u)
	VPADDQ(lh, u, u)
	VPADDQ(high(t), hh, hh)
	VPADDQ(high(u), hh, hh)
	VPXORQ(low, hh, hh)
	return hh
}

// shinglesAVX512 emits a kernel that computes eight shingles at a time by Horner's rule.
func shinglesAVX512() {
	TEXT("shinglesAVX512", NOSPLIT, "func(dst *uint64, words *uint64, groups int, k int, base uint64, mul uint64)")
	Pragma("noescape")
	Doc("shinglesAVX512 computes 8*groups shingles of k words, with AVX-512 F and DQ. groups must be",
		"positive.")
	dst, words := Load(Param("dst"), GP64()), Load(Param("words"), GP64())
	groups, k := Load(Param("groups"), GP64()), Load(Param("k"), GP64())
	base, mul := broadcast("base", ZMM()), broadcast("mul", ZMM())

	Label("group")
	s, t, i := ZMM(), ZMM(), GP64()
	VMOVDQU64(Mem{Base: words}, s)
	MOVQ(U32(1), i)
	Label("word")
	CMPQ(i, k)
	JGE(LabelRef("finish"))
	VPMULLQ(base, s, s)
	VPADDQ(Mem{Base: words, Index: i, Scale: 8}, s, s)
	INCQ(i)
	JMP(LabelRef("word"))
	Label("finish")
	VPSRLQ(U8(32), s, t)
	VPXORQ(t, s, s)
	VPMULLQ(mul, s, s)
	VPSRLQ(U8(29), s, t)
	VPXORQ(t, s, s)
	VMOVDQU64(s, Mem{Base: dst})
	ADDQ(U8(64), words)
	ADDQ(U8(64), dst)
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// belowAVX512 emits a kernel that selects from eight hashes at a time. It stores eight elements;
// the next group overwrites those that were not selected.
func belowAVX512() {
	TEXT("belowAVX512", NOSPLIT, "func(dst *uint32, hashes *uint64, groups int, limit uint64) int")
	Pragma("noescape")
	Doc("belowAVX512 is Below for 8*groups hashes, with AVX-512 F, DQ, VL and POPCNT. groups must be",
		"positive.")
	dst, hashes := Load(Param("dst"), GP64()), Load(Param("hashes"), GP64())
	groups, limit := Load(Param("groups"), GP64()), broadcast("limit", ZMM())
	start := GP64()
	MOVQ(dst, start)

	Label("group")
	v, narrow, pass, n := ZMM(), YMM(), K(), GP32()
	VPSRLQ(U8(32), Mem{Base: hashes}, v)
	VPCMPUQ(U8(1), limit, v, pass)
	VPMOVQD(v, narrow)
	VPCOMPRESSD_Z(narrow, pass, narrow)
	VMOVDQU(narrow, Mem{Base: dst})
	KMOVB(pass, n)
	POPCNTL(n, n)
	LEAQ(Mem{Base: dst, Index: n.As64(), Scale: 4}, dst)
	ADDQ(U8(64), hashes)
	DECQ(groups)
	JNZ(LabelRef("group"))

	SUBQ(start, dst)
	SHRQ(U8(2), dst)
	Store(dst, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
