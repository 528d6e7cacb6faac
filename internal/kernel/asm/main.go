// Command asm generates the assembly of package kernel:
//
//	go run . -out ../asm_amd64.s -stubs ../asm_amd64.go -pkg kernel
//
// It is a separate module, so that avo is not a dependency of the database.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	prefetch()
	prefetchTwo()
	prefetchEach()
	selectBit()
	rankZeros()
	lanes := laneNumbers()
	scanPacked512(lanes)
	scanFlat512(lanes)
	eight := laneIndex()
	decode512(eight)
	decode2(eight)
	nibbles := nibbleCounts()
	scanPacked2(nibbles)
	scanFlat2(nibbles)
	step := queryStep()
	scanMany512(lanes, step)
	swap := reversedBytes()
	coarseMany512("coarseTwoAVX512", 2, lanes, step, swap)
	coarseMany512("coarseFourAVX512", 4, lanes, step, swap)
	scanTiles2(nibbles)
	prefetchSpans()
	scanSpans512()
	scanSpans2(nibbles)
	ascend512()
	crc512()
	countAVX512("countAVX512", false)
	countAVX512("countMixedAVX512", true)
	countAVX2("countAVX2", false)
	countAVX2("countMixedAVX2", true)
	masksAVX512()
	masksAVX2()
	edgesAVX512()
	edges2()
	hashWordsAVX512()
	hashWords2()
	shinglesAVX512()
	belowAVX512()
	commonAVX512()
	commonAVX2()
	filterAVX512()
	filter2()
	eightAVX512()
	Generate()
}

// prefetch emits prefetchLines, which prefetches n cache lines at p.
func prefetch() {
	TEXT("prefetchLines", NOSPLIT, "func(p *byte, n int)")
	Pragma("noescape")
	Doc("prefetchLines prefetches n cache lines at p.")
	prefetchLoop("line", Load(Param("p"), GP64()), Load(Param("n"), GP64()))
	RET()
}

// prefetchTwo emits a function that prefetches lines at two places, at least one line each: one
// call for both costs as much as a call for a single place.
func prefetchTwo() {
	TEXT("prefetchTwo", NOSPLIT, "func(p *byte, n int, q *byte, m int)")
	Pragma("noescape")
	Doc("prefetchTwo prefetches n cache lines at p and m at q; n and m must be at least one.")
	prefetchLoop("p", Load(Param("p"), GP64()), Load(Param("n"), GP64()))
	prefetchLoop("q", Load(Param("q"), GP64()), Load(Param("m"), GP64()))
	RET()
}

// prefetchEach emits a function that prefetches one line for each of several items.
func prefetchEach() {
	TEXT("prefetchEach", NOSPLIT, "func(base, items *byte, n, stride int, shift, scale uint64)")
	Pragma("noescape")
	Doc("prefetchEach is PrefetchEach; n must be at least one.")
	base, item, n := Load(Param("base"), GP64()), Load(Param("items"), GP64()), Load(Param("n"), GP64())
	stride, shift, scale := Load(Param("stride"), GP64()), Load(Param("shift"), GP64()), Load(Param("scale"), GP64())
	Label("item")
	at := GP64()
	MOVL(Mem{Base: item}, at.As32())
	SHRXQ(shift, at, at)
	SHLXQ(scale, at, at)
	PREFETCHT0(Mem{Base: base, Index: at, Scale: 1})
	ADDQ(stride, item)
	DECQ(n)
	JNZ(LabelRef("item"))
	RET()
}

// prefetchLoop prefetches n cache lines, at least one, at p.
func prefetchLoop(name string, p, n Register) {
	Label(name)
	PREFETCHT0(Mem{Base: p})
	ADDQ(Imm(64), p)
	DECQ(n)
	JNZ(LabelRef(name))
}
