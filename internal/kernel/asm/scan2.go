package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// nibbleCounts returns the number of ones in each four-bit value, for both halves of a register,
// followed by a mask of four bits in each byte.
func nibbleCounts() Mem {
	m := GLOBL("nibbles", RODATA|NOPTR)
	for i := range 32 {
		n := i & 15
		DATA(i, U8(n&1+n>>1&1+n>>2&1+n>>3))
	}
	for i := range 4 {
		DATA(32+8*i, U64(0x0f0f0f0f0f0f0f0f))
	}
	return m
}

// scan2 holds the registers that the AVX2 scans share.
type scan2 struct {
	dst, count           GPVirtual
	first                GPVirtual
	query, mask, limit   VecVirtual
	counts, nibble, zero VecVirtual
}

func (s *scan2) setUp(nibbles Mem) {
	s.dst, s.count, s.first = GP64(), GP64(), GP64()
	Load(Param("dst"), s.dst)
	Load(Param("first"), s.first)
	XORQ(s.count, s.count)
	s.query, s.limit = broadcast("q", YMM()), broadcast("k", YMM())
	s.constants(nibbles)
}

// constants loads the registers that do not depend on the query.
func (s *scan2) constants(nibbles Mem) {
	s.counts, s.nibble, s.zero = YMM(), YMM(), YMM()
	VMOVDQU(nibbles, s.counts)
	VMOVDQU(nibbles.Offset(32), s.nibble)
	VPXOR(s.zero, s.zero, s.zero)
}

// compare returns a register whose four lowest bits are the lanes of keys (changed) that are beyond
// the limit.
func (s *scan2) compare(keys VecVirtual) GPVirtual {
	high := YMM()
	VPXOR(s.query, keys, keys)
	if s.mask != nil {
		VPAND(s.mask, keys, keys)
	}
	VPSRLW(Imm(4), keys, high)
	VPAND(s.nibble, keys, keys)
	VPAND(s.nibble, high, high)
	VPSHUFB(keys, s.counts, keys)
	VPSHUFB(high, s.counts, high)
	VPADDB(high, keys, keys)
	VPSADBW(s.zero, keys, keys)
	VPCMPGTQ(s.limit, keys, keys)
	far := GP32()
	VMOVMSKPD(keys, far)
	return far
}

// compareBoth returns a register with the lanes of both halves of a group that are near, and sets the
// flags by whether there are any.
func (s *scan2) compareBoth(low, high VecVirtual) GPVirtual {
	near, far := s.compare(low), s.compare(high)
	SHLL(Imm(4), far)
	ORL(far, near)
	XORL(Imm(0xff), near)
	return near
}

// groups emits the loop over groups of eight keys. load loads half i (0 or 1) of the current group.
func (s *scan2) groups(n Register, load func(i int, to VecVirtual), step func()) {
	Label("group")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	low, high := YMM(), YMM()
	load(0, low)
	load(1, high)
	near := s.compareBoth(low, high)
	JZ(LabelRef("next"))
	Label("near")
	lane := GP32()
	BSFL(near, lane)
	ADDL(s.first.As32(), lane)
	MOVL(lane, Mem{Base: s.dst, Index: s.count, Scale: 4})
	INCQ(s.count)
	less := GP32()
	LEAL(Mem{Base: near, Disp: -1}, less)
	ANDL(less, near)
	JNZ(LabelRef("near"))
	Label("next")
	step()
	ADDQ(Imm(8), s.first)
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
	Store(s.count, Return("count"))
	VZEROUPPER()
	RET()
}

func scanPacked2(nibbles Mem) {
	TEXT("scanPackedAVX2", NOSPLIT, "func(dst *uint32, packed *byte, l *[160]byte, width, groups, first int, q, k uint64) (count int)")
	Pragma("noescape")
	Doc("scanPackedAVX2 is scanPackedAVX512, but it writes no words after the result.")
	var s scan2
	s.setUp(nibbles)
	p := Load(Param("packed"), GP64())
	l := Load(Param("l"), GP64())
	width := Load(Param("width"), GP64())
	n := Load(Param("groups"), GP64())
	s.mask = YMM()
	lowBits(width, s.mask)
	var shuffle, move [2]VecVirtual
	for i := range 2 {
		shuffle[i], move[i] = YMM(), YMM()
		VMOVDQU(Mem{Base: l, Disp: 32 * i}, shuffle[i])
		VMOVDQU(Mem{Base: l, Disp: 64 + 32*i}, move[i])
	}
	var pair [4]GPVirtual // pair 0 starts at the group's first byte
	for i := 1; i < 4; i++ {
		pair[i] = GP64()
		MOVQ(Mem{Base: l, Disp: 128 + 8*i}, pair[i])
	}
	s.groups(n, func(i int, to VecVirtual) {
		if i == 0 {
			VMOVDQU(Mem{Base: p}, to.AsX())
		} else {
			VMOVDQU(Mem{Base: p, Index: pair[2], Scale: 1}, to.AsX())
		}
		VINSERTI128(Imm(1), Mem{Base: p, Index: pair[2*i+1], Scale: 1}, to, to)
		VPSHUFB(shuffle[i], to, to)
		VPSRLVQ(move[i], to, to)
	}, func() {
		ADDQ(width, p)
	})
}

func scanFlat2(nibbles Mem) {
	TEXT("scanFlatAVX2", NOSPLIT, "func(dst *uint32, keys *uint64, groups, first int, q, k uint64) (count int)")
	Pragma("noescape")
	Doc("scanFlatAVX2 is scanFlatAVX512, but it writes no words after the result.")
	var s scan2
	s.setUp(nibbles)
	p := Load(Param("keys"), GP64())
	n := Load(Param("groups"), GP64())
	s.groups(n, func(i int, to VecVirtual) {
		VMOVDQU(Mem{Base: p, Disp: 32 * i}, to)
	}, func() {
		ADDQ(Imm(64), p)
	})
}
