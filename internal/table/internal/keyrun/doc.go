// Package keyrun has the two compressed arrays that tables are made of: sorted runs of 64-bit keys
// (Run), for permuted fingerprints, hashes of IDs and postings; and columns of unsigned integers
// (Column), for times, sequence numbers and document numbers.
//
// Both are split into blocks of 512 values. A directory, which is checked when the array is opened,
// has for each block its position, the width of its values, and the first key or the least value. A
// block is verified when it is first read (by Run.Check, and every method that returns values), or
// only the parts that a search reads (CheckHead, CheckKeys, parts.go); bits of its directory entry
// in memory record this. So the rules for callers are:
//
//   - The directory (NumBlocks, Base, Info, Count, Greatest, Shared) may be used at once; but in a table
//     on a server, Base, Info and Shared only for blocks that Blocks has returned or Check has
//     verified, or after LoadDirectory (lazy.go).
//   - The content of a block (Unary, Packed, From, Decode) may be used only after Check has
//     returned nil, or if InfoKnown says that all of the block has been verified. After CheckHead
//     only the unary words may be used; after CheckKeys also the keys it was called for.
//   - Keys are known to ascend only after Check; the other methods guarantee it only for prefixes.
//
// Three structures in memory, which are not stored, find a key in a run:
//
//	guide      where each of up to 65,536 equal parts of the key space starts in the directory;
//	           within a part, the search interpolates (guide.go)
//	leads      the position of the first key of each lead, filled in as blocks are verified:
//	           then a probe for a lead needs no search at all (leads.go, probe.go)
//	Range      the blocks of a range of keys, and the data to prefetch for it (range.go)
//
// Any number of goroutines may use runs and columns.
package keyrun
