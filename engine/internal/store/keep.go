package store

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// A large merge that is interrupted, by Close, by its context or by a kill, stays on disk as a
// tables.Kept, and a later merge of the same tables goes on with it. There is one at a time: it is
// removed when one of its inputs goes, and when the disk is full.
type keeping struct {
	mu   sync.Mutex
	kept *tables.Kept // without its checkpoints; nil if there is none
	busy bool         // a merge goes on with it, or will leave one
}

// findKept reads the interrupted merge of an earlier process, and returns the number of its table;
// 0 if there is none that can go on with the tables of the catalog.
func (db *Store) findKept(s *catalog.State) (uint64, error) {
	k, err := db.Tables.ReadKept()
	if err != nil || k == nil || !k.InputsIn(s.Tables) {
		return 0, err
	}
	number := k.Identity.Number
	if slices.ContainsFunc(s.Tables, func(t catalog.Table) bool { return t.Number == number }) {
		return 0, nil
	}
	st, err := db.Dir.Stat(files.NewTableName(number))
	if err != nil || st.Size < k.Offset() {
		return 0, nil
	}
	db.keeping.kept = k.Brief()
	return number, nil
}

// Kept returns the tables of an interrupted merge that the policy may go on with, and about how
// many bytes of them are left to merge; nil if there is none.
func (db *Store) Kept() (inputs []uint64, left int64) {
	db.keeping.mu.Lock()
	defer db.keeping.mu.Unlock()
	k := db.keeping.kept
	if k == nil || db.keeping.busy || k.Erase { // what Compact began, only Compact goes on with
		return nil, 0
	}
	for _, t := range k.Inputs {
		inputs, left = append(inputs, t.Number), left+t.Size
	}
	return inputs, max(left-k.Offset(), 0) + left/8 // numbers are made again
}

// takeKept returns the interrupted merge that one of plan p goes on with, nil if it begins anew.
// Mine says whether it may leave one itself: then the caller calls giveBackKept.
func (db *Store) takeKept(p tables.Plan, bytes int64) (k *tables.Kept, mine bool, err error) {
	db.keeping.mu.Lock()
	defer db.keeping.mu.Unlock()
	if bytes < cmp.Or(db.opts.KeepFrom, merges.KeepFrom) || db.keeping.busy {
		return nil, false, nil
	}
	if old := db.keeping.kept; old != nil {
		if !slices.ContainsFunc(old.Inputs, func(t catalog.Table) bool { return slices.Contains(p.Inputs, t) }) {
			return nil, false, nil // it can still go on
		}
		if k, err = db.Tables.ReadKept(); err != nil {
			return nil, false, err
		}
		if k == nil || !k.Of(p) {
			if err := db.dropKeptLocked(); err != nil {
				return nil, false, err
			}
			k = nil
		}
	}
	db.keeping.kept, db.keeping.busy = nil, true
	return k, true, nil
}

// giveBackKept notes what a merge has left; nil for nothing.
func (db *Store) giveBackKept(k *tables.Kept) {
	db.keeping.mu.Lock()
	defer db.keeping.mu.Unlock()
	db.keeping.busy = false
	if db.keeping.kept = nil; k != nil {
		db.keeping.kept = k.Brief()
	}
}

// dropKept removes an interrupted merge, unless one goes on with it, and reports whether there was
// one.
func (db *Store) dropKept() bool {
	db.keeping.mu.Lock()
	defer db.keeping.mu.Unlock()
	if db.keeping.kept == nil || db.keeping.busy {
		return false
	}
	if err := db.dropKeptLocked(); err != nil {
		db.log.Warn("removing an interrupted merge", "path", db.Path, "err", err)
		return false
	}
	return true
}

// dropKeptLocked removes the interrupted merge. The caller holds the lock.
func (db *Store) dropKeptLocked() error {
	k := db.keeping.kept
	db.keeping.kept = nil
	return db.Tables.DropKept(k, false)
}

// dropKeptOf removes the interrupted merge if one of the given tables, which go, is an input of it.
func (db *Store) dropKeptOf(gone []uint64) {
	db.keeping.mu.Lock()
	k := db.keeping.kept
	db.keeping.mu.Unlock()
	if k != nil && slices.ContainsFunc(k.Inputs, func(t catalog.Table) bool { return slices.Contains(gone, t.Number) }) {
		db.dropKept()
	}
}

// createMerged creates the table that merge writes for a merge of the given tables. In is put into
// the order in which an interrupted merge had them. The table's merge is removed by published.
func (db *Store) createMerged(ctx context.Context, m *merges.Merge, in []*view.Part, erase bool, merge tables.Merging) (*view.Table, error) {
	p := tables.Plan{Erase: erase}
	for _, part := range in {
		p.Inputs = append(p.Inputs, part.Meta)
	}
	k, mine, err := db.takeKept(p, m.Bytes)
	if err != nil {
		return nil, err
	}
	if !mine {
		return db.Tables.Create(func(out io.Writer, identity sstable.Identity) (sstable.Info, error) {
			return merge(out, &tables.Kept{Identity: identity}, nil)
		})
	}
	if k != nil {
		slices.SortFunc(in, func(a, b *view.Part) int { return k.Place(a.Meta) - k.Place(b.Meta) })
	}
	m.Keeps.Store(true)
	interrupted := func(err error) bool {
		return ctx.Err() != nil && context.Cause(ctx) != merges.ErrGaveWay && !vfs.IsNoRoom(err)
	}
	t, left, err := db.Tables.CreateKept(ctx, k, p, interrupted, merge)
	if t == nil {
		db.giveBackKept(left)
		return nil, err
	}
	db.keeping.mu.Lock()
	defer db.keeping.mu.Unlock()
	db.keeping.kept = left.Brief() // and busy, until published
	return t, nil
}

// goesOn notes that a merge has not begun anew.
func (db *Store) goesOn(m *merges.Merge, k *tables.Kept) {
	db.log.Info("a merge goes on that was interrupted", "path", db.Path, "tables", m.Tables, "bytes", k.Offset())
	db.event(Event{
		Kind: EventResume, Tables: m.Tables, Output: k.Identity.Number, Reason: string(m.Reason), InputBytes: m.Bytes, Bytes: k.Offset(),
	})
}

// published removes what says that the table of a merge is unfinished, after it was published, or
// could not be.
func (db *Store) published(t *view.Table) {
	if t == nil {
		return
	}
	db.keeping.mu.Lock()
	defer db.keeping.mu.Unlock()
	k := db.keeping.kept
	if k == nil || k.Identity.Number != t.Meta.Number {
		return
	}
	db.keeping.kept, db.keeping.busy = nil, false
	if err := db.Tables.DropKept(k, true); err != nil {
		db.log.Warn("removing the record of a merge", "path", db.Path, "err", err)
	}
}

// mergedParts returns the parts of a snapshot that a job merges.
func mergedParts(v *view.View, j *compaction.Job) (in []*view.Part) {
	for i := range v.Version.Parts {
		if p := &v.Version.Parts[i]; slices.Contains(j.Tables, p.Meta.Number) {
			in = append(in, p)
		}
	}
	return in
}
