//go:build !amd64

package ascii

// masks is Masks, after its checks.
func (k kernel) masks(dst []uint64, text []byte) int { return masksGo(dst, text) }

// edges is Edges, after its checks.
func (k kernel) edges(dst []uint16, masks []uint64) int { return edgesGo(dst, masks) }
