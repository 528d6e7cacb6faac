package view

import "github.com/simdb/simdb/internal/base"

// Distance returns the Hamming distance of two fingerprints.
func Distance(a, b base.Fingerprint) int { return base.Distance(a, b) }
