package keyrun

import (
	"sync/atomic"
)

// Run is a sorted run of 64-bit keys, the one index structure of a table (permuted fingerprints,
// ids, postings).
//
// Manku et al. (WWW 2007, section 3) compress such a run by its neighbours: the leading bits of
// sorted keys are almost a counter, so only what changes is kept. Elias-Fano coding (Elias, J. ACM
// 1974; Vigna, WSDM 2013) keeps that idea but can be entered anywhere. The keys of a block of 512
// are split at a width w of the block's own:
//
//	key = prefix<<w | low     low: w bits, packed verbatim
//	                          prefix - prefix of the block's first key: unary
//
// The unary part has, for every prefix value in ascending order, a one for each key that has it and
// then a zero; so key i of prefix value h is the one at bit i+h, and the keys of a prefix value
// below h are the ones before the h-th zero:
//
//	first key's prefix 5, prefixes 5 5 6 9:    1 1 0 1 0 0 0 1
//	(least significant bit first, zeros to the word's end)
//
// With w = floor(log2(span/n)) this takes w + about 2 bits a key, and the least of the three widths
// around it is taken. The low bits of a key lie verbatim in the block, so a Hamming kernel scans
// them without decoding: see internal/kernel.
//
// Keys may repeat. Position i of the run is in block i/512. A Run is safe for concurrent use.
type Run struct {
	Dir
	guide guide
	leads leadIndex
}

// A guide cuts the key space into 1<<bits equal parts. parts[i] is the number of blocks whose first
// key is below i<<(64-bits), so the last is the number of blocks. Keys are shifted by shift before:
// those that are hashes of 38 bits, or bins with document numbers, have zeros in front. Leads are
// counted from parts of unshifted keys.
type guide struct {
	bits  int
	shift uint
	parts []uint32
}

// A leadIndex has the position of the first key of each lead, so that a probe neither searches the
// directory nor counts through the unary part of a block, and prefetches only the values that it
// compares. It is not stored. An entry is filled in when the block that it leads to is verified,
// because the keys are decoded then anyway; until then, and where an entry does not fit, the
// directory serves.
//
// Entry u is the position of the first key that is not less than u<<shift. It is counted from the
// first block in which a key of the same part of the guide may lie, plus one, in 16 bits; 0 means
// unknown. That is 2 bytes for a lead. Where most leads have no key, the index uses fewer bits than
// the lead has: a few extra keys are compared and then filtered out.
type leadIndex struct {
	shift int // of a key, to the number of its entry: 1..63
	part  int // of the number of an entry, to the number of its part of the guide

	// words[i] are entries 2i and 2i+1. There is one more entry than leads; none if there is no
	// index.
	words []atomic.Uint32
	bases []uint32 // of each part of the guide, the position that its entries are counted from, less one
}

// A Probe is a search for the keys of a run that share their leading bits: those in [First,
// First|rest], where rest are the bits after the lead. LocateAll, Locate and LocateFrom fill it in.
//
//	Exact      the lead index has an entry: the keys are at positions [From, To) of the run
//	otherwise  From is the number of blocks whose first key is less than First, To that of
//	           blocks whose first key is not greater than First|rest: the keys are somewhere in
//	           the blocks [max(From, 1)-1, To)
//
// Table and Dist are the caller's: which run is probed, and how far the lead is from the lead of
// the query.
type Probe struct {
	First       uint64 // the least key with the lead
	From, To    uint32
	Table, Dist uint8
	Exact       bool
}

// shr shifts by up to 64 bits.
func shr(v uint64, n int) uint64 { return v >> uint(n) }
