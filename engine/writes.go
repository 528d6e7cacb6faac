package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// A Batch is a list of writes that Apply carries out as one: all of them or none. The zero value is
// empty and ready. One goroutine at a time may use a Batch.
type Batch struct {
	ops     []store.Operation
	needs   []store.Need
	deleted int
}

// Put adds the storing of d, of which nothing may be changed until the batch has been applied.
func (b *Batch) Put(d Doc) { b.ops = append(b.ops, store.Put(view.Doc(d))) }

// Delete adds a delete; deleting what is not stored does nothing.
func (b *Batch) Delete(id string) { b.ops = append(b.ops, store.Delete(id)) }

// DeleteVersion adds a delete of the document as it was seen: seq is its Entry.Seq. If it has
// been replaced since, or deleted and stored again, the delete does nothing. So a decision that
// is based on a snapshot does not affect later writes.
func (b *Batch) DeleteVersion(id string, seq uint64) {
	b.ops = append(b.ops, store.DeleteVersion(id, seq))
}

// RequireAbsent makes Apply carry out the batch only if there is no document with this ID.
// Requirements are checked when the batch is applied, before any of its writes.
func (b *Batch) RequireAbsent(id string) { b.needs = append(b.needs, store.Need{ID: id}) }

// RequirePresent makes Apply carry out the batch only if there is a document with this ID.
func (b *Batch) RequirePresent(id string) {
	b.needs = append(b.needs, store.Need{ID: id, Version: view.Latest})
}

// RequireVersion makes Apply carry out the batch only if the document with this ID is the one
// whose Doc.Seq is seq; 0 requires that there is none.
func (b *Batch) RequireVersion(id string, seq uint64) {
	b.needs = append(b.needs, store.Need{ID: id, Version: seq})
}

// Deleted returns how many documents the deletes of the batch removed when it was last applied.
func (b *Batch) Deleted() int { return b.deleted }

// Len returns the number of writes.
func (b *Batch) Len() int { return len(b.ops) }

// Reset empties the batch for another use.
func (b *Batch) Reset() {
	clear(b.ops)
	b.ops, b.needs, b.deleted = b.ops[:0], b.needs[:0], 0
}

// Put stores d, replacing the document that has its ID. When it returns nil the write is as safe as
// Options.Sync says. A document whose Time is longer ago than Options.TTL is stored and has
// expired: it replaces what has its ID, and nothing finds it. Errors are ErrInvalid and ErrTooLarge
// for d, ErrReadOnly, ErrClosed, ErrFailed, and that of the context.
func (db *DB) Put(ctx context.Context, d Doc) error {
	_, err := db.s.Write(ctx, []store.Operation{store.Put(view.Doc(d))})
	return err
}

// CheckDoc returns why Put could not store d, ErrInvalid, ErrTooLarge or ErrParams; else nil.
func (db *DB) CheckDoc(d Doc) error {
	inner := view.Doc(d)
	return cmp.Or(view.CheckDoc(&inner), db.s.SettleFingerprints(&inner))
}

// PutIfAbsent stores d if there is no document with its ID; else the error is a *ConflictError,
// which is ErrExists. Of concurrent calls for one ID exactly one returns nil. Other errors are as
// those of Put.
func (db *DB) PutIfAbsent(ctx context.Context, d Doc) error { return db.PutIfVersion(ctx, d, 0) }

// PutIfVersion stores d in the place of the document with its ID whose Doc.Seq is seq. If that has
// been replaced or deleted since it was read, the error is a *ConflictError. So of concurrent calls
// for one version exactly one returns nil. Other errors are as those of Put.
func (db *DB) PutIfVersion(ctx context.Context, d Doc, seq uint64) error {
	var b Batch
	b.RequireVersion(d.ID, seq)
	b.Put(d)
	return db.Apply(ctx, &b)
}

// Apply carries out the batch as one write: after a crash either all of it is there or nothing.
// Of writes to the same ID the last one counts. Afterwards Batch.Deleted says how many
// documents its deletes removed. If a requirement does not hold, nothing is written, and the
// error is a *ConflictError. Other errors are those of Put.
func (db *DB) Apply(ctx context.Context, b *Batch) (err error) {
	b.deleted, err = db.s.Write(ctx, b.ops, b.needs...)
	if c, ok := errors.AsType[*files.Conflict](err); ok {
		return &ConflictError{c.ID, c.Version}
	}
	return err
}

// A ConflictError says that a document is not as PutIfAbsent, PutIfVersion or a Batch requires, so
// that nothing was written. To errors.Is it is ErrExists if there is a document, and ErrNotFound if
// there is none.
type ConflictError struct {
	ID      string
	Version uint64 // the Doc.Seq of the document that is stored; 0 if there is none
}

// Error says what there is.
func (e *ConflictError) Error() string { return (*files.Conflict)(e).Error() }

// Is reports whether the target is ErrExists or ErrNotFound, as it applies.
func (e *ConflictError) Is(target error) bool { return (*files.Conflict)(e).Is(target) }

// novelMatches is how many matches are found, at most, for PutNovel to name the best of them.
const novelMatches = 32

// PutNovel stores d unless a visible document matches it by the criterion; then it returns a
// match and false. One that SetAllowed has recorded with d is no match. Of the document with
// the ID of d, only an equal one is, with the same text and fingerprints, or without any of these
// the same fields: then d, which may have been sent again, is its own match, with distance 0 or
// score 1. A changed one is replaced.
//
// The match returned is the best one, of equally good ones the one with the smallest
// ID; if more than a few dozen match, it is the best of the first ones found. The check and the
// write are one step: of two near-duplicates submitted at once exactly one is stored, and the
// other call returns it as its match, once that one is safe. A document without fingerprint, or
// by a criterion of text without text, is like no other. One that is older than
// Options.TTL is not stored: ErrExpired. Other errors are as those of Put and Snapshot.Any.
func (db *DB) PutNovel(ctx context.Context, d Doc, by Criterion) (m Match, stored bool, err error) {
	done, err := db.AddNovel(ctx, []Doc{d}, by)
	if err != nil {
		return Match{}, false, err
	}
	if done[0].Expired {
		err = fmt.Errorf("document %s is of %s: %w", files.QuoteID(d.ID), d.Time.UTC().Format(time.RFC3339), ErrExpired)
	}
	return done[0].Match, done[0].Stored, err
}

// A Novelty says what AddNovel did with a document.
type Novelty struct {
	Match    Match `json:"match"` // the document that it is like, if Stored and Expired are false
	Stored   bool  `json:"stored"`
	Replaced bool  `json:"replaced"`          // it was stored in the place of a document with its ID
	Expired  bool  `json:"expired,omitempty"` // it was not stored, since it is older than Options.TTL
}

// AddNovel stores each of docs, in order, that PutNovel would store. Documents stored earlier in
// the same call count. Each check and its write are one step. All writes are synced together at the
// end, which takes a fraction of the time of one PutNovel for each. It returns what became of each
// document; after an error only of those before the one that failed, and these are safe. A
// crash leaves a prefix of what was stored. Errors are those of PutNovel except ErrExpired.
func (db *DB) AddNovel(ctx context.Context, docs []Doc, by Criterion) ([]Novelty, error) {
	if err := db.s.CheckCriterion(by.by); err != nil {
		return nil, err
	}
	if by.by.Text != view.NoTextMeasure && !by.by.Text.Contained() {
		if err := db.prepareText(ctx); err != nil {
			return nil, err
		}
	}
	done := make([]Novelty, len(docs))
	n, err := db.s.PutEachUnless(ctx, len(docs), func(i int) view.Doc { return view.Doc(docs[i]) }, func(i int, v *view.View, d *sstable.Document) (view.Place, bool, error) {
		a, err := search.Admit(ctx, v, d, docs[i].Fingerprints, by.by, novelMatches)
		done[i] = Novelty{Match: Match(a.Match), Stored: a.New, Replaced: a.New && a.Replaces, Expired: a.Expired}
		return a.Old, !a.New, err
	})
	return done[:n], err
}

// prepareText makes the signatures of texts that a search will need, so that the search, which
// other writers wait for, need not: except for those of a table that is written meanwhile.
func (db *DB) prepareText(ctx context.Context) error {
	_, err := withSnapshot(db, func(s *Snapshot) (struct{}, error) { return struct{}{}, search.Prepare(ctx, &s.v) })
	return err
}

// Delete removes the document with this ID; ErrNotFound if there is none. Of concurrent calls for
// one document exactly one returns nil. Other errors are as those of Put.
func (db *DB) Delete(ctx context.Context, id string) error { return db.s.Delete(ctx, id) }

// Prune deletes every document stored before t and returns how many it deleted. A document that
// is stored again while Prune runs stays. All are deleted at one moment, for readers and on
// disk: after an error or a kill, none is. It reads only the times of documents: tables without
// documents that old cost nothing, and tables without younger ones are dropped. It takes at
// most one bit of memory for each document of the other tables; memtables with documents that
// old are flushed first. Progress, if not nil, is called from the calling goroutine with the
// number of documents that Prune has processed.
func (db *DB) Prune(ctx context.Context, t time.Time, progress ...func(Progress)) (int, error) {
	return db.s.Prune(ctx, t, progressTo(progress...))
}
