// Package cluster joins a View with itself: all pairs of documents that match by a criterion, and
// clusters of them.
//
// A joinSet has the documents to join, in groups: documents with equal fingerprints are joined as
// one, and so are those with equal sets of shingles, or equal sketches. Package selfjoin finds
// pairs of fingerprints, and setjoin pairs of sets: of shingles, of sketches for estimates, or sets
// that stand for texts. The pairs are expanded to documents and sorted.
//
// Clusters are stars by default: greedy leader clustering in the order of preference, in which each
// document joins the nearest earlier leader that it matches, or becomes one. The documents of an
// allowed pair do not join each other (apart.go).
package cluster
