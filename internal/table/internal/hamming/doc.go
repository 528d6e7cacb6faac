// Package hamming finds the fingerprints of a table that differ from a query in at most k of 64
// bits, for every k.
//
// # Method
//
// A table has its fingerprints in several orders. In permuted table t the bits are moved so that
// some bits, the lead of t, come first; the keys are sorted and stored as a compressed run (package
// keyrun). A probe reads the range of keys with one lead, and a kernel compares these keys with the
// query. (Manku, Jain, Das Sarma: Detecting Near-Duplicates for Web Crawling, WWW 2007.)
//
// A search gives each table of a set with disjoint leads a radius r >= -1 such that the sum of r+1
// is k+1, and probes the table for every lead that is within r bits of the query's. That finds
// everything: a fingerprint with more than r differing bits in the lead of every table would differ
// in at least k+1 bits. This is the generalised pigeonhole principle (Norouzi, Punjani, Fleet: Fast
// Exact Search in Hamming Space with Multi-Index Hashing, TPAMI 2014; Qin et al.: GPH: Similarity
// Search in Hamming Space, ICDE 2018). If no choice of radii is cheaper than a scan, all of table 0
// is scanned.
//
// # Steps of a search
//
// A Searcher executes these steps in order. Steps 1 to 3 read only directories. A group of searches
// executes each step for all its searches before the next one, so that their cache misses overlap.
//
//  1. prepare       permute the query, choose the best radii for ranges of mean size, and prefetch
//     the directory entries that locate the ranges with the query's own leads
//  2. resolveLeads  look up these ranges, and prefetch their keys, if no radius is above 0
//  3. choose        look up the other ranges; if they are far larger than expected, choose other
//     radii, or the scan
//  4. execute       scan the ranges, some at a time, and prefetch the next ones meanwhile. A hit of
//     a later table is a fingerprint: run 0 has its documents, because document numbers follow
//     the order of fingerprints. Its position there is prefetched when the hit is found, and read
//     one step later. A search that finds much more than expected switches to a scan.
//
// # Cost model
//
// Costs are nanoseconds on one core (costModel); only their ratios matter. A range costs a look-up
// and a comparison for each of its keys. A range of many blocks, and a scan, skip the blocks whose
// common leading bits are too far from the query's, and cost the time for the other blocks. That is
// estimated twice, once as if the other bits were random and once from a sample of blocks. For a
// range we use the larger estimate, for a scan the mean; this biases ties towards the scan, whose
// cost is predictable.
//
// # Invariants
//
//   - A fingerprint is reported by the first table, in their order, whose lead and radius admit
//     it, and by no other. So nothing is reported twice, and no set of reported hits is needed.
//   - The content of a block is used only after keyrun has verified it (Run.CheckKeys,
//     InfoKnown). A search of a range compares all keys with its prefixes, and so does not depend
//     on the order of keys with equal prefixes; joins do, and use Run.Check.
//   - Every hit has a document in run 0; if not, the run that found it is damaged.
//   - A search writes only to its Searcher, and to estimates in the Index, which any number of
//     searches would set to the same value.
package hamming
