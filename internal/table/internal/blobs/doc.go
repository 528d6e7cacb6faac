// Package blobs stores byte strings by number: the blocks of a table, and the directories that
// locate them.
//
// There are two mechanisms, for different access patterns:
//
//	List     short strings that every hit of a search needs: IDs, encoded sketches. They are
//	         numbered by document; reading one needs two loads and no decompression.
//	Records  texts with their fields: compressed blocks, which are decoded as a whole, or copied
//	         unchanged from table to table. Records have numbers of their own.
//
// All blocks are in one area, because a table is written in one pass and never seeks: a writer
// appends a block, or a chunk of several, when it is full, and holds its directory entry in memory
// until the area is complete. Empty strings and records need no space: a block that has only these
// has no bytes, and if all blocks are like that, there is no directory.
//
// Invariants of the readers: the size of a directory is checked when it is opened. An entry and its
// block are verified when they are first used, before anything in them is trusted. A damaged
// directory causes a *base.CorruptionError, never a panic or a large allocation. Any number of
// goroutines may use a reader.
package blobs

import "github.com/simdb/simdb/internal/table/internal/pages"

// Bytes is a part of a file: one section, or the area of blocks.
type Bytes struct {
	Data   []byte
	Offset int64 // in the file
	Pages  *pages.Table
}

// Fetch says that Data[from:to] will be read.
func (b *Bytes) Fetch(from, to int) {
	b.Pages.Fetch(b.Offset+int64(from), b.Offset+int64(to))
}

// Need waits until Data[from:to] has been read, if the file is not on this machine.
func (b *Bytes) Need(from, to int) {
	b.Pages.Need(b.Offset+int64(from), b.Offset+int64(to))
}
