package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// lanes is the number of columns that are computed together, one per vector lane.
const lanes = 8

// Boolean functions for VPTERNLOGQ with operands a, b and c: bit 4a+2b+c is the function's value.
const (
	orAndNot = 0xf0 | 0x01 // a | ^(b | c)
	xorOr    = 0x3c | 0xaa // (a ^ b) | c
)

// eightAVX512 emits the steps of eight columns as a wave front: in step s, lane j advances block
// s-j by its column. It gets the block as lane j-1 has left it in the previous step, and the
// horizontal differences from itself. A lane that has not reached its first block processes blocks
// without pv and with all of mv. A step leaves such a block unchanged, and produces the input of
// the first block, a difference of one more.
func eightAVX512() {
	TEXT("eightAVX512", NOSPLIT, "func(pv, mv *uint64, equal *[8]*uint64, blocks int)")
	Pragma("noescape")
	Doc("eightAVX512 advances blocks by eight columns; equal has their rows. It reads and writes words of",
		"padding around pv and mv, and reads some around the rows: see padding. It requires AVX-512 F and",
		"VBMI2.")
	pv, mv, blocks := Load(Param("pv"), GP64()), Load(Param("mv"), GP64()), Load(Param("blocks"), GP64())
	var rows [lanes]Register
	equal := Load(Param("equal"), GP64())
	for j := range rows {
		rows[j] = GP64()
		MOVQ(Mem{Base: equal, Disp: 8 * j}, rows[j])
	}
	ones, p, m, lastP, lastM := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VPTERNLOGQ(U8(0xff), ones, ones, ones)
	Comment("All lanes but the first begin before their first block.")
	VPXORQ(p, p, p)
	VMOVDQA64(ones, m)
	VMOVDQA64(ones, lastP)
	VPXORQ(lastM, lastM, lastM)
	first, one := K(), GP32()
	MOVL(U32(1), one)
	KMOVW(one, first)
	VPBROADCASTQ(Mem{Base: pv}, first, p)
	VPBROADCASTQ(Mem{Base: mv}, first, m)
	at := GP64()
	XORQ(at, at)
	ADDQ(I8(lanes-1), blocks)

	Label("steps")
	for s, equal := range transposed(rows, at) {
		xv, e, xh, ph, mh, h := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
		VPORQ(m, equal, xv)
		VPSRLQ(U8(63), lastM, e)
		VPORQ(equal, e, e)
		VPANDQ(p, e, xh)
		VPADDQ(p, xh, xh)
		VPTERNLOGQ(U8(xorOr), e, p, xh)
		VMOVDQA64(m, ph)
		VPTERNLOGQ(U8(orAndNot), p, xh, ph)
		VPANDQ(p, xh, mh)
		VPSHLDQ(U8(1), lastP, ph, h)
		VPSHLDQ(U8(1), lastM, mh, p)
		VPTERNLOGQ(U8(orAndNot), h, xv, p)
		VPANDQ(h, xv, m)
		VMOVDQA64(ph, lastP)
		VMOVDQA64(mh, lastM)
		Comment("The last lane is done with its block; the others hand theirs on; the first takes the next.")
		for _, v := range []struct{ at, of Register }{{pv, p}, {mv, m}} {
			VALIGNQ(U8(lanes-1), v.of, v.of, v.of)
			VMOVQ(v.of.(VecVirtual).AsX(), Mem{Base: v.at, Index: at, Scale: 8, Disp: 8 * (s - lanes + 1)})
			VPBROADCASTQ(Mem{Base: v.at, Index: at, Scale: 8, Disp: 8 * (s + 1)}, first, v.of)
		}
	}
	ADDQ(I8(lanes), at)
	CMPQ(at, blocks)
	JLT(LabelRef("steps"))
	VZEROUPPER()
	RET()
}

// transposed returns the rows of the next eight steps, one vector for each step: lane j of the
// vector of step s is word at+s-j of row j.
func transposed(rows [lanes]Register, at Register) [lanes]VecVirtual {
	var r, t [lanes]VecVirtual
	for j := range r {
		r[j] = ZMM()
		VMOVDQU64(Mem{Base: rows[j], Index: at, Scale: 8, Disp: -8 * j}, r[j])
	}
	for j := 0; j < lanes; j += 2 { // words 0, 2, 4, 6 of both, then words 1, 3, 5, 7
		t[j], t[j+1] = ZMM(), ZMM()
		VPUNPCKLQDQ(r[j+1], r[j], t[j])
		VPUNPCKHQDQ(r[j+1], r[j], t[j+1])
	}
	var out [lanes]VecVirtual
	for odd := range 2 {
		a, b, c, d := t[odd], t[2+odd], t[4+odd], t[6+odd]
		low, high := quarters(a, b), quarters(c, d)
		for i := range 2 {
			both := quarters(low[i], high[i])
			out[2*i+odd], out[2*(i+2)+odd] = both[0], both[1]
		}
	}
	return out
}

// quarters returns quarters 0 and 2 of both vectors, and quarters 1 and 3.
func quarters(a, b VecVirtual) [2]VecVirtual {
	even, odd := ZMM(), ZMM()
	VSHUFI64X2(U8(0x88), b, a, even)
	VSHUFI64X2(U8(0xdd), b, a, odd)
	return [2]VecVirtual{even, odd}
}
