package features

import "github.com/simdb/simdb/internal/token"

// copyOf returns copy i of a feature; copy 0 is the feature itself.
func copyOf(hash uint64, i int) uint64 {
	if i == 0 {
		return hash
	}
	return token.Mix(hash + uint64(i)*golden)
}

// golden is the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// appendCopies appends the copies that represent features of a weight in a set of elements: copy i
// if u < weight - i, for a number u in [0, 1) that is a hash of the copy. A whole weight has that
// many copies, so the Jaccard similarity of two sets of copies is the weighted one of the features.
// Any other weight has as many on average. As u depends on the copy only, the larger of two weights
// has all copies of the smaller one, so a sketch of copies is a consistent weighted sample, by which
// sums of smaller and of larger weights are estimated without bias (Ioffe, "Improved Consistent
// Sampling, Weighted Minhash and L1 Sketching", ICDM 2010, section 2, on sampling by rejection;
// Cohen, Kaplan, "Leveraging Discarded Samples for Tighter Estimation of Multiple-Set Aggregates",
// SIGMETRICS 2009, on bottom-k samples that are coordinated).
func appendCopies(dst, hashes []uint64, weight float64) []uint64 {
	if weight == 1 {
		return append(dst, hashes...)
	}
	whole := int(weight)
	for i := range whole {
		for _, h := range hashes {
			dst = append(dst, copyOf(h, i))
		}
	}
	part := weight - float64(whole)
	if part == 0 {
		return dst
	}
	for _, h := range hashes {
		c := copyOf(h, whole)
		if u := float64(token.Mix(^c)>>11) / (1 << 53); u < part {
			dst = append(dst, c)
		}
	}
	return dst
}
