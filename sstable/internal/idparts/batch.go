package idparts

import (
	"bytes"
	"math/bits"
)

// together is how many IDs are looked up side by side, so that their steps overlap.
const together = 8

// AppendParts appends the parts that IDs are in.
func (d *Divider) AppendParts(parts []uint16, ids [][]byte) []uint16 {
	for len(ids) > 0 {
		n := min(len(ids), together)
		parts, ids = d.appendSome(parts, ids[:n]), ids[n:]
	}
	return parts
}

// appendSome is AppendParts for at most together IDs.
func (d *Divider) appendSome(parts []uint16, ids [][]byte) []uint16 {
	var keys [together]uint64
	for j, id := range ids {
		if len(ids) < together || !bytes.HasPrefix(id, d.shared) {
			for _, id := range ids {
				parts = append(parts, uint16(d.Part(id)))
			}
			return parts
		}
		keys[j] = key(id[len(d.shared):])
	}
	var at [together]int
	for step := len(d.keys) / 2; step > 0; step >>= 1 {
		for j, k := range keys {
			_, less := bits.Sub64(d.keys[at[j]+step-1], k, 0)
			at[j] += step & -int(less)
		}
	}
	for j, id := range ids {
		parts = append(parts, uint16(d.decide(at[j], keys[j], id)))
	}
	return parts
}
