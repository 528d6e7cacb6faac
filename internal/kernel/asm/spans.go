package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The fields of a Span, and its size.
const (
	spanPacked = 0
	spanQuery  = 8
	spanFrom   = 16
	spanTo     = 18
	spanWidth  = 20
	spanBound  = 21
	spanSize   = 32
)

// span has what both loops over spans load of the current one.
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

// last leaves in end where the last byte of the span is, while s.p is where its block begins; of
// values without bits there is none, and it is the first.
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

// start moves s.p to the byte in which the span begins, and leaves in bit the number of the bit.
func (s *span) start(bit GPVirtual) {
	MOVQ(s.from, bit)
	IMULQ(s.w, bit)
	skip := GP64()
	MOVQ(bit, skip)
	SHRQ(Imm(3), skip)
	ADDQ(skip, s.p)
	ANDQ(Imm(7), bit)
}

// scanSpans512 compares eight values at a time from the first on, wherever that begins, in steps of
// four such groups. Most spans are one step, so how many groups it has is no branch: after the last
// group it is loaded again, and what lies past the end is left out by its position. The last step
// loads no cache line that the span has nothing of: from the span's last line on, that line is
// loaded.
func scanSpans512() {
	TEXT("scanSpansAVX512", NOSPLIT, "func(dst *uint64, spans *byte, n int, lanes *[65][8][128]byte) (count int)")
	Pragma("noescape")
	Doc("scanSpansAVX512 writes to dst what ScanSpans appends for n spans, n >= 1, and returns how much that is.")
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
	left   GPVirtual // groups of eight from scan512.first on, the current position
}

// groupMasks are where the lanes of four groups go that are near.
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

// tail compares the last one to four groups, and leaves whether any value is near in the flags.
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

// whole is tail for four groups that others follow.
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

// near appends the values of four groups that are near and lie in the span.
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

// prefetchSpans prefetches three lines of each span without a branch, as most have no more.
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
