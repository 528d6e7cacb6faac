package keyrun

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/kernel"
)

// BenchmarkCheck verifies unread blocks in random order, in a run that fits in a cache and in one
// that does not; and it measures the steps of that.
func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct {
		name          string
		blocks, leads int
	}{{"4 leads", 1 << 12, 14}, {"32 leads", 1 << 12, 17}, {"256 leads", 1 << 8, 22}, {"memory", 1 << 16, 22}} {
		rng := rand.New(rand.NewPCG(1, 2))
		keys := make([]uint64, c.blocks*BlockLen)
		for i := range keys {
			keys[i] = rng.Uint64()
		}
		slices.Sort(keys)
		r := mustOpenRun(b, keys)
		r.IndexLeads(c.leads)
		order := rng.Perm(c.blocks)
		each := func(name string, fn func(block int)) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for i := range b.N {
					fn(order[i%len(order)])
				}
			})
		}
		each("check", func(block int) {
			if err := r.checkOrder(block); err != nil {
				b.Fatal(err)
			}
		})
		each("places", func(block int) {
			r.entries[block].info.And(^uint64(knownBits))
			if _, _, err := checkPlaces(r, block, 0, ^uint64(0)); err != nil {
				b.Fatal(err)
			}
		})
		each("third", func(block int) {
			r.entries[block].info.And(^uint64(knownBits))
			from := uint64(3*block) & 255 // about 400 prefixes
			if _, _, err := checkPlaces(r, block, from, from+128); err != nil {
				b.Fatal(err)
			}
		})
		each("crc", func(block int) {
			from, end := r.extent(block)
			kernel.CRC32C(0, r.data[from:end])
		})
		var space kernel.Keys
		each("decode", func(block int) { r.Decode(block, r.Info(block), 0, BlockLen, &space) })
		each("keys", func(block int) { r.checkAscent(block, r.Info(block), &space) })
		each("descent", func(block int) { descent(keys[block*BlockLen:][:BlockLen]) })
		each("leads", func(block int) { r.fillLeads(block, r.Info(block), keys[block*BlockLen:][:BlockLen]) })
	}
}
