package selfjoin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkCosts measures the constants of plan.go.
func BenchmarkCosts(b *testing.B) {
	const total = 1 << 20
	r := rand.New(rand.NewPCG(1, 1))
	all := group{make([]uint64, total), make([]uint32, total)}
	for i := range all.keys {
		all.keys[i], all.ids[i] = r.Uint64(), uint32(i)
	}
	w := newJoin(context.Background(), all.keys, 3, Options{Workers: 1}, nil, nil, nil).lead
	each := func(name string, size int, units float64, f func(g group)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for lo := 0; lo+size <= total; lo += size {
					f(all.slice(uint32(lo), uint32(lo+size)))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(float64(total/size)*units), "ns/unit")
		})
	}
	for _, size := range []int{17, 32, 64, 256, 1024} {
		each(fmt.Sprintf("compare/%d", size), size, float64(size*(size-1)/2), func(g group) { w.compareAll(g, 1) })
	}
	for _, size := range []int{64, 256, 1024, 4096, 16384} {
		for _, width := range []int{6, 8, 10, 13} {
			some, others := newBlock((1<<width-1)<<20), newBlock((1<<width-1)<<40)
			if 1<<width <= size*16 {
				each(fmt.Sprintf("chain/%d/%d", size, width), size, float64(size), func(g group) { w.chainedPass(g, some, 1) })
			}
			if 1<<width <= size {
				l := new(level)
				each(fmt.Sprintf("split/%d/%d", size, width), size, float64(2*size), func(g group) {
					l.split(g, some, &w.copy)
					l.split(g, others, &w.copy)
				})
			}
		}
	}
}
