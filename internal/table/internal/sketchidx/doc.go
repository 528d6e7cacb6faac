// Package sketchidx finds documents by the Jaccard similarity of their MinHash sketches: exactly
// those whose score with a query is at least a threshold t.
//
// # Outline
//
// A search applies three filters, in the order of their cost per document:
//
//	prefix    If two sketches have a score of t or more, their prefixes share a hash (prefix
//	          filtering; see postings). So the candidates are the documents in the postings of
//	          the few hashes in the query's prefix. The rarer these hashes, the fewer
//	          candidates: prefixes are chosen in an order that puts hot hashes last.
//	bitmap    Each document has a bitmap of 256 bits. Where sketches decide, it is that of its
//	          sketch. If it lacks more bits of the query's bitmap than minhash.MaxMissing allows, the
//	          sketch cannot reach t. Where texts decide (Params.Odd), it is the odd sketch of the
//	          whole set of features, which rejects sets that cannot be similar (oddsketch).
//	score     The sketch is decoded and compared.
//
// The prefix filter cannot be used if t is below the parameter MinJaccard, for which the postings
// are made. It does not pay if a segment is small or its postings turn out to be many. In these
// cases a kernel scans all bitmaps of the segment instead. Both ways give the same answer.
//
// Pages of a template have hashes of the template in their prefixes, if a prefix is longer than the
// number of hashes that are a page's own. Once searches for such pages have cost as much as
// grouping them, they are grouped in memory, and whole groups that are not similar enough are
// skipped (crowd, hot.Groups).
//
// # Segments
//
// Documents are split into segments of consecutive numbers, so that a writer needs memory for one
// segment at a time. Bitmaps and postings are stored by segment; encoded sketches and hot hashes
// are shared by all segments.
//
// # Papers
//
//	odd sketches        Mitzenmacher, Pagh, Pham, WWW 2014
//	MinHash sketches    Broder, On the resemblance and containment of documents, 1997
//	prefix filtering    Chaudhuri, Ganti, Kaushik, ICDE 2006; Bayardo, Ma, Srikant, WWW 2007
package sketchidx
