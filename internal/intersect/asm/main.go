// Command asm generates the assembly kernels of package intersect. It is a module of its own, so that the database
// does not depend on the generator.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

//go:generate go run . -out ../intersect_amd64.s -stubs ../intersect_amd64.go -pkg intersect

func main() {
	countAVX512()
	countAVX2()
	filterAVX512()
	Generate()
}

// The immediates that rotate four parts by one, two and three.
var rotations = [3]U8{0x39, 0x4e, 0x93}

// list is one of the two lists: what is left of it.
type list struct {
	p, n Register // the first element, and how many there are
	step Register // elements of the block
	last Register // the last element of the block
}

// newList loads the list of the parameters name and nName.
func newList(name, count string) *list {
	return &list{
		p:    Load(Param(name), GP64()),
		n:    Load(Param(count), GP64()),
		step: GP64(),
		last: GP32(),
	}
}

// block sets the length of the block, at most 16, and its last element, and returns the mask of its elements.
func (l *list) block(sixteen, ones Register) Register {
	MOVQ(l.n, l.step)
	CMPQ(l.n, sixteen)
	CMOVQGT(sixteen, l.step)
	MOVL(Mem{Base: l.p, Index: l.step, Scale: 4, Disp: -4}, l.last)
	bits, mask := GP32(), K()
	BZHIL(l.step.(GPVirtual).As32(), ones, bits)
	KMOVW(bits, mask)
	return mask
}

// advance moves on by the step.
func (l *list) advance() {
	LEAQ(Mem{Base: l.p, Index: l.step, Scale: 4}, l.p)
	SUBQ(l.step, l.n)
}

// countAVX512 emits the comparison of blocks of 16, the last ones shorter. In a short block of b, the missing elements
// are copies of its last one, which change nothing; those of a are masked out.
func countAVX512() {
	TEXT("countAVX512", NOSPLIT, "func(a *uint32, na int, b *uint32, nb int, need int) int")
	Pragma("noescape")
	Doc("countAVX512 is countGo with AVX-512 F, BMI2 and POPCNT.")
	a, b := newList("a", "na"), newList("b", "nb")
	need := Load(Param("need"), GP64())
	sixteen, zero, ones, common := GP64(), GP64(), GP32(), GP64()
	MOVQ(U32(16), sixteen)
	XORQ(zero, zero)
	MOVL(I32(-1), ones)
	XORQ(common, common)
	lastB := ZMM()
	VPBROADCASTD(Mem{Base: b.p, Index: b.n, Scale: 4, Disp: -4}, lastB)

	Label("blocks")
	maskA, maskB := a.block(sixteen, ones), b.block(sixteen, ones)
	va, vb := ZMM(), ZMM()
	VMOVDQU32_Z(Mem{Base: a.p}, maskA, va)
	VMOVDQA64(lastB, vb)
	VMOVDQU32(Mem{Base: b.p}, maskB, vb)

	Comment("Keep the step of the list whose block ends first, of both if they end alike.")
	CMPL(a.last, b.last)
	CMOVQHI(zero, a.step)
	CMOVQCS(zero, b.step)
	a.advance()
	b.advance()

	Comment("Each chain drops from its mask the elements of a that equal an element of b.")
	var left [4]Register
	for i := range left {
		left[i] = K()
		v := vb
		if i > 0 {
			v = ZMM()
			VSHUFI32X4(rotations[i-1], vb, vb, v)
		}
		VPCMPUD(U8(4), v, va, maskA, left[i])
		for _, r := range rotations {
			t := ZMM()
			VPSHUFD(r, v, t)
			VPCMPUD(U8(4), t, va, left[i], left[i])
		}
	}
	KANDW(left[0], left[1], left[0])
	KANDW(left[2], left[3], left[2])
	KANDW(left[0], left[2], left[0])
	KXORW(left[0], maskA, left[0])
	n := GP32()
	KMOVW(left[0], n)
	POPCNTL(n, n)
	ADDQ(n.As64(), common)

	Comment("Done if a list is; give up if what is left of either cannot be enough.")
	TESTQ(a.n, a.n)
	JZ(LabelRef("done"))
	TESTQ(b.n, b.n)
	JZ(LabelRef("done"))
	for _, l := range []*list{a, b} {
		most := GP64()
		LEAQ(Mem{Base: common, Index: l.n, Scale: 1}, most)
		CMPQ(most, need)
		JLT(LabelRef("done"))
	}
	JMP(LabelRef("blocks"))

	Label("done")
	Store(common, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// countAVX2 emits the comparison of full blocks of 8.
func countAVX2() {
	TEXT("countAVX2", NOSPLIT, "func(a *uint32, na int, b *uint32, nb int, need int) (n, i, j int)")
	Pragma("noescape")
	Doc("countAVX2 compares full blocks of 8 while both lists have one and need can be reached, with AVX2 and POPCNT. It",
		"returns the number of common elements, and how many of each list it has done with.")
	a, b := newList("a", "na"), newList("b", "nb")
	need := Load(Param("need"), GP64())
	eight, zero, common := GP64(), GP64(), GP64()
	MOVQ(U32(8), eight)
	XORQ(zero, zero)
	XORQ(common, common)

	Label("blocks")
	for _, l := range []*list{a, b} {
		CMPQ(l.n, eight)
		JLT(LabelRef("done"))
		most := GP64()
		LEAQ(Mem{Base: common, Index: l.n, Scale: 1}, most)
		CMPQ(most, need)
		JLT(LabelRef("done"))
	}
	va, vb := YMM(), YMM()
	VMOVDQU(Mem{Base: a.p}, va)
	VMOVDQU(Mem{Base: b.p}, vb)
	MOVL(Mem{Base: a.p, Disp: 28}, a.last)
	MOVL(Mem{Base: b.p, Disp: 28}, b.last)
	MOVQ(eight, a.step)
	MOVQ(eight, b.step)
	CMPL(a.last, b.last)
	CMOVQHI(zero, a.step)
	CMOVQCS(zero, b.step)
	a.advance()
	b.advance()
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

// filterAVX512 emits the filter of groups of eight bitmaps. The population counts of the eight words of a bitmap are at
// most 64, so those of eight bitmaps fit the bytes of one vector; its bytes transposed, lane i has the counts of
// bitmap i, and VPSADBW sums them.
func filterAVX512() {
	TEXT("filterAVX512", NOSPLIT,
		"func(dst *[512]uint32, q *[8]uint64, bitmaps *[8]uint64, groups int, first uint32, max uint64) int")
	Pragma("noescape")
	Doc("filterAVX512 puts into dst the indices of those of 8*groups bitmaps, numbered from first, that lack at most max of the",
		"bits of q, and returns how many they are. It needs groups > 0, AVX-512 F, BW, VL, VBMI, VPOPCNTDQ and POPCNT.")
	dst, q := Load(Param("dst"), GP64()), Load(Param("q"), GP64())
	bitmaps, groups := Load(Param("bitmaps"), GP64()), Load(Param("groups"), GP64())
	vq, limit, zero, index := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(Mem{Base: q}, vq)
	VPBROADCASTQ(Load(Param("max"), GP64()), limit)
	VPXORQ(zero, zero, zero)
	transpose := GLOBL("transpose", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(i%8*8+i/8))
	}
	VMOVDQU64(transpose, index)
	numbers, step := YMM(), YMM()
	VPBROADCASTD(Load(Param("first"), GP32()), numbers)
	sequence := GLOBL("sequence", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(i))
	}
	VPADDD(sequence, numbers, numbers)
	eight := GP32()
	MOVL(U32(8), eight)
	VPBROADCASTD(eight, step)
	start := GP64()
	MOVQ(dst, start)

	Label("group")
	var counts [8]VecVirtual
	for i := range counts {
		counts[i] = ZMM()
		VPANDNQ(vq, bitmap(bitmaps, i), counts[i])
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
	VPSADBW(zero, sums, sums)
	pass := K()
	VPCMPUQ(U8(2), limit, sums, pass)
	KORTESTB(pass, pass)
	JZ(LabelRef("next"))
	passing, n := YMM(), GP32()
	VPCOMPRESSD_Z(numbers, pass, passing)
	VMOVDQU(passing, Mem{Base: dst})
	KMOVB(pass, n)
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

// bitmap loads bitmap i of a group.
func bitmap(bitmaps Register, i int) VecVirtual {
	v := ZMM()
	VMOVDQU64(Mem{Base: bitmaps, Disp: 64 * i}, v)
	return v
}
