package intersect

import "github.com/simdb/simdb/internal/simd"

// kernel is one implementation; its methods are in kernel_*.go.
type kernel simd.Level

// active is the kernel in use.
var active = kernel(simd.Active())
