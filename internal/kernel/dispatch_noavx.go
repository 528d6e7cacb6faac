//go:build !amd64 || purego

package kernel

// Kernels that only amd64 has. They are not called, because no level of this machine has them.

func scanSpansAsm([]uint64, []Span) []uint64                      { panic(noCode) }
func selectBit(uint64, int) int                                   { panic(noCode) }
func rankZerosAsm([]byte, uint64, uint64, int) (lo, hi int)       { panic(noCode) }
func (k *Keys) decodeAsm(_, _ []byte, _, _ int, _ uint64)         { panic(noCode) }
func ascendingAsm([]uint64) bool                                  { panic(noCode) }
func crc32cAsm(uint32, []byte) uint32                             { panic(noCode) }
func countAsm(*[64]uint32, []uint64)                              { panic(noCode) }
func countMixedAsm(*[64]uint32, []uint64, uint64)                 { panic(noCode) }
func edgesAsm([]uint16, []uint64) int                             { panic(noCode) }
func hashWordsAsm([]uint64, []byte, []uint16, uint64, uint64) int { panic(noCode) }
func shinglesAsm(_, _ []uint64, _ int, _ Poly) int                { panic(noCode) }
func belowAsm([]uint32, []uint64, uint64) (n, done int)           { panic(noCode) }
func commonAsm(_, _ []uint32, _ int) int                          { panic(noCode) }
func (b *band) eight([]rune) bool                                 { panic(noCode) }

const noCode = "kernel: no code for this processor"
