// Package view holds the state of a database that readers see: immutable tables, memtables and
// their tombstones, and Views, each of which fixes the tables and memtables of one moment, as of a
// sequence number.
//
// The store adds to memtables and makes Versions; searches and joins read Views. A View holds a
// reference to its Version, and the Version to its Tables, so that files stay until their last View
// is closed. IDs and texts that a View returns may alias a mapped file: they are valid while the
// View is open, and must be read within Safely, which turns a fault of the mapping into an error.
//
// Iterators in order.go yield the results of searches in order, the first ones only, or until a
// context ends.
//
// The package also computes fingerprints and sketches (hasher.go), and defines the small types that
// the internal packages of the engine share (Doc, Entry, Match, Criterion, Progress): package
// engine documents them, and converts to and from its own.
package view
