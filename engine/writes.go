package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table"
)

// A Batch is a list of writes that Apply carries out together: all or none. The zero value is empty
// and ready to use. One goroutine at a time may use a Batch.
type Batch struct {
	ops     []store.Operation
	needs   []store.Need
	deleted int
}

// Put adds the storing of d, which must not be changed until the batch has been applied.
func (b *Batch) Put(d Doc) { b.ops = append(b.ops, store.Put(d.inner())) }

// Delete adds a delete. Deleting a document that is not stored does nothing.
func (b *Batch) Delete(id string) { b.ops = append(b.ops, store.Delete(id)) }

// DeleteVersion adds a delete of one version of a document: seq is its Doc.Seq. If the document has
// been replaced since, or deleted and stored again, the delete does nothing. A decision based on a
// snapshot thus never deletes a later write.
func (b *Batch) DeleteVersion(id string, seq uint64) {
	b.ops = append(b.ops, store.DeleteVersion(id, seq))
}

// RequireVersion makes Apply carry out the batch only if the Seq of the document with this ID is
// seq; 0 requires that there is no such document, and math.MaxUint64 that there is one. Requirements
// are checked when the batch is applied, before any of its writes.
func (b *Batch) RequireVersion(id string, seq uint64) {
	b.needs = append(b.needs, store.Need{ID: id, Version: seq})
}

// Deleted returns how many documents the deletes of the batch removed when it was last applied.
func (b *Batch) Deleted() int { return b.deleted }

// Len returns the number of writes.
func (b *Batch) Len() int { return len(b.ops) }

// A Writer writes documents. It is a part of each DB and of each Tx, and is never used on its own.
// Each call on a DB is one write, which is safe when the method returns nil: it survives kill -9
// and, without Options.NoSync, power loss. On a Tx it becomes part of the transaction.
type Writer struct{ r *Reader }

func (w *Writer) write(ctx context.Context, ops []store.Operation, needs ...store.Need) (deleted int, err error) {
	if w.r.tx != nil {
		return w.r.tx.Write(ctx, ops, needs...)
	}
	return w.r.db.s.Write(ctx, ops, needs...)
}

// Put stores d, replacing the document with the same ID. If d.Time is longer ago than Options.TTL, the
// document is stored as expired: it replaces the document with the same ID, and no read finds it.
// Errors are ErrInvalid and ErrTooLarge for d, ErrReadOnly, ErrClosed, ErrFailed, and ctx.Err().
func (w *Writer) Put(ctx context.Context, d Doc) error {
	_, err := w.write(ctx, []store.Operation{store.Put(d.inner())})
	return err
}

// PutIfAbsent stores d if there is no document with its ID; otherwise the error is ErrExists. If
// several goroutines call it for one ID, exactly one call returns nil. Other errors are as for Put.
func (w *Writer) PutIfAbsent(ctx context.Context, d Doc) error { return w.PutIfVersion(ctx, d, 0) }

// PutIfVersion replaces the document with the ID of d if its Seq is still seq. If it has been
// replaced or deleted since it was read, the error is ErrExists if there is a document with this
// ID, and ErrNotFound if there is none; nothing is written. If several goroutines call it for one
// version, exactly one call returns nil. Other errors are as for Put.
func (w *Writer) PutIfVersion(ctx context.Context, d Doc, seq uint64) error {
	var b Batch
	b.RequireVersion(d.ID, seq)
	b.Put(d)
	return w.Apply(ctx, &b)
}

// Apply carries out the batch as one write: after a crash the database holds the whole batch or
// nothing. If several writes of the batch have the same ID, the last one wins. Afterwards
// Batch.Deleted says how many documents its deletes removed. If a requirement fails, nothing is
// written, and the error is the same as for PutIfVersion. Other errors are as for Put.
func (w *Writer) Apply(ctx context.Context, b *Batch) (err error) {
	b.deleted, err = w.write(ctx, b.ops, b.needs...)
	return err
}

// novelMatches limits the matches among which PutNovel names the best.
const novelMatches = 32

// PutNovel stores d unless a visible document matches it by the criterion; then it returns a match
// and false. Documents that SetAllowed has recorded with d do not match. If a document with the ID
// of d is stored and equal to d, it matches with distance 0 or score 1: d may have been sent again.
// Equal means the same text and fingerprints, or, if d has neither, the same fields. If they are
// not equal, d replaces the stored document.
//
// PutNovel returns the best match, among equally good ones the match with the smallest ID; if more
// than a few dozen match, it returns the best of the first ones found. The check and the write are
// one step: if two near-duplicates are submitted at once, exactly one is stored, and the other call
// returns that one as its match, once it is safe. A document without fingerprint, or by a text
// criterion without text, matches no other document. A document that has expired is not
// stored: ErrExpired. Other errors are as for Put and Any.
func (w *Writer) PutNovel(ctx context.Context, d Doc, by Criterion) (m Match, stored bool, err error) {
	done, err := w.AddNovel(ctx, []Doc{d}, by, nil)
	if err != nil {
		return Match{}, false, err
	}
	if done[0].Expired {
		err = fmt.Errorf("document %s: %w", files.QuoteID(d.ID), ErrExpired)
	}
	return done[0].Match, done[0].Stored, err
}

// A Novelty is the result of AddNovel for one document.
type Novelty struct {
	Match    Match `json:"match"` // the matching document, if Stored and Expired are false
	Stored   bool  `json:"stored"`
	Replaced bool  `json:"replaced"`          // it replaced the document with the same ID
	Expired  bool  `json:"expired,omitempty"` // not stored, because it has expired
}

// AddNovel stores each of docs, in order, that PutNovel would store. Documents stored earlier in
// the same call count. Each check and its write are one step. All writes are synced together at the
// end, which is several times faster than a PutNovel for each. It returns the result for each
// document; after an error, the results for the documents before the failed one, which are safe. A
// crash leaves a prefix of the stored documents. Of the options, Stats, Together and Renew have an effect; Renew
// is ErrParams in a database with sketches but without texts, and its writes follow the others.
// Errors are as for PutNovel except ErrExpired.
func (w *Writer) AddNovel(ctx context.Context, docs []Doc, by Criterion, o *SearchOptions) ([]Novelty, error) {
	ctx = o.counting(ctx)
	db := w.r.db.s
	of := by.in(&db.Config)
	of.Together = o != nil && o.Together
	err := db.CheckCriterion(of)
	if of.Together && o.Renew {
		err = cmp.Or(err, fmt.Errorf("a renewal with Together: no single document was seen: %w", ErrInvalid))
	}
	if o != nil && o.Renew && err == nil && db.Params.Sketch > 0 {
		err = db.NeedTexts() // the new version of a document needs its sketch
	}
	if err != nil {
		return nil, err
	}
	if of.Text != view.NoTextMeasure && !of.Text.Contained() {
		// Signatures of texts are made in advance: the search, which blocks other writers, makes only
		// those of a table that is written meanwhile.
		_, err := read(ctx, w.r, func(s *Snapshot) (struct{}, error) { return struct{}{}, search.Prepare(ctx, &s.v) })
		if err != nil {
			return nil, err
		}
	}
	done := make([]Novelty, len(docs))
	putEachUnless := db.PutEachUnless
	if tx := w.r.tx; tx != nil {
		putEachUnless = tx.PutEachUnless
	}
	n, err := putEachUnless(ctx, len(docs), func(i int) view.Doc { return docs[i].inner() }, func(i int, v *view.View, d *table.Document) (view.Place, bool, error) {
		var more [][]uint64
		if fps := docs[i].Fingerprints; len(fps) > 1 {
			more = wordsOf(fps[1:])
		}
		a, err := search.Admit(ctx, v, d, more, of, novelMatches)
		done[i] = Novelty{Match: Match(a.Match), Stored: a.New, Replaced: a.New && a.Replaces, Expired: a.Expired}
		return a.Old, !a.New, err
	})
	if o != nil && o.Renew && err == nil {
		err = w.renew(ctx, docs, done)
	}
	return done[:n], err
}

// HasExpired reports whether d would have expired when stored now: it is older than Options.TTL, or
// past its Expires.
func (db *DB) HasExpired(d Doc) bool { return db.s.HasExpired(d.Time, d.Expires) }

// renewers is how many documents are renewed at a time: these share a sync of the log.
const renewers = 32

// renew gives the documents that docs match the times of these. One that is replaced or deleted
// meanwhile stays as it is.
func (w *Writer) renew(ctx context.Context, docs []Doc, done []Novelty) error {
	seen := map[string]time.Time{} // by ID, the last sighting
	for i, n := range done {
		if at := cmp.Or(docs[i].Time, w.r.db.s.Now()); !n.Stored && !n.Expired && at.After(seen[n.Match.ID]) {
			seen[n.Match.ID] = at
		}
	}
	ids := slices.Collect(maps.Keys(seen))
	return pipeline.Each(ctx, len(ids), renewers, func(i int) error {
		d, err := w.r.Get(ctx, ids[i])
		if at := seen[ids[i]]; err == nil && at.After(d.Time) {
			d.Time = at
			err = w.PutIfVersion(ctx, d, d.Seq)
		}
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrExists) {
			return nil
		}
		return err
	})
}

// Delete removes the document with this ID; the error is ErrNotFound if there is none. If several
// goroutines delete one document, exactly one call returns nil. Other errors are as for Put.
func (w *Writer) Delete(ctx context.Context, id string) error {
	if view.CheckID(id) != nil {
		return files.NoDocument(id)
	}
	deleted, err := w.write(ctx, []store.Operation{store.Delete(id)})
	if err == nil && deleted == 0 {
		err = files.NoDocument(id)
	}
	return err
}

// Prune deletes every document stored before t and returns how many it deleted. A document that is
// stored again while Prune runs stays. All are deleted at one moment, for readers and on disk:
// after an error or a kill, none is deleted. Prune reads only the times of documents: tables
// without documents older than t cost nothing, and tables without younger ones are dropped. It
// needs at most one bit of memory for each document of the other tables; memtables with documents
// older than t are flushed first. progress, if not nil, is called from the calling goroutine with
// the number of documents that Prune has processed.
func (db *DB) Prune(ctx context.Context, t time.Time, progress func(Progress)) (int, error) {
	return db.s.Prune(ctx, t, progressTo(progress))
}
