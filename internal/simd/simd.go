// Package simd says which vector instructions the kernels of this process may use: one decision for all of them.
package simd

import "os"

// Level is a set of instructions that kernels are written for. Kernels of all levels give the same results.
type Level int

// The levels, each including the ones before it.
const (
	Go     Level = iota // no assembly
	AVX2                // AVX2, BMI1, BMI2 and POPCNT: Haswell, Zen and later
	AVX512              // AVX-512 F, BW, DQ, VL, VBMI, VBMI2, BITALG, VPOPCNTDQ and GFNI: Ice Lake, Zen 4 and later
)

// Env is the environment variable that forces a level: go, avx2 or avx512.
const Env = "SIMDB_KERNEL"

var names = [...]string{Go: "go", AVX2: "avx2", AVX512: "avx512"}

// String returns the name by which [Env] asks for the level.
func (l Level) String() string { return names[l] }

var active = choose(os.Getenv(Env))

// Active returns the level of this process: the highest that the machine has, or what [Env] says if the machine has that.
func Active() Level { return active }

// Available returns the levels that the machine has, the highest first.
func Available() []Level {
	levels := []Level{AVX512, AVX2, Go}
	return levels[AVX512-highest():]
}

// choose returns the level called name if the machine has it, else the highest.
func choose(name string) Level {
	for l := highest(); l > Go; l-- {
		if names[l] == name {
			return l
		}
	}
	if name == names[Go] {
		return Go
	}
	return highest()
}
