// Package fuzz has tests of the whole system that no other package can own. Bytes choose what the
// system does, and an oracle that shares no code with it computes the answer by brute force.
//
//	FuzzHistory    writes, reads and maintenance of a database, against a map of documents
//	FuzzStatement  documents and statements, against loops over all documents
//	FuzzFolder     damage to the files of a database: open, check, read, recover
//	FuzzJob        files and jobs of package dedup, against loops over all pairs
//	FuzzRoundTrip  files that are loaded and exported, twice
//
// `go test ./fuzz` replays the inputs in testdata/fuzz; CONTRIBUTING.md shows how to find others.
// The tests use public packages only. What depends on the form of their API is in api_test.go.
package fuzz
