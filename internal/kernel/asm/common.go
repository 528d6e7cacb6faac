package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Immediates of permutations that rotate four parts by one, two and three.
var rotations = [3]U8{0x39, 0x4e, 0x93}

// list is the rest of one of the two lists.
type list struct {
	p, n Register // address of the first element, and number of elements
	step Register // elements of the block
	last Register // the last element of the block
}

// newList loads a list from the parameters name and count.
func newList(name, count string) *list {
	return &list{
		p:    Load(Param(name), GP64()),
		n:    Load(Param(count), GP64()),
		step: GP64(),
		last: GP32(),
	}
}

// full sets up a block of n elements. It jumps to the label less if there are fewer.
func (l *list) full(n Register, elements int, less string) {
	CMPQ(l.n, n)
	JLT(LabelRef(less))
	MOVQ(n, l.step)
	MOVL(Mem{Base: l.p, Disp: 4*elements - 4}, l.last)
}

// rest sets up a block of at most n elements and returns the mask of its elements.
func (l *list) rest(n, ones Register) Register {
	MOVQ(l.n, l.step)
	CMPQ(l.n, n)
	CMOVQGT(n, l.step)
	MOVL(Mem{Base: l.p, Index: l.step, Scale: 4, Disp: -4}, l.last)
	bits, mask := GP32(), K()
	BZHIL(l.step.(GPVirtual).As32(), ones, bits)
	KMOVW(bits, mask)
	return mask
}

// advance advances past the block with the smaller last element, or past both blocks if their last
// elements are equal.
func advance(a, b *list, zero Register) {
	CMPL(a.last, b.last)
	CMOVQHI(zero, a.step)
	CMOVQCS(zero, b.step)
	for _, l := range []*list{a, b} {
		LEAQ(Mem{Base: l.p, Index: l.step, Scale: 4}, l.p)
		SUBQ(l.step, l.n)
	}
}

// giveUp jumps to done if the common elements so far, plus the rest of either list, are fewer than
// needed.
func giveUp(a, b *list, common, need Register) {
	for _, l := range []*list{a, b} {
		most := GP64()
		LEAQ(Mem{Base: common, Index: l.n, Scale: 1}, most)
		CMPQ(most, need)
		JLT(LabelRef("done"))
	}
}

// commonAVX512 emits the comparison of blocks of 16: full blocks while both lists have one, then
// shorter blocks. A difference of zero is an equal pair, so the minimum difference between an
// element of a and all elements of a block of b shows whether it has an equal.
func commonAVX512() {
	TEXT("commonAVX512", NOSPLIT, "func(a *uint32, na int, b *uint32, nb int, need int) int")
	Pragma("noescape")
	Doc("commonAVX512 is commonGo with AVX-512 F, BMI2 and POPCNT.")
	a, b := newList("a", "na"), newList("b", "nb")
	need := Load(Param("need"), GP64())
	sixteen, zero, ones, common := GP64(), GP64(), GP32(), GP64()
	MOVQ(U32(16), sixteen)
	XORQ(zero, zero)
	MOVL(I32(-1), ones)
	XORQ(common, common)
	lastB := ZMM()
	VPBROADCASTD(Mem{Base: b.p, Index: b.n, Scale: 4, Disp: -4}, lastB)
	all := K()
	KXNORW(all, all, all)

	Label("full")
	a.full(sixteen, 16, "rest")
	b.full(sixteen, 16, "rest")
	least := differences16(a.p, b.p)
	advance(a, b, zero)
	addEqual(least, all, common)
	giveUp(a, b, common, need)
	JMP(LabelRef("full"))

	Comment("The missing elements of b are copies of its last one, which change nothing; those of a are masked out.")
	Label("rest")
	TESTQ(a.n, a.n)
	JZ(LabelRef("done"))
	TESTQ(b.n, b.n)
	JZ(LabelRef("done"))
	maskA, maskB := a.rest(sixteen, ones), b.rest(sixteen, ones)
	va, vb := ZMM(), ZMM()
	VMOVDQU32_Z(Mem{Base: a.p}, maskA, va)
	VMOVDQA64(lastB, vb)
	VMOVDQU32(Mem{Base: b.p}, maskB, vb)
	advance(a, b, zero)
	addEqual(rotatedDifferences(va, vb), maskA, common)
	giveUp(a, b, common, need)
	JMP(LabelRef("rest"))

	Label("done")
	Store(common, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// differences16 returns, for each of the 16 elements at a, the minimum XOR with the 16 elements at
// b.
func differences16(a, b Register) VecVirtual {
	va := ZMM()
	VMOVDQU32(Mem{Base: a}, va)
	var least [4]VecVirtual
	for i := range 16 {
		d := ZMM()
		VPXORD_BCST(Mem{Base: b, Disp: 4 * i}, va, d)
		if i < 4 {
			least[i] = d
		} else {
			VPMINUD(d, least[i%4], least[i%4])
		}
	}
	return minimum(least)
}

// rotatedDifferences is differences16 for two vectors. It rotates b.
func rotatedDifferences(a, b VecVirtual) VecVirtual {
	var least [4]VecVirtual
	for i := range least {
		v := b
		if i > 0 {
			v = ZMM()
			VSHUFI32X4(rotations[i-1], b, b, v)
		}
		least[i] = ZMM()
		VPXORD(v, a, least[i])
		for _, r := range rotations {
			t := ZMM()
			VPSHUFD(r, v, t)
			VPXORD(t, a, t)
			VPMINUD(t, least[i], least[i])
		}
	}
	return minimum(least)
}

// minimum returns the minimum of four vectors.
func minimum(v [4]VecVirtual) VecVirtual {
	VPMINUD(v[1], v[0], v[0])
	VPMINUD(v[3], v[2], v[2])
	VPMINUD(v[2], v[0], v[0])
	return v[0]
}

// addEqual adds the number of zero lanes under mask to common.
func addEqual(least VecVirtual, mask, common Register) {
	equal, n := K(), GP32()
	VPTESTNMD(least, least, mask, equal)
	KMOVW(equal, n)
	POPCNTL(n, n)
	ADDQ(n.As64(), common)
}

// commonAVX2 emits the comparison of full blocks of 8.
func commonAVX2() {
	TEXT("commonAVX2", NOSPLIT, "func(a *uint32, na int, b *uint32, nb int, need int) (n, i, j int)")
	Pragma("noescape")
	Doc("commonAVX2 compares full blocks of 8 with AVX2 and POPCNT, while both lists have one and need can",
		"be reached. It returns the number of common elements, and the numbers of elements of each list",
		"that it has processed.")
	a, b := newList("a", "na"), newList("b", "nb")
	need := Load(Param("need"), GP64())
	eight, zero, common := GP64(), GP64(), GP64()
	MOVQ(U32(8), eight)
	XORQ(zero, zero)
	XORQ(common, common)

	Label("blocks")
	a.full(eight, 8, "done")
	b.full(eight, 8, "done")
	va, vb := YMM(), YMM()
	VMOVDQU(Mem{Base: a.p}, va)
	VMOVDQU(Mem{Base: b.p}, vb)
	advance(a, b, zero)
	swapped, equal := YMM(), YMM()
	VPERM2I128(U8(1), vb, vb, swapped)
	VPCMPEQD(va, vb, equal)
	other := YMM()
	VPCMPEQD(va, swapped, other)
	VPOR(other, equal, equal)
	for _, v := range []VecVirtual{vb, swapped} {
		for _, r := range rotations {
			t := YMM()
			VPSHUFD(r, v, t)
			VPCMPEQD(va, t, t)
			VPOR(t, equal, equal)
		}
	}
	n := GP32()
	VMOVMSKPS(equal, n)
	POPCNTL(n, n)
	ADDQ(n.As64(), common)
	giveUp(a, b, common, need)
	JMP(LabelRef("blocks"))

	Label("done")
	Store(common, ReturnIndex(0))
	for i, l := range []*list{a, b} {
		total := Load(Param([]string{"na", "nb"}[i]), GP64())
		SUBQ(l.n, total)
		Store(total, ReturnIndex(1+i))
	}
	VZEROUPPER()
	RET()
}

// filterAVX512 emits the filter of groups of sixteen bitmaps, two to a vector. The population counts
// of their words are at most 64, so those of eight vectors fit into the bytes of one. After
// transposing the bytes, the four counts of a bitmap are adjacent, and two multiplications by ones
// add them.
func filterAVX512() {
	TEXT("filterAVX512", NOSPLIT,
		"func(dst *[512]uint32, q *[4]uint64, bitmaps *[4]uint64, groups int, first, max uint32) int")
	Pragma("noescape")
	Doc("filterAVX512 stores in dst the indexes of 16*groups bitmaps, starting at first, that lack at most",
		"max of the bits of q. It returns their number. It requires groups > 0, AVX-512 F, BW, VBMI,",
		"VPOPCNTDQ and POPCNT.")
	dst, q := Load(Param("dst"), GP64()), Load(Param("q"), GP64())
	bitmaps, groups := Load(Param("bitmaps"), GP64()), Load(Param("groups"), GP64())
	vq, limit, index := ZMM(), ZMM(), ZMM()
	VBROADCASTI64X4(Mem{Base: q}, vq)
	VPBROADCASTD(Load(Param("max"), GP32()), limit)
	VMOVDQU64(byteTranspose(), index)
	bytes, words := repeat(0x0101010101010101), repeat(0x0001000100010001)
	numbers, step := ZMM(), ZMM()
	VPBROADCASTD(Load(Param("first"), GP32()), numbers)
	VPADDD(sequence(), numbers, numbers)
	sixteen := GP32()
	MOVL(U32(16), sixteen)
	VPBROADCASTD(sixteen, step)
	start := GP64()
	MOVQ(dst, start)

	Label("group")
	var counts [8]VecVirtual
	for i := range counts {
		counts[i] = ZMM()
		VPANDNQ(vq, twoBitmaps(bitmaps, i), counts[i])
		VPOPCNTQ(counts[i], counts[i])
		if i > 0 {
			VPSLLQ(U8(8*i), counts[i], counts[i])
		}
	}
	for _, or := range [][3]int{{0, 1, 2}, {3, 4, 5}, {0, 6, 7}} {
		VPTERNLOGQ(U8(0xfe), counts[or[2]], counts[or[1]], counts[or[0]])
	}
	sums := counts[0]
	VPORQ(counts[3], sums, sums)
	VPERMB(sums, index, sums)
	VPMADDUBSW(bytes, sums, sums)
	VPMADDWD(words, sums, sums)
	pass := K()
	VPCMPUD(U8(2), limit, sums, pass)
	KORTESTW(pass, pass)
	JZ(LabelRef("next"))
	passing, n := ZMM(), GP32()
	VPCOMPRESSD_Z(numbers, pass, passing)
	VMOVDQU64(passing, Mem{Base: dst})
	KMOVW(pass, n)
	POPCNTL(n, n)
	LEAQ(Mem{Base: dst, Index: n.As64(), Scale: 4}, dst)
	Label("next")
	VPADDD(step, numbers, numbers)
	ADDQ(I32(512), bitmaps)
	DECQ(groups)
	JNZ(LabelRef("group"))

	SUBQ(start, dst)
	SHRQ(U8(2), dst)
	Store(dst, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// sequence returns the numbers 0 to 15 with four bytes each.
func sequence() Mem {
	m := GLOBL("sequence", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i))
	}
	return m
}

// twoBitmaps loads the bitmaps 2i and 2i+1 of a group.
func twoBitmaps(bitmaps Register, i int) VecVirtual {
	v := ZMM()
	VMOVDQU64(Mem{Base: bitmaps, Disp: 64 * i}, v)
	return v
}
