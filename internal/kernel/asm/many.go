package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Many queries are compared with many keys in tiles: four queries, held in registers, with eight
// keys. Whether a tile has a pair at all is asked once, of the least of its distances; pairs are
// rare, so that branch is hardly ever mispredicted.

// tileQueries is the height of a tile.
const tileQueries = 4

// pairs emits code that appends the pairs of one query of a tile: query<<32 | position for each bit
// of lanes (changed), which are the keys at position first and after.
type pairs struct {
	dst, count GPVirtual
	query      GPVirtual // number of the tile's first one
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
	lanes, step Mem // numbers of the lanes; the difference of the pairs of a query and the next one
	dst         GPVirtual
	query       GPVirtual // number of the first query of a row of tiles
	queryAt     GPVirtual // where it is
	rows        GPVirtual // queries that are left, at least one
	keys, m, k  GPVirtual
	whole       GPVirtual // keys in whole tiles; K1 has the lanes of the others, K3 all eight
	first       GPVirtual // number of the next key
	queries     [tileQueries]VecVirtual
	limit       VecVirtual
}

// setUp loads what all scans need.
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

// loadQueries broadcasts four queries; where fewer are left the last one stands for those that are
// missing.
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

// tile compares the queries with keys (changed) in the lanes of mask. The lesser of two distances
// is found faster in halves of lanes, and they fit there.
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

// tiles compares the queries with the keys from s.first to end, which is at most s.whole, and goes
// on at the label tilesEnd.
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

// finish compares the queries with the keys after whole tiles, and goes to rows if there are more
// queries, or else returns.
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

// queryStep is the difference of the pairs of a key with a query and with the next one.
func queryStep() Mem {
	m := GLOBL("step", RODATA|NOPTR)
	DATA(0, U64(1<<32))
	return m
}

func scanMany512(lanes, step Mem) {
	TEXT("scanManyAVX512", NOSPLIT, "func(dst, queries *uint64, n int, keys *uint64, m int, k uint64) (count int)")
	Pragma("noescape")
	Doc("scanManyAVX512 writes to dst the pairs of n queries and m keys, n >= 1, as ScanMany has them, and returns how many they are. It",
		"may change seven words after the room for all of them.")
	s := many512{lanes: lanes, step: step}
	s.setUp()
	Label("queries")
	s.loadQueries()
	XORL(s.first.As32(), s.first.As32())
	s.tiles(s.whole)
	Label("tilesEnd")
	s.finish("queries")
}

// scanTiles2 is one row of tiles for AVX2, which has too few registers, and no masked loads worth
// having, for more.
func scanTiles2(nibbles Mem) {
	TEXT("scanTilesAVX2", NOSPLIT, "func(dst *uint64, queries *[4]uint64, rows, query int, keys *uint64, groups int, k uint64) (count int)")
	Pragma("noescape")
	Doc("scanTilesAVX2 writes to dst the pairs of the first rows of four queries, the first of which has the given number, and groups*8",
		"keys, and returns how many they are.")
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
	c.limit, c.counts, c.nibble, c.zero = YMM(), YMM(), YMM(), YMM()
	x := XMM()
	MOVQ(Load(Param("k"), GP64()), x)
	VPBROADCASTQ(x, c.limit)
	VMOVDQU(nibbles, c.counts)
	VMOVDQU(nibbles.Offset(32), c.nibble)
	VPXOR(c.zero, c.zero, c.zero)
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
		near, far := c.compare(low), c.compare(high)
		SHLL(Imm(4), far)
		ORL(far, near)
		XORL(Imm(0xff), near)
		s.emit(name, i, near)
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
