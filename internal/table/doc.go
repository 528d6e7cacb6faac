// Package table reads and writes table files, and has what an engine needs of them: searches of
// several tables at once, batches of queries, merges, columns in bulk, and the documents of damaged
// files. Package sstable is its public part, for users of one file; its documentation has the picture
// of the file and the terms.
//
// Every error about the contents of a file is a *CorruptionError, which names the damaged place.
// ErrUnsupported is returned for a table whose version this program does not know. For many
// searches, reuse a NearSearcher or a JaccardSearcher in each goroutine: they do not allocate, and
// can search several tables, or for several queries, in one call.
//
// # Writing and reading
//
// Writing never seeks. A BatchWriter writes records as they arrive, and then everything else from a
// Batch in memory, which it sorts; a Writer collects a Batch from single documents. Permuted runs
// are made by radix sort, one block of the layout at a time (hamming.NextOrder). Merge makes a
// table from others by merging their runs and copying blocks of records.
//
// Reading maps the file. Opening reads only the directories of runs and columns; a block is
// verified against its CRC32C on first access, and a bit in memory records that. Nothing in a file
// is trusted before it has been checked against the file's size, so a damaged or hostile file
// causes an error, never a panic or a large allocation.
//
// # Packages
//
// This package is what engines call: Reader with its searches, iterators and checks, Salvage, and
// the writers. The packages below it import each other in one direction only:
//
//	merge     a table from other tables
//	write     a table from documents
//	format    parameters, kinds of sections, the directory and its copies; an open table
//	hamming, sketchidx, contain, fieldidx        searches by fingerprint, sketch, set, field
//	keyrun, blobs, pages                         encodings, and which pages of the file are read
//
// # Where to change what
//
//	a section       format/section.go, format/versions.go, write, format/open.go, verify_contents.go,
//	                docs/format/sstable.md, and the picture in sstable/doc.go
//	a version       an entry of format.Versions; TestVersion3 shows the steps
//	a search        internal/hamming for fingerprints, internal/sketchidx for sketches,
//	                internal/contain for sets, internal/fieldidx for fields
//	an encoding     internal/keyrun for sorted keys and columns, internal/blobs for strings
package table
