package view

import "math/bits"

// Distance returns the Hamming distance of two fingerprints.
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }
