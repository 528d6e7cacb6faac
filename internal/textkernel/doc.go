// Package textkernel holds the inner loops of the walk from a text to the hashes of its shingles
// and on to the smallest of them. No step branches on the text.
//
//		text -> Masks -> Edges -> HashWords -> Shingles -> Below
//
//	  - Masks: AVX-512 looks up 64 bytes at once in a table of 128 (VPERMI2B), AVX2 compares 32
//	    bytes with the ends of the ranges, pure Go adds to eight bytes at a time what carries into
//	    their high bits.
//	  - Edges: AVX-512 turns the edges of a mask into offsets with one compression of the numbers
//	    0 to 63 (VPCOMPRESSB).
//	  - HashWords: AVX-512 loads eight words into two vectors of their low and high halves, cuts
//	    them to their lengths by variable shifts, and multiplies to 128 bits by four 32-bit
//	    products.
//	  - Shingles: eight at a time, by Horner's rule (VPMULLQ).
//	  - Below: AVX-512 compresses what passes (VPCOMPRESSD).
//
// All kernels give the same results.
package textkernel

import "github.com/simdb/simdb/internal/simd"

// kernel is one implementation; its methods are in kernel_*.go.
type kernel simd.Level

// active is the kernel in use.
var active = kernel(simd.Active())
