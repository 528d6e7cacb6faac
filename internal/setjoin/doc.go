// Package setjoin joins many sets with themselves by Jaccard similarity or containment, exactly:
// it forms star clusters, or finds all pairs. The sets may be many times larger than memory.
//
//	sets := setjoin.NewSets(setjoin.SetsOptions{Memory: 128 << 20, Create: createTemp})
//	for each document { err = sets.Add(hashes) }
//	stars, err := sets.Stars(ctx, 0.8, setjoin.Options{Memory: 64 << 20})
//
// # Outline
//
// A set is a strictly ascending list of 64-bit hashes. For the join, its elements are ordered
// roughly by increasing frequency (counts.go). If two sets x and y share at least o elements,
// then the first |x|-o+1 elements of x in this order and the first |y|-o+1 of y have one in
// common (the prefix filter). An index holds the prefixes of the sets that others are compared
// with, and the prefix of each set is looked up in it. Two sets are candidates if they share an
// element and both have enough elements from there on. If their bitmaps do not differ too much
// (bitmap.go), candidates are compared element by element.
//
//   - The least overlap o depends on both sizes. A prefix has two parts (prefix.go): the first
//     meets sets of every size, and the second, about as long, only smaller sets. So the common
//     elements of very many sets of one size, such as a template's, are not even looked up
//     (PPJoin: Xiao, Wang, Lin, Yu, "Efficient Similarity Joins for Near Duplicate Detection",
//     WWW 2008; it orders all sets by size, whereas here they stay in the order of preference).
//   - An element that is in one set only is in no other set's prefix, so it is neither stored nor
//     looked up. In most texts, most shingles are of this kind.
//
// Sets may also represent texts, which are compared by edit distance or by word counts
// (measure.go). For edit distance, the pieces of a text replace the prefix (edits.go).
//
// # Star clusters
//
// Sets are processed in the order of preference, in windows (stars.go). All sets of a window are
// compared with the keepers before the window, on all processors. Then one goroutine decides them
// in order, comparing each with the keepers of the window. Only keepers are indexed, so the
// members of a cluster, however many, are never compared with each other. The result equals that
// of processing the sets one by one: it depends neither on the windows nor on the number of
// goroutines.
//
// Only the best keeper of a set is wanted. So the entries that a few keys find are compared first:
// each match raises the threshold, and a higher one needs fewer keys.
//
// # Crowds
//
// Very many sets that are variants of one set with a few changes each are compared by these
// changes (crowd.go). If they have no centre, such as pages assembled from alternatives, they are
// divided into parts and found by whole parts: two matching sets have a part that differs in at
// most one element (parts.go). Connected components compare only one of several sets that differ
// just in elements that no other set has (components.go).
//
// # Counting
//
// At a low threshold, a set of few frequent elements meets most others by its prefix: three characters of
// names, say. If a sample shows this, the index lists the entries of every element, and the common
// elements of a set and each entry are counted (tally.go).
//
// # Containment
//
// For Contained, the similarity of two sets is the share of the later set's elements that are in
// the earlier one. Sets are processed by decreasing size, so this is the share of the smaller
// set. The index has all elements of a set that other sets share; of a set of size n, the first
// n + 1 - ceil(t n) elements are looked up.
//
// # A few sets
//
// A few sets in memory can be joined with any number of others that are not stored, also by
// containment in either direction (few.go).
//
// # Reads from memory
//
// The tables of large joins exceed the caches, and most of the time of a join would be waiting for
// reads. What is known about an element, and both parts of a prefix, are in one cache line each;
// the lines of the next sets are prefetched while a set is compared (worker.go); and the reads of
// many lookups overlap, as no branch depends on their results (packed.go).
//
// # Memory
//
// Sets stay in memory while they fit; otherwise all go to a file. A small index consists of
// chains (index.go), a larger one mostly of postings (packed.go). If an index outgrows its
// memory, it is closed: all later sets are compared with it, and a new index begins after its
// last set. In addition, each set needs 16 bytes.
package setjoin
