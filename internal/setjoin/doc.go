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
// prefixes of the sets that others are compared with, and the prefix of each set is looked up in
// it. Two sets that share an element, not too late in both, are candidates. If their bitmaps do not
// differ too much (bitmap.go), they are compared element by element.
//
//   - The least overlap o depends on both sizes. The prefix of a set is cut in two (prefix.go): its
//     first part meets sets of every size, its second part, about as long, only smaller ones. So
//     what is common to very many sets of one size, a template, is not even looked up
//     (PPJoin: Xiao, Wang, Lin, Yu, "Efficient Similarity Joins for Near Duplicate Detection", WWW
//     2008, which has all sets in order of size; here they stay in the order of preference).
//   - An element that is in one set only is in no other's prefix: it is neither stored nor looked
//     up. In most texts, most shingles are of this kind.
//
// Sets may also stand for texts, which are compared by edit distance or by their word counts
// (measure.go). By edit distance the pieces of a text take the place of a prefix (edits.go).
//
// # Star clusters
//
// Sets are taken in the order of preference, in windows (stars.go). All sets of a window are
// compared with the keepers before it, on all processors; then one goroutine decides them in order,
// and compares them with the keepers of the window. Only keepers are indexed. So members of a
// cluster, however many, are never compared with each other, and the outcome is that of taking one
// set after the other: it depends neither on the windows nor on the number of goroutines.
//
// # Crowds
//
// Very many sets that are copies of one set with a few changes each are compared by these changes
// (crowd.go). Where they have no centre, such as pages put together from alternatives, they are
// found by whole parts, one of which two sets that match have in common but for one element
// (parts.go). Connected components compare one of those that differ only in elements that no other
// set has (components.go).
//
// # Containment
//
// For Contained, the similarity is the share of the later of two sets that is in the earlier one;
// sets are taken in order of size, the largest first, so it is the share of the smaller set. The
// index has all elements of a set that others share; of a set of size n, the first n - ceil(t n) +
// 1 elements are looked up.
//
// # A few sets
//
// A few sets are joined with any number of others that are not kept in memory, also by containment
// in either direction (few.go).
//
// # Memory
//
// Sets are held in memory while they fit; otherwise all go to a file. An index consists of chains
// while it is small (index.go), and later mostly of postings (packed.go). If it outgrows its
// memory, it is closed: all later sets are compared with it, and a new index begins after its last
// set. In addition there are 16 bytes per set.
package setjoin
