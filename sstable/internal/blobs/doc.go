// Package blobs keeps byte strings by number: the blocks of a table, and the directories that say
// where they are.
//
// There are two mechanisms, after what reads them:
//
//	List     short strings of which every hit of a search needs one: IDs, encoded sketches. The
//	         number is that of the document; two loads, nothing to decompress.
//	Records  texts with their fields: blocks, compressed, decoded as a whole, or copied from table
//	         to table as they are. Records have numbers of their own.
//
// Blocks of all of them share one area, because a table is written in one pass and never seeks: a
// writer appends a block, or a chunk of them, when it is full, and keeps a directory entry for it,
// which is written when the area has ended. Strings and records without bytes are stored as
// nothing: a block of them has no bytes, and if there are no others, there is no directory.
//
// Invariants of the readers: the size of a directory is checked when it is opened, an entry and its
// block when they are first used, before anything in them is relied on. A directory that is damaged
// costs a *base.CorruptionError and neither a panic nor memory. Readers may be used by any number
// of goroutines.
package blobs

// Bytes is a part of a file that holds one section, or the area of blocks.
type Bytes struct {
	Data   []byte
	Offset int64 // in the file
}
