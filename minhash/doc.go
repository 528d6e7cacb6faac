// Package minhash makes and compares bottom-N MinHash sketches: small samples of the shingle sets of texts from which
// the Jaccard similarity of the texts can be estimated (Broder, "On the resemblance and containment of documents",
// 1997; bottom-k sketches: Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC 2007).
package minhash
