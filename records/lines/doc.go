// Package lines reads files of lines: JSON lines and other JSON, CSV, TSV, plain text and lists of
// fingerprints. It registers them with package records.
//
// A file is read in one pass, in bounded memory, and its records are yielded in file order:
//
//	input.Stream -> splitter -> batches -> parser, on every core -> in order again -> the caller
//
// The splitter is a single goroutine, because it must read sequentially to find where records end.
// It only cuts out records and numbers their lines. Batches are parsed on all cores.
//
// The files of the package, from the bottom up:
//
//	record.go    a record, its parser, and what parsers share
//	jsonl.go, csv.go, list.go    the parsers; members.go walks JSON
//	sample.go, digests.go        recognise lists of fingerprints, and of checksums
//	spread.go    JSON that does not have one object per line
//	detect.go    recognises the format of a file
//	file.go      the Source; records.go finds its records in JSON
//	notation.go  whether the fingerprints of a file are hexadecimal or decimal
//	split.go     the splitter
//	starts.go    records that begin where a line matches; kinds.go has texts of such records by name,
//	             bulk.go bulk files, and dividers.go recognises others
//	read.go      reads the records of a Source
//	open.go      opens a Source
//	copier.go    the Copier; extend.go adds columns to its records, cut.go cuts their texts
package lines
