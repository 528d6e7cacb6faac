package view

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// An idTable finds the newest document with an ID in a memtable. It is a hash table with linear
// probing. One goroutine at a time adds; readers need no locks: a slot is written once for each
// document, after the document, and a larger table replaces a full one as a whole.
type idTable struct {
	slots atomic.Pointer[[]atomic.Uint64] // hash<<32 | position of the document + 1; 0 for none
	docs  atomic.Pointer[[]*MemDoc]       // its length is the capacity; replaced by a larger copy
	used  int                             // slots in use; only the adder accesses it
	n     int                             // documents; only the adder accesses it
}

// firstSlots and firstDocs are the capacity of an empty table.
const (
	firstSlots = 64
	firstDocs  = 32
)

// init allocates space for the first documents.
func (t *idTable) init() {
	slots, docs := make([]atomic.Uint64, firstSlots), make([]*MemDoc, firstDocs)
	t.slots.Store(&slots)
	t.docs.Store(&docs)
}

// hashSeed seeds the hashes of IDs in memory.
var hashSeed = maphash.MakeSeed()

func hashID(id []byte) uint32 { return uint32(maphash.Bytes(hashSeed, id)) }

// find returns the newest document with an ID, alive or dead, or nil.
func (t *idTable) find(id []byte) *MemDoc {
	_, d := t.slot(*t.slots.Load(), hashID(id), id)
	return d
}

// slot returns the slot of an ID, which has the given hash, and its newest document. If there is
// none, it returns a free slot and nil.
func (t *idTable) slot(slots []atomic.Uint64, hash uint32, id []byte) (at int, d *MemDoc) {
	mask := len(slots) - 1
	for at = int(hash) & mask; ; at = (at + 1) & mask {
		s := slots[at].Load()
		if s == 0 {
			return at, nil
		}
		if uint32(s>>32) == hash {
			if d := (*t.docs.Load())[uint32(s)-1]; bytes.Equal(d.ID, id) {
				return at, d
			}
		}
	}
}

// add appends a document, which becomes the newest with its ID, and returns all documents.
func (t *idTable) add(d *MemDoc) []*MemDoc {
	docs := *t.docs.Load()
	if t.n == len(docs) {
		more := make([]*MemDoc, 2*len(docs))
		copy(more, docs)
		t.docs.Store(&more)
		docs = more
	}
	docs[t.n] = d
	t.n++
	slots := *t.slots.Load()
	hash := hashID(d.ID)
	at, old := t.slot(slots, hash, d.ID)
	d.follow(old)
	if old == nil {
		if t.used++; t.used > len(slots)/2 {
			slots = t.grow(slots)
			at, _ = t.slot(slots, hash, d.ID)
		}
	}
	slots[at].Store(uint64(hash)<<32 | uint64(t.n))
	return docs[:t.n:t.n]
}

// grow replaces the slots by twice as many.
func (t *idTable) grow(slots []atomic.Uint64) []atomic.Uint64 {
	more := make([]atomic.Uint64, 2*len(slots))
	mask := len(more) - 1
	for i := range slots {
		s := slots[i].Load()
		if s == 0 {
			continue
		}
		at := int(s>>32) & mask
		for more[at].Load() != 0 {
			at = (at + 1) & mask
		}
		more[at].Store(s)
	}
	t.slots.Store(&more)
	return more
}
