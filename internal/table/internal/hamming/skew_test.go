package hamming

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// skewedSets are fingerprints as different from uniform ones as possible: with uninformative leads
// in most tables, repeats, and long runs. Uniform ones are included for comparison.
var skewedSets = []struct {
	name string
	make func(r *rand.Rand, n int) []uint64
}{
	{"uniform", func(r *rand.Rand, n int) []uint64 {
		return keytest.Fill(n, func(int) uint64 { return r.Uint64() })
	}},
	{"consecutive", func(r *rand.Rand, n int) []uint64 {
		base := r.Uint64() << 32
		return keytest.Fill(n, func(i int) uint64 { return base + uint64(i) })
	}},
	{"consecutive, shifted by 20", func(r *rand.Rand, n int) []uint64 {
		base := r.Uint64() << 52
		return keytest.Fill(n, func(i int) uint64 { return base + uint64(i)<<20 })
	}},
	{"equal but for 8 bits", func(r *rand.Rand, n int) []uint64 {
		base := r.Uint64()
		return keytest.Fill(n, func(int) uint64 { return base ^ r.Uint64()&0xff })
	}},
	{"equal", func(r *rand.Rand, n int) []uint64 {
		base := r.Uint64()
		return keytest.Fill(n, func(int) uint64 { return base })
	}},
	{"32 leads a table", func(r *rand.Rand, n int) []uint64 {
		return fromLeads(r, n, 32, func() int { return r.IntN(32) })
	}},
	{"Zipf leads", func(r *rand.Rand, n int) []uint64 {
		return fromLeads(r, n, 1<<16, zipf(r, 1.1).next)
	}},
	{"Zipf leads, steeper", func(r *rand.Rand, n int) []uint64 {
		return fromLeads(r, n, 1<<16, zipf(r, 1.5).next)
	}},
	{"one hot lead", func(r *rand.Rand, n int) []uint64 {
		lead := r.Uint64() &^ (1<<48 - 1)
		return keytest.Fill(n, func(i int) uint64 {
			if i%2 == 0 {
				return r.Uint64()
			}
			return lead | r.Uint64()&(1<<48-1)
		})
	}},
	{"few ones", func(r *rand.Rand, n int) []uint64 {
		return keytest.Fill(n, func(int) uint64 { return keytest.FlipBits(r, 0, r.IntN(8)) })
	}},
	{"clusters", func(r *rand.Rand, n int) []uint64 {
		centres := keytest.Fill(1+n/1000, func(int) uint64 { return r.Uint64() })
		return keytest.Fill(n, func(int) uint64 { return keytest.FlipBits(r, centres[r.IntN(len(centres))], r.IntN(7)) })
	}},
	{"one cluster", func(r *rand.Rand, n int) []uint64 {
		centre := r.Uint64()
		return keytest.Fill(n, func(int) uint64 { return keytest.FlipBits(r, centre, r.IntN(13)) })
	}},
}

// fromLeads returns fingerprints of four leads of 16 bits. Each lead is one of count values; next
// returns the index of the value.
func fromLeads(r *rand.Rand, n, count int, next func() int) []uint64 {
	var leads [4][]uint64
	for t := range leads {
		leads[t] = keytest.Fill(1<<16, func(i int) uint64 { return uint64(i) })
		r.Shuffle(1<<16, func(i, j int) { leads[t][i], leads[t][j] = leads[t][j], leads[t][i] })
		leads[t] = leads[t][:count]
	}
	return keytest.Fill(n, func(int) uint64 {
		fp := uint64(0)
		for t := range leads {
			fp = fp<<16 | leads[t][next()]
		}
		return fp
	})
}

// zipfian draws numbers below 1<<16, number i with a probability proportional to (1+i)^-s.
type zipfian struct{ *rand.Zipf }

func zipf(r *rand.Rand, s float64) zipfian { return zipfian{rand.NewZipf(r, s, 1, 1<<16-1)} }

func (z zipfian) next() int { return int(z.Uint64()) }

// skewedQueries returns queries for which a search within k may go wrong: most are stored
// fingerprints with up to k bits flipped, anywhere or in a row; a fifth are random.
func skewedQueries(r *rand.Rand, fps []uint64, k, count int) []uint64 {
	return keytest.Fill(count, func(i int) uint64 {
		q := fps[r.IntN(len(fps))]
		switch i % 5 {
		case 0:
			return r.Uint64()
		case 1:
			return q
		case 2:
			return q ^ (1<<uint(r.IntN(k+1))-1)<<uint(r.IntN(64))
		}
		for range r.IntN(k + 1) {
			q ^= 1 << r.IntN(64)
		}
		return q
	})
}

func makeSkewed(name string, n int) []uint64 {
	for _, set := range skewedSets {
		if set.name == name {
			fps := set.make(keytest.Rand(name, n), n)
			slices.Sort(fps)
			return fps
		}
	}
	panic(name)
}

// TestNearSkewed compares searches for every distance with brute force.
func TestNearSkewed(t *testing.T) {
	exhaustive.Sequential(t)
	for i := range exhaustive.Some(t, 3, len(skewedSets)) {
		set := skewedSets[i]
		t.Run(set.name, func(t *testing.T) {
			s := new(Searcher)
			for _, n := range []int{1500, 12_000} {
				fps := makeSkewed(set.name, n)
				for _, l := range []Layout{{4, 1}, {2, 1}, {6, 3}} {
					x := New(l, openRuns(t, buildRuns(l, fps)), nil)
					r := keytest.Rand(set.name, n+l.Blocks)
					for k := range maxDistance + 1 {
						for _, q := range skewedQueries(r, fps, k, 12_000/n) {
							checkNear(t, x, fps, q, k, s)
						}
					}
				}
			}
		})
	}
}

// TestNearSkewedWork counts the work of searches and of scans for the same queries, weighted by the
// cost model.
func TestNearSkewedWork(t *testing.T) {
	const queries = 50
	price := func(s Stats) float64 { return float64(s.Probes)*cost.probe + float64(s.Candidates)*cost.key }
	for _, set := range skewedSets {
		t.Run(set.name, func(t *testing.T) {
			fps := makeSkewed(set.name, 50_000)
			x := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil)
			var s Searcher
			var dst []Hit
			for _, k := range []int{0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 24} {
				allNear, allScan := 0.0, 0.0
				for _, q := range skewedQueries(keytest.Rand(set.name, k), fps, k, queries) {
					s.stats = Stats{}
					var err error
					if dst, err = s.Near(x, q, k, dst[:0]); err != nil {
						t.Fatal(err)
					}
					near := price(s.stats)
					s.stats = Stats{}
					s.dst = dst[:0]
					if err := x.scanAll(q, k, &s); err != nil {
						t.Fatal(err)
					}
					scan := x.leastScan + price(s.stats)
					if near > 2*scan+scanEstimateAbove {
						t.Errorf("Near(%016x, %d) costs %.0f, a scan %.0f; %v", q, k, near, scan, s.Plan(x, q, k))
					}
					allNear, allScan = allNear+near, allScan+scan
				}
				if allNear > 1.5*allScan {
					t.Errorf("k %d: %d searches cost %.0f, scans %.0f", k, queries, allNear, allScan)
				}
			}
		})
	}
}

// TestNearSkewedPlans checks that no plan that is worth the planning is slower than a scan.
func TestNearSkewedPlans(t *testing.T) {
	for _, set := range skewedSets {
		fps := makeSkewed(set.name, 50_000)
		x := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil)
		s := new(Searcher)
		for k := range maxDistance + 1 {
			for _, q := range skewedQueries(keytest.Rand(set.name, k), fps, k, 50) {
				p := s.Plan(x, q, k)
				if scan := x.scanCostOf(&searchPlan{q: q, k: k}); p.Cost > scan+overrunRatio*scanEstimateAbove+cost.probe {
					t.Errorf("%s, k %d: cost %.0f, a scan %.0f: %v", set.name, k, p.Cost, scan, p)
				}
			}
		}
	}
}
