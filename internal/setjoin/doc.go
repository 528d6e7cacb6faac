// Package setjoin joins many sets with themselves by Jaccard similarity or containment, exactly: it
// forms star clusters of them, or finds all pairs. Sets may be many times larger than memory.
//
//	sets := setjoin.NewSets(setjoin.SetsOptions{Memory: 128 << 20, Create: createTemp})
//	for each document { err = sets.Add(hashes) }
//	stars, err := sets.Stars(ctx, 0.8, setjoin.Options{Memory: 64 << 20})
//
// # Outline
//
// A set is strictly ascending 64-bit hashes. Its elements have an order of their own, about the
// rarest first (counts.go). If two sets share at least o elements, then the first |x|-o+1 elements
// of x in this order and the first |y|-o+1 of y share one (the prefix filter). An index has the
// prefixes of those sets that others are compared with, and the prefix of each set is looked up in
// it. What shares an element, not too late in both, is a candidate. If the bitmaps of both do not
// differ too much (bitmap.go), they are compared element by element.
//
//   - The least overlap o depends on both sizes. The prefix of a set is cut in two (prefix.go): its
//     first part meets sets of every size, its second part, about as long, only smaller ones. So
//     what is common to very many sets of one size, a template, is not even looked up
//     (PPJoin: Xiao, Wang, Lin, Yu, "Efficient Similarity Joins for Near Duplicate Detection", WWW
//     2008, which has all sets in order of size; here they stay in the order of preference).
//   - An element that is in one set only is in no other's prefix: it is neither stored nor looked
//     up. In most texts most shingles are such.
//
// Sets may also stand for texts, which are compared by edit distance or by their word counts
// (measure.go). By edit distance the pieces of a text take the place of a prefix (edits.go).
//
// # Star clusters
//
// Sets are taken in the order of preference, in windows (stars.go). All of a window are compared
// with the keepers before it, on all processors; then one goroutine decides them in order, and
// compares them with the keepers of the window. Only keepers get into the index. So members of a
// cluster, however many, are never compared with each other, and the outcome is that of taking one
// set after the other: it depends neither on the windows nor on the number of goroutines.
//
// # Crowds
//
// Very many sets that are one with a few changes each are compared by these changes (crowd.go).
//
// # Containment
//
// Of Contained the similarity is the share of the later of two sets in the earlier one, and sets
// are taken in order of size, so that it is the share of the smaller one. The index has all
// elements of a set that others share, and the first n - ceil(t n) + 1 of a set of size n are
// looked up.
//
// # A few sets
//
// A few sets are joined with any number of others that are not kept, also by containment, either
// way (few.go).
//
// # Memory
//
// Sets are held in memory while they fit; otherwise all go to a file. An index is
// chains while it is small (index.go), and from there on mostly postings (packed.go). If it
// outgrows its memory, it is closed: all sets that come later are compared with it, and a new one
// begins where it has ended. Beyond that there are 16 bytes a set.
package setjoin
