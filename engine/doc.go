// Package engine is an embedded database for near-duplicates: it stores documents under IDs and
// finds those that resemble a given document.
//
// There are only a few types in it: DB, Snapshot, Reader, Writer, Tx, Doc, Criterion, Match, Batch,
// Loader and Options. A [DB] is an open database, a [Snapshot] is the database as it was at one
// moment, and a [Tx] is a transaction. A [Reader] has what all three can do: look up, search and
// list; a [Writer] has the methods of DB and Tx that store and delete. A [Doc] is a document to
// store, a query, or a document that was read. A [Criterion] says when two documents match: Near,
// Jaccard (from the texts or, if Estimated, from sketches), Levenshtein, Cosine, Contains or Within. A
// [Match] names a document that does. A [Batch] collects writes that succeed or fail together, and a
// [Loader] adds many documents. All other types are options, results and reports of these.
//
//	db, err := engine.Open("corpus.simdb", nil) // created if there is none
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//
//	err = db.Put(ctx, engine.Doc{ID: "a", Text: "some text"})
//	m, stored, err := db.PutNovel(ctx, engine.Doc{ID: "b", Text: "some text"}, engine.Near(3))
//	// stored is false: m names "a", which is within 3 bits
//
//	for m, err := range db.Near(ctx, fingerprint, 3) { ... }               // by Hamming distance
//	for m, err := range db.Jaccard(ctx, engine.Doc{Text: text}, 0.8) { ... } // by common shingles
//
// The options of a call are its last argument: a pointer to a struct, whose zero value has the
// defaults, or nil.
//
//	db, err := engine.Open("corpus.simdb", &engine.Options{TTL: 48 * time.Hour})
//	found := db.Search(ctx, doc, engine.Jaccard(0.8), &engine.SearchOptions{Limit: 10})
//
// # Reading
//
// Each reading method of a DB sees the state of the database when the method is called, or when its
// iteration begins. Use a Snapshot for several reads of the same state, and close it. Results are
// iterators; an error is the last value that an iterator yields. Cancelling the context ends a
// search or an iteration.
//
// # Writing
//
// Put, Apply, PutNovel and Delete return when the write survives kill -9 and, without Options.NoSync,
// power loss. A Loader writes many documents faster, without the log. DB.Update carries out a
// transaction, which fails if what it has read has changed meanwhile. Processes that set
// Options.Shared write a database by turns, and each sees what the others have written; without it,
// one process at a time can have a database open for writing. Any number of processes can have it
// open for reading (ReadOnly, Refresh). If the disk fails a write or an fsync, no more writes are
// accepted until the database is opened again (ErrFailed); reading continues. A full disk fails
// writes until there is space.
//
// Changes yields what was stored, deleted and expired since a write, for a cache, an index beside the
// database, or an incremental job.
//
// # Errors
//
// Errors wrap one of the Err variables, to be tested with errors.Is, or the error of the context or
// of the file system. Damage to a file is a *CorruptionError, which names the file, the section and
// the offset.
//
// # Caveats
//
// An ID has 1 to 65,535 bytes. The text and the fields of a document have at most 64 MiB together;
// larger documents are refused, never cut.
//
// Shingle, Features, Bits and the other parameters of a database are fixed when it is created. To
// change them, create another database and copy the documents.
//
// The zero Criterion matches nothing: whatever needs a criterion refuses it with ErrInvalid.
//
// Table files are memory-mapped. No other program may change or shorten them while they are open; a
// read that meets a shortened file returns a *CorruptionError.
//
// An open Snapshot holds the files that it needs, so their disk space is not freed when compaction
// replaces them. Close a Snapshot when its reads are done, and call DB.ReleaseDeleted now and then
// in a program that leaves a read-only DB idle.
//
// Byte slices that the callbacks Range.Match and Range.Where receive may point into mapped memory:
// they are valid only during the call, and must not be changed.
package engine
