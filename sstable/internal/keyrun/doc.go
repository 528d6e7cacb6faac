// Package keyrun has the two compressed arrays that tables are made of: sorted runs of 64-bit keys
// (Run), for permuted fingerprints, hashes of IDs and postings; and columns of unsigned integers
// (Column), for times, sequence numbers and document numbers.
//
// Both are cut into blocks of 512 values. A directory, which is checked when the array is opened,
// says where each block is, how wide its values are, and the first key or the least value. A block
// is verified when it is first touched (Run.Check, and every method that returns values), or the
// parts of it that a search reads (CheckHead, CheckKeys, parts.go); bits of its directory entry in
// memory remember it. So the rule for callers is:
//
//   - what the directory says (NumBlocks, Base, Info, Count, Greatest, Shared) may be used at once;
//   - the content of a block (Unary, Packed, From, Decode) only after Check has returned nil for
//     it, or InfoKnown says that all of it is known; after CheckHead only the unary words, after
//     CheckKeys the keys that were named, too;
//   - that its keys ascend only after Check: the others say it of their prefixes.
//
// Three structures in memory, none of them stored, find a key in a run:
//
//	guide      where each of up to 65,536 equal parts of the key space starts in the directory,
//	           which is searched by interpolation within a part (guide.go)
//	leads      the position of the first key of each lead, filled in as blocks are verified: a
//	           probe for a lead then needs no search at all (leads.go, probe.go)
//	Range      the blocks of a range of keys, and what to prefetch of them (range.go)
//
// Runs and columns may be used by any number of goroutines.
package keyrun
