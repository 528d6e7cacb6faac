// Package table reads and writes tables: immutable files that hold a set of documents with all
// their indexes. A file is complete in itself: it can be searched without a database.
//
// # Use
//
// NewWriter, Add for each document, and Close write a table. Open reads it; OpenReaderAt and
// OpenBytes read a table that is not a file of its own:
//
//	r, err := table.Open("docs.sst")
//	defer r.Close()
//	doc, found, err := r.Lookup([]byte("doc-17"))  // a document by its ID
//	hits, err := r.Near(fingerprint, 3, nil)       // by fingerprint, at most 3 bits away
//	hits, err := r.Jaccard(sketch, 0.8, nil)       // by sketch, with a score of at least 0.8
//	err = r.Verify(ctx, nil)                       // everything in the file
//
// For many searches, reuse a NearSearcher or a JaccardSearcher in each goroutine: they do not
// allocate, and can search several tables, or for several queries, in one call.
//
// # Errors
//
// Every error about the contents of a file is a *CorruptionError, which names the damaged place.
// ErrUnsupported is returned for a table whose version this program does not know.
//
// # The file
//
// Documents are numbered in the order of their fingerprints; those without a fingerprint come last.
// The sorted run of fingerprints therefore needs no column of document numbers, and every set of
// documents is a set of small integers.
//
//	file      header | section | section | ... | directory | trailer     (internal/format)
//
//	blocks    names, records and sketches, interleaved as they were written  (internal/blobs)
//	names     where the blocks of names are: IDs by document number
//	records   where the blocks of records are: texts and fields by record number
//	places    column: record numbers by document number, if they differ      (internal/keyrun)
//	ranks     column: positions in the order of writing by document number, if they differ
//	seqs      key run: sequence numbers by rank
//	times     column: microseconds by rank
//	run 0     key run: the fingerprints, by document number
//	run i     key run: the distinct fingerprints in permutation i, i = 1..t-1  (Layout)
//	ids       key run: 38 bits of xxh3-64 of the IDs, with document numbers
//
// and, if documents have MinHash sketches,
//
//	bitmaps   64 bytes a document, for a kernel to scan                      (internal/sketchidx)
//	postings  key run: hashes of the sketches, with their documents
//	sketches  where the blocks of sketches are
//	hot       hashes that many sketches have
//
// and, if the parameters say so,
//
//	set-sizes column: how many features a text has, by document number      (internal/contain)
//	sets      key run: bits of the hashes of these features, with documents
//
// and for each indexed field, once for texts and once for numbers,
//
//	values     list: the keys of the values, sorted                         (internal/fieldidx)
//	value-docs column: the documents that have them
//
// The directories of key runs and columns are sections of their own. All directories lie side by
// side after everything else.
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
// This package is what users call: Reader with its searches, iterators and checks, Salvage, and the
// writers. The packages below it import each other in one direction only:
//
//	merge     a table from other tables
//	write     a table from documents
//	format    parameters, kinds of sections, the directory and its copies; an open table
//	hamming, sketchidx, contain, fieldidx        searches by fingerprint, sketch, set, field
//	keyrun, blobs, pages                         encodings, and which pages of the file are read
//
// # Where to change what
//
//	a section       format/section.go, format/versions.go, write, format/open.go, verify.go,
//	                docs/format/sstable.md
//	a version       an entry of format.Versions; TestVersion3 shows the steps
//	a search        internal/hamming for fingerprints, internal/sketchidx for sketches,
//	                internal/contain for sets, internal/fieldidx for fields
//	an encoding     internal/keyrun for sorted keys and columns, internal/blobs for strings
//
// # Terms
//
//	document   ID, fingerprint, time, text, fields; Document
//	table      one file; also, permuted table i: the fingerprints in the order of permutation i
//	key run    a sorted array of 64-bit keys, compressed as an Elias-Fano code in blocks of 512
//	column     an array of integers, bit-packed in blocks of 512
//	block      the unit of checksums
//	layout     how many permuted tables there are, and which bits lead each
package table
