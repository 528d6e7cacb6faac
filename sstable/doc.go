// Package sstable reads and writes tables: immutable files that hold a set of documents with all their indexes. A
// table knows nothing of databases; one file is complete, and can be searched where it lies.
//
// # Outline
//
// Documents are numbered in the order of their fingerprints, those without one last. So the sorted run of fingerprints
// needs no column of document numbers, and every set of documents is a set of small integers.
//
//	file      header | section | section | ... | directory | trailer           (see appendFooter)
//
//	blocks    names, records and sketches, interleaved as they were written    (see names, docs, sketches)
//	names     where the blocks of names are: IDs by document number
//	docs      where the blocks of records are: texts and fields by document number
//	times     column: microseconds by document number                          (see column)
//	seqs      column: order of writing by document number
//	run 0     key run: the fingerprints, by document number                    (see blockDir)
//	run i     key run: the distinct fingerprints in permutation i, i = 1..t-1  (see Layout)
//	ids       key run: xxh3-64 of the IDs
//	id-docs   column: document numbers by position in ids
//
// and, if documents have MinHash sketches,
//
//	bitmaps   64 bytes a document, for a kernel to scan                        (see bitmaps)
//	postings  key run: hashes of the sketches, with their documents            (see postings)
//	sketches  where the blocks of sketches are
//	hot       hashes that many sketches have                                   (see hotOrder)
//
// Writing takes one pass over the documents, in order, and never seeks: names and records leave memory in blocks as
// they fill, everything else is kept as 8 to 24 bytes a document and written by Writer.Close. Permuted runs are made
// by radix sort, one block of the layout at a time (see nextOrder).
//
// Reading maps the file. Opening looks at the directories of runs and columns only; a block is verified against its
// CRC32C when it is first touched, which a bit in memory remembers. Nothing in a file is believed before it is
// checked against the file's size, so that a damaged or hostile file costs an error (*base.CorruptionError) and
// neither a panic nor memory.
//
// # Terms
//
//	document   ID, fingerprint, time, text, fields; Document
//	table      one file; also, permuted table i: the fingerprints in order of permutation i
//	key run    a sorted array of 64-bit keys, compressed as Elias-Fano code in blocks of 512
//	column     an array of integers, bit-packed in blocks of 512
//	block      the unit of checksums
//	layout     how many permuted tables there are, and which bits lead each
package sstable
