// Package parquet reads and writes Parquet files. It registers the format with package records.
//
// A file is read by row group. Several groups are read concurrently, and their records are yielded
// in file order. Pages are streamed, so memory does not depend on the size of a row group:
//
//	footer -> row groups -> cursor of each column -> records, in batches -> the caller
//
// Columns named as the ID, the text or the fingerprint fill these parts of the document. All other
// columns become Doc.Fields, like the other members of an object in JSON lines.
//
// parquet-go decodes the pages, and trusts the sizes that a file declares. Therefore this package
// checks the footer first (check.go), checks and decompresses pages before parquet-go reads them
// (pages.go), and reports a panic as damage of the file.
//
// The files of the package, from the bottom up:
//
//	thrift.go   walks encoded thrift without allocating
//	check.go    reads the footer, and checks the sizes in it
//	codec.go    compressions
//	pages.go    the pages of a column, checked and decompressed
//	json.go     values as JSON
//	cursor.go   the values of a column of a row group, in order
//	schema.go   the tree of columns; finds the ID, the text and the fingerprint
//	row.go      a record from the cursors
//	file.go     the Source: columns, row groups
//	notation.go the length of fingerprints, and whether those in text are hexadecimal or decimal
//	records.go  the records of row groups, which are read concurrently
//	copier.go   the Copier
//	outgroup.go makes a row group of a copy in a goroutine; outschema.go has its columns
//	outfooter.go corrects the footer that parquet-go writes for a copy
//	parquet.go  registers the format with package records
package parquet
