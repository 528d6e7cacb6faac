package merge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMapping maps numbers in all ways that occur in a merge, and looks them up one by one and
// together.
func TestMapping(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func(n int) []uint32{
		"one after the other": func(n int) []uint32 { return steps(n, 7, func(int) uint32 { return 1 }) },
		"all equal":           func(n int) []uint32 { return steps(n, 9, func(int) uint32 { return 0 }) },
		"every second":        func(n int) []uint32 { return steps(n, 0, func(int) uint32 { return 2 }) },
		"at random":           func(n int) []uint32 { return steps(n, 3, func(int) uint32 { return r.Uint32N(100) }) },
		"a gap": func(n int) []uint32 {
			return steps(n, 0, func(i int) uint32 { return 1 + uint32(i/(n/2+1))*1e6*uint32(i&1) })
		},
		"near, but for some": func(n int) []uint32 {
			return steps(n, 0, func(i int) uint32 {
				if i%100 == 5 {
					return 600
				}
				return uint32(i & 1)
			})
		},
		"far apart":           func(n int) []uint32 { return steps(n, 0, func(int) uint32 { return 800_000 }) },
		"one after, then not": func(n int) []uint32 { return steps(n, 0, func(i int) uint32 { return 1 + uint32(i)/uint32(n) }) },
	}
	for name, shape := range shapes {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 127, 128, 129, 1000, 5000} {
			t.Run(fmt.Sprint(name, "/", n), func(t *testing.T) {
				want := shape(n)
				limit := uint32(1)
				if n > 0 {
					limit = want[n-1] + 1
				}
				for _, limit := range []uint32{limit, limit + 1000, max(limit, mostNear), 1<<32 - 1} {
					m := NewMapping(uint32(n), limit)
					for i := 0; i < n; {
						run := 1 // a run that ascends by ones, or a part of one
						for i+run < n && want[i+run] == want[i]+uint32(run) && r.IntN(9) > 0 {
							run++
						}
						if run > 1 || r.IntN(2) == 0 {
							m.AppendRun(want[i], uint32(run))
						} else {
							m.Append(want[i])
						}
						i += run
					}
					all := make([]uint32, n)
					for i := range all {
						all[i] = uint32(i)
					}
					r.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
					order := slices.Clone(all)
					m.GetAll(all)
					for j, i := range order {
						if got := m.Get(i); got != want[i] || all[j] != want[i] {
							t.Fatalf("limit %d: %d is mapped to %d, and together to %d, not %d", limit, i, got, all[j], want[i])
						}
					}
					if m.Len() != uint32(n) {
						t.Fatalf("%d numbers, not %d", m.Len(), n)
					}
				}
			})
		}
	}
}

func steps(n int, first uint32, step func(i int) uint32) []uint32 {
	var all []uint32
	for i := range n {
		all = append(all, first)
		first += step(i)
	}
	return all
}

// TestSources stores inputs, with one input and with many.
func TestSources(t *testing.T) {
	for _, inputs := range []int{0, 1, 2, 3, 4, 5, 17, 256, 257, 70_000} {
		r := rand.New(rand.NewPCG(3, uint64(inputs)))
		const n = 1000
		s := NewSources(n, inputs)
		var want []int
		for s.Len() < n {
			input := r.IntN(max(inputs, 1))
			if run := r.IntN(min(200, n-s.Len()) + 1); r.IntN(20) == 0 {
				s.AppendRun(input, run)
				want = append(want, slices.Repeat([]int{input}, run)...)
			} else {
				s.Append(input)
				want = append(want, input)
			}
		}
		for i, w := range want {
			if got := s.Get(i); got != w {
				t.Fatalf("%d inputs: element %d is from %d, not %d", inputs, i, got, w)
			}
		}
	}
}
