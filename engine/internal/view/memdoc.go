package view

import (
	"sync/atomic"

	"github.com/simdb/simdb/internal/table"
)

// A MemDoc is a document in a memtable.
type MemDoc struct {
	table.Document
	prev *MemDoc       // the previous version of the same ID in this memtable, or nil
	jump *MemDoc       // an earlier version, or nil: see newestAt
	Dead atomic.Uint64 // sequence number of the write that replaced or deleted it, 0 while alive
	Gone atomic.Bool   // that write was a load, and is already durable in a table
	nth  uint32        // index among the versions of the ID

	owner *MemDoc // for a code: its document
}

// follow makes old, which may be nil, the previous version of d. Jumps are those of a skew-binary
// list, so that any version is found in a logarithmic number of steps.
func (d *MemDoc) follow(old *MemDoc) {
	d.prev, d.jump = old, old
	if old == nil {
		return
	}
	d.nth = old.nth + 1
	if far := old.jump; far != nil && far.jump != nil && old.nth-far.nth == far.nth-far.jump.nth {
		d.jump = far.jump
	}
}

// newestAt returns the newest version, d or an earlier one, that was written up to seq, or nil if
// there is none.
func (d *MemDoc) newestAt(seq uint64) *MemDoc {
	for d != nil && d.Seq > seq {
		if d.jump != nil && d.jump.Seq > seq {
			d = d.jump
		} else {
			d = d.prev
		}
	}
	return d
}

// AliveAt reports whether d is visible to a snapshot at seq.
func (d *MemDoc) AliveAt(seq uint64) bool {
	dead := d.Dead.Load()
	return d.Seq <= seq && (dead == 0 || dead > seq) && (d.owner == nil || d.owner.AliveAt(seq))
}
