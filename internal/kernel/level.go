package kernel

import (
	"fmt"
	"os"
	"slices"
)

// Level is a set of instructions that kernels may use. Kernels of all levels give the same results.
type Level uint8

// Levels of amd64, each of which includes the previous ones, and of arm64.
const (
	Go     Level = iota // no assembly
	AVX2                // AVX2, BMI1, BMI2 and POPCNT: Haswell, Zen and later
	AVX512              // AVX-512 F, BW, DQ, VL, VBMI, VBMI2, BITALG, VPOPCNTDQ, VPCLMULQDQ and GFNI: Ice Lake, Zen 4 and later
	NEON                // Advanced SIMD, which every arm64 has
)

var levelNames = [...]string{Go: "go", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}

// String returns the name of the level, as in [Env]: "go", "avx2", "avx512" or "neon".
func (l Level) String() string { return levelNames[l] }

// Env is the environment variable that lowers the level: SIMDB_KERNEL=go|avx2|avx512|neon. Any
// other name is an error ([Err]) where errors can be returned; elsewhere the highest level is used.
const Env = "SIMDB_KERNEL"

// Active returns the level of this process: the highest that the machine supports, or the one in
// [Env] if the machine supports it.
func Active() Level { return active }

// Available returns the levels that the machine supports, highest first.
func Available() []Level { return append(slices.Clone(below[highest()]), Go) }

// Err returns an error if [Env] names a level that the machine does not support. Functions that
// open a file or a database return it.
func Err() error {
	_, err := choose(os.Getenv(Env))
	return err
}

// choose returns the level called name, or the highest if there is no name or an error.
func choose(name string) (Level, error) {
	levels := Available()
	for _, l := range levels {
		if l.String() == name {
			return l, nil
		}
	}
	if name == "" {
		return levels[0], nil
	}
	return levels[0], fmt.Errorf("%s=%q is not a kernel of this processor; choose from %v", Env, name, levels)
}

// Name returns the name of the active level.
func Name() string { return active.String() }
