package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rank emits the search for two zeros in the words from p (changed) to end. from is set to the
// number of ones before zero number from. to, which must be at least 1, is set to the number of
// ones before zero number to, or to n if there are fewer zeros. The search walks over the words by
// population count, and finds the bit in the last word with PDEP, which is fast on every processor
// with AVX-512. Searching all words at once in vector registers has no branches to mispredict but
// is not faster.
func rank(p, end, from, to, n Register) {
	bit, word, zeros, one, sum := GP64(), GP64(), GP64(), GP64(), GP64()
	XORQ(bit, bit) // number of the first bit of the current word
	XORQ(sum, sum) // zeros before it
	MOVQ(U32(1), one)

	find := func(name, none string, target Register) {
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
		JMP(LabelRef(none))
		Label(name + "Here")
		rest, mask := GP64(), GP64()
		DECQ(target)
		MOVQ(target, rest)
		SUBQ(sum, rest)
		SHLXQ(rest, one, mask)
		PDEPQ(word, mask, mask)
		TZCNTQ(mask, mask)
		ADDQ(bit, mask)
		SUBQ(target, mask)
		MOVQ(mask, target)
	}
	TESTQ(from, from)
	JZ(LabelRef("to"))
	find("from", "fromNone", from)
	find("to", "toNone", to)
	JMP(LabelRef("ranked"))
	Label("fromNone")
	MOVQ(n, from)
	Label("toNone")
	MOVQ(n, to)
	Label("ranked")
}

func rankZeros() {
	TEXT("rankZeros", NOSPLIT, "func(unary *byte, words int, from, to uint64, n int) (lo, hi int)")
	Pragma("noescape")
	Doc("rankZeros is rankZerosGo; words and to must be at least one.")
	p, end := Load(Param("unary"), GP64()), GP64()
	Load(Param("words"), end)
	LEAQ(Mem{Base: p, Index: end, Scale: 8}, end)
	from, to, n := Load(Param("from"), GP64()), Load(Param("to"), GP64()), Load(Param("n"), GP64())
	rank(p, end, from, to, n)
	Store(from, Return("lo"))
	Store(to, Return("hi"))
	RET()
}

// selectBit emits a function with one PDEP, for which Go has no intrinsic.
func selectBit() {
	TEXT("selectBit", NOSPLIT, "func(w uint64, i int) int")
	Pragma("noescape")
	Doc("selectBit is selectGo.")
	w, i, bit := Load(Param("w"), GP64()), Load(Param("i"), GP64()), GP64()
	MOVQ(U32(1), bit)
	SHLXQ(i, bit, bit)
	PDEPQ(w, bit, bit)
	TZCNTQ(bit, bit)
	Store(bit, ReturnIndex(0))
	RET()
}
