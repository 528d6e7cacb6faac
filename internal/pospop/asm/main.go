// Command asm generates the assembly kernels of package pospop. It is a module of its own, so that
// the database does not depend on the generator.
package main

import "github.com/mmcloughlin/avo/build"

//go:generate go run . -out ../count_amd64.s -stubs ../count_amd64.go -pkg pospop

func main() {
	build.ConstraintExpr("!purego")
	countAVX512("countAVX512", plain)
	countAVX512("countMixedAVX512", mixed)
	countAVX512("countSelectedAVX512", selected)
	countAVX2("countAVX2", false)
	countAVX2("countMixedAVX2", true)
	build.Generate()
}
