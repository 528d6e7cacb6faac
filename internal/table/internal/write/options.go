package write

import (
	"cmp"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// Level is how hard a writer compresses.
type Level int

// Compression levels. Readers need not know which one was used. Merges copy blocks unchanged, so
// the level of a text is chosen when it is first written.
const (
	LevelDefault Level = blobs.LevelDefault // zstd's default
	LevelFastest Level = blobs.LevelFastest // half the time, 5 % more bytes
	LevelBetter  Level = blobs.LevelBetter  // twice the time, 3 % fewer bytes
)

// WriterOptions are the options of everything that writes tables. The zero value is a good default.
type WriterOptions struct {
	BlockSize int   // bytes of texts and fields compressed together, at most 16 MiB; 0: see blobs.BlockEnds
	Level     Level // compression level

	// Identity is stored in the table: it identifies the table within its database.
	Identity format.Identity

	// Note is stored in the table for its owner, who reads it with Reader.Note. If it is empty, no
	// note is written.
	Note []byte

	Hot             []hot.Hash // hot hashes of sketches, ascending; nil: the writer chooses them
	SegmentDocs     int        // maximum number of documents in a segment; 0 means 2^19
	SegmentPostings int        // maximum number of postings in a segment; 0 means 2^26
	OrderDocs       int        // fewest documents of a table that stores the order of its IDs; 0 means 512
	Version         uint32     // format version; 0 means FormatVersion
}

// orderedDocs is the least number of documents of a table that stores the order of its IDs. A
// reader sorts the IDs of a smaller table in less time than it needs to open it.
const orderedDocs = 512

// StoresIDOrder reports whether a table of n documents stores the order of their IDs.
func (o *WriterOptions) StoresIDOrder(n int) bool { return n >= cmp.Or(o.OrderDocs, orderedDocs) }
