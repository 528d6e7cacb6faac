package lines

import (
	"io"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/records"
)

// file is the Source of a file of lines.
type file struct {
	in      *records.Stream
	content io.Reader
	live    bool
	reading bool // Records has been called
	opt     records.Options
	info    records.Info

	parse     parser // nil until the header has been read, if that names the columns
	hasHeader bool   // the first nonblank line is not data
	before    []byte // a line before the header that declares the separator of columns
	unnamed   bool   // the header does not name the first column
	seen      base.Evidence
	surveys   bool      // the records are only read to collect evidence
	members   bool      // the records are the members of a JSON object
	group     *grouping // how lines form records; nil where each line is one, or the format decides
	usable
}

// Info describes the file.
func (f *file) Info() records.Info { return f.info }

// Progress returns how much of the file has been read.
func (f *file) Progress() (done, size int64) { return f.in.Progress() }

// Close closes the file.
func (f *file) Close() error {
	if !f.reading {
		f.in.Release()
	}
	return f.in.Close()
}

// usable summarises the records of the first block, and of more if that does not suffice.
type usable struct {
	records int
	whole   bool   // a complete record, or an error in its place, was found
	sound   bool   // a record has no flaw
	flaw    string // the first flaw
	prints  int    // records with a fingerprint
	several bool   // a record has several fingerprints
	listed  bool   // a text comes from a list
	texts   [][]byte
}

// cells appends the cells of a row of columns to dst.
func (f *file) cells(dst []string, raw []byte) []string {
	if f.info.Format == TSV {
		return cutTabs(dst, raw)
	}
	return cutRow(dst, raw, f.separator())
}

// separator returns the character between columns.
func (f *file) separator() byte {
	switch {
	case f.opt.Delimiter != 0:
		return f.opt.Delimiter
	case f.info.Format == TSV:
		return '\t'
	}
	return ','
}
