// Package minhash makes and compares bottom-N MinHash sketches: small samples of the shingle sets
// of texts. They give an estimate of the Jaccard similarity of the texts, with a standard error of
// about 0.035 for the usual 128 hashes, and 0.07 for 32.
//
//	h, err := minhash.New(minhash.Options{})
//	a := h.Text("It was the best of times, it was the worst of times").Clone()
//	b := h.Text("It was the best of times, it was the age of wisdom")
//	score := minhash.Jaccard(a, b, 128) // score.Score, score.Error, score.Exact
//
// Every shingle has a hash, and the sketch of a text consists of its N smallest hashes. This is a
// random sample of the shingles, but it selects the same shingles in every text that has them. Two
// sketches are compared up to the last hash to which both are complete; see [Jaccard]. The sketches
// of parts give the sketch of the whole ([Merge]), and sketches distinguish quotations from
// near-duplicates ([Containment]).
//
// Most pairs of a corpus have nothing in common and need not be compared: the 256-bit [Bitmap] of a
// sketch rejects them without false negatives, many at a time with [Bitmap.Filter], and
// [JaccardAtLeast] stops early for most of the others.
//
// To find all pairs with a similarity of t or more, compare the texts of those whose estimate may
// come from such a similarity ([Score.MayReach]): one pair in a billion is missed at most.
//
// # Literature
//
//   - Broder, "On the resemblance and containment of documents", SEQUENCES 1997: the idea, and
//     containment.
//   - Cohen, Kaplan, "Summarizing data using bottom-k sketches", PODC 2007: bottom-k sketches and
//     their estimates.
//   - Elias, "Efficient storage and retrieval by content and address of static files", J. ACM 1974,
//     and Fano, 1971: the encoding.
package minhash
