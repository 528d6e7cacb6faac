// Package dedup finds near-duplicates and removes them: among items in memory, in files of
// documents, and in databases.
//
//	Collection  pairs and clusters of fingerprints, sets of hashes, or texts in memory
//	Listing     pairs and clusters of the documents of files, or of a database
//	Job         copies of files without near-duplicates
//	Join        what each document of files resembles in a database or in other files
//	Match       copies of those that resemble nothing there
//
// Jobs read what package records reads, and need no terminal: an inputs.Env takes messages and
// progress, and opens outputs.
package dedup
