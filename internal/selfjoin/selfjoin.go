// Package selfjoin finds all pairs of fingerprints within k bits of each other, in memory, and
// forms clusters of them. It joins fingerprints of several words word by word (wide.go), by joins
// of 64-bit fingerprints.
//
// # Outline of a join of 64 bits
//
// A node of the join is a group of fingerprints, a set A of bit positions that may still be used
// ("available"), and a budget b: every wanted pair of the group differs in at most b bits of A.
// The root has all fingerprints, all 64 bits and b = k. A node is processed in one of two ways:
//
//   - small groups, and those that no split makes cheaper, compare every pair (leaf.go);
//   - otherwise b+1 disjoint blocks of w bits are cut from A (block.go). A wanted pair can't differ
//     in all blocks, so there is exactly one FIRST block j in which it agrees. Pass j = 0..b
//     groups fingerprints that agree in block j; each such group is a child node. In the child,
//     the pair differs in all of the blocks 0..j-1, which uses up j of the budget, so the child
//     has A without the blocks 0..j and the budget b-j.
//
// The condition "agrees in block j and differs in the blocks before" is checked on each pair
// where it is found, so every pair is found exactly once without a memory of duplicates
// (canonical acceptance). When A runs short, a node restarts with all bits that still vary in its
// group and with budget k: this only narrows the search, since the conditions collected on the
// way down still apply. With 64 uniform bits, k = 3 and blocks of 13 bits, the recursion is the
// classic choice of 2 of 5 blocks: 4 passes over everything, and 10 over groups that stay within
// the first-level cache; larger k go deeper. This is the multi-sort of Manku, Jain and Das Sarma
// ("Detecting Near-Duplicates for Web Crawling", WWW 2007) with the prefix recursion of Tabei,
// Uno, Sugiyama and Tsuda ("Single versus Multiple Sorting in All Pairs Similarity Search", ACML
// 2010).
//
// A cost model (plan.go) chooses the width w for every node from the group's real size: a dense
// group is split further, a sparse one is finished immediately.
//
// Sets of bit positions, and differences of two fingerprints, are words of 64 bits: like the scan
// kernel, this join is written for that width.
//
// # Memory and order
//
// Groups are rearranged in place (group.go), so the scratch space is 12 bytes per fingerprint at
// any depth of the recursion, and 1 MB per worker; pairs are streamed. The work is divided into
// units whose number and order depend only on the data (large.go). Workers process units in that
// order, and their pairs are emitted unit by unit (units.go), so the order of pairs is the same
// for any number of workers.
package selfjoin

import (
	"context"
	"errors"

	"github.com/simdb/simdb/internal/base"
)

// Pairs calls emit for every pair i < j with fps.Distance(i, j) <= k, each pair exactly once. fps
// must be ascending and distinct. Only the calling goroutine calls emit, in an order that depends
// only on fps and k, not on Workers or the scan kernel (it is not sorted). If emit returns false,
// the join ends without an error. If ctx is done, the join ends with the context's error.
func Pairs(ctx context.Context, fps Columns, k int, o Options, emit func(i, j uint32, distance int) bool) error {
	return pairs(ctx, fps, k, o, nil, nil, emit)
}

// pairs is Pairs with restrictions: if marked is not nil, at least one side of a pair must be
// marked; if label is not nil, both sides must have different labels, which must be below
// markBit.
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

// pairsOfWord is pairs for fingerprints of one word that are known to be ascending and distinct.
// It returns errStopped if emit has returned false.
func pairsOfWord(ctx context.Context, fps []base.Fingerprint, k int, o Options, marked []bool, label []uint32, emit func(i, j uint32, distance int) bool) error {
	if k == 0 || len(fps) < 2 { // distinct fingerprints differ
		return nil
	}
	return newJoin(ctx, fps, k, o, marked, label, emit).run()
}
