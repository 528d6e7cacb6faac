// Package search answers queries for one document over a View: by Hamming distance (Near), by
// Jaccard similarity (Jaccard), for many fingerprints at once (EachBatch), and for the first match
// (AnyMatch). It plans them too (PlanNear, PlanJaccard), at the costs that
// package sstable estimates.
//
// Tables are searched by package sstable, memtables by package memindex. What is found is
// filtered by what the View sees: hits may be dead, replaced or expired. Near and Jaccard are the
// memory of a search; they are pooled by callers and serve one search after another. They leave
// their hits unordered: package ordered sorts them while they are read.
//
// # Verified searches
//
// A verified search takes candidates from [view.VerifyErrors] standard errors below its threshold,
// and computes the similarity of their texts. It needs no margin for a query with fewer than t N
// shingles: a document whose sketch is full can't be as similar then, and other sketches are exact.
//
// Candidates of many queries are decided together: candidates and shingle sets of consecutive
// queries are gathered up to a quarter of the memory, sorted by document, and each block of texts
// is decoded once (textpairs.go). A query with very many candidates, such as copies of one text or
// pages of one template, is decided with up to 63 others, a range of documents at a time
// (crowd.go). The answers are those of single searches.
//
// When match --add and PutNovel ask, for one document after the other, whether there is a match,
// all pages of a family may look similar although none is. Documents that were compared without a
// match are kept in memory, for each table and memtable, by their difference from what the family
// has in common (memindex.Families): the next question compares differences instead of texts.
//
// # Counts
//
// A search adds up its work in Counts and reports it once to the context, if that collects it
// (WithCounts).
package search
