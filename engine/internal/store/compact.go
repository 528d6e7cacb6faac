package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// Compact flushes the memtables and merges all tables into one, or, if one cannot hold all
// documents, whole tables into as few as possible. It drops deleted, replaced and expired
// documents. It returns when that is done; reads and writes continue meanwhile. If writes find the
// disk full, it gives way and fails. If tables are damaged it merges the others, and fails.
// Progress, if not nil, is called from another goroutine.
func (db *Store) Compact(ctx context.Context, progress func(view.Progress)) error {
	if err := db.Flush(ctx); err != nil {
		return err
	}
	if err := db.awaitMerges(ctx); err != nil {
		return err
	}
	defer db.WakeCompact()
	for {
		all, err := db.merges.TakeAll(ctx)
		err = closed(err)
		for _, m := range all {
			if err == nil {
				err = db.merge(ctx, m, db.merging(m, true, progress))
			} else {
				db.merges.End(m, nil)
			}
		}
		if !db.goesOn(err) {
			_, damage := db.Damaged()
			return cmp.Or(err, damage)
		}
	}
}

// setApart excludes damaged tables from later merges: the table that the error names, or all of in
// if it names none. It reports whether the error is damage.
func (db *Store) setApart(in []*view.Part, err error) bool {
	damage, ok := errors.AsType[*base.CorruptionError](err)
	if !ok {
		return false
	}
	named := func(p *view.Part) bool { return p.Name == damage.File }
	for all, i := !slices.ContainsFunc(in, named), 0; i < len(in); i++ {
		if all || named(in[i]) {
			in[i].Damage.Store(damage)
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.current != nil {
		db.countAgain()
	}
	return true
}

// SetApart excludes a table from merges if err is damage, and reports whether it is.
func (db *Store) SetApart(p *view.Part, err error) bool { return db.setApart([]*view.Part{p}, err) }

// goesOn reports whether a merge failed because of a table that is excluded now, or is no longer
// there, so that others may be merged.
func (db *Store) goesOn(err error) bool {
	return (errors.Is(err, base.ErrCorruption) || errors.Is(err, errTablesGone)) && db.Writable() == nil
}

// Damaged returns the names of the tables that merges exclude, and the damage of the last.
func (db *Store) Damaged() (names []string, why error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for i := 0; db.current != nil && i < len(db.current.Parts); i++ {
		if p := &db.current.Parts[i]; p.Damage.Load() != nil {
			names, why = append(names, p.Name), p.Damage.Load()
		}
	}
	return names, why
}

// closed converts an error of the scheduler to one of a database.
func closed(err error) error {
	if errors.Is(err, merges.ErrClosing) {
		return files.ErrClosed
	}
	return err
}

// Groups returns all tables, in groups to be merged into one table each. It omits tables that a
// merge would only copy: those that are the only ones in their group and have no dead documents,
// and no texts of documents that died earlier.
func (db *Store) Groups() (jobs []*compaction.Job, err error) {
	v, err := db.dropView()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	tables, err := db.tableSizes(v)
	if err != nil {
		return nil, err
	}
	for _, g := range compaction.Group(tables, db.policy()) {
		p := v.Version.Part(g[0])
		if len(g) == 1 && p.Dead.Count() == 0 && p.AllLive(v.Life) {
			if dead, err := p.HasDeadRecords(); db.setApart([]*view.Part{p}, err) || err == nil && !dead {
				continue
			} else if err != nil {
				return nil, err
			}
		}
		j := &compaction.Job{Tables: g, Reason: merges.ReasonAll}
		for _, number := range g {
			j.Bytes += v.Version.Part(number).Meta.Size
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// CompactDue merges tables as background compaction does, and returns when there is nothing left to
// merge. At the end of a load it ensures that the next search reads few tables. Compact does more:
// CompactDue merges a large table only when there are enough others of its size. If tables turn out
// to be damaged it merges the others, and fails. Progress is called as by Compact.
func (db *Store) CompactDue(ctx context.Context, progress func(view.Progress)) (damage error) {
	defer db.WakeCompact()
	if err := db.flushHeld(ctx); err != nil {
		return err
	}
	if err := db.awaitMerges(ctx); err != nil {
		return err
	}
	for {
		m, err := db.merges.TakeDue(ctx)
		if err != nil || m == nil {
			return cmp.Or(closed(err), damage)
		}
		err = db.merge(ctx, m, db.merging(m, false, progress))
		if err != nil && !db.goesOn(err) {
			return err
		}
		if !errors.Is(err, errTablesGone) {
			damage = cmp.Or(damage, err)
		}
	}
}

// flushHeld flushes memtables whose logs force expired documents of tables to stay: see isHeld.
func (db *Store) flushHeld(ctx context.Context) error {
	v, err := db.dropView()
	if err != nil {
		return err
	}
	defer v.Close()
	held := func(p view.Part) bool { return isHeld(v, &p) && !p.AllLive(v.Life) }
	switch {
	case !slices.ContainsFunc(v.Version.Parts, held):
		return nil
	case db.immutables() > 0: // one of these may be the reason
		return db.waitFlush(ctx)
	}
	return db.Flush(ctx)
}

// Policy returns the input of the compaction policy: the tables, and its options.
func (db *Store) Policy() ([]compaction.Table, compaction.Options, error) {
	o := db.policy()
	v, err := db.dropView()
	if err != nil {
		return nil, o, err
	}
	defer v.Close()
	tables, err := db.tableSizes(v)
	return tables, o, err
}

// policy returns the options of the compaction policy.
func (db *Store) policy() compaction.Options {
	o := db.opts.Policy
	o.Expired, o.TTL, o.MaxDocs, o.MaxBytes = max(0, db.lifeAt(db.trusted()).Since), db.TTL().Microseconds(), db.Tables.MaxDocs(), db.opts.MaxTableBytes
	return o
}

// tableSizes describes the tables to the compaction policy.
func (db *Store) tableSizes(v *view.View) ([]compaction.Table, error) {
	var ts []compaction.Table
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		t := p.ForPolicy()
		t.Held, t.Expiring = isHeld(v, p), p.MayExpire()
		if db.TTL() > 0 {
			var err error
			if t.Times, err = p.TimeSketch(); err != nil && !errors.Is(err, base.ErrCorruption) {
				return nil, err // otherwise the policy assumes that times are uniform
			}
		}
		if !t.Held && !t.Damaged {
			n, err := p.ExpiredThemselves(v.Now)
			if err != nil && !errors.Is(err, base.ErrCorruption) {
				return nil, err
			}
			t.Dead += n
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// isHeld reports whether a compaction drops no expired documents of p, because not all writes in
// the log are younger than those in p: a document of p may have replaced one that is in the log. If
// it were dropped, a replay would restore the replaced document, which may not have expired.
func isHeld(v *view.View, p *view.Part) bool {
	for _, m := range v.Mems {
		if first := m.MinSeq.Load(); first != 0 {
			return first < p.Meta.MaxSeq
		}
	}
	return false
}

// merged is the result of a merge: mostly one table, or none if no document is left.
type merged struct {
	tables []*view.Table
	// number returns where a document of an input is now: in which of the tables, and its number
	// there.
	number func(input int, doc uint32) (at int, number uint32, kept bool)
}

// A mergeFunc writes the tables that replace in, of the documents that are visible in snap.
type mergeFunc func(ctx context.Context, snap *view.View, in []*view.Part) (merged, error)

// merge runs a merge that was started, publishes its result and ends it.
func (db *Store) merge(ctx context.Context, m *merges.Merge, write mergeFunc) error {
	did := merges.Stats{Inputs: m.Tables, InputBytes: m.Bytes, Reason: m.Reason, Started: time.Now()}
	running, done := db.merges.Run(ctx, m)
	defer done()
	out, err := db.mergeAndPublish(running, m, write, &did)
	err = merges.Why(running, err)
	did.Duration, did.Err = time.Since(did.Started), err
	for _, t := range out.tables {
		did.Output, did.Bytes, did.Documents = t.Meta.Number, did.Bytes+t.Meta.Size, did.Documents+int64(t.Meta.Docs)
	}
	if err == nil {
		db.Counts.compacted(&did)
	}
	db.merges.End(m, &did)
	if err == nil {
		db.event(Event{
			Kind: EventCompact, Tables: m.Tables, Output: did.Output, Reason: did.Reason, Docs: int(did.Documents),
			InputBytes: m.Bytes, Bytes: did.Bytes, Duration: did.Duration,
		})
	}
	return err
}

// mergeAndPublish replaces the tables of a merge by those that write makes.
func (db *Store) mergeAndPublish(ctx context.Context, m *merges.Merge, write mergeFunc, did *merges.Stats) (out merged, err error) {
	snap, err := db.dropView()
	if err != nil {
		return out, err
	}
	defer snap.Close()
	in := mergedParts(snap, m.Job)
	for _, p := range in {
		did.InputDocuments += int64(p.Meta.Docs)
	}
	err = snap.Safely(ctx, func() error {
		out, err = write(ctx, snap, in)
		return err
	})
	if err != nil {
		db.setApart(in, err)
		return merged{}, err
	}
	if err = db.publishMerge(ctx, m, in, out, db.omitted(snap, in, out)); err != nil {
		for _, t := range out.tables {
			err = errors.Join(err, db.Drop(t))
		}
		return merged{}, err
	}
	return out, nil
}

// publishMerge publishes the result of a merge, unless another process has changed its tables.
func (db *Store) publishMerge(ctx context.Context, m *merges.Merge, in []*view.Part, out merged, gone map[uint64]*roaring.Bitmap) error {
	done, err := db.publishing(ctx)
	if err != nil {
		return err
	}
	defer done()
	if !db.haveAll(in) {
		return errTablesGone
	}
	// The merged table forgets the documents that a write has killed, so that write must be safe
	// before the table is published.
	if err = db.syncLog(); err == nil {
		err = db.publishCompaction(in, out, gone, m.Reason != merges.ReasonRepair)
	}
	if err != nil {
		return db.fail(err)
	}
	return nil
}

// errTablesGone ends a merge of tables that another process has replaced or dropped.
var errTablesGone = errors.New("another process has changed the tables")

// haveAll reports whether tables are in the current version.
func (db *Store) haveAll(in []*view.Part) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	return !slices.ContainsFunc(in, func(p *view.Part) bool { return db.current.Part(p.Meta.Number) == nil })
}

// merging returns the function that merges tables into one, or into none if no document is left. Its
// view is a dropView. If erase is set, no text of a dropped document remains.
func (db *Store) merging(m *merges.Merge, erase bool, progress func(view.Progress)) mergeFunc {
	return func(ctx context.Context, snap *view.View, in []*view.Part) (merged, error) {
		left := int64(0)
		for _, p := range in {
			if p.Meta.MaxTime >= snap.Since || isHeld(snap, p) {
				left += int64(p.Meta.Docs) - p.Dead.Count()
			}
		}
		if left <= 0 { // all documents are dead or expired: there is nothing to read
			return merged{number: func(int, uint32) (int, uint32, bool) { return 0, 0, false }}, nil
		}
		var renumber *table.Renumbering
		t, err := db.Tables.Create(func(out io.Writer, identity table.Identity) (info table.Info, err error) {
			o := tables.MergeOptions("compact", func(p view.Progress) {
				m.Progress(p.Done, p.Total)
				if progress != nil {
					progress(p)
				}
			})
			o.Identity, o.Erase, o.Workers = identity, erase, m.Workers()
			info, renumber, err = table.Merge(ctx, db.merges.Writer(ctx, out, m), db.Tables.MergeParams(left), mergeInputs(snap, in), o)
			return info, err
		})
		if err != nil {
			return merged{}, err
		}
		return merged{[]*view.Table{t}, func(input int, doc uint32) (int, uint32, bool) {
			number, kept := renumber.New(input, doc)
			return 0, number, kept
		}}, nil
	}
}

func mergedParts(v *view.View, j *compaction.Job) (in []*view.Part) {
	for i := range v.Version.Parts {
		if p := &v.Version.Parts[i]; slices.Contains(j.Tables, p.Meta.Number) {
			in = append(in, p)
		}
	}
	return in
}

// mergeInputs returns parts as inputs of a merge of the documents visible in snap.
func mergeInputs(snap *view.View, in []*view.Part) []table.MergeInput {
	inputs := make([]table.MergeInput, len(in))
	for i, p := range in {
		life := snap.Life
		if isHeld(snap, p) {
			life = view.Always
		}
		inputs[i] = table.MergeInput{Reader: p.Reader, SeqShift: p.Shift}
		if p.Dead.Count() > 0 || !p.AllLive(life) || snap.Several {
			inputs[i].Keep = func(doc uint32) (bool, error) {
				ok, err := p.AliveAt(doc, snap.Seq, life)
				if snap.Several && ok && err == nil {
					return snap.Counts(p, doc)
				}
				return ok, err
			}
		}
	}
	return inputs
}

// publishCompaction replaces the tables in by those of a merge. Documents of these that died after
// the merge began are dead in them: durably if the catalog records their death, otherwise until
// their log is flushed.
//
// gone has the rows that the merge has left out although they were alive, by number of their table.
// The history gets those that are still alive, under numbers that no write may overtake. The caller is
// publishing.
func (db *Store) publishCompaction(in []*view.Part, out merged, gone map[uint64]*roaring.Bitmap, expired bool) error {
	db.mu.Lock()
	v := db.current
	db.mu.Unlock()

	edit := catalog.Edit{SetTombstones: map[uint64]*roaring.Bitmap{}}
	for _, p := range in {
		edit.DropTables = append(edit.DropTables, p.Meta.Number)
	}
	base := make([]*roaring.Bitmap, len(out.tables))
	for i, t := range out.tables {
		base[i] = roaring.New()
		edit.AddTables, edit.SetTombstones[t.Meta.Number] = append(edit.AddTables, t.Meta), base[i]
	}
	for i, p := range in {
		// Documents that were dead when the merge began were not written, and have no new number.
		it := v.Part(p.Meta.Number).Dead.Durable().Iterator()
		for it.HasNext() {
			if at, doc, kept := out.number(i, it.Next()); kept {
				base[at].Add(doc)
			}
		}
	}
	var err error
	if len(gone) > 0 {
		db.writeMu.Lock()
		edit.Removed, err = db.removals(gone, expired)
	}
	if err == nil {
		err = db.editCatalog(edit)
	}
	if len(gone) == 0 {
		db.writeMu.Lock() // prevents new tombstones from here on
	}
	defer db.writeMu.Unlock()
	if err != nil {
		return err
	}
	var parts []view.Part
	for _, p := range v.Parts {
		if !slices.Contains(edit.DropTables, p.Meta.Number) {
			parts = append(parts, p)
		} else {
			p.Obsolete.Store(true)
		}
	}
	dead := make([]*view.Tombstones, len(out.tables))
	for i, t := range out.tables {
		dead[i] = view.NewTombstones(base[i])
		parts = append(parts, view.Part{Table: t, Dead: dead[i]})
	}
	for i, p := range in {
		_, younger := v.Part(p.Meta.Number).Dead.Recent(0)
		for doc, s := range younger {
			if at, doc, kept := out.number(i, doc); kept {
				dead[at].Kill(doc, s)
			}
		}
	}
	db.mu.Lock()
	old := db.install(parts)
	db.showLocked(edit.Removed)
	db.mu.Unlock()
	db.unref(old)
	return nil
}

// omitted returns the rows of tables that a merge has left out although they were alive, by number of
// the table: they have expired, or a repair could not read them. If they are too many for the
// history, omitted returns all rows.
func (db *Store) omitted(snap *view.View, in []*view.Part, out merged) map[uint64]*roaring.Bitmap {
	db.mu.Lock()
	most := int(db.historyLimit() / leastRemoval)
	db.mu.Unlock()
	left, gone := 0, map[uint64]*roaring.Bitmap{}
	for _, t := range out.tables {
		left += int(t.Meta.Docs)
	}
	for _, p := range in {
		left -= int(p.Meta.Docs) - int(p.Dead.UpTo(snap.Seq).GetCardinality())
	}
	for i := 0; i < len(in) && left != 0; i++ {
		rows, dead := roaring.New(), in[i].Dead.UpTo(snap.Seq)
		gone[in[i].Meta.Number] = rows
		if -left > most {
			rows.AddRange(0, uint64(in[i].Meta.Docs))
			continue
		}
		for doc := range in[i].Meta.Docs {
			if _, _, kept := out.number(i, doc); !kept && !dead.Contains(doc) {
				rows.Add(doc)
			}
		}
	}
	return gone
}
