// Package dedup finds near-duplicates, and removes them from files: without a database, unless it
// is what is looked at.
//
//	Collection  pairs and clusters of fingerprints, sets of hashes, or texts in memory
//	Listing     pairs and clusters of the documents of files, or of a database
//	Job         files without their near-duplicates
//
// Jobs read what package records reads, and need no terminal: inputs.Env has what they say, how far
// they are, and what they write.
package dedup
