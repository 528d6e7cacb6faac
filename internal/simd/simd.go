// Package simd decides which vector instructions this process uses. It is the only package that
// looks at the processor: all kernels (packages kernel, pospop, textkernel, intersect and editdist)
// ask it, so that they run at one level.
//
// The environment variable SIMDB_KERNEL=go|avx2|avx512 lowers the level. An unknown name, or one
// that the machine lacks, is ignored.
package simd

import "os"

// Env is the environment variable that forces a level by its name.
const Env = "SIMDB_KERNEL"

var active = choose(os.Getenv(Env))

// Active returns the level of this process: the highest that the machine has, or the one that [Env]
// names if the machine has that.
func Active() Level { return active }

// Available returns the levels that the machine has, the highest first.
func Available() []Level {
	levels := []Level{AVX512, AVX2, Go}
	return levels[AVX512-highest():]
}

// choose returns the level called name if the machine has it, else the highest.
func choose(name string) Level {
	for _, l := range Available() {
		if l.String() == name {
			return l
		}
	}
	return highest()
}
