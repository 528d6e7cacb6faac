// Package dedup finds near-duplicates and removes them: among items in memory, in files of
// documents, and in databases.
//
//	Collection  pairs and clusters of fingerprints, sets of hashes, or texts in memory
//	Listing     pairs and clusters of the documents of files, or of a database
//	Job         copies of files without near-duplicates
//	Join        for each document of files, its near-duplicates in a database or in other files
//	Match       copies of the documents that resemble nothing in a database
//
// Jobs read every format that package records reads. They need no terminal: an inputs.Env receives
// messages and progress, and opens the outputs.
package dedup
