// Package format has the format of a table, which readers and writers share, and opens tables.
//
//	params.go, idhash.go, times.go, idparts.go  parameters; how IDs and times are stored
//	section.go, versions.go, format.go          sections, and their directory in each version
//	early.go                                    the copy of the directory
//	table.go, open.go, fault.go                 an open table; each section is opened by the
//	                                            package that knows its encoding
package format

import (
	"fmt"

	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/contain"
	"github.com/simdb/simdb/internal/table/internal/fieldidx"
	"github.com/simdb/simdb/internal/table/internal/hamming"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/pages"
	"github.com/simdb/simdb/internal/table/internal/sketchidx"
)

// Table is an open table. Any number of goroutines may call its methods, but Close must be the last
// call. Errors about the file's contents are *base.CorruptionError: checksums are verified when a
// block is first read.
type Table struct {
	File   string
	Data   []byte
	Made   map[[2]uint16][]byte // by kind and index: sections that Salvage has rebuilt
	Pages  *pages.Table         // how pages are read; nil if that is left to the system
	Unmap  func() error
	Closer func() error
	Params Params
	Info   Info
	tops   map[[2]uint16][]byte // by kind and index: summaries of directories that are read page by page

	Names       *blobs.List
	Records     *blobs.Records // nil if there are none
	Places      *keyrun.Column // record numbers by document; nil if they equal the documents'
	Ranks       *keyrun.Column // by document; nil if they equal the documents' numbers
	Seqs        *keyrun.Run    // by rank
	Times       *keyrun.Column // by rank
	Expiries    *keyrun.Column // by rank; nil if no document expires by itself
	FirstExpiry uint64         // the least of Expiries
	IDs         *keyrun.Run
	Runs        []*keyrun.Run    // of the first word of fingerprints
	Words       []Word           // the later words
	Sketches    *sketchidx.Index // nil if Params.Sketch is 0
	Sets        *contain.Index   // nil unless Params.Sets
	Fields      []fieldidx.List  // of the fields of Params.Index
}

// Word is a word of the fingerprints after the first.
type Word struct {
	Column *keyrun.Column // by document; 0 for documents without a fingerprint
	Runs   []*keyrun.Run  // run 0 has documents as values
}

// Section returns the section of a kind, nil if there is none.
func (r *Table) Section(kind Kind, index uint16) *Section {
	for i := range r.Info.Sections {
		if s := &r.Info.Sections[i]; s.Kind == kind && s.Index == index {
			return s
		}
	}
	return nil
}

// Bytes returns the contents of a section.
func (r *Table) Bytes(s *Section) []byte {
	if b, ok := r.Made[[2]uint16{uint16(s.Kind), s.Index}]; ok {
		return b
	}
	return r.Data[s.Offset:][:s.Length:s.Length]
}

// CheckDoc returns an error if the document does not exist.
func (r *Table) CheckDoc(doc uint32) error {
	if doc >= r.Info.Docs {
		return fmt.Errorf("%s: document %d of %d does not exist", r.File, doc, r.Info.Docs)
	}
	return nil
}

// Close releases the file. Slices that alias it must not be used afterwards. A second call does
// nothing.
func (r *Table) Close() error {
	var err error
	if r.Records != nil {
		r.Records.Uncache()
	}
	r.Pages.Close()
	if r.Unmap != nil {
		err = r.Unmap()
	}
	if r.Closer != nil {
		if cerr := r.Closer(); err == nil {
			err = cerr
		}
	}
	r.Pages, r.Unmap, r.Closer, r.Data = nil, nil, nil, nil
	return err
}

// RunAt returns the run of a section of KindRun with the given index.
func (r *Table) RunAt(index uint16) *keyrun.Run {
	if word := index / hamming.MaxTables; word > 0 {
		return r.Words[word-1].Runs[index%hamming.MaxTables]
	}
	return r.Runs[index]
}

// AppendRest appends the words after the first of a document's fingerprint.
func (r *Table) AppendRest(dst []uint64, doc uint32) ([]uint64, error) {
	for i := range r.Words {
		v, err := r.Words[i].Column.Get(int(doc))
		if err != nil {
			return dst, err
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// Rank returns the position of a document in the order of writing.
func (r *Table) Rank(doc uint32) (int, error) {
	if err := r.CheckDoc(doc); err != nil || r.Ranks == nil {
		return int(doc), err
	}
	v, err := r.Ranks.Get(int(doc))
	return int(v), err
}

// TimeAt returns the time of the document with a rank, in the form of OrderedTime.
func (r *Table) TimeAt(rank int) (uint64, error) {
	return r.Times.Get(rank)
}

// ExpiryAt returns when the document with a rank expires, in microseconds since the Unix epoch, or 0
// for never.
func (r *Table) ExpiryAt(rank int) (int64, error) {
	if r.Expiries == nil {
		return 0, nil
	}
	v, err := r.Expiries.Get(rank)
	if v == OrderedExpiry(0) {
		return 0, err
	}
	return TimeOf(v), err
}

// Record returns text and fields of a document, as parts of a decoded block.
func (r *Table) Record(doc uint32) (text, fields []byte, err error) {
	if r.Records == nil {
		return nil, nil, nil
	}
	place, err := r.Place(doc)
	if err != nil || place == r.Records.Len() {
		return nil, nil, err
	}
	return r.Records.Get(place)
}

// Place returns the number of a document's record, or the number of records if it has none.
func (r *Table) Place(doc uint32) (uint32, error) {
	if r.Places == nil {
		return doc, nil
	}
	v, err := r.Places.Get(int(doc))
	return uint32(v), err
}

// DocAt returns the document at a position of the run of IDs.
func (r *Table) DocAt(i int) (uint32, error) {
	v, err := r.IDs.Value(i)
	if err == nil && v >= uint64(r.Info.Docs) {
		err = r.IDs.Corrupt(0, "position %d has document %d of %d", i, v, r.Info.Docs)
	}
	return uint32(v), err
}
