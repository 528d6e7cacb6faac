// Package parquet reads and writes Parquet files. It registers the format with package records.
//
// A file is read by row group; several groups are read at once, and their records come in the
// order of the file. Pages are streamed, so memory does not depend on the size of a row group:
//
//	footer -> row groups -> cursor of each column -> records, in batches -> the caller
//
// A column that is named as the ID, the text or the fingerprint fills that part of the document;
// all other columns become Doc.Fields, as the members of an object of JSON lines would.
//
// The pages are decoded by parquet-go, which trusts the sizes that a file declares. Therefore the
// footer is checked first (check.go), it gets the pages checked and decompressed (pages.go), and
// panics end the reading as damage of the file.
//
// The files of the package, from the bottom up:
//
//	thrift.go   walks encoded thrift without allocating
//	check.go    reads the footer, and checks the sizes in it
//	codec.go    compressions
//	pages.go    the pages of a column, checked and decompressed
//	json.go     values as JSON
//	cursor.go   the values of a column of a row group, in order
//	schema.go   the tree of columns, and which of them are the ID, the text and the fingerprint
//	row.go      a record from the cursors
//	file.go     the Source: columns, row groups
//	notation.go how long fingerprints are, and whether those in text are hexadecimal or decimal
//	records.go  the records of row groups, several of which are read at once
//	copier.go   the Copier
//	outgroup.go a row group of a copy, which a goroutine makes; outschema.go has its columns
//	outfooter.go the footer of a copy, which has what the writer does not know
//	parquet.go  what is registered with package records
package parquet
