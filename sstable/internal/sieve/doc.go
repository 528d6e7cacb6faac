// Package sieve spares a search of a large table the probes that find nothing.
//
// In the layout 3:1 three blocks of 22, 21 and 21 bits lead the permuted tables. A search within 3
// bits probes each table for the query's own lead, and one table for every lead that differs from
// the query's in one bit, too. These 21 flips are needed for fingerprints that differ from the
// query in exactly one bit of each block, as all others have a block of the query. Nearly none of
// them finds anything. In storage each takes a page or two, because leads that differ in one of
// their first 16 bits lie that far from each other.
//
// A sieve says which flips can find something. The last bits of each block are its low bits, the
// others its high bits. A wide probe of each table, for the leads with the query's high bits, reads
// one short stretch of keys, and finds all fingerprints that agree with the query in the high bits
// of a block. What is left are those with one difference in the high bits of each block, and none
// elsewhere. They have
//
//   - the low bits of the query, all of them
//   - the other parity of the high bits in block 0, and in block 2
//   - in block 1 the high bits of one of the flips
//
// A sieve has a bit for each slot of such bits, which says whether the table has a fingerprint with
// them. The first two are the same for all flips of a query, and say in which group of slots to
// look; the third is the slot in it. A group takes one page or two. With 2.7 bits a fingerprint 31
// of 100 slots have one, so that of 50 million a search probes three wide ranges and 6 flips.
//
//	body       +------------------------------------------------+------------+-----+
//	           | zero bytes, up to a multiple of 4096 in a file | page  4096 | ... |
//	           +------------------------------------------------+------------+-----+
//	page       +-------------+-------------------+
//	           | slots  4092 | CRC32C of them  4 |
//	           +-------------+-------------------+
//	directory  +------------+--------+---------------------+--------+--------+
//	           | low bits 3 | zero 1 | slots of a group  4 | zero 4 | CRC  4 |
//	           +------------+--------+---------------------+--------+--------+
//	           low bits: of each block     CRC: CRC32C of the bytes before
//
// Slot s of group g is bit g*slots + s of the slots of all pages, the least significant bit of a
// byte first.
package sieve
