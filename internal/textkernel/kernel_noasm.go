//go:build !amd64 || purego

package textkernel

// masks is Masks, after its checks.
func (k kernel) masks(dst []uint64, text []byte) int { return masksGo(dst, text) }

// edges is Edges, after its checks.
func (k kernel) edges(dst []uint16, masks []uint64) int { return edgesGo(dst, masks) }

// hashWords is not called.
func (k kernel) hashWords([]uint64, []byte, []uint16, uint64, uint64) int { return 0 }

// shingles makes none of the shingles.
func (k kernel) shingles(dst, words []uint64, size int, p Poly) int { return 0 }

// below does none of the hashes.
func (k kernel) below(dst []uint32, hashes []uint64, limit uint64) (n, done int) { return 0, 0 }
