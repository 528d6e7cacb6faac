// Command asm generates the assembly of package kernel:
//
//	go run . -out ../scan_amd64.s -stubs ../scan_amd64.go -pkg kernel
//
// It is a module of its own, so that avo is no dependency of the database.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

func main() {
	ConstraintExpr("amd64,!purego")
	prefetch()
	rankZeros()
	lanes := laneNumbers()
	scanPacked512(lanes)
	scanBlock512(lanes)
	scanFlat512(lanes)
	decode512()
	nibbles := nibbleCounts()
	scanPacked2(nibbles)
	scanFlat2(nibbles)
	scanMany512()
	scanTiles2(nibbles)
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
