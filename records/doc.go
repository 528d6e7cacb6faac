// Package records opens files of documents in any format as a Source, which yields documents in
// order, each with its position, in bounded memory.
//
//	src, err := records.Open("crawl.jsonl.gz", records.Options{})
//	for rec, err := range src.Records(ctx) { ... }
//
// Packages below this one read the formats and register themselves: package lines reads JSON lines,
// CSV, TSV, plain text and lists of fingerprints; package files reads folders where each file is a
// document. The commands of simdb use this package, and package files for folders, so a new format
// needs no change in them.
//
// # Errors
//
// A record that cannot be used is reported as an *Issue with its position and the reason, and
// reading continues with the next record. A failure that ends the reading, such as a truncated gzip
// file, is a *ReadError; every record before it has been delivered.
//
// # A new format
//
// A new format changes five files:
//
//  1. A package below this one, such as records/parquet. It implements Source and Copier and
//     registers a Family from its init function. Its Detect function recognises files by their
//     first bytes (Stream.Head). A format that needs random access gets it from Stream.ReaderAt,
//     also for pipes and compressed files.
//  2. Its test. cmd/simdb/source_test.go has a complete small example: a binary format with a
//     footer, which is loaded, resumed, deduplicated and matched, and whose damage is reported with
//     its place.
//  3. cmd/simdb/flags/formats.go imports the package. TestFormatsAreImported fails without it.
//  4. docs/formats.md gets a row and a section. TestFormatsAreDocumented fails without them.
//  5. go.mod, if the format needs a module.
//
// If the Source also implements Cutter, its records can be copied with a part of each text.
//
// Everything else follows from the registration: the names of formats, their help and completion,
// the endings of output files, the unit ("line", "row") in messages, resuming, rejects, the audit
// and copies of records.
package records
