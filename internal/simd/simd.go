// Package simd decides which vector instructions this process uses. It is the only package that looks
// at the processor: all kernels (packages kernel, pospop, textkernel and intersect) ask it, so that
// they run at one level.
//
// The environment variable SIMDB_KERNEL=go|avx2|avx512 lowers the level. An unknown name, or one that
// the machine lacks, is ignored.
package simd

import "os"

// Level is a set of instructions that kernels are written for. Kernels of all levels give the same
// results.
type Level int

// The levels, each including the ones before it.
const (
	Go     Level = iota // no assembly
	AVX2                // AVX2, BMI1, BMI2 and POPCNT: Haswell, Zen and later
	AVX512              // AVX-512 F, BW, DQ, VL, VBMI, VBMI2, BITALG, VPOPCNTDQ and GFNI: Ice Lake, Zen 4 and later
)

// Env is the environment variable that forces a level by its name.
const Env = "SIMDB_KERNEL"

var names = [...]string{Go: "go", AVX2: "avx2", AVX512: "avx512"}

// String returns the name of the level, as in [Env]: "go", "avx2" or "avx512".
func (l Level) String() string { return names[l] }

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
