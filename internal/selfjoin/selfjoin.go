// Package selfjoin finds all pairs of fingerprints within k bits of each other, in memory, and
// forms clusters from them. Fingerprints of several words are joined word by word (wide.go), by
// joins of 64-bit fingerprints.
//
// # Outline of a join of 64 bits
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
// kernel, this join is written for that width.
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

	"github.com/simdb/simdb/internal/base"
)

// Pairs calls emit for every pair i < j with fps.Distance(i, j) <= k, each pair exactly once. fps
// must be ascending and distinct. emit is called from the calling goroutine alone, in an order that
// depends on fps and k alone, not on Workers or the scan kernel (it is not sorted); when it returns
// false the join ends early and without an error. A context that is done ends it with the context's
// error.
func Pairs(ctx context.Context, fps Columns, k int, o Options, emit func(i, j uint32, distance int) bool) error {
	return pairs(ctx, fps, k, o, nil, nil, emit)
}

// pairs is Pairs, restricted to the pairs of which at least one side is marked where marked is not
// nil, and to those whose sides have different labels, which are below markBit, where label is not
// nil.
func pairs(ctx context.Context, fps Columns, k int, o Options, marked []bool, label []uint32, emit func(i, j uint32, distance int) bool) error {
	if err := fps.check(k); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var err error
	if len(fps) == 1 {
		err = pairsOfWord(ctx, fps[0], k, o, marked, label, emit)
	} else {
		err = newWide(ctx, fps, k, o, marked, label, emit).run()
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// pairsOfWord is pairs for fingerprints of one word, which are known to be ascending and distinct.
// It returns errStopped when emit has returned false.
func pairsOfWord(ctx context.Context, fps []base.Fingerprint, k int, o Options, marked []bool, label []uint32, emit func(i, j uint32, distance int) bool) error {
	if k == 0 || len(fps) < 2 { // distinct fingerprints differ
		return nil
	}
	return newJoin(ctx, fps, k, o, marked, label, emit).run()
}
