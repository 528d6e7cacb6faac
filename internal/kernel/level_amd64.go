//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// highest returns the highest level that the processor and the operating system support.
func highest() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasPOPCNT:
		return Go
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasAVX512VBMI ||
		!x.HasAVX512VBMI2 || !x.HasAVX512BITALG || !x.HasAVX512VPOPCNTDQ || !x.HasAVX512GFNI || !x.HasAVX512VPCLMULQDQ:
		return AVX2
	}
	return AVX512
}
