package pospop

import "github.com/simdb/simdb/internal/simd"

// kernel is one implementation of the counting loops. Its methods are switches, not function
// values, so that arguments need not escape to the heap.
type kernel simd.Level

// active is the kernel in use.
var active = kernel(simd.Active())
