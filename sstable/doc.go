// Package sstable reads and writes tables: immutable files that hold a set of documents with all
// their indexes. A file is complete in itself: it can be searched without a database.
//
// There are few types: a [Writer] writes a table of [Document] values, and a [Reader] finds them by
// ID, by fingerprint (package simhash) and by sketch (package minhash). [Params] says what a table
// has, [Layout] how its permuted tables are made.
//
//	w, err := sstable.NewWriter(file, sstable.Params{StoreText: true}, nil)
//	err = w.Add(sstable.Document{ID: "a", Fingerprint: []uint64{fp}, Text: "..."})
//	info, err := w.Close()
//
//	r, err := sstable.Open("docs.sst")
//	defer r.Close()
//	doc, found, err := r.Lookup("a")                    // the number of a document, by its ID
//	hits, err := r.Near([]uint64{fp}, 3)                // by fingerprint, at most 3 bits away
//	hits, err := r.Jaccard(sketch, 0.8)                 // by sketch, with a score of at least 0.8
//	for d, err := range r.Documents() { ... }
//	err = r.Verify(ctx, nil)                            // everything in the file
//
// # The file
//
// Documents are numbered in the order of their fingerprints; those without a fingerprint come last,
// in the order of their IDs. The sorted run of fingerprints therefore needs no column of document
// numbers, and every set of documents is a set of small integers.
//
//	file      header | section | section | ... | directory | trailer
//
//	blocks    names, records and sketches, interleaved as they were written
//	names     where the blocks of names are: IDs by document number
//	records   where the blocks of records are: texts and fields by record number
//	places    column: record numbers by document number, if they differ
//	ranks     column: positions in the order of writing by document number, if they differ
//	seqs      key run: sequence numbers by rank
//	times     column: microseconds by rank
//	run 0     key run: the fingerprints, by document number
//	run i     key run: the distinct fingerprints in permutation i, i = 1..t-1
//	ids       key run: 38 bits of xxh3-64 of the IDs, with document numbers
//
// and, if documents have MinHash sketches,
//
//	bitmaps   64 bytes a document, for a kernel to scan
//	postings  key run: hashes of the sketches, with their documents
//	sketches  where the blocks of sketches are
//	hot       hashes that many sketches have
//
// and, if the parameters say so,
//
//	set-sizes column: how many features a text has, by document number
//	sets      key run: bits of the hashes of these features, with documents
//
// and for each indexed field, once for texts and once for numbers,
//
//	values     list: the keys of the values, sorted
//	value-docs column: the documents that have them
//
// A key run is a sorted array of 64-bit keys, compressed as an Elias-Fano code in blocks of 512: a
// block stores what its keys have in common once, and of each key the rest. Runs 0 to t-1 are the
// permuted tables: the fingerprints, with other bits in front in each. A query within k bits gives
// each permuted table a part of k, such that at least one of them has any match in the range of its
// leading bits; so few tables answer every k completely. A column is an array of integers, bit-packed
// in blocks of 512. A block is the unit of checksums. The directories of key runs and columns are
// sections of their own. All directories lie side by side after everything else, before summaries of
// large ones: OpenReaderAt then reads only the pages of a directory that a call needs.
// docs/format/sstable.md draws every byte.
//
// # Terms
//
//	document   ID, fingerprint, time, text, fields; Document
//	table      one file; also, permuted table i: the fingerprints in the order of permutation i
//	layout     how many permuted tables there are, and which bits lead each
//	rank       position of a document in the order of writing
//
// # Caveats
//
// A file is never changed. To replace or delete documents, use a database (package engine), whose
// tables are such files; it opens a single one read-only, searches several as one, merges them, and
// finds documents by their fields and by containment.
//
// Reading maps the file into memory, so the file must not be cut or overwritten while it is open.
// Nothing in a file is trusted before it has been checked, so a damaged or hostile file causes an
// error, never a panic, a wrong answer or a large allocation.
package sstable
