// Package engine is an embedded database for near-duplicates: it stores documents under IDs and
// finds those that resemble a given document.
//
//	db, err := engine.Open("corpus.simdb") // created if there is none
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
// # Reading
//
// The reading methods of a DB see the database as it is when they are called. A Snapshot is the
// database at one moment: take one for several reads of the same state, and close it. Results
// are iterators; an error is the last thing that one yields. Contexts end searches and
// iterations.
//
// # Writing
//
// Put, Apply, PutNovel and Delete return when the write is as safe as Options.Sync says: by
// default it survives kill -9 and power loss. A Loader writes many documents faster, without
// the log. One process at a time has a database open for writing, any number has it open for
// reading (ReadOnly, Refresh). If the disk fails a write or an fsync, no more writes are
// accepted until the database is opened again (ErrFailed); reading continues. A full disk only
// fails writes until there is space again.
//
// # Options
//
// The options of a call are a pointer to a struct, whose zero value has the defaults. It comes last
// and may be left out, or be nil:
//
//	db, err := engine.Open("corpus.simdb", &engine.Options{TTL: 48 * time.Hour})
//	found := db.Search(ctx, doc, engine.Jaccard(0.8), &engine.SearchOptions{Limit: 10})
//
// # Joins
//
// Pairs and Clusters match all documents with each other by a Criterion: Near, Jaccard (from
// sketches or, if Verified, from the texts), Levenshtein, Cosine, Contains or Within.
//
// # Errors
//
// Errors wrap one of the Err variables, to be tested with errors.Is, or the error of the
// context or of the file system. Damage to a file is a *CorruptionError, which names the file,
// its section and the offset.
package engine
