package view

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/idfilter"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// A Table is an open table file, shared by the versions that list it.
type Table struct {
	Meta catalog.Table
	Name string // base name of the file
	*table.Reader
	Shift    uint64             // added to the sequence numbers in the file, modulo 2^64
	refs     atomic.Int32       // number of versions that list it
	Obsolete atomic.Bool        // no longer in the catalog: remove the file with the last reference
	Dir      *files.Folder      // folder of the file; nil for a single table file
	Short    memindex.LazyTexts // signatures of the texts
	Families memindex.Families

	// Damage is the reason why merges leave the table out, or nil.
	Damage atomic.Pointer[base.CorruptionError]
	// Uncounted is the reason why more documents may be dead than tombstones say (see Doubt), or
	// nil.
	Uncounted atomic.Pointer[error]

	ids atomic.Pointer[idfilter.Filter] // of the IDs, nil for none: see SmallTables

	codesMu sync.Mutex
	codes   *roaring.Bitmap // see Codes, which sets it on the first call
}

// SeqOf returns the sequence number of document doc. If a table was written before its numbers were
// assigned, or by another database, the numbers in its file only give the order in which its
// documents were written. The table's entry in the catalog has the range of its numbers in this
// database, which is as wide as that in the file.
func (t *Table) SeqOf(doc uint32) (uint64, error) {
	s, err := t.Seq(doc)
	return t.ShiftSeq(s), err
}

// ShiftSeq converts a sequence number stored in the file to a sequence number of the database.
func (t *Table) ShiftSeq(stored uint64) uint64 { return stored + t.Shift }

// NumberFrom assigns the sequence numbers from first on to the documents, in their order of
// writing. The table must not be in any version.
func (t *Table) NumberFrom(first uint64) error {
	more := t.Meta.MaxSeq - t.Meta.MinSeq // count of numbers after the first
	if first > maxTableSeq || more > maxTableSeq-first {
		return fmt.Errorf("sequence numbers %d to %d in %s: the database is at %d and has too few numbers left: %w",
			t.Meta.MinSeq, t.Meta.MaxSeq, t.Name, first, files.ErrTooLarge)
	}
	t.Shift += first - t.Meta.MinSeq
	t.Meta.MinSeq, t.Meta.MaxSeq = first, first+more
	return nil
}

// maxTableSeq is the greatest sequence number for documents of a load or of an ingested table.
// Higher numbers are reserved for other writes, so that no file can exhaust the numbers.
const maxTableSeq = 1 << 62

// Drop closes a table that nobody uses, and removes its file if asked to. It does nothing if a
// version lists the table: then the table has been published, even if something failed.
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

// Tombstones say which documents of a table are dead, and since when. base and added hold the
// tombstones in the catalog: a flush clones the few that were added to base, not all. recent holds
// those that are only in the log, with the sequence number of the write that killed the document.
// recent only grows: a flush that makes tombstones durable creates new Tombstones for the new
// version.
type Tombstones struct {
	base, added *roaring.Bitmap // never changed; they have no document in common
	durable     bool            // one of them is not empty

	mu        sync.RWMutex
	recent    map[uint32]uint64
	anyRecent atomic.Bool // recent is not empty; most queries need not lock it

	under *Tombstones // for an Overlay: the tombstones of others, which count as they are at number at
	at    uint64
}

// NewTombstones returns tombstones that are all in the catalog. base may be nil for none; the
// caller must not change it afterwards.
func NewTombstones(base *roaring.Bitmap) *Tombstones { return newTombstones(base, roaring.New(), nil) }

func newTombstones(base, added *roaring.Bitmap, recent map[uint32]uint64) *Tombstones {
	if base == nil {
		base = roaring.New()
	}
	if recent == nil {
		recent = map[uint32]uint64{}
	}
	t := &Tombstones{base: base, added: added, durable: !base.IsEmpty() || !added.IsEmpty(), recent: recent}
	t.anyRecent.Store(len(recent) > 0)
	return t
}

// DeadAt reports whether doc is dead to a snapshot at seq.
func (t *Tombstones) DeadAt(doc uint32, seq uint64) bool {
	if t.durable && (t.base.Contains(doc) || t.added.Contains(doc)) {
		return true
	}
	if !t.anyRecent.Load() {
		return false
	}
	t.mu.RLock()
	s, ok := t.recent[doc]
	t.mu.RUnlock()
	return ok && s <= seq || t.under != nil && t.under.DeadAt(doc, t.at)
}

// over returns tombstones for an Overlay over those that t has at seq.
func (t *Tombstones) over(seq uint64) *Tombstones {
	o := newTombstones(t.base, t.added, nil)
	o.under, o.at = t, seq
	o.anyRecent.Store(t.anyRecent.Load())
	return o
}

// Kill marks doc dead since seq, unless it is dead already.
func (t *Tombstones) Kill(doc uint32, seq uint64) {
	t.mu.Lock()
	if _, dead := t.recent[doc]; !dead {
		t.recent[doc] = seq
	}
	t.anyRecent.Store(true)
	t.mu.Unlock()
}

// Durable returns the documents whose tombstones are in the catalog. The caller must not change it.
func (t *Tombstones) Durable() *roaring.Bitmap {
	if t.added.IsEmpty() {
		return t.base
	}
	return roaring.Or(t.base, t.added)
}

// Recent returns the tombstones that are only in the log: the documents that are dead at seq, and
// the younger ones.
func (t *Tombstones) Recent(seq uint64) (dead *roaring.Bitmap, younger map[uint32]uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	dead, younger = roaring.New(), map[uint32]uint64{}
	if t.under != nil {
		dead, _ = t.under.Recent(t.at)
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

// UpTo returns the documents that are dead at seq. The caller must not change it.
func (t *Tombstones) UpTo(seq uint64) *roaring.Bitmap {
	dead, _ := t.Recent(seq)
	if dead.IsEmpty() {
		return t.Durable()
	}
	dead.Or(t.added)
	return roaring.Or(t.base, dead)
}

// addedShare: added is merged into base when it has more than 1/addedShare of the documents of base.
const addedShare = 8

// With returns tombstones that are also durable for dead, which must be in the catalog and include
// all up to seq; newer ones stay only in the log. dead has no document of Durable.
func (t *Tombstones) With(dead *roaring.Bitmap, seq uint64) *Tombstones {
	_, younger := t.Recent(seq)
	base, added := t.base, roaring.Or(t.added, dead)
	if added.GetCardinality() > base.GetCardinality()/addedShare {
		base, added = roaring.Or(base, added), roaring.New()
	}
	return newTombstones(base, added, younger)
}

// Count returns how many documents are dead.
func (t *Tombstones) Count() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return int64(t.base.GetCardinality()+t.added.GetCardinality()) + int64(len(t.recent))
}

// Below returns how many documents with a number below n are dead.
func (t *Tombstones) Below(n uint32) int64 {
	if n == 0 {
		return 0
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	dead := int64(t.base.Rank(n-1) + t.added.Rank(n-1))
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

// AliveAt reports whether doc is alive at seq, and has not expired by l.
func (p *Part) AliveAt(doc uint32, seq uint64, l Life) (bool, error) {
	if p.Dead.DeadAt(doc, seq) {
		return false, nil
	}
	return p.Lives(doc, l)
}

// ExpiredThemselves estimates how many living documents have expired by themselves at now, in
// microseconds since 1970. It is exact if the answer is all of the table's documents or none.
func (p *Part) ExpiredThemselves(now int64) (int64, error) {
	if p.FirstExpiry() > now {
		return 0, nil
	}
	at, err := p.ExpirySketch()
	if err != nil || at == nil {
		return 0, err
	}
	t := compaction.Table{Docs: int64(p.Meta.Docs), Dead: p.Dead.Count(), MinTime: at[0], MaxTime: at[len(at)-1], Times: at}
	return t.Expired(now + 1), nil
}

// ForPolicy describes the table to the compaction policy, except for Times and Held.
func (p *Part) ForPolicy() compaction.Table {
	return compaction.Table{
		Number: p.Meta.Number, Size: p.Meta.Size, Docs: int64(p.Meta.Docs), Dead: p.Dead.Count(),
		MinTime: p.Meta.MinTime, MaxTime: p.Meta.MaxTime, Damaged: p.Damage.Load() != nil,
	}
}

// A Version is an immutable set of tables, newest first. It keeps its tables open until its last
// reference is dropped.
type Version struct {
	Parts []Part
	Refs  atomic.Int32

	tables   *SmallTables
	sized    sized
	small    atomic.Pointer[Small]
	filtered atomic.Bool // the tables have their filters
}

// NewVersion returns a version of parts, newest first, with one reference.
func NewVersion(parts []Part, tables *SmallTables) *Version {
	v := &Version{Parts: parts, tables: tables, sized: tables.size(parts)}
	v.Refs.Store(1)
	x := tables.indexed.Load()
	v.small.Store(x.of(v.sized.parts, len(x.ranges) == 0 && v.sized.together == 0))
	v.filtered.Store(len(parts) == 0)
	for _, p := range parts {
		p.refs.Add(1)
	}
	return v
}

// over returns a version of the same tables, with their indexes, for an Overlay over the state at seq.
func (v *Version) over(seq uint64) *Version {
	parts := slices.Clone(v.Parts)
	for i := range parts {
		parts[i].Dead = parts[i].Dead.over(seq)
	}
	o := NewVersion(parts, v.tables)
	o.filtered.Store(v.filtered.Load())
	o.small.Store(v.tables.indexed.Load().of(o.sized.parts, v.small.Load().final))
	return o
}

// Unref drops a reference, and with the last one the references to the tables. It returns the first
// error of closing them.
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
	var g errgroup.Group // in parallel, because removing gigabytes is slow
	for _, t := range unused {
		g.Go(func() error { return t.Drop(t.Obsolete.Load()) })
	}
	return g.Wait()
}

// NumDocs returns the number of documents in the tables, including dead ones.
func (v *Version) NumDocs() (n int) {
	for i := range v.Parts {
		n += int(v.Parts[i].NumDocs())
	}
	return n
}

// Part returns the part with a table number, or nil.
func (v *Version) Part(number uint64) *Part {
	for i := range v.Parts {
		if v.Parts[i].Meta.Number == number {
			return &v.Parts[i]
		}
	}
	return nil
}
