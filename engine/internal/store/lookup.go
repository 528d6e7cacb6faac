package store

import (
	"context"
	"slices"
	"sync"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/pipeline"
)

// A lookup knows where the IDs of a write are stored. Reading tables may wait for storage, so a
// write looks its IDs up before it locks writeMu. The tables of a version gain no living document,
// so under the lock settleLocked reads no table: if the version is the same, an ID is in a memtable,
// or where it was found, or nowhere. If the version has changed, the IDs are looked up again.
type lookup struct {
	db      *Store
	version *view.Version // where places are; with a reference, until release
	seq     uint64        // of the last write before run
	recs    []wal.Record
	needs   []Need
	found   []view.Place // for each record, then for each need; zero if there is no document
	payload []byte       // recs, encoded; empty if not yet

	one [1]view.Place // enough for most writes
}

// lookups pools lookups with buffers for payloads, which the log copies, of up to payloadKeep bytes
// each.
var lookups = sync.Pool{New: func() any { return new(lookup) }}

const payloadKeep = 1 << 20

// newLookup returns a lookup that knows nothing yet. The caller must release it.
func (db *Store) newLookup(recs []wal.Record, needs []Need) *lookup {
	l := lookups.Get().(*lookup)
	l.db, l.recs, l.needs, l.found = db, recs, needs, l.one[:]
	if n := len(recs) + len(needs); n > len(l.one) {
		l.found = make([]view.Place, n)
	}
	return l
}

// release drops the reference to the version. The caller does not hold writeMu: this may remove
// files.
func (l *lookup) release() {
	if l.version != nil {
		l.db.unref(l.version)
	}
	payload := l.payload[:0]
	if cap(payload) > payloadKeep {
		payload = nil
	}
	*l = lookup{payload: payload}
	lookups.Put(l)
}

// id returns the ID of found[i].
func (l *lookup) id(i int) []byte {
	if i < len(l.recs) {
		return l.recs[i].Doc.ID
	}
	return []byte(l.needs[i-len(l.recs)].ID)
}

// Look-ups of a batch are shared by up to mostLookups goroutines of at least fewestLookups each:
// they overlap their reads from storage, so they may be more than there are processors. Of 1,000
// documents in cold tables: see BenchmarkCold.
const (
	fewestLookups = 64
	mostLookups   = 16
)

// inShares calls work for parts of n look-ups at the same time, and returns the first part's error.
func inShares(n int, work func(from, to int) error) error {
	shares := min(mostLookups, n/fewestLookups)
	if shares <= 1 {
		return work(0, n)
	}
	return pipeline.Each(context.Background(), shares, shares, func(i int) error { return work(n*i/shares, n*(i+1)/shares) })
}

// run finds all IDs in the current version. It reads all that the write needs from the tables.
func (l *lookup) run() error {
	db := l.db
	db.mu.Lock()
	if db.current == nil || db.closed.Load() {
		db.mu.Unlock()
		return files.ErrClosed
	}
	old, have := l.version, stored{db.current, db.immutable, db.active}
	have.version.Refs.Add(1)
	l.version, l.seq, l.payload = have.version, db.seq, l.payload[:0]
	first := db.logFirst
	db.mu.Unlock()
	if old != nil {
		db.unref(old)
	}
	return inShares(len(l.found), func(from, to int) error {
		for i := from; i < to; i++ {
			p, _, err := have.locate(l.id(i))
			l.found[i] = p
			if err == nil && p.Part != nil && l.wantsFacts(i) {
				_, err = versionOf(p, view.Always)
			}
			if err != nil {
				return err
			}
			if i < len(l.recs) {
				l.recs[i].Replaces = replaces(first, p)
			}
		}
		return nil
	})
}

// replaces describes a place for the log whose first write is number first.
func replaces(first uint64, p view.Place) wal.Replaced {
	switch {
	case p.Part != nil:
		return wal.Replaced{Where: wal.InTable, Table: p.Part.Meta.Number, Doc: p.Doc}
	case p.Mem == nil || p.Mem.Seq >= first:
		return wal.Replaced{Where: wal.NoTable}
	}
	return wal.Replaced{Where: wal.Earlier, Seq: p.Mem.Seq}
}

// wantsFacts reports whether the write depends on the document's number or time.
func (l *lookup) wantsFacts(i int) bool {
	if i >= len(l.recs) {
		return true
	}
	r, p := &l.recs[i], l.found[i]
	return r.Delete && (r.Version != nil || l.db.TTL() > 0 || p.Part == nil || p.Part.MayExpire())
}

// versionOf returns the number of the write that stored a document, or 0 if it has expired.
func versionOf(p view.Place, life view.Life) (uint64, error) {
	if ok, err := p.Lives(life); err != nil || !ok {
		return 0, err
	}
	return p.Seq()
}

// settleLocked makes all places those of living documents, as the writer sees them. The caller holds
// writeMu, and places are valid until it unlocks.
func (l *lookup) settleLocked() error {
	have := l.db.storedLocked()
	if have.version != l.version {
		return l.run()
	}
	if l.db.seq == l.seq { // nothing was written meanwhile
		return nil
	}
	for i, p := range l.found {
		if d := have.inMemory(l.id(i)); d != nil {
			l.found[i] = view.Place{Mem: d}
		} else if p.Part == nil || p.Part.Dead.DeadAt(p.Doc, view.Latest) {
			l.found[i] = view.Place{}
		}
	}
	return nil
}

// versionLocked returns the number of the write that stored the document, or 0 if there is none or
// it has expired; if the write does not want facts, another number than 0. Numbers are compared for
// equality, not order: a table may be published with numbers lower than those of a snapshot that
// lacks it. The caller holds writeMu, and has settled the lookup.
func (l *lookup) versionLocked(i int, life view.Life) (uint64, error) {
	switch {
	case l.found[i] == view.Place{}:
		return 0, nil
	case !l.wantsFacts(i):
		return view.Latest, nil
	}
	return versionOf(l.found[i], life)
}

// effectiveLocked leaves out the deletes that remove nothing, and returns how many deletes remain.
// Only these are logged, so that a replay, which deletes only by ID, removes the same documents. The
// caller holds writeMu, and has settled the lookup.
func (l *lookup) effectiveLocked() (deleted int, err error) {
	if !slices.ContainsFunc(l.recs, func(r wal.Record) bool { return r.Delete }) {
		return 0, nil
	}
	life := l.db.life()
	recs, found := make([]wal.Record, 0, len(l.recs)), make([]view.Place, 0, len(l.recs))
	written := map[string]bool{} // IDs that the batch writes; true if the last write stores a document that lives
	for i, r := range l.recs {
		id := string(r.Doc.ID)
		there, own := written[id]
		switch {
		case !r.Delete:
		case own:
			there = there && r.Version == nil // nobody can have seen a version that the batch itself writes
		default:
			stored, err := l.versionLocked(i, life)
			if err != nil {
				return 0, err
			}
			there = stored != 0 && (r.Version == nil || stored == *r.Version)
		}
		if r.Delete && !there {
			continue
		}
		if r.Delete {
			deleted++
		}
		recs, found = append(recs, r), append(found, l.found[i])
		written[id] = !r.Delete && life.Has(&r.Doc)
	}
	if len(recs) < len(l.recs) {
		l.payload = l.payload[:0]
	}
	l.recs, l.needs, l.found = recs, nil, found
	return deleted, nil
}

// checkLocked returns a *Conflict for the first need that is not met. The caller holds writeMu, and
// has settled the lookup.
func (l *lookup) checkLocked() error {
	for j, n := range l.needs {
		stored, err := l.versionLocked(len(l.recs)+j, l.db.life())
		if err != nil {
			return err
		}
		if n.All {
			stored = l.db.seq
		}
		if stored != n.Version && (stored == 0 || n.Version != view.Latest) {
			return &files.Conflict{ID: n.ID, Version: stored}
		}
	}
	return nil
}

// encodeLocked makes payload the encoding of the records. It encodes them again if they replace
// other documents than run expected. The caller holds writeMu, and has settled the lookup.
func (l *lookup) encodeLocked() {
	l.db.mu.Lock()
	first := l.db.logFirst
	l.db.mu.Unlock()
	for i := range l.recs {
		r := &l.recs[i]
		if now := replaces(first, l.found[i]); now != r.Replaces {
			r.Replaces = now
			l.payload = l.payload[:0]
		}
	}
	if len(l.payload) == 0 {
		l.payload = wal.Encode(l.payload, l.recs)
	}
}
