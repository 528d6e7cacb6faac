// Package search answers queries for one document over a View: by Hamming distance (Near), by
// Jaccard similarity (Jaccard), by the similarity of texts (Similar), for many fingerprints at once
// (EachBatch), and for the first match (AnyMatch). It also plans them (PlanNear, PlanJaccard,
// PlanSimilar), with the costs that package table estimates.
//
// Package table searches the tables, package memindex the memtables. The results are filtered by
// the View: hits may be dead, replaced or expired. Near and Jaccard hold the buffers of a search;
// callers pool and reuse them. Their hits are unordered; package ordered sorts them while they are
// read.
//
// # Verified searches
//
// A verified search computes the similarity of the texts of all documents whose estimate may come
// from a similarity of t or more (target): it misses a document with a probability of at most
// minhash.Miss. A query with fewer than t N shingles needs no margin: a document whose sketch is
// full cannot be that similar, and other sketches are exact.
//
// Many queries are decided together: candidates and shingle sets of consecutive queries are
// collected up to a quarter of the memory, sorted by document, and each block of texts is decoded
// once (textpairs.go). A query with very many candidates, such as copies of one text or pages of
// one template, is decided with up to 63 others, one range of documents at a time (crowd.go). The
// answers are those of single searches.
//
// If match --add or PutNovel checks one document at a time, all pages of a family may look similar
// although none matches. Documents that were compared without a match stay in memory, for each
// table and memtable, as their difference from the features common to the family
// (memindex.Families): the next check compares differences instead of texts.
//
// # Counts
//
// A search adds up its work in Counts and reports it once to the context, if that collects it
// (WithCounts).
package search
