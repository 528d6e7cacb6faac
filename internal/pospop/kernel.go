package pospop

import "github.com/simdb/simdb/internal/simd"

// kernel is one implementation of the counting loops. Its methods are switches, not function values, so that arguments
// need not escape to the heap.
type kernel simd.Level

// active is the kernel in use.
var active = kernel(simd.Active())

// Kernel returns the name of the kernel in use: "avx512", "avx2" or "go". See [simd.Env].
func Kernel() string { return simd.Level(active).String() }
