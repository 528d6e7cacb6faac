// Package sketchidx finds documents by the Jaccard similarity of their MinHash sketches: exactly
// those whose score with a query is at least a threshold t.
//
// # Outline
//
// A search goes through three filters, each cheaper a document than the next:
//
//	prefix    If two sketches have a score of t or more, the prefixes of both have a hash in
//	          common (prefix filtering; see postings). So the candidates are the documents in
//	          the postings of the few hashes in the query's prefix. The rarer these hashes, the
//	          fewer candidates: prefixes are taken in an order that has hot hashes last.
//	bitmap    Each sketch has a bitmap of 512 bits. One that lacks more bits of the query's bitmap
//	          than minhash.MaxMissing allows can't reach t.
//	score     The sketch is decoded and compared.
//
// Where the prefix filter is of no use, because t is below the parameter MinJaccard that the
// postings are made for, or where it is not worth its while, because a segment is small or its
// postings turn out to be many, a kernel scans all bitmaps of the segment instead. Both ways give
// the same answer.
//
// Pages of a template have its hashes in their prefixes, if a prefix is longer than what a page has
// of its own. Once searches for such pages have taken as long as grouping them, they are grouped in
// memory, and whole groups that are not similar enough are skipped (crowd, hot.Groups).
//
// # Segments
//
// Documents are cut into segments of consecutive numbers, so that a writer needs memory for one at
// a time. Bitmaps and postings are kept by segment; encoded sketches and hot hashes are shared by
// all.
//
// # Papers
//
//	MinHash sketches    Broder, On the resemblance and containment of documents, 1997
//	prefix filtering    Chaudhuri, Ganti, Kaushik, ICDE 2006; Bayardo, Ma, Srikant, WWW 2007
package sketchidx
