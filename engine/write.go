package engine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/sstable"
)

// maxImmutable is how many full memtables may wait for their flush before writers wait too.
const maxImmutable = 2

// Put stores d, replacing the document that has its ID. When it returns nil the write is as safe as Options.Sync says.
func (db *DB) Put(ctx context.Context, d Doc) error {
	_, err := db.write(ctx, []operation{{doc: d}})
	return err
}

// Apply carries out the batch as one write: after a crash all of it is there or nothing. Of writes to the same ID the
// last one counts. Afterwards Batch.Deleted says how many documents its deletes removed.
func (db *DB) Apply(ctx context.Context, b *Batch) (err error) {
	b.deleted, err = db.write(ctx, b.ops)
	return err
}

// write carries out operations as one write and returns how many documents its deletes removed.
func (db *DB) write(ctx context.Context, ops []operation) (deleted int, err error) {
	if len(ops) == 0 {
		return 0, nil
	}
	recs, err := db.prepare(ctx, ops)
	if err != nil {
		return 0, err
	}
	payload := encodeBatch(recs)
	if len(payload) > wal.MaxPayload {
		return 0, fmt.Errorf("a batch of %d bytes, the most is %d: %w", len(payload), wal.MaxPayload, ErrTooLarge)
	}
	if err := db.lockForWrite(ctx); err != nil {
		return 0, err
	}
	kept, deleted, err := db.effectiveLocked(recs)
	if err == nil && len(kept) > 0 {
		if len(kept) < len(recs) {
			payload = encodeBatch(kept)
		}
		err = db.commitLocked(kept, payload)
	}
	c := db.last
	db.writeMu.Unlock()
	if err != nil {
		return 0, err
	}
	// Where a delete found nothing to remove, this waits until the write that took it away is safe.
	if err := db.settle(c); err != nil {
		return 0, err
	}
	return deleted, nil
}

// prepare checks operations and computes what is to be stored, outside all locks.
func (db *DB) prepare(ctx context.Context, ops []operation) ([]record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := db.writable(); err != nil {
		return nil, err
	}
	recs := make([]record, len(ops))
	for i, op := range ops {
		var err error
		if op.del {
			recs[i] = record{del: true, version: op.version, doc: sstable.Document{ID: []byte(op.doc.ID)}}
			err = checkID(op.doc.ID)
		} else {
			recs[i].doc, err = db.encodeDoc(op.doc)
		}
		if err != nil {
			return nil, err
		}
	}
	return recs, nil
}

// encodeDoc checks d and returns it as a table stores it, fingerprinted.
func (db *DB) encodeDoc(d Doc) (sstable.Document, error) {
	if err := checkDoc(d); err != nil {
		return sstable.Document{}, err
	}
	if d.Time.IsZero() {
		d.Time = db.now()
	}
	s := sstable.Document{ID: []byte(d.ID), Time: d.Time.UnixMicro()}
	if d.Fingerprint != nil {
		s.Fingerprint, s.HasFingerprint = *d.Fingerprint, true
	}
	db.fingerprint(&s, d.Text)
	if db.params.StoreText {
		s.Text, s.Fields = []byte(d.Text), slices.Clone(d.Fields)
	}
	return s, nil
}

// fingerprint computes the sketch of text, and the fingerprint if the document brings none of its own.
func (db *DB) fingerprint(d *sstable.Document, text string) {
	if d.HasFingerprint && db.params.Sketch == 0 {
		return
	}
	sum, sketch := db.sums(text)
	if !d.HasFingerprint {
		d.Fingerprint, d.HasFingerprint = sum.fingerprint, sum.words
	}
	d.Sketch = sketch
}

func checkID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("a document needs an id: %w", ErrInvalid)
	case len(id) > MaxIDBytes:
		return fmt.Errorf("id of %d bytes, the most is %d: %w", len(id), MaxIDBytes, ErrTooLarge)
	}
	return nil
}

func checkDoc(d Doc) error {
	if err := checkID(d.ID); err != nil {
		return err
	}
	if n := len(d.Text) + len(d.Fields); n > MaxTextBytes {
		return fmt.Errorf("document %s of %d bytes, the most is %d: %w", quoteID(d.ID), n, MaxTextBytes, ErrTooLarge)
	}
	// Sub stops at the longest duration, so that a time far out of range is far from what its microseconds mean.
	if off := d.Time.Sub(time.UnixMicro(d.Time.UnixMicro())); !d.Time.IsZero() && (off < 0 || off >= time.Microsecond) {
		return fmt.Errorf("document %s: its time, in the year %d, is out of range: %w", quoteID(d.ID), d.Time.Year(), ErrInvalid)
	}
	if len(d.Fields) > 0 && (d.Fields[0] != '{' || !json.Valid(d.Fields)) {
		return fmt.Errorf("document %s: fields are not a JSON object: %w", quoteID(d.ID), ErrInvalid)
	}
	return nil
}

// quoteID writes an ID for an error message: quoted, and cut when it is long.
func quoteID(id string) string {
	const most = 80
	if len(id) <= most {
		return fmt.Sprintf("%q", id)
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(id[cut]) {
		cut--
	}
	return fmt.Sprintf("%q...", id[:cut])
}

// A commit is a write that is in the log's buffer and visible. It may be acknowledged once the log is safe up to end.
type commit struct {
	log *wal.Writer
	end int64
}

// commitLocked puts the batch into the log and the memtable and makes it visible; db.last is its commit. The caller
// holds writeMu.
func (db *DB) commitLocked(recs []record, payload []byte) error {
	if err := db.startLogLocked(); err != nil {
		return err
	}
	first := db.seq + 1
	binary.LittleEndian.PutUint64(payload, first)
	end, err := db.active.log.Append(payload)
	if err != nil {
		return db.fail(fmt.Errorf("writing the log: %w", err))
	}
	db.last = commit{db.active.log, end}
	for i := range recs {
		recs[i].doc.Seq = first + uint64(i)
		if err := db.applyLocked(recs[i]); err != nil {
			return db.fail(err)
		}
	}
	db.publishLocked(first + uint64(len(recs)) - 1)
	db.metrics.wrote(recs, len(payload))
	return nil
}

// applyLocked brings one record into the memtable, marking what it replaces dead.
func (db *DB) applyLocked(r record) error {
	old, ok, err := db.locateLocked(string(r.doc.ID))
	if err != nil {
		return err
	}
	if ok {
		old.kill(r.doc.Seq)
	}
	if r.del {
		db.active.bytes += len(r.doc.ID) + tombstoneOverhead
	} else {
		db.active.add(r.doc)
	}
	db.active.wrote(r.doc.Seq)
	return nil
}

// publishLocked makes everything up to seq visible to new snapshots.
func (db *DB) publishLocked(seq uint64) {
	db.mu.Lock()
	db.active.publish()
	db.seq = seq
	db.mu.Unlock()
}

// settle waits until a commit is as safe as the options ask.
func (db *DB) settle(c commit) error {
	if c.log == nil { // nothing was written since the database was opened
		return nil
	}
	wait := c.log.Sync
	if db.opts.Sync == SyncNever {
		wait = c.log.Flush
	}
	if err := wait(c.end); err != nil {
		return db.fail(fmt.Errorf("writing the log: %w", err))
	}
	return nil
}

// syncLog makes every write so far safe.
func (db *DB) syncLog() error {
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	return db.syncLogLocked()
}

func (db *DB) syncLogLocked() error {
	if db.last.log == nil {
		return nil
	}
	return db.last.log.Sync(db.last.end)
}

// lockForWrite takes writeMu with room in the active memtable: it rotates a full one, and waits while too many wait for
// their flush.
func (db *DB) lockForWrite(ctx context.Context) error {
	for {
		db.writeMu.Lock()
		err := db.writable()
		if err == nil && db.active.bytes >= db.opts.MemtableBytes {
			if db.immutables() >= maxImmutable {
				db.writeMu.Unlock() // a flush needs it
				if err := db.waitFlush(ctx); err != nil {
					return err
				}
				continue
			}
			err = db.rotateLocked()
		}
		if err != nil {
			db.writeMu.Unlock()
		}
		return err
	}
}

// PutNovel stores d unless a visible document other than its own ID, and other than those that Allow has noted beside it,
// matches it by the criterion; then it returns a match and false. That is the best one, of equally good ones the one whose
// ID is first; where more than a few dozen match, it is the best of the first of them that are found. The check and the write are one step: of two near-duplicates submitted at once exactly one is stored, and
// the other is told which, once that one is safe. A document without fingerprint matches nothing and is stored.
func (db *DB) PutNovel(ctx context.Context, d Doc, by Criterion) (Match, bool, error) {
	if err := db.checkCriterion(by); err != nil {
		return Match{}, false, err
	}
	recs, err := db.prepare(ctx, []operation{{doc: d}})
	if err != nil {
		return Match{}, false, err
	}
	if err := db.lockForWrite(ctx); err != nil {
		return Match{}, false, err
	}
	m, found, err := db.anyOther(ctx, &recs[0].doc, by)
	if err == nil && !found {
		err = db.commitLocked(recs, encodeBatch(recs))
	}
	c := db.last
	db.writeMu.Unlock()
	if err != nil {
		return Match{}, false, err
	}
	// Where a match was found, this waits until it is safe: it must not be lost once its near-duplicate is turned away.
	if err := db.settle(c); err != nil {
		return Match{}, false, err
	}
	return m, !found, nil
}

// checkCriterion reports whether the database can answer by the criterion.
func (db *DB) checkCriterion(by Criterion) error {
	if t, ok := by.Threshold(); ok {
		err := errors.Join(db.sketching(), checkThreshold(t))
		if err == nil && by.verified {
			err = db.keepsTexts()
		}
		return err
	}
	return checkDistance(by.k)
}

// anyOther returns a match of d that has another ID and is not allowed beside it, if there is one.
func (db *DB) anyOther(ctx context.Context, d *sstable.Document, by Criterion) (Match, bool, error) {
	s, err := db.Snapshot()
	if err != nil {
		return Match{}, false, err
	}
	defer s.Close()
	return s.anyMatch(ctx, d, by, novelMatches)
}
