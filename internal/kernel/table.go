package kernel

import "os"

// at has the level at which each kernel runs: the highest one that the level of the process includes
// and for which the kernel has code of its own. Pure Go is code for every level.
var at struct {
	prefetch, prefetchEach                                              Level
	scanPacked, scanFlat, scanSpans, scanMany                           Level
	rankZeros, selectBit, decode, ascending, crc32c                     Level
	count, countMixed, masks, edges, hashWords, shingles, below, common Level
	filter, eight                                                       Level
}

// A kernel is an inner loop with code of its own at some levels.
type kernel struct {
	name string
	at   *Level
	has  []Level // besides Go
}

// table has all kernels. A level is here only if BenchmarkKernels measures it faster than the level
// before it; AVX2 must be 1.6 times as fast as Go. Prefetches only cost time there: what they save is
// seen in searches.
var table = []kernel{
	{"Prefetch", &at.prefetch, []Level{AVX2, NEON}},
	{"PrefetchEach", &at.prefetchEach, []Level{AVX2, NEON}},
	{"ScanPacked", &at.scanPacked, []Level{AVX2, AVX512, NEON}},
	{"ScanFlat", &at.scanFlat, []Level{AVX2, AVX512, NEON}},
	{"ScanSpans", &at.scanSpans, []Level{AVX2, AVX512}},
	{"ScanMany", &at.scanMany, []Level{AVX2, AVX512, NEON}},
	{"RankZeros", &at.rankZeros, []Level{AVX512}},
	{"Select", &at.selectBit, []Level{AVX512}},
	{"Decode", &at.decode, []Level{AVX2, AVX512}},
	{"Ascending", &at.ascending, []Level{AVX512}},
	{"CRC32C", &at.crc32c, []Level{AVX512}},
	{"Count64", &at.count, []Level{AVX2, AVX512}},
	{"CountWide", &at.countMixed, []Level{AVX2, AVX512}},
	{"Masks", &at.masks, []Level{AVX2, AVX512, NEON}},
	{"Edges", &at.edges, []Level{AVX2, AVX512}},
	{"HashWords", &at.hashWords, []Level{AVX2, AVX512}},
	{"Shingles", &at.shingles, []Level{AVX512}},
	{"Below", &at.below, []Level{AVX512}},
	{"Common", &at.common, []Level{AVX2, AVX512}},
	{"FilterBitmaps", &at.filter, []Level{AVX2, AVX512, NEON}},
	{"Within", &at.eight, []Level{AVX512}}, // eight columns of a Pattern
}

// below has the levels that each level includes, highest first, without Go.
var below = [...][]Level{Go: {}, AVX2: {AVX2}, AVX512: {AVX512, AVX2}, NEON: {NEON}}

// active is the level of the process. Only tests change it after the process has started.
var active Level

func init() {
	l, _ := choose(os.Getenv(Env))
	use(l)
}

// use makes l the level of the process. This is the only place where kernels are chosen.
func use(l Level) {
	active = l
	for _, k := range table {
		*k.at = k.best(l)
	}
}

// best returns the highest level of the kernel that l includes.
func (k kernel) best(l Level) Level {
	for _, own := range below[l] {
		for _, h := range k.has {
			if h == own {
				return own
			}
		}
	}
	return Go
}
