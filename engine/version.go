package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// A table is an open table file, shared by the versions that list it.
type table struct {
	meta catalog.Table
	name string // base name of the file
	*sstable.Reader
	shift    uint64       // added to the sequence numbers in the file, modulo 2^64
	refs     atomic.Int32 // versions that list it
	obsolete atomic.Bool  // no longer in the catalog: remove the file with the last reference
	dir      *folder      // that the file lies in; nil for a single table file
}

// seqOf returns the sequence number of document doc. A table that was written before its numbers were given out, or by
// another database, has numbers in its file that say only in which order its documents were written. Its entry in the
// catalog has the range that they take in this database, as wide as that in the file.
func (t *table) seqOf(doc uint32) (uint64, error) {
	s, err := t.Seq(doc)
	return t.shiftSeq(s), err
}

// shiftSeq returns the sequence number of a document that has the number stored in the file.
func (t *table) shiftSeq(stored uint64) uint64 { return stored + t.shift }

// numberFrom gives the documents, in their order of writing, sequence numbers from first on. The table must be in no version.
func (t *table) numberFrom(first uint64) error {
	more := t.meta.MaxSeq - t.meta.MinSeq // numbers beside the first
	if first > maxTableSeq || more > maxTableSeq-first {
		return fmt.Errorf("sequence numbers %d to %d in %s: the database, at %d, has not as many left: %w",
			t.meta.MinSeq, t.meta.MaxSeq, t.name, first, ErrTooLarge)
	}
	t.shift += first - t.meta.MinSeq
	t.meta.MinSeq, t.meta.MaxSeq = first, first+more
	return nil
}

// maxTableSeq is the greatest sequence number that a document of a load or of an ingested table gets. What is above is left to
// other writes: no file can take so many numbers that none remains for them.
const maxTableSeq = 1 << 62

func (t *table) unref() error {
	if t.refs.Add(-1) > 0 {
		return nil
	}
	return t.drop(t.obsolete.Load())
}

// drop closes a table that nobody uses, and removes its file if asked to.
func (t *table) drop(remove bool) error {
	err := t.Close()
	if t.dir == nil {
		return err
	}
	if remove {
		err = errors.Join(err, removeTable(t.dir, t.meta.Number))
	}
	return errors.Join(err, t.dir.release())
}

// removeTable removes a table's file, which may not have got its final name yet.
func removeTable(fsys vfs.FS, number uint64) error {
	err := fsys.Remove(tableName(number))
	if errors.Is(err, fs.ErrNotExist) {
		err = fsys.Remove(newTableName(number))
	}
	return err
}

// Tombstones say which documents of a table are dead, and since when. Base holds those that the catalog has; recent those
// that are in the log alone, with the sequence number of the write that killed them. Recent only grows: a flush that makes
// tombstones durable puts a new value into the new version.
type tombstones struct {
	base *roaring.Bitmap // never changed

	mu     sync.RWMutex
	recent map[uint32]uint64
	none   atomic.Bool // there were none when this was made, and none have come; most queries need not look
}

func newTombstones(base *roaring.Bitmap) *tombstones {
	if base == nil {
		base = roaring.New()
	}
	t := &tombstones{base: base, recent: map[uint32]uint64{}}
	t.none.Store(base.IsEmpty())
	return t
}

// deadAt reports whether doc is dead to a snapshot at seq.
func (t *tombstones) deadAt(doc uint32, seq uint64) bool {
	if t.none.Load() {
		return false
	}
	if t.base.Contains(doc) {
		return true
	}
	t.mu.RLock()
	s, ok := t.recent[doc]
	t.mu.RUnlock()
	return ok && s <= seq
}

// kill marks doc dead since seq.
func (t *tombstones) kill(doc uint32, seq uint64) {
	t.mu.Lock()
	t.recent[doc] = seq
	t.none.Store(false)
	t.mu.Unlock()
}

// upTo returns base and everything of recent up to seq as one bitmap, and what is younger.
func (t *tombstones) upTo(seq uint64) (dead *roaring.Bitmap, younger map[uint32]uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	dead, younger = t.base, map[uint32]uint64{}
	if len(t.recent) > 0 {
		dead = t.base.Clone()
	}
	for doc, s := range t.recent {
		if s <= seq {
			dead.Add(doc)
		} else {
			younger[doc] = s
		}
	}
	return dead, younger
}

// count returns how many documents are dead.
func (t *tombstones) count() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return int64(t.base.GetCardinality()) + int64(len(t.recent))
}

// below returns how many documents with a number under n are dead.
func (t *tombstones) below(n uint32) int64 {
	if n == 0 {
		return 0
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	dead := int64(t.base.Rank(n - 1))
	for doc := range t.recent {
		if doc < n {
			dead++
		}
	}
	return dead
}

// A part is a table in a version, with its tombstones.
type part struct {
	*table
	dead *tombstones
}

// aliveAt reports whether doc is alive at seq, and was stored at since, in microseconds, or later.
func (p *part) aliveAt(doc uint32, seq uint64, since int64) (bool, error) {
	if p.dead.deadAt(doc, seq) {
		return false, nil
	}
	if since <= p.meta.MinTime {
		return true, nil
	}
	t, err := p.Time(doc)
	return t >= since, err
}

// A version is an immutable set of tables, newest first. It keeps its tables open until its last reference goes.
type version struct {
	parts []part
	refs  atomic.Int32
}

func newVersion(parts []part) *version {
	v := &version{parts: parts}
	v.refs.Store(1)
	for _, p := range parts {
		p.refs.Add(1)
	}
	return v
}

func (v *version) unref() error {
	if v.refs.Add(-1) > 0 {
		return nil
	}
	var first error
	for _, p := range v.parts {
		if err := p.unref(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// part returns the part of table number, or nil.
func (v *version) part(number uint64) *part {
	for i := range v.parts {
		if v.parts[i].meta.Number == number {
			return &v.parts[i]
		}
	}
	return nil
}

func tableName(number uint64) string { return fmt.Sprintf("%06d.sst", number) }

// newTableName is what the file of a table is called until the catalog lists it.
func newTableName(number uint64) string { return tableName(number) + tempSuffix }

func logName(number uint64) string { return fmt.Sprintf("%06d.wal", number) }
