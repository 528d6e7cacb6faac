// Package view has what a reader sees of a database: immutable tables and memtables with their
// tombstones, and Views, which are those that were current at one moment, as of a sequence number.
//
// The store adds to memtables and makes Versions; searches and joins read Views. A View holds a
// reference to its Version, and that to its Tables, so that files stay until the last View of them
// is closed. What a View gives out (IDs, texts) may alias a mapped file: it is valid while the View
// is open, and is read within Safely, which turns a fault of the mapping into an error.
//
// What searches find is yielded in order, the first of it, or until a context ends (order.go).
//
// The package also has what computes fingerprints and sketches (hasher.go), and the small types
// that the internal packages of the engine share (Doc, Entry, Match, Criterion, Progress): package
// engine documents them, and converts to and from its own.
package view
