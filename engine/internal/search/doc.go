// Package search answers queries for one document over a View: by Hamming distance (Near), by
// Jaccard similarity (Jaccard), for many fingerprints at once (EachBatch), for the first match
// (AnyMatch), and by ID (EachEntry). It plans them too (PlanNear, PlanJaccard), at the costs that
// package sstable estimates.
//
// Tables are searched by package sstable, memtables by package memindex. What is found is
// filtered by what the View sees: hits may be dead, replaced or expired. Near and Jaccard are the
// memory of a search; they are pooled by callers and serve one search after another. They leave
// their hits unordered: package rows puts them in order while they are taken.
//
// A search adds up its work in Counts and reports it once to the context, if that collects it
// (WithCounts).
package search
