// Command asm generates the assembly of package kernel:
//
//	go run . -out ../scan_amd64.s -stubs ../scan_amd64.go -pkg kernel
//
// It is a module of its own, so that avo is no dependency of the database.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	prefetch()
	rankZeros()
	lanes := laneNumbers()
	scanPacked512(lanes)
	scanFlat512(lanes)
	decode512()
	nibbles := nibbleCounts()
	scanPacked2(nibbles)
	scanFlat2(nibbles)
	Generate()
}

// prefetch asks for n cache lines from p on.
func prefetch() {
	TEXT("prefetchLines", NOSPLIT, "func(p *byte, n int)")
	Doc("prefetchLines asks for n cache lines from p on.")
	p := Load(Param("p"), GP64())
	n := Load(Param("n"), GP64())
	Label("line")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	PREFETCHT0(Mem{Base: p})
	ADDQ(Imm(64), p)
	DECQ(n)
	JMP(LabelRef("line"))
	Label("done")
	RET()
}

// rankZeros walks the words by population count and finds the bit in the last one with PDEP, which is fast on every processor that has
// AVX-512.
func rankZeros() {
	TEXT("rankZeros", NOSPLIT, "func(unary *byte, words int, from, to uint64, n int) (lo, hi int)")
	Doc("rankZeros is rankZerosGo; words is at least one, and 1 <= to.")
	p, end := Load(Param("unary"), GP64()), GP64()
	Load(Param("words"), end)
	LEAQ(Mem{Base: p, Index: end, Scale: 8}, end)
	from, to := Load(Param("from"), GP64()), Load(Param("to"), GP64())
	bit, word, zeros, one, sum := GP64(), GP64(), GP64(), GP64(), GP64()
	XORQ(bit, bit) // number of the first bit of the word at hand
	XORQ(sum, sum) // zeros before it
	MOVQ(U32(1), one)

	// find leaves bit, p and sum at the word with zero number target, and stores the ones before the zero.
	find := func(name string, target Register, result string) {
		rest, mask := GP64(), GP64()
		Label(name)
		MOVQ(Mem{Base: p}, word)
		NOTQ(word)
		POPCNTQ(word, zeros)
		ADDQ(sum, zeros)
		CMPQ(zeros, target)
		JCC(LabelRef(name + "Here"))
		MOVQ(zeros, sum)
		ADDQ(Imm(64), bit)
		ADDQ(Imm(8), p)
		CMPQ(p, end)
		JB(LabelRef(name))
		JMP(LabelRef(name + "None"))
		Label(name + "Here")
		DECQ(target)
		MOVQ(target, rest)
		SUBQ(sum, rest)
		SHLXQ(rest, one, mask)
		PDEPQ(word, mask, mask)
		TZCNTQ(mask, mask)
		ADDQ(bit, mask)
		SUBQ(target, mask)
		Store(mask, Return(result))
	}
	TESTQ(from, from)
	JZ(LabelRef("zero"))
	find("from", from, "lo")
	JMP(LabelRef("to"))
	Label("zero")
	Store(from, Return("lo"))
	find("to", to, "hi")
	RET()

	n := GP64()
	Label("fromNone")
	Load(Param("n"), n)
	Store(n, Return("lo"))
	Label("toNone")
	Load(Param("n"), n)
	Store(n, Return("hi"))
	RET()
}

// laneNumbers are the positions of eight keys relative to the first.
func laneNumbers() Mem {
	m := GLOBL("lanes", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(i))
	}
	return m
}

// scan512 holds the registers that the AVX-512 scans share.
type scan512 struct {
	dst, count    Register // output: where the positions go, how many there are
	first         GPVirtual
	query, mask   VecVirtual
	limit, lanes  VecVirtual
	shuffle, move VecVirtual // of a packed scan, as mask is
}

// compare leaves in k the lanes of the group at m that are within the limit. Imm 0x28 of the ternary logic is (keys ^ query) & mask.
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

func (s *scan512) setUp(lanes Mem) {
	s.dst = Load(Param("dst"), GP64())
	s.first = GP64()
	Load(Param("first"), s.first)
	s.query, s.limit, s.lanes = ZMM(), ZMM(), ZMM()
	q, k := Load(Param("q"), GP64()), Load(Param("k"), GP64())
	VPBROADCASTQ(q, s.query)
	VPBROADCASTQ(k, s.limit)
	VMOVDQU(lanes, s.lanes.AsY())
	count := GP64()
	XORQ(count, count)
	s.count = count
}

// groups emits the loop over groups of eight keys, four at a time and then singly. at is where group i (0..3) of those at hand lies.
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
	Store(s.count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func scanPacked512(lanes Mem) {
	TEXT("scanPackedAVX512", NOSPLIT, "func(dst *uint32, packed *byte, l *[128]byte, width, groups, first int, q, mask, k uint64) int")
	Doc("scanPackedAVX512 writes to dst the positions, counted from first, of the packed values of groups*8 keys that differ",
		"from q in at most k of the bits of mask, and returns how many they are. It reads 64 bytes a group, and writes up to seven",
		"words more than it returns, but never more than groups*8.")
	var s scan512
	s.setUp(lanes)
	p := Load(Param("packed"), GP64())
	l := Load(Param("l"), GP64())
	width := Load(Param("width"), GP64())
	n := Load(Param("groups"), GP64())
	mask := Load(Param("mask"), GP64())
	s.mask, s.shuffle, s.move = ZMM(), ZMM(), ZMM()
	VPBROADCASTQ(mask, s.mask)
	VMOVDQU64(Mem{Base: l}, s.shuffle)
	VMOVDQU64(Mem{Base: l, Disp: 64}, s.move)
	width3 := GP64()
	LEAQ(Mem{Base: width, Index: width, Scale: 2}, width3)
	s.groups(n, func(i int) Mem {
		return []Mem{
			{Base: p},
			{Base: p, Index: width, Scale: 1},
			{Base: p, Index: width, Scale: 2},
			{Base: p, Index: width3, Scale: 1},
		}[i]
	}, func(groups int) {
		LEAQ(Mem{Base: p, Index: width, Scale: uint8(groups)}, p)
	})
}

func scanFlat512(lanes Mem) {
	TEXT("scanFlatAVX512", NOSPLIT, "func(dst *uint32, keys *uint64, groups, first int, q, k uint64) int")
	Doc("scanFlatAVX512 writes to dst the positions, counted from first, of those of groups*8 keys that differ from q in at most",
		"k bits, and returns how many they are. It writes up to seven words more than it returns.")
	var s scan512
	s.setUp(lanes)
	p := Load(Param("keys"), GP64())
	n := Load(Param("groups"), GP64())
	s.groups(n, func(i int) Mem {
		return Mem{Base: p, Disp: 64 * i}
	}, func(groups int) {
		ADDQ(U32(64*groups), p)
	})
}

// decode512 works in two passes. The first turns the unary words into the bit numbers of their ones, by compressing the numbers 0..63
// under each word; the second makes eight keys at a time of bit numbers and packed values: key i is
// base + (bit number - i)<<width + low.
func decode512() {
	numbers := GLOBL("numbers", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(i))
	}
	eight := GLOBL("eight", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(i))
	}
	TEXT("decodeAVX512", NOSPLIT, "func(dst *[512]uint64, ones *[640]uint16, unary *byte, words int, packed *byte, l *[128]byte, width, groups int, base, mask uint64)")
	Doc("decodeAVX512 writes the keys of groups*8 positions to dst. Unary words after the 512th one are passed over; ones is scratch",
		"space. Keys past the last one are noise.")
	ones := Load(Param("ones"), GP64())
	p := Load(Param("unary"), GP64())
	words := Load(Param("words"), GP64())
	limit := GP64()
	LEAQ(Mem{Base: ones, Disp: 2 * 512}, limit)
	bytes, step, at := ZMM(), ZMM(), ZMM()
	VMOVDQU64(numbers, bytes)
	VPXORQ(at, at, at)
	sixtyFour := GP32()
	MOVL(U32(64), sixtyFour)
	VPBROADCASTW(sixtyFour, step)
	Label("word")
	w := GP64()
	MOVQ(Mem{Base: p}, w)
	KMOVQ(w, K1)
	found, low, high := ZMM(), ZMM(), ZMM()
	VPCOMPRESSB_Z(bytes, K1, found)
	VPMOVZXBW(found.AsY(), low)
	VEXTRACTI64X4(Imm(1), found, found.AsY())
	VPMOVZXBW(found.AsY(), high)
	VPADDW(at, low, low)
	VPADDW(at, high, high)
	VMOVDQU64(low, Mem{Base: ones})
	VMOVDQU64(high, Mem{Base: ones, Disp: 64})
	VPADDW(step, at, at)
	POPCNTQ(w, w)
	LEAQ(Mem{Base: ones, Index: w, Scale: 2}, ones)
	CMPQ(ones, limit)
	JA(LabelRef("keys"))
	ADDQ(Imm(8), p)
	DECQ(words)
	JNZ(LabelRef("word"))

	Label("keys")
	Load(Param("ones"), ones)
	dst := Load(Param("dst"), GP64())
	packed := Load(Param("packed"), GP64())
	l := Load(Param("l"), GP64())
	width := Load(Param("width"), GP64())
	groups := Load(Param("groups"), GP64())
	shuffle, move, base, mask, index, next := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(Mem{Base: l}, shuffle)
	VMOVDQU64(Mem{Base: l, Disp: 64}, move)
	VPBROADCASTQ(Load(Param("base"), GP64()), base)
	VPBROADCASTQ(Load(Param("mask"), GP64()), mask)
	VMOVDQU64(eight, index)
	count := GP32()
	MOVL(U32(8), count)
	VPBROADCASTQ(count.As64(), next)
	shift := XMM()
	MOVQ(width, shift)
	Label("group")
	prefix, value := ZMM(), ZMM()
	VPMOVZXWQ(Mem{Base: ones}, prefix)
	VPSUBQ(index, prefix, prefix)
	VPSLLQ(shift, prefix, prefix)
	VPADDQ(base, prefix, prefix)
	VPERMB(Mem{Base: packed}, shuffle, value)
	VPSRLVQ(move, value, value)
	VPTERNLOGQ(Imm(0xf8), mask, value, prefix) // prefix | value & mask
	VMOVDQU64(prefix, Mem{Base: dst})
	VPADDQ(next, index, index)
	ADDQ(Imm(16), ones)
	ADDQ(Imm(64), dst)
	ADDQ(width, packed)
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// nibbleCounts is the number of ones of each four bits, for both halves of a register; then four bits of every byte.
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
	s.query, s.limit, s.counts, s.nibble, s.zero = YMM(), YMM(), YMM(), YMM(), YMM()
	broadcast := func(param string, to VecVirtual) {
		x := XMM()
		MOVQ(Load(Param(param), GP64()), x)
		VPBROADCASTQ(x, to)
	}
	broadcast("q", s.query)
	broadcast("k", s.limit)
	VMOVDQU(nibbles, s.counts)
	VMOVDQU(nibbles.Offset(32), s.nibble)
	VPXOR(s.zero, s.zero, s.zero)
}

// compare returns a register with the lanes of keys (changed) that are beyond the limit, as its four lowest bits.
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

// groups emits the loop over groups of eight keys; load brings the half i (0 or 1) of the group at hand.
func (s *scan2) groups(n Register, load func(i int, to VecVirtual), step func()) {
	Label("group")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	low, high := YMM(), YMM()
	load(0, low)
	load(1, high)
	near, far := s.compare(low), s.compare(high)
	SHLL(Imm(4), far)
	ORL(far, near)
	XORL(Imm(0xff), near)
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
	Store(s.count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func scanPacked2(nibbles Mem) {
	TEXT("scanPackedAVX2", NOSPLIT, "func(dst *uint32, packed *byte, l *[160]byte, width, groups, first int, q, mask, k uint64) int")
	Doc("scanPackedAVX2 is scanPackedAVX512 without the words written in excess.")
	var s scan2
	s.setUp(nibbles)
	p := Load(Param("packed"), GP64())
	l := Load(Param("l"), GP64())
	width := Load(Param("width"), GP64())
	n := Load(Param("groups"), GP64())
	s.mask = YMM()
	x := XMM()
	MOVQ(Load(Param("mask"), GP64()), x)
	VPBROADCASTQ(x, s.mask)
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
	TEXT("scanFlatAVX2", NOSPLIT, "func(dst *uint32, keys *uint64, groups, first int, q, k uint64) int")
	Doc("scanFlatAVX2 is scanFlatAVX512 without the words written in excess.")
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
