// Package cluster joins a View with itself: all pairs of documents that match by a criterion, and
// clusters of them.
//
// A joinSet gathers the documents to join, in classes: documents with equal fingerprints are
// joined as one, as are documents with equal sets of shingles or equal sketches. Package
// collection finds and orders the pairs and forms the clusters. This package provides it with IDs
// and with sets: of shingles, of sketches for estimates, or sets that represent texts.
//
// Clusters are stars by default: greedy leader clustering in the order of preference, in which
// each document joins the nearest earlier leader that it matches, or becomes a leader. The
// documents of an allowed pair do not join each other (apart.go).
package cluster
