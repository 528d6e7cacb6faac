package keyrun

import (
	"sync/atomic"

	"github.com/simdb/simdb/internal/table/internal/pages"
)

// Run is a sorted run of 64-bit keys, the one index structure of a table: for permuted
// fingerprints, IDs and postings.
//
// Manku et al. (WWW 2007, section 3) compress such a run by differences between neighbours: the
// leading bits of sorted keys are almost a counter, so only changes are stored. Elias-Fano coding
// (Elias, J. ACM 1974; Vigna, WSDM 2013) is based on the same idea but allows random access. The
// keys of a block of 512 are split at a width w, which is chosen for each block:
//
//	key = prefix<<w | low     low: w bits, packed verbatim
//	                          prefix - prefix of the block's first key: unary
//
// For every prefix in ascending order, the unary part has a one for each key with that prefix, and
// then a zero. So key i with prefix h is the one at bit i+h, and the keys with a prefix below h are
// the ones before the h-th zero:
//
//	first key's prefix 5, prefixes 5 5 6 9:    1 1 0 1 0 0 0 1
//	(least significant bit first, zeros to the word's end)
//
// With w = floor(log2(span/n)) a key needs about w + 2 bits; the encoder uses the best of the three
// widths around this w. The low bits of keys are stored verbatim in the block, so a Hamming kernel
// scans them without decoding: see internal/kernel.
//
// Keys may repeat. Position i of the run is in block i/512. A Run is safe for concurrent use.
type Run struct {
	Dir
	guide guide
	leads leadIndex
	waits *pages.Table // brings blocks into memory before they are read; nil if nothing does: see LoadBlocks
}

// A guide splits the key space into 1<<bits equal parts. parts[i] is the number of blocks whose
// first key is below i<<(64-bits), so the last entry is the number of all blocks. Keys are first
// shifted to the left by shift, because hashes of 38 bits, and bins with document numbers, have
// leading zeros. Leads are counted from parts of unshifted keys.
type guide struct {
	bits  int
	shift uint
	parts []uint32
}

// A leadIndex has the position of the first key of each lead, so that a probe neither searches the
// directory nor counts through the unary part of a block, and prefetches only the values that it
// compares. It is not stored. An entry is filled in when the block that it points into is verified,
// because the keys are decoded then anyway; until then, and where an entry does not fit, the
// directory is used.
//
// Entry u is the position of the first key that is not less than u<<shift. It is stored in 16 bits,
// as one plus the difference to the first block that may have a key of the same part of the guide;
// 0 means unknown. So an entry occupies 2 bytes. If most leads have no key, the index uses fewer
// bits than the lead has: a few extra keys are compared and then filtered out.
type leadIndex struct {
	shift int // shift of a key to the number of its entry: 1..63
	part  int // shift of the number of an entry to its part of the guide

	// words[i] has entries 2i and 2i+1. There is one more entry than there are leads; words is nil
	// if there is no index.
	words []atomic.Uint32
	bases []uint32 // by part of the guide: what is added to its entries to get positions
}

// A Probe is a search for the keys of a run that share their leading bits: the keys in [First,
// First|rest], where rest has the bits after the lead. LocateAll, Locate and LocateFrom fill it in.
//
//	Exact      the lead index has an entry: the keys are at positions [From, To) of the run
//	otherwise  From is the number of blocks whose first key is less than First, To the number
//	           of those whose first key is not greater than First|rest: the keys are somewhere
//	           in the blocks [max(From, 1)-1, To)
//
// Table and Dist belong to the caller: which run is probed, and the distance of the lead from the
// query's lead.
type Probe struct {
	First       uint64 // the least key with the lead
	From, To    uint32
	Table, Dist uint8
	Exact       bool
}

// shr shifts by up to 64 bits.
func shr(v uint64, n int) uint64 { return v >> uint(n) }
