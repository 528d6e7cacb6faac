// Package lines reads files of lines: JSON lines and other JSON, CSV, TSV, plain text and lists of
// fingerprints. It registers them with package input.
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
//	jsonl.go, csv.go, list.go, text.go    the parsers; sample.go recognises lists, and
//	             hints.go says what a header might have meant
//	spread.go    JSON that is not an object a line
//	notation.go  whether the fingerprints of a file are hexadecimal or decimal
//	detect.go    the formats, and how a file's is recognised
//	split.go     the splitter
//	file.go      the Source
//	copier.go    the Copier; extend.go gives its records further columns
package lines
