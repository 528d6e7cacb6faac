package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// laneNumbers returns the positions of eight keys relative to the first one.
func laneNumbers() Mem {
	m := GLOBL("lanes", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(i))
	}
	return m
}

// scan512 holds the registers that the AVX-512 scans share.
type scan512 struct {
	dst, count    Register // address and number of the positions found
	first         GPVirtual
	query, mask   VecVirtual
	limit, lanes  VecVirtual
	shuffle, move VecVirtual // like mask, only for packed scans
}

// compare sets k to the lanes of the group at m that are within the limit. Immediate 0x28 of the
// ternary logic is (keys ^ query) & mask.
func (s *scan512) compare(m Mem, k Register) {
	keys := ZMM()
	if s.mask != nil {
		VPERMB(m, s.shuffle, keys)
		VPSRLVQ(s.move, keys, keys)
		VPTERNLOGQ(Imm(0x28), s.mask, s.query, keys)
	} else {
		VPXORQ(m, s.query, keys)
	}
	VPOPCNTQ(keys, keys)
	VPCMPUQ(Imm(2), s.limit, keys, k) // keys <= limit
}

// emit appends the positions of the lanes in k, the first of which is s.first + plus.
func (s *scan512) emit(k Register, plus int) {
	at := YMM()
	bits := GP32()
	base := GP32()
	LEAL(Mem{Base: s.first, Disp: plus}, base)
	VPBROADCASTD(base, at)
	VPADDD(s.lanes.AsY(), at, at)
	VPCOMPRESSD_Z(at, k, at)
	VMOVDQU(at, Mem{Base: s.dst, Index: s.count, Scale: 4})
	KMOVB(k, bits)
	POPCNTL(bits, bits)
	ADDQ(bits.As64(), s.count)
}

// setUp loads the parameters that all scans need, except for s.first.
func (s *scan512) setUp(lanes Mem) {
	s.dst = Load(Param("dst"), GP64())
	s.query, s.limit, s.lanes = ZMM(), ZMM(), ZMM()
	q, k := Load(Param("q"), GP64()), Load(Param("k"), GP64())
	VPBROADCASTQ(q, s.query)
	VPBROADCASTQ(k, s.limit)
	VMOVDQU(lanes, s.lanes.AsY())
	count := GP64()
	XORQ(count, count)
	s.count = count
}

// groups emits the loop over groups of eight keys: first four groups at a time, then single ones.
// at returns the address of the current group i (0..3).
func (s *scan512) groups(n Register, at func(i int) Mem, step func(groups int)) {
	ks := []Register{K1, K2, K3, K4}
	Label("four")
	CMPQ(n, Imm(4))
	JLT(LabelRef("single"))
	for i, k := range ks {
		s.compare(at(i), k)
	}
	KORW(K1, K2, K5)
	KORW(K3, K4, K6)
	KORTESTW(K5, K6)
	JZ(LabelRef("next"))
	for i, k := range ks {
		s.emit(k, 8*i)
	}
	Label("next")
	step(4)
	ADDQ(Imm(32), s.first)
	SUBQ(Imm(4), n)
	JMP(LabelRef("four"))

	Label("single")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	s.compare(at(0), K1)
	KORTESTW(K1, K1)
	JZ(LabelRef("last"))
	s.emit(K1, 0)
	Label("last")
	step(1)
	ADDQ(Imm(8), s.first)
	DECQ(n)
	JMP(LabelRef("single"))

	Label("done")
}

// setUpPacked loads the additional parameters of scans of packed values. It returns the width, and
// the address of current group i, starting at p.
func (s *scan512) setUpPacked(p Register) (width Register, at func(i int) Mem) {
	l := Load(Param("l"), GP64())
	width = Load(Param("width"), GP64())
	s.mask, s.shuffle, s.move = ZMM(), ZMM(), ZMM()
	mask := GP64()
	MOVQ(I32(-1), mask)
	BZHIQ(width, mask, mask)
	VPBROADCASTQ(mask, s.mask)
	VMOVDQU64(Mem{Base: l}, s.shuffle)
	VMOVDQU64(Mem{Base: l, Disp: 64}, s.move)
	width3 := GP64()
	LEAQ(Mem{Base: width, Index: width, Scale: 2}, width3)
	places := []Mem{
		{Base: p},
		{Base: p, Index: width, Scale: 1},
		{Base: p, Index: width, Scale: 2},
		{Base: p, Index: width3, Scale: 1},
	}
	return width, func(i int) Mem { return places[i] }
}

// finish returns the number of positions.
func (s *scan512) finish() {
	Store(s.count, Return("count"))
	VZEROUPPER()
	RET()
}

func scanPacked512(lanes Mem) {
	TEXT("scanPackedAVX512", NOSPLIT, "func(dst *uint32, packed *byte, l *[128]byte, width, groups, first int, q, k uint64) (count int)")
	Pragma("noescape")
	Doc("scanPackedAVX512 writes to dst the positions, counted from first, of the packed values of",
		"groups*8 keys that differ from the lowest width bits of q in at most k bits. It returns their",
		"number. It reads 64 bytes per group, and writes up to seven words more than it returns, but never",
		"more than groups*8.")
	var s scan512
	s.setUp(lanes)
	s.first = GP64()
	Load(Param("first"), s.first)
	p := Load(Param("packed"), GP64())
	n := Load(Param("groups"), GP64())
	width, at := s.setUpPacked(p)
	s.groups(n, at, func(groups int) {
		LEAQ(Mem{Base: p, Index: width, Scale: uint8(groups)}, p)
	})
	s.finish()
}

func scanFlat512(lanes Mem) {
	TEXT("scanFlatAVX512", NOSPLIT, "func(dst *uint32, keys *uint64, groups, first int, q, k uint64) (count int)")
	Pragma("noescape")
	Doc("scanFlatAVX512 writes to dst the positions, counted from first, of groups*8 keys that differ from",
		"q in at most k bits. It returns their number. It writes up to seven words more than it returns.")
	var s scan512
	s.setUp(lanes)
	s.first = GP64()
	Load(Param("first"), s.first)
	p := Load(Param("keys"), GP64())
	n := Load(Param("groups"), GP64())
	s.groups(n, func(i int) Mem {
		return Mem{Base: p, Disp: 64 * i}
	}, func(groups int) {
		ADDQ(U32(64*groups), p)
	})
	s.finish()
}
