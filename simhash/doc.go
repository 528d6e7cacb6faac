// Package simhash computes SimHash fingerprints: short bit strings whose Hamming distance reflects
// the angle between the feature sets of two texts.
//
//	fp, ok := simhash.Text("It was the best of times, it was the worst of times", 3)
//	if ok && simhash.Distance(fp, other) <= 3 { ... }
//
// Every feature of a document is hashed, every hash votes on every bit of the fingerprint, and the
// majority wins. The probability that two documents differ in a bit is the angle between their
// feature vectors divided by pi, so the fingerprints of near-duplicates differ in few bits.
//
// A [Hasher] computes fingerprints of texts with other parameters and without allocations. [Sum64]
// and [Sum] accept hashes of features from the caller, [SumWeighted64] and [SumWeighted] also
// weights.
//
// Features form a set: a shingle that a text repeats votes once. If each occurrence had a vote,
// pages that share nothing but one line, repeated a hundred times, would get equal fingerprints.
//
// # Literature
//
//   - Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002: the
//     fingerprint.
//   - Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007: 64 bits and
//     distance 3 for the web.
//   - Ertl's FastSimHash (hash4j): counting votes in bytes of wide words; wide fingerprints from a
//     generator seeded with the hash of the feature.
//   - Klarqvist, Mula, Lemire, "Efficient Computation of Positional Population Counts Using SIMD
//     Instructions", 2019: counting votes with carry-save adders, as in this package.
package simhash
