package write

import (
	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/table"
)

// Level is how hard a writer compresses.
type Level int

// Compression levels. Readers need not know which was used. Merges copy blocks as they are, so that
// a level is chosen once for a text.
const (
	LevelDefault Level = blobs.LevelDefault // zstd's default
	LevelFastest Level = blobs.LevelFastest // half the time, 5 % more bytes
	LevelBetter  Level = blobs.LevelBetter  // twice the time, 3 % fewer bytes
)

// WriterOptions are the options of all that write tables. The zero value is a good default.
type WriterOptions struct {
	BlockSize int   // bytes of texts and fields compressed together; 0 means 24 KiB, at most 16 MiB
	Level     Level // of compression

	// Identity is kept with the table: which one of which database it is.
	Identity table.Identity

	// Note is kept with the table for its owner, and returned by Reader.Note. Nil or empty
	// writes none.
	Note []byte

	Hot             []hot.Hash // of the sketches, ascending; nil: the writer chooses them
	SegmentDocs     int        // documents of a segment; 0 means 2^19
	SegmentPostings int        // of a segment at most; 0 means 2^26
	PartDocs        int        // documents of a part of the order of IDs; 0 means 2^11
	StretchDocs     int        // documents of a stretch of that order; 0 means 2^22
	Version         uint32     // of the format; 0 means FormatVersion
}
