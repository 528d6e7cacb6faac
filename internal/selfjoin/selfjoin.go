// Package selfjoin finds all pairs of 64-bit fingerprints within k bits of each other, in memory,
// and forms clusters from them.
//
// # Outline
//
// A node of the join is a group of fingerprints, a set A of bit positions that may still be used
// ("available"), and a budget b: every wanted pair of the group differs in at most b of the bits of
// A. The root is all fingerprints, all 64 bits and b = k. A node is worked off in one of two ways:
//
//   - small groups, and those that no split makes cheaper, compare every pair (leaf.go);
//   - otherwise b+1 disjoint blocks of w bits are cut from A (block.go). A wanted pair can't differ
//     in all of them, so there is exactly one FIRST block j in which it agrees. Pass j = 0..b puts
//     fingerprints that agree in block j together; each such group is a child node. In the child
//     the pair differs in all of the blocks 0..j-1, which takes j of the budget, so what is left is
//     A without the blocks 0..j and the budget b-j.
//
// "Agrees in block j and differs in the blocks before" is checked on the pair itself where it is
// found, so every pair is found exactly once and nothing has to be remembered to drop duplicates
// (canonical acceptance). When A runs short, a node starts afresh from all bits that still vary in
// its group, with budget k: that only narrows the search, since the conditions gathered on the way
// down are kept. With 64 uniform bits, k = 3 and blocks of 13 bits the recursion is the classic
// choice of 2 of 5 blocks: 4 passes over everything, and 10 over groups that stay within the
// first-level cache; larger k go deeper. This is the multi-sort of Manku, Jain and Das Sarma
// ("Detecting Near-Duplicates for Web Crawling", WWW 2007) with the prefix recursion of Tabei, Uno,
// Sugiyama and Tsuda ("Single versus Multiple Sorting in All Pairs Similarity Search", ACML 2010).
//
// The width w is chosen for every node by a cost model (plan.go) from the group's real size: a
// hot group is split further, a sparse one is finished on the spot.
//
// Sets of bit positions, and differences of two fingerprints, are words of 64 bits: like the scan
// kernel, this package is written for that width.
//
// # Memory and order
//
// Groups are rearranged in place (group.go), so the scratch space is 12 bytes a fingerprint however
// deep the recursion goes, and 1 MB a worker; pairs are streamed. Work is cut into units whose
// number and order depend on the data alone (large.go); workers take units in that order, and their
// pairs are handed over unit by unit (units.go), so the order of pairs is the same for any number
// of workers.
package selfjoin

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/internal/base"
)

// MaxFingerprints is the largest number of fingerprints that can be joined at once.
const MaxFingerprints = 1 << 31

// Pairs calls emit for every pair i < j with base.Distance(fps[i], fps[j]) <= k, each pair exactly
// once. fps must be ascending and distinct. emit is called from the calling goroutine alone, in an
// order that depends on fps and k alone, not on Workers or the scan kernel (it is not sorted); when
// it returns false the join ends early and without an error. A context that is done ends it with
// the context's error.
func Pairs(ctx context.Context, fps []base.Fingerprint, k int, o Options, emit func(i, j uint32, distance int) bool) error {
	return pairs(ctx, fps, k, o, nil, nil, emit)
}

// pairs is Pairs, restricted to the pairs of which at least one side is marked where marked is not
// nil, and to those whose sides have different labels where label is not nil.
func pairs(ctx context.Context, fps []base.Fingerprint, k int, o Options, marked []bool, label []uint32, emit func(i, j uint32, distance int) bool) error {
	if err := check(fps, k); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if k == 0 || len(fps) < 2 { // distinct fingerprints differ
		return nil
	}
	err := newJoin(ctx, fps, k, o, marked, label, emit).run()
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// check refuses what the algorithms can't work on.
func check(fps []base.Fingerprint, k int) error {
	if k < 0 || k > base.FingerprintBits {
		return fmt.Errorf("selfjoin: k = %d is outside 0..%d", k, base.FingerprintBits)
	}
	if int64(len(fps)) > MaxFingerprints {
		return fmt.Errorf("selfjoin: %d fingerprints, at most %d can be joined", len(fps), int64(MaxFingerprints))
	}
	for i := 1; i < len(fps); i++ {
		if !base.Less(fps[i-1], fps[i]) {
			return fmt.Errorf("selfjoin: fingerprint %d is not larger than the one before", i)
		}
	}
	return nil
}
