package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Many queries are compared with many keys in tiles: four queries, held in registers, with eight
// keys. A single branch, on the minimum of its distances, decides whether a tile has any pair.
// Pairs are rare, so this branch is hardly ever mispredicted.
//
// With AVX-512 and a small k, a coarse comparison first rules out four tiles at a time. It
// superimposes the four 16-bit words of a key, and sets each bit that differs from the query in any
// word. At most as many bits are set as differ in total, so if more than k are set, there is no
// pair. For unrelated keys, 15 of 16 bits are set on average. Counting bits needs most of the time,
// and one register has the bits of 32 keys.
//
// For an even smaller k, two words are enough: those of the XOR of the halves of a key, in which,
// again, at most as many bits differ. For unrelated keys, 12 of 16 bits are set on average.
//
// Some fingerprints pass most coarse comparisons: similar ones, and those that differ in the same
// bits of all words. Coarse comparisons are then abandoned for the rest of the call.

const (
	// tileQueries is the height of a tile.
	tileQueries = 4
	// coarseKeys is the number of keys per coarse comparison.
	coarseKeys = 32
	// coarseSpace is the size in bytes of the planes of keys that are stored on the stack for the
	// next queries: those of 1024 keys with two words, or 512 with four. If there are more keys,
	// planes are recomputed for each row of tiles.
	coarseSpace = 4096
	// coarsePass is the minimum number of comparisons for each one that passes; coarseStart is the
	// number of comparisons that are assumed to have happened before.
	coarsePass, coarseStart = 4, 3
)

// pairs emits code that appends the pairs of one query of a tile: query<<32 | position for each bit
// set in lanes (changed). Bit i stands for the key at position first+i.
type pairs struct {
	dst, count GPVirtual
	query      GPVirtual // number of the tile's first query
	first      GPVirtual // number of the tile's first key
}

func (p *pairs) emit(label string, row int, lanes GPVirtual) {
	TESTL(lanes, lanes)
	JZ(LabelRef(label + "None"))
	high := GP64()
	LEAQ(Mem{Base: p.query, Disp: row}, high)
	SHLQ(Imm(32), high)
	ORQ(p.first, high)
	Label(label)
	lane := GP64()
	TZCNTL(lanes, lane.As32())
	ADDQ(high, lane) // no carry: positions are below 1<<32
	MOVQ(lane, Mem{Base: p.dst, Index: p.count, Scale: 8})
	INCQ(p.count)
	BLSRL(lanes, lanes)
	JNZ(LabelRef(label))
	Label(label + "None")
}

// many512 holds the registers of the scans for AVX-512.
type many512 struct {
	lanes, step Mem // lane numbers; difference between the pairs of a query and the next one
	dst         GPVirtual
	query       GPVirtual // number of the first query of a row of tiles
	queryAt     GPVirtual // its address
	rows        GPVirtual // remaining queries, at least one
	keys, m, k  GPVirtual
	whole       GPVirtual // keys in whole tiles; K1 has the lanes of the remaining keys, K3 has all eight
	first       GPVirtual // number of the next key
	queries     [tileQueries]VecVirtual
	limit       VecVirtual
}

// setUp loads the parameters that all scans need.
func (s *many512) setUp() {
	s.dst, s.query, s.queryAt, s.rows = GP64(), GP64(), GP64(), GP64()
	s.keys, s.m, s.k, s.whole, s.first = GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("dst"), s.dst)
	Load(Param("queries"), s.queryAt)
	Load(Param("n"), s.rows)
	Load(Param("keys"), s.keys)
	Load(Param("m"), s.m)
	Load(Param("k"), s.k)
	s.limit = ZMM()
	VPBROADCASTQ(s.k, s.limit)
	for i := range s.queries {
		s.queries[i] = ZMM()
	}
	XORL(s.query.As32(), s.query.As32())
	tail, ones := GP64(), GP64()
	MOVQ(s.m, tail)
	ANDQ(Imm(7), tail)
	MOVQ(s.m, s.whole)
	SUBQ(tail, s.whole)
	MOVL(U32(0xff), ones.As32())
	KMOVB(ones.As32(), K3)
	BZHIQ(tail, ones, ones)
	KMOVB(ones.As32(), K1)
}

// loadQueries broadcasts four queries. If fewer remain, the last one replaces the missing ones.
func (s *many512) loadQueries() {
	last := GP64()
	LEAQ(Mem{Base: s.rows, Disp: -1}, last)
	VPBROADCASTQ(Mem{Base: s.queryAt}, s.queries[0])
	for i := 1; i < tileQueries; i++ {
		at := GP64()
		MOVL(U32(i), at.As32())
		CMPQ(last, at)
		CMOVQLT(last, at)
		VPBROADCASTQ(Mem{Base: s.queryAt, Index: at, Scale: 8}, s.queries[i])
	}
}

// tile compares the queries with keys (changed) in the lanes of mask. Minimums are computed in
// half-lanes, which is faster, and distances fit into them.
func (s *many512) tile(name string, keys VecVirtual, mask Register) {
	var far [tileQueries]VecVirtual
	for i := range far {
		far[i] = ZMM()
		VPXORQ(keys, s.queries[i], far[i])
		VPOPCNTQ(far[i], far[i])
	}
	least, other := ZMM(), ZMM()
	VPMINUD(far[0], far[1], least)
	VPMINUD(far[2], far[3], other)
	VPMINUD(least, other, least)
	VPCMPUQ(Imm(2), s.limit, least, mask, K2)
	KORTESTB(K2, K2)
	JZ(LabelRef(name + "Next"))
	pair, near, bits := ZMM(), ZMM(), GP64()
	MOVQ(s.query, bits)
	SHLQ(Imm(32), bits)
	ORQ(s.first, bits)
	VPBROADCASTQ(bits, pair)
	VPMOVZXDQ(s.lanes, near)
	VPADDQ(near, pair, pair) // no carry: positions are below 1<<32
	for i := range far {
		if i > 0 {
			CMPQ(s.rows, Imm(uint64(i)))
			JLE(LabelRef(name + "Next"))
			VPADDQ_BCST(s.step, pair, pair)
		}
		VPCMPUQ(Imm(2), s.limit, far[i], mask, K2)
		VPCOMPRESSQ_Z(pair, K2, near)
		VMOVDQU64(near, Mem{Base: s.dst})
		KMOVB(K2, bits.As32())
		POPCNTL(bits.As32(), bits.As32())
		LEAQ(Mem{Base: s.dst, Index: bits, Scale: 8}, s.dst)
	}
	Label(name + "Next")
}

// tiles compares the queries with the keys from s.first to end, which is at most s.whole. It
// continues at the label tilesEnd.
func (s *many512) tiles(end GPVirtual) {
	Label("tiles")
	CMPQ(s.first, end)
	JGE(LabelRef("tilesEnd"))
	keys := ZMM()
	VMOVDQU64(Mem{Base: s.keys, Index: s.first, Scale: 8}, keys)
	s.tile("whole", keys, K3)
	ADDQ(Imm(8), s.first)
	JMP(LabelRef("tiles"))
}

// finish compares the queries with the keys after the whole tiles. It jumps to rows if there are
// more queries, or else returns.
func (s *many512) finish(rows string) {
	KORTESTB(K1, K1)
	JZ(LabelRef("done"))
	keys := ZMM()
	VMOVDQU64_Z(Mem{Base: s.keys, Index: s.first, Scale: 8}, K1, keys)
	s.tile("part", keys, K1)
	Label("done")
	ADDQ(Imm(8*tileQueries), s.queryAt)
	ADDQ(Imm(tileQueries), s.query)
	SUBQ(Imm(tileQueries), s.rows)
	JG(LabelRef(rows))
	SUBQ(NewParamAddr("dst", 0), s.dst)
	SHRQ(Imm(3), s.dst)
	Store(s.dst, Return("count"))
	VZEROUPPER()
	RET()
}

// queryStep returns the difference between the pairs of a key with a query and with the next query.
func queryStep() Mem {
	m := GLOBL("step", RODATA|NOPTR)
	DATA(0, U64(1<<32))
	return m
}

func scanMany512(lanes, step Mem) {
	TEXT("scanManyAVX512", NOSPLIT, "func(dst, queries *uint64, n int, keys *uint64, m int, k uint64) (count int)")
	Pragma("noescape")
	Doc("scanManyAVX512 writes to dst the pairs of n queries and m keys, n >= 1, as defined by ScanMany.",
		"It returns their number. It may overwrite seven words after the space for n*m pairs.")
	s := many512{lanes: lanes, step: step}
	s.setUp()
	Label("queries")
	s.loadQueries()
	XORL(s.first.As32(), s.first.As32())
	s.tiles(s.whole)
	Label("tilesEnd")
	s.finish("queries")
}

// coarse512 is many512 with a coarse comparison. A plane is a register that has one word of each of
// coarseKeys keys, in any order, or coarseKeys copies of a word of a query.
type coarse512 struct {
	many512
	words   int                       // number of planes of the keys, and of each query
	planes  [tileQueries][]VecVirtual // of the queries
	swap    Mem                       // shuffle that reverses the bytes of 32 bits
	most    VecVirtual                // k, in 16-bit lanes
	scratch [2][4]VecVirtual          // fixed registers, because the allocator would use too many
	space   GPVirtual                 // address of the stored planes of keys
	end     GPVirtual                 // end of the keys to compare coarsely; 0 after this was abandoned
	until   GPVirtual                 // end of the keys to compare after that
	credit  GPVirtual                 // negative after too many comparisons have passed
}

// reversedBytes returns a shuffle that reverses the bytes of 32 bits.
func reversedBytes() Mem {
	m := GLOBL("reversed", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(i^3))
	}
	return m
}

// stored returns the number of keys whose planes are stored, a power of two.
func (s *coarse512) stored() int { return coarseSpace / 2 / s.words }

// plane returns the address of a stored plane of the keys at first.
func (s *coarse512) plane(i int, first Register) Mem {
	return Mem{Base: s.space, Index: first, Scale: uint8(2 * s.words), Disp: 64 * i}
}

// splitQueries makes the planes of the queries. Every other plane has the bytes of the previous one
// in reverse order. It begins with the second word, so low bits of the second word are superimposed
// on high bits of the first. If high bits of all words differ less often than others, this sets
// more bits.
func (s *coarse512) splitQueries() {
	for i, q := range s.queries {
		p := s.planes[i]
		if s.words == 2 {
			VPRORQ(Imm(32), q, p[0])
			VPXORQ(p[0], q, p[0])
		} else {
			VPSHUFD(Imm(0xa0), q, p[0]) // low halves
			VPSHUFD(Imm(0xf5), q, p[2])
		}
		for j := 0; j < s.words; j += 2 {
			VPSHUFB(s.swap, p[j], p[j+1])
		}
	}
}

// loadKeys loads coarseKeys keys.
func (s *coarse512) loadKeys() {
	for i, keys := range s.scratch[0] {
		VMOVDQU64(Mem{Base: s.keys, Index: s.first, Scale: 8, Disp: 64 * i}, keys)
	}
}

// loadLastKeys loads the remaining keys, which are less than coarseKeys. The first of these
// replaces the missing ones.
func (s *coarse512) loadLastKeys(left GPVirtual) {
	ones := GP64()
	MOVL(U32(1<<32-1), ones.As32())
	BZHIQ(left, ones, ones)
	for i, keys := range s.scratch[0] {
		VPBROADCASTQ(Mem{Base: s.keys, Index: s.first, Scale: 8}, keys)
		KMOVB(ones.As32(), K4)
		VMOVDQU64(Mem{Base: s.keys, Index: s.first, Scale: 8, Disp: 64 * i}, K4, keys)
		SHRQ(Imm(8), ones)
	}
}

// splitKeys makes and stores the planes of the loaded keys.
func (s *coarse512) splitKeys() {
	keys, halves := s.scratch[0], s.scratch[1]
	VSHUFPS(Imm(0x88), keys[1], keys[0], halves[0]) // low halves
	VSHUFPS(Imm(0x88), keys[3], keys[2], halves[1])
	VSHUFPS(Imm(0xdd), keys[1], keys[0], halves[2])
	VSHUFPS(Imm(0xdd), keys[3], keys[2], halves[3])
	if s.words == 2 {
		VPXORD(halves[2], halves[0], halves[0])
		VPXORD(halves[3], halves[1], halves[1])
	}
	at := GP32()
	MOVL(s.first.As32(), at)
	ANDL(U32(s.stored()-1), at) // with more keys than that, no stored plane is reused
	for i, plane := range s.scratch[0][:s.words] {
		// K5 has the odd lanes.
		VPBLENDMW(halves[i^1], halves[i], K5, plane)
		if i%2 == 1 {
			VPSHUFB(s.swap, plane, plane)
		}
		VMOVDQA64(plane, s.plane(i, at.As64()))
	}
}

// compare jumps to the label passed if any of the keys with loaded planes may be near a query.
func (s *coarse512) compare() {
	INCQ(s.credit)
	keys, far := s.scratch[0], s.scratch[1]
	for i, q := range s.planes {
		VPXORD(keys[0], q[0], far[i])
		for j := 1; j < s.words; j++ {
			VPTERNLOGD(Imm(0xf6), q[j], keys[j], far[i]) // far | keys ^ q
		}
		VPOPCNTW(far[i], far[i])
	}
	VPMINUW(far[0], far[1], far[0])
	VPMINUW(far[2], far[3], far[2])
	VPMINUW(far[0], far[2], far[0])
	VPCMPUW(Imm(2), s.most, far[0], K2)
	KORTESTD(K2, K2)
	JNZ(LabelRef("passed"))
}

// next jumps to label while there are more keys to compare coarsely.
func (s *coarse512) next(label string) {
	ADDQ(Imm(coarseKeys), s.first)
	CMPQ(s.first, s.end)
	JL(LabelRef(label))
}

// coarseMany512 emits scanMany512 with a coarse comparison of two or four words.
func coarseMany512(name string, words int, lanes, step, swap Mem) {
	TEXT(name, 0, "func(dst, queries *uint64, n int, keys *uint64, m int, k uint64, coarse int) (count int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is scanManyAVX512 with a coarse comparison, of %d words, of the first keys. Their", name, words),
		"number, coarse, is a multiple of 32 and at least 32. It may exceed m by 23.")
	space := AllocLocal(coarseSpace + 64)
	s := coarse512{many512: many512{lanes: lanes, step: step}, words: words, swap: swap}
	s.space, s.end, s.until, s.credit, s.most = GP64(), GP64(), GP64(), GP64(), ZMM()
	for i := range tileQueries {
		s.scratch[0][i], s.scratch[1][i] = ZMM(), ZMM()
		for range words {
			s.planes[i] = append(s.planes[i], ZMM())
		}
	}
	s.setUp()
	Load(Param("coarse"), s.end)
	VPBROADCASTW(s.k.As32(), s.most)
	odd := GP32()
	MOVL(U32(0xaaaaaaaa), odd)
	KMOVD(odd, K5)
	LEAQ(space.Offset(63), s.space)
	ANDQ(I32(-64), s.space)
	MOVL(U32(coarseStart), s.credit.As32())
	s.scan()
}

// scan emits the scan after the set-up.
func (s *coarse512) scan() {
	Label("queries")
	s.loadQueries()
	XORL(s.first.As32(), s.first.As32())
	TESTQ(s.end, s.end)
	JZ(LabelRef("rest"))
	s.splitQueries()
	Label("coarse")
	CMPQ(s.m, U32(s.stored()))
	JG(LabelRef("split"))
	TESTQ(s.query, s.query)
	JZ(LabelRef("split"))
	Label("kept")
	for i, plane := range s.scratch[0][:s.words] {
		VMOVDQA64(s.plane(i, s.first), plane)
	}
	s.compare()
	s.next("kept")
	JMP(LabelRef("coarseEnd"))
	Label("split")
	left := GP64()
	MOVQ(s.m, left)
	SUBQ(s.first, left)
	CMPQ(left, Imm(coarseKeys))
	JL(LabelRef("splitLast"))
	s.loadKeys()
	s.splitKeys()
	s.compare()
	s.next("split")
	JMP(LabelRef("coarseEnd"))
	Label("splitLast")
	s.loadLastKeys(left)
	s.splitKeys()
	s.compare()
	JMP(LabelRef("done"))

	Label("passed")
	LEAQ(Mem{Base: s.first, Disp: coarseKeys}, s.until)
	CMPQ(s.whole, s.until)
	CMOVQLT(s.whole, s.until)
	SUBQ(Imm(coarsePass), s.credit)
	JGE(LabelRef("tiles"))
	XORL(s.end.As32(), s.end.As32())
	JMP(LabelRef("rest"))

	Label("coarseEnd")
	CMPQ(s.first, s.m)
	JGE(LabelRef("done"))
	Label("rest")
	MOVQ(s.whole, s.until)
	s.tiles(s.until)
	Label("tilesEnd")
	CMPQ(s.first, s.end)
	JGE(LabelRef("exact"))
	CMPQ(s.first, s.whole)
	JL(LabelRef("coarse"))
	Label("exact")
	CMPQ(s.first, s.whole)
	JL(LabelRef("rest"))
	s.finish("queries")
}

// scanTiles2 emits a kernel for one row of tiles with AVX2, which has too few registers, and no
// efficient masked loads, for more.
func scanTiles2(nibbles Mem) {
	TEXT("scanTilesAVX2", NOSPLIT, "func(dst *uint64, queries *[4]uint64, rows, query int, keys *uint64, groups int, k uint64) (count int)")
	Pragma("noescape")
	Doc("scanTilesAVX2 writes to dst the pairs of groups*8 keys and the first rows of four queries, and",
		"returns their number. query is the number of the first query.")
	var s pairs
	s.dst, s.count, s.query, s.first = GP64(), GP64(), GP64(), GP64()
	p, keys, rows, n := GP64(), GP64(), GP64(), GP64()
	Load(Param("dst"), s.dst)
	Load(Param("queries"), p)
	Load(Param("rows"), rows)
	Load(Param("query"), s.query)
	Load(Param("keys"), keys)
	Load(Param("groups"), n)
	XORQ(s.count, s.count)
	XORQ(s.first, s.first)
	var c scan2
	c.limit = broadcast("k", YMM())
	c.constants(nibbles)
	Label("tile")
	for i := range tileQueries {
		name := fmt.Sprint("row", i)
		if i > 0 {
			CMPQ(rows, Imm(uint64(i)))
			JLE(LabelRef("next"))
		}
		c.query = YMM()
		VPBROADCASTQ(Mem{Base: p, Disp: 8 * i}, c.query)
		low, high := YMM(), YMM()
		VMOVDQU(Mem{Base: keys}, low)
		VMOVDQU(Mem{Base: keys, Disp: 32}, high)
		s.emit(name, i, c.compareBoth(low, high))
	}
	Label("next")
	ADDQ(Imm(64), keys)
	ADDQ(Imm(8), s.first)
	DECQ(n)
	JNZ(LabelRef("tile"))
	Store(s.count, Return("count"))
	VZEROUPPER()
	RET()
}
