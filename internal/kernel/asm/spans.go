package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of a Span, and its size.
const (
	spanPacked = 0
	spanQuery  = 8
	spanFrom   = 16
	spanTo     = 18
	spanWidth  = 20
	spanBound  = 21
	spanSize   = 32
)

// span has the fields of the current span that both loops over spans load.
type span struct {
	at             Register
	p, from, to, w GPVirtual
}

func (s *span) load() {
	s.p, s.from, s.to, s.w = GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: s.at, Disp: spanPacked}, s.p)
	MOVWQZX(Mem{Base: s.at, Disp: spanFrom}, s.from)
	MOVWQZX(Mem{Base: s.at, Disp: spanTo}, s.to)
	MOVBQZX(Mem{Base: s.at, Disp: spanWidth}, s.w)
}

// last sets end to the address of the last byte of the span, while s.p is the start of its block.
// Values of width 0 have no bytes; then it is the start.
func (s *span) last(end GPVirtual) {
	none := GP64()
	XORQ(none, none)
	MOVQ(s.to, end)
	IMULQ(s.w, end)
	DECQ(end)
	CMOVQMI(none, end)
	SHRQ(Imm(3), end)
	ADDQ(s.p, end)
}

// start moves s.p to the first byte of the span, and sets bit to the number of its first bit in
// that byte.
func (s *span) start(bit GPVirtual) {
	MOVQ(s.from, bit)
	IMULQ(s.w, bit)
	skip := GP64()
	MOVQ(bit, skip)
	SHRQ(Imm(3), skip)
	ADDQ(skip, s.p)
	ANDQ(Imm(7), bit)
}

// scanSpans512 compares eight values at a time, beginning at the first value at any bit, in steps
// of four such groups. Most spans need only one step, so the number of groups is not a branch:
// after the last group, that group is loaded again, and values beyond the end are excluded by their
// position. The last step does not load cache lines outside the span: it replaces them by the
// span's last line.
func scanSpans512() {
	TEXT("scanSpansAVX512", NOSPLIT, "func(dst *uint64, spans *byte, n int, lanes *[65][8][128]byte) (count int)")
	Pragma("noescape")
	Doc("scanSpansAVX512 writes to dst the values that ScanSpans appends for n spans, n >= 1, and returns",
		"their number.")
	s := new(spans512)
	s.dst = Load(Param("dst"), GP64())
	s.at = Load(Param("spans"), GP64())
	n, lanes := Load(Param("n"), GP64()), Load(Param("lanes"), GP64())
	s.count, s.number = GP64(), GP64()
	XORQ(s.count, s.count)
	XORQ(s.number, s.number)

	Label("span")
	s.begin(lanes)
	CMPQ(s.left, Imm(4))
	JA(LabelRef("whole"))
	Label("tail")
	s.tail()
	JNZ(LabelRef("tailNear"))
	Label("next")
	ADDQ(Imm(spanSize), s.at)
	one := GP64()
	MOVQ(U64(1<<32), one)
	ADDQ(one, s.number)
	DECQ(n)
	JNZ(LabelRef("span"))
	Store(s.count, Return("count"))
	VZEROUPPER()
	RET()
	Label("tailNear")
	s.near("tail")
	JMP(LabelRef("next"))

	Label("whole")
	s.whole()
	JNZ(LabelRef("wholeNear"))
	Label("more")
	ADDQ(Imm(32), s.first)
	LEAQ(Mem{Base: s.p, Index: s.w, Scale: 4}, s.p)
	SUBQ(Imm(4), s.left)
	CMPQ(s.left, Imm(4))
	JA(LabelRef("whole"))
	JMP(LabelRef("tail"))
	Label("wholeNear")
	s.near("whole")
	JMP(LabelRef("more"))
}

// spans512 holds the registers of scanSpans512.
type spans512 struct {
	scan512
	span
	number GPVirtual // of the span, << 32
	end    GPVirtual // the span's last cache line
	left   GPVirtual // remaining groups of eight, starting at the current position scan512.first
}

// groupMasks have the near lanes of four groups.
var groupMasks = []Register{K1, K2, K3, K4}

// begin loads the current span.
func (s *spans512) begin(lanes Register) {
	s.load()
	s.query, s.mask, s.limit, s.shuffle, s.move = ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VPBROADCASTQ(Mem{Base: s.at, Disp: spanQuery}, s.query)
	bound, mask := GP64(), GP64()
	MOVBQZX(Mem{Base: s.at, Disp: spanBound}, bound)
	VPBROADCASTQ(bound, s.limit)
	MOVQ(I32(-1), mask)
	BZHIQ(s.w, mask, mask)
	VPBROADCASTQ(mask, s.mask)
	s.end = GP64()
	s.last(s.end)
	ANDQ(I8(-64), s.end)
	s.first, s.left = GP64(), GP64()
	MOVQ(s.from, s.first)
	LEAQ(Mem{Base: s.to, Disp: 7}, s.left)
	SUBQ(s.first, s.left)
	SHRQ(Imm(3), s.left)
	l, bit := GP64(), GP64()
	s.start(bit)
	MOVQ(s.w, l)
	SHLQ(Imm(3), l)
	LEAQ(Mem{Base: l, Index: bit, Scale: 1}, l)
	SHLQ(Imm(7), l)
	VMOVDQU64(Mem{Base: lanes, Index: l, Scale: 1}, s.shuffle)
	VMOVDQU64(Mem{Base: lanes, Index: l, Scale: 1, Disp: 64}, s.move)
}

// tail compares the last one to four groups, and sets the flags by whether any value is near.
func (s *spans512) tail() {
	before := GP64()
	XORQ(before, before)
	for i, k := range groupMasks {
		if i > 0 {
			after := GP64()
			LEAQ(Mem{Base: before, Index: s.w, Scale: 1}, after)
			CMPQ(s.left, Imm(uint64(i)))
			CMOVQLE(before, after)
			before = after
		}
		group, off, shuffle := GP64(), GP64(), ZMM()
		LEAQ(Mem{Base: s.p, Index: before, Scale: 1}, group)
		MOVQ(group, off)
		CMPQ(group, s.end)
		CMOVQHI(s.end, group)
		SUBQ(group, off)
		VPBROADCASTB(off.As32(), shuffle)
		VPADDB(s.shuffle, shuffle, shuffle)
		shifted := s.scan512
		shifted.shuffle = shuffle
		shifted.compare(Mem{Base: group}, k)
	}
	anyNear()
}

// whole is tail for four groups that are followed by others.
func (s *spans512) whole() {
	three := GP64()
	LEAQ(Mem{Base: s.w, Index: s.w, Scale: 2}, three)
	for i, m := range []Mem{
		{Base: s.p}, {Base: s.p, Index: s.w, Scale: 1}, {Base: s.p, Index: s.w, Scale: 2}, {Base: s.p, Index: three, Scale: 1},
	} {
		s.compare(m, groupMasks[i])
	}
	anyNear()
}

func anyNear() {
	KORB(K1, K2, K5)
	KORB(K3, K4, K6)
	KORTESTB(K5, K6)
}

// near appends the near values of four groups that are within the span.
func (s *spans512) near(label string) {
	for i, k := range groupMasks {
		name := fmt.Sprint(label, i)
		near := GP32()
		KMOVB(k, near)
		TESTL(near, near)
		JZ(LabelRef(name + "None"))
		Label(name)
		pos := GP64()
		TZCNTL(near, pos.As32())
		LEAQ(Mem{Base: pos, Index: s.first, Scale: 1, Disp: 8 * i}, pos)
		CMPQ(pos, s.to)
		JCC(LabelRef(name + "None"))
		ADDQ(s.number, pos)
		MOVQ(pos, Mem{Base: s.dst, Index: s.count, Scale: 8})
		INCQ(s.count)
		BLSRL(near, near)
		JNZ(LabelRef(name))
		Label(name + "None")
	}
}

// prefetchSpans emits a function that prefetches three lines of each span without a branch, because
// most spans have no more lines.
func prefetchSpans() {
	TEXT("prefetchSpans", NOSPLIT, "func(spans *byte, n int)")
	Pragma("noescape")
	Doc("prefetchSpans prefetches the cache lines of the values of n spans, n >= 1.")
	at, n := Load(Param("spans"), GP64()), Load(Param("n"), GP64())
	s := span{at: at}
	Label("span")
	s.load()
	end, bit := GP64(), GP64()
	s.last(end)
	s.start(bit)
	PREFETCHT0(Mem{Base: s.p})
	ADDQ(Imm(64), s.p)
	CMPQ(s.p, end)
	CMOVQHI(end, s.p)
	PREFETCHT0(Mem{Base: s.p})
	PREFETCHT0(Mem{Base: end})
	Label("line")
	ADDQ(Imm(64), s.p)
	CMPQ(s.p, end)
	JCC(LabelRef("next"))
	PREFETCHT0(Mem{Base: s.p})
	JMP(LabelRef("line"))
	Label("next")
	ADDQ(Imm(spanSize), at)
	DECQ(n)
	JNZ(LabelRef("span"))
	RET()
}
