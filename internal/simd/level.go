package simd

// Level is a set of instructions that kernels are written for. Kernels of all levels give the same
// results.
type Level int

// The levels, each including the ones before it.
const (
	Go     Level = iota // no assembly
	AVX2                // AVX2, BMI1, BMI2 and POPCNT: Haswell, Zen and later
	AVX512              // AVX-512 F, BW, DQ, VL, VBMI, VBMI2, BITALG, VPOPCNTDQ, VPCLMULQDQ and GFNI: Ice Lake, Zen 4 and later
)

var names = [...]string{Go: "go", AVX2: "avx2", AVX512: "avx512"}

// String returns the name of the level, as in [Env]: "go", "avx2" or "avx512".
func (l Level) String() string { return names[l] }
