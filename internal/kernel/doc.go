// Package kernel has the inner loops of simdb, each in pure Go and, where that is faster, in AVX2,
// AVX-512 or NEON. The level of instructions is chosen once, when the process starts (table.go, which
// lists all kernels). A generator writes the assembly of amd64 (asm); that of arm64 is written by hand.
// All levels give the same results, in the same order.
//
// # Distances
//
// A 64-bit query is compared with many keys at once; each fingerprint is one word.
//
// There are two kinds of input: a flat array of uint64 (the memtable, or a decoded block), and the
// packed low bits of an Elias-Fano block. There, value i of width w occupies the bits [i*w,
// (i+1)*w) of a little-endian bit string, so that eight values fill w bytes exactly and a kernel
// may start at any multiple of eight.
//
// Widths are 0..58, 60 and 64: with these, all bits of a value are in its first byte and the
// following seven, at any position (see RoundWidth).
//
// # Counting bits
//
// Count64 counts, for each of 64 bit positions, how many words of a slice have that bit set: the
// positional population count. This is all the work of SimHash after the features of a document are
// hashed.
//
// The obvious loop adds 64 bits to 64 counters for every word. No kernel processes single bits:
//
//  1. Carry-save adders. A full adder on whole words turns three words of weight w into a sum of
//     weight w and a carry of weight 2w, for all positions at once. A tree of 15 adders (Harley
//     and Seal) adds 16 words to running sums of weight 1, 2, 4 and 8 and emits one word of
//     weight 16. It costs about one adder a word: five logical operations in Go and AVX2, two
//     VPTERNLOGQ in AVX-512.
//  2. Only that sixteenth of the input is added to counters. Pure Go ripples it into bit-sliced
//     counters (plane l holds binary digit l of all 64 counters). AVX2 adds single bits to byte
//     counters. AVX-512 transposes a vector of eight words into 64 bytes of eight bits, one byte a
//     position (VPERMB, VGF2P8AFFINEQB), and adds their population counts (VPOPCNTB) to 64 byte
//     counters, already in the order of the result.
//  3. What is left in the running sums is added once, at the end.
//
// Wide rows are computed, not stored: word j of the row of a hash comes from the SplitMix64
// sequence ([RowWord]). It is computed for 8 or 4 hashes at a time in vector registers, and passed
// directly to the adders.
//
// The idea of counting by carry-save adders in vector registers is from Klarqvist, Muła and Lemire,
// "Efficient computation of positional population counts using SIMD instructions" (2019).
//
// # From text to the smallest hashes of its shingles
//
// No step branches on the text.
//
//		text -> Masks -> Edges -> HashWords -> Shingles -> Below
//
//	  - Masks: AVX-512 looks up 64 bytes at once in a table of 128 (VPERMI2B), AVX2 compares 32
//	    bytes with the ends of the ranges, pure Go adds to eight bytes at a time what carries into
//	    their high bits.
//	  - Edges: AVX-512 turns the edges of a mask into offsets with one compression of the numbers
//	    0 to 63 (VPCOMPRESSB); AVX2 stores four offsets at a time (TZCNTQ).
//	  - HashWords: AVX-512 loads eight words into two vectors of their low and high halves, cuts
//	    them to their lengths by variable shifts, and multiplies to 128 bits by four 32-bit
//	    products.
//	  - Shingles: eight at a time, by Horner's rule (VPMULLQ).
//	  - Below: AVX-512 compresses what passes (VPCOMPRESSD).
//
// # Sketches
//
// Common counts the common elements of two sorted lists. FilterBitmaps rejects lists with too few
// common elements by their bitmaps.
//
// Common compares blocks, all elements of one with all of the other, and advances past the block
// that ends first, or past both. A block is 16 elements in AVX-512 (15 rotations, 16 comparisons
// into a mask) and 8 in AVX2: there is no branch on single comparisons, which no processor can
// predict. Pure Go merges from both ends at once, two independent chains of steps without branches.
//
// The bitmap of a list has 512 bits. Every element sets one bit, which depends only on its value. A
// bit that A has and B lacks belongs to an element of A that is not in B, so |A \ B| >= popcount(a
// AND NOT b). The filter reads 32 bytes per list and never rejects a list by mistake.
//
// # Edit distance
//
// A [Pattern] computes the smallest number of runes to insert, delete or replace that turns one
// text into another (Levenshtein, Soviet Physics Doklady 1966). It is bit-parallel: a word has the
// vertical differences of 64 rows of the table of distances, and a step of a few instructions
// advances it by one column (Myers, J. ACM 1999; Hyyrö 2003 for blocks of words). With AVX-512
// eight columns are computed together, each one block behind the previous column. Only blocks are
// computed that a path within the limit of edits can cross (Ukkonen, Information and Control 1985).
package kernel
