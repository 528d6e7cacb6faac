//go:build (!amd64 && !arm64) || purego

package kernel

import "unsafe"

// Kernels that both amd64 and arm64 have. They are not called, because no level of this machine has
// them.

func scanManyAsm(_, _, _ []uint64, _ int) []uint64                        { panic(noCode) }
func prefetchSpansAsm([]Span)                                             { panic(noCode) }
func prefetchEachAsm(_, _ unsafe.Pointer, _, _ int, _, _ uint)            { panic(noCode) }
func masksAsm([]uint64, []byte) int                                       { panic(noCode) }
func prefetchAsm([]byte)                                                  { panic(noCode) }
func prefetchAtAsm(unsafe.Pointer, uintptr)                               { panic(noCode) }
func prefetch2Asm(_, _ []byte)                                            { panic(noCode) }
func scanPackedAsm([]uint32, []byte, int, int, int, uint64, int) []uint32 { panic(noCode) }
func scanFlatAsm([]uint32, []uint64, uint64, int) []uint32                { panic(noCode) }
func filterAsm([]uint32, *[4]uint64, [][4]uint64, int) []uint32           { panic(noCode) }
