package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ascend512 emits ascendAVX512.
func ascend512() {
	TEXT("ascendAVX512", NOSPLIT, "func(keys *uint64, groups int) bool")
	Pragma("noescape")
	Doc("ascendAVX512 reports whether each of 8*groups+1 keys is at least its predecessor; groups must be",
		"at least one.")
	p, n := Load(Param("keys"), GP64()), Load(Param("groups"), GP64())
	down := GP32()
	XORL(down, down)
	Label("group")
	z := ZMM()
	VMOVDQU64(Mem{Base: p}, z)
	VPCMPUQ(Imm(6), Mem{Base: p, Disp: 8}, z, K1) // greater than its successor
	KORTESTB(K1, K1)
	JNZ(LabelRef("done"))
	ADDQ(Imm(64), p)
	DECQ(n)
	JNZ(LabelRef("group"))
	INCL(down)
	Label("done")
	Store(down.As8(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}
