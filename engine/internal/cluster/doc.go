// Package cluster joins a View with itself: all pairs of documents that match by a criterion, and
// clusters of them.
//
// A joinSet has the documents in question, in groups: those of equal fingerprint are joined as
// one, and so are those of equal sets of shingles, or sketches. Package selfjoin finds pairs of
// fingerprints, and setjoin those of sets: of shingles, of sketches for estimates, or those that
// stand for texts. What they find is expanded to documents and put in order.
//
// Clusters are stars by default: greedy leader clustering in the order of preference, in which each
// document joins the nearest leader so far, or becomes one. Allowed pairs are kept apart
// afterwards.
package cluster
