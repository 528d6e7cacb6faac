package view

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable"
)

// A Table is an open table file, shared by the versions that list it.
type Table struct {
	Meta catalog.Table
	Name string // base name of the file
	*sstable.Reader
	Shift    uint64             // added to the sequence numbers in the file, modulo 2^64
	refs     atomic.Int32       // versions that list it
	Obsolete atomic.Bool        // no longer in the catalog: remove the file with the last reference
	Dir      *files.Folder      // that the file lies in; nil for a single table file
	Short    memindex.LazyTexts // signatures of the texts
	Families memindex.Families

	// Damage is why the table is left out of merges; nil if it is not.
	Damage atomic.Pointer[base.CorruptionError]
	// Uncounted is why more of the documents may be dead than tombstones say: see Doubt; nil for none.
	Uncounted atomic.Pointer[error]

	codesMu sync.Mutex
	codes   *roaring.Bitmap // see Codes, whose first call makes it
}

// SeqOf returns the sequence number of document doc. A table that was written before its numbers
// were given out, or by another database, has numbers in its file that say only in which order its
// documents were written. Its entry in the catalog has the range that they take in this database,
// as wide as that in the file.
func (t *Table) SeqOf(doc uint32) (uint64, error) {
	s, err := t.Seq(doc)
	return t.ShiftSeq(s), err
}

// ShiftSeq returns the sequence number of a document that has the number stored in the file.
func (t *Table) ShiftSeq(stored uint64) uint64 { return stored + t.Shift }

// NumberFrom gives the documents, in their order of writing, sequence numbers from first on. The
// table must be in no version.
func (t *Table) NumberFrom(first uint64) error {
	more := t.Meta.MaxSeq - t.Meta.MinSeq // numbers after the first
	if first > maxTableSeq || more > maxTableSeq-first {
		return fmt.Errorf("sequence numbers %d to %d in %s: the database, at %d, has not as many left: %w",
			t.Meta.MinSeq, t.Meta.MaxSeq, t.Name, first, files.ErrTooLarge)
	}
	t.Shift += first - t.Meta.MinSeq
	t.Meta.MinSeq, t.Meta.MaxSeq = first, first+more
	return nil
}

// maxTableSeq is the greatest sequence number that a document of a load or of an ingested table
// gets. What is above is left to other writes: no file can use up
// the numbers.
const maxTableSeq = 1 << 62

// Drop closes a table that nobody uses, and removes its file if asked to. A table that a version
// lists stays as it is: whatever has failed, it has been published.
func (t *Table) Drop(remove bool) error {
	if t.refs.Load() > 0 {
		return nil
	}
	t.Short.GiveBack()
	t.Families.GiveBack()
	err := t.Close()
	if t.Dir == nil {
		return err
	}
	if remove {
		err = errors.Join(err, t.Dir.RemoveTable(t.Meta.Number))
	}
	return errors.Join(err, t.Dir.Release())
}

// Tombstones say which documents of a table are dead, and since when. Base holds those that the
// catalog has; recent those that are in the log alone, with the sequence number of the write that
// killed them. Recent only grows: a flush that makes tombstones durable puts a new value into the
// new version.
type Tombstones struct {
	Base *roaring.Bitmap // never changed

	mu     sync.RWMutex
	recent map[uint32]uint64
	none   atomic.Bool // there were none when this was made, and none have come; most queries need not look
}

// NewTombstones returns tombstones that are all in the catalog; base may be nil for none. It is
// kept.
func NewTombstones(base *roaring.Bitmap) *Tombstones {
	if base == nil {
		base = roaring.New()
	}
	t := &Tombstones{Base: base, recent: map[uint32]uint64{}}
	t.none.Store(base.IsEmpty())
	return t
}

// DeadAt reports whether doc is dead to a snapshot at seq.
func (t *Tombstones) DeadAt(doc uint32, seq uint64) bool {
	if t.none.Load() {
		return false
	}
	if t.Base.Contains(doc) {
		return true
	}
	t.mu.RLock()
	s, ok := t.recent[doc]
	t.mu.RUnlock()
	return ok && s <= seq
}

// Kill marks doc dead since seq, unless it is dead already.
func (t *Tombstones) Kill(doc uint32, seq uint64) {
	t.mu.Lock()
	if _, dead := t.recent[doc]; !dead {
		t.recent[doc] = seq
	}
	t.none.Store(false)
	t.mu.Unlock()
}

// UpTo returns base and everything of recent up to seq as one bitmap, and what is younger.
func (t *Tombstones) UpTo(seq uint64) (dead *roaring.Bitmap, younger map[uint32]uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	dead, younger = t.Base, map[uint32]uint64{}
	if len(t.recent) > 0 {
		dead = t.Base.Clone()
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

// Onto returns tombstones with another base, which the catalog has and which holds those up to seq;
// what is younger stays in the log alone.
func (t *Tombstones) Onto(base *roaring.Bitmap, seq uint64) *Tombstones {
	_, younger := t.UpTo(seq)
	return &Tombstones{Base: base, recent: younger}
}

// Count returns how many documents are dead.
func (t *Tombstones) Count() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return int64(t.Base.GetCardinality()) + int64(len(t.recent))
}

// Below returns how many documents with a number under n are dead.
func (t *Tombstones) Below(n uint32) int64 {
	if n == 0 {
		return 0
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	dead := int64(t.Base.Rank(n - 1))
	for doc := range t.recent {
		if doc < n {
			dead++
		}
	}
	return dead
}

// A Part is a table in a version, with its tombstones.
type Part struct {
	*Table
	Dead *Tombstones
}

// AliveAt reports whether doc is alive at seq, and was stored at since, in microseconds, or later.
func (p *Part) AliveAt(doc uint32, seq uint64, since int64) (bool, error) {
	if p.Dead.DeadAt(doc, seq) {
		return false, nil
	}
	if since <= p.Meta.MinTime {
		return true, nil
	}
	t, err := p.Time(doc)
	return t >= since, err
}

// ForPolicy describes the table to the policy of compaction, except for its quantiles of times, and
// whether it is held.
func (p *Part) ForPolicy() compaction.Table {
	return compaction.Table{
		Number: p.Meta.Number, Size: p.Meta.Size, Docs: int64(p.Meta.Docs), Dead: p.Dead.Count(),
		MinTime: p.Meta.MinTime, MaxTime: p.Meta.MaxTime, Damaged: p.Damage.Load() != nil,
	}
}

// A Version is an immutable set of tables, newest first. It keeps its tables open until its last
// reference goes.
type Version struct {
	Parts []Part
	Refs  atomic.Int32
}

// NewVersion returns a version of parts, newest first, with one reference to it.
func NewVersion(parts []Part) *Version {
	v := &Version{Parts: parts}
	v.Refs.Store(1)
	for _, p := range parts {
		p.refs.Add(1)
	}
	return v
}

// Unref drops a reference, and with the last one those to the tables. It returns the first error of
// closing them.
func (v *Version) Unref() error {
	if v.Refs.Add(-1) > 0 {
		return nil
	}
	var unused []*Table
	for _, p := range v.Parts {
		if p.refs.Add(-1) == 0 {
			unused = append(unused, p.Table)
		}
	}
	return dropAll(unused)
}

// dropAll drops tables that nobody uses, in turn or, as removing gigabytes takes a while, at the
// same time. It returns the first error.
func dropAll(tables []*Table) error {
	if len(tables) == 1 {
		return tables[0].Drop(tables[0].Obsolete.Load())
	}
	var g errgroup.Group
	for _, t := range tables {
		g.Go(func() error { return t.Drop(t.Obsolete.Load()) })
	}
	return g.Wait()
}

// Part returns the part of table number, or nil.
func (v *Version) Part(number uint64) *Part {
	for i := range v.Parts {
		if v.Parts[i].Meta.Number == number {
			return &v.Parts[i]
		}
	}
	return nil
}
