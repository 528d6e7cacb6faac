// Package lines reads files of lines: JSON lines and other JSON, CSV, TSV, plain text and lists of
// fingerprints. It registers them with package records.
//
// A file is read in one pass, in bounded memory, and its records come in the order of the file:
//
//	input.Stream -> splitter -> batches -> parser, on every core -> in order again -> the caller
//
// The splitter is one goroutine: only it can know where a record ends. It cuts records out and
// numbers their lines, and does nothing else to them. Batches are parsed on all cores.
//
// The files of the package, from the bottom up:
//
//	record.go    a record, its parser, and what parsers share
//	jsonl.go, csv.go, list.go    the parsers; members.go walks JSON
//	sample.go, digests.go        recognise lists of fingerprints, and of checksums
//	spread.go    JSON that is not an object a line
//	detect.go    the formats, and how a file's is recognised
//	file.go      the Source: what it has; records.go finds its records in JSON
//	notation.go  whether the fingerprints of a file are hexadecimal or decimal
//	split.go     the splitter
//	read.go      reads the records of a Source
//	open.go      opens a Source
//	copier.go    the Copier; extend.go gives its records more columns, cut.go cuts their texts
package lines
