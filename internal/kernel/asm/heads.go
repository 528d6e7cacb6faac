package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// heads512 emits headsAVX512. Eight ends at a time are unpacked, as values of a block of keys are;
// starts are the ends before them; the first eight bytes of each string are gathered.
func heads512() {
	swap := GLOBL("swap", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(i&^7+7-i&7))
	}
	count := GLOBL("count", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(i+1))
	}
	TEXT("headsAVX512", NOSPLIT, "func(found *[16]byte, ends *byte, l *[128]byte, width int, strings *byte, total, low, least, span, fewest, spread uint64) bool")
	Pragma("noescape")
	Doc("headsAVX512 is Heads. ends has 15*width+64 readable bytes, strings eight more than total.")
	found, ends, strings := Load(Param("found"), GP64()), Load(Param("ends"), GP64()), Load(Param("strings"), GP64())
	width := Load(Param("width"), GP64())
	l := Load(Param("l"), GP64())
	shuffle, move := ZMM(), ZMM()
	VMOVDQU64(Mem{Base: l}, shuffle)
	VMOVDQU64(Mem{Base: l, Disp: 64}, move)
	broadcast := func(name string) VecVirtual {
		z := ZMM()
		VPBROADCASTQ(Load(Param(name), GP64()), z)
		return z
	}
	total, low, least, span := broadcast("total"), broadcast("low"), broadcast("least"), broadcast("span")
	fewest, spread := broadcast("fewest"), broadcast("spread")
	mask, one := GP64(), GP64()
	MOVQ(U32(1), one)
	SHLXQ(width, one, mask)
	DECQ(mask)
	masks := ZMM()
	VPBROADCASTQ(mask, masks)
	ones, line, step, prev, eight, swaps := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VPTERNLOGQ(Imm(0xff), ones, ones, ones)
	VMOVDQU64(count, line)
	VPMULUDQ(total, line, line)
	VPSLLQ(Imm(3), total, step)
	VPXORQ(prev, prev, prev)
	number := GP64()
	MOVQ(U32(8), number)
	VPBROADCASTQ(number, eight)
	VMOVDQU64(swap, swaps)
	left, good := GP64(), GP32()
	MOVQ(U32(16), left)
	XORL(good, good)

	Label("strings")
	end, start, size := ZMM(), ZMM(), ZMM()
	unpackEnds(ends, shuffle, move, masks, line, low, total, left, end)
	VALIGNQ(Imm(7), prev, end, start)
	VPSUBQ(start, end, size)
	t := ZMM()
	VPSUBQ(fewest, size, t)
	VPCMPUQ(Imm(6), spread, t, K1)
	VPCMPUQ(Imm(6), total, end, K2)
	KORTESTB(K1, K2)
	JNZ(LabelRef("bad"))
	compareHeads(strings, start, size, eight, ones, swaps, least, span, found)
	VMOVDQU64(end, prev)
	VPADDQ(step, line, line)
	INCQ(found)
	ADDQ(width, ends)
	DECQ(left)
	JNZ(LabelRef("strings"))
	INCL(good)
	Label("bad")
	Store(good.As8(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// unpackEnds makes end the next eight ends. Of the last one nothing is stored: it is the total.
func unpackEnds(ends Register, shuffle, move, masks, line, low, total VecVirtual, left GPVirtual, end VecVirtual) {
	t := ZMM()
	VPERMB(Mem{Base: ends}, shuffle, end)
	VPSRLVQ(move, end, end)
	VPANDQ(masks, end, end)
	VPSRLQ(Imm(7), line, t)
	VPADDQ(t, end, end)
	VPSUBQ(low, end, end)
	last := GP64()
	XORL(last.As32(), last.As32())
	CMPQ(left, Imm(1))
	SETEQ(last.As8())
	SHLQ(Imm(7), last)
	KMOVB(last.As32(), K1)
	VMOVDQA64(total, K1, end)
}

// compareHeads gathers the heads of eight strings and writes to found which are in the range. It
// overwrites size.
func compareHeads(strings Register, start, size, eight, ones, swaps, least, span VecVirtual, found Register) {
	head, t := ZMM(), ZMM()
	VPXORQ(head, head, head)
	KXNORB(K1, K1, K1)
	VPGATHERQQ(Mem{Base: strings, Index: start, Scale: 1}, K1, head)
	VPSHUFB(swaps, head, head)
	VPMINUQ(eight, size, size)
	VPSUBQ(size, eight, t)
	VPSLLQ(Imm(3), t, t)
	VPSLLVQ(t, ones, t)
	VPANDQ(t, head, head)
	VPSUBQ(least, head, head)
	VPCMPUQ(Imm(2), span, head, K1)
	bits := GP32()
	KMOVB(K1, bits)
	MOVB(bits.As8(), Mem{Base: found})
}
