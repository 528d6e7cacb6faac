package view

import (
	"sync/atomic"

	"github.com/simdb/simdb/sstable"
)

// A MemDoc is a document in a memtable.
type MemDoc struct {
	sstable.Document
	prev *MemDoc       // the version of the same ID before it in this memtable, or nil
	Dead atomic.Uint64 // sequence number of the write that replaced or deleted it, 0 while alive
	Gone atomic.Bool   // that write is durable in a table already: it was a load

	owner *MemDoc // of a code: the document that it belongs to
}

// AliveAt reports whether d is visible to a snapshot at seq.
func (d *MemDoc) AliveAt(seq uint64) bool {
	dead := d.Dead.Load()
	return d.Seq <= seq && (dead == 0 || dead > seq) && (d.owner == nil || d.owner.AliveAt(seq))
}
