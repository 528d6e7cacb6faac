package verbs

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/records"
)

// Records are read ahead while others are decided, up to a number of bytes. What has been read by
// then is a lot, and is decided together, which takes a fraction of the time: the first lot is a
// record or two, and later ones grow until deciding keeps up with reading. So lines of a pipe are
// decided as they come, and the first lines of a file are written soon.
const (
	lotBytes  = 32 << 20  // or a share of --memory
	lotShare  = 16        // of --memory
	addBytes  = 8 << 20   // with --add: a lot is stored, and then its lines are written
	slowBytes = 256 << 10 // of texts that are compared as they are, which takes long
	itemBytes = 256       // what a record takes beside its texts
	slabBytes = 64 << 10
	slabItems = 64
)

// lotBytes is how many bytes of records are decided together.
func (c *Match) lotBytes() int {
	switch {
	case c.Levenshtein != nil || c.Cosine != nil:
		return slowBytes
	case c.Add:
		return addBytes
	}
	return min(lotBytes, int(c.Memory/lotShare))
}

// lotItem is a record, an *records.Issue, or what ended the reading.
type lotItem struct {
	rec records.Record
	err error
}

// end is what ended the reading, if the item is that.
func (i *lotItem) end() error {
	if _, ok := i.err.(*records.Issue); ok {
		return nil
	}
	return i.err
}

// items yields all records of an input and their sizes.
func (t *matching) items(ctx context.Context, a *app.App, in records.Source) iter.Seq2[*lotItem, int] {
	return func(yield func(*lotItem, int) bool) {
		var slab []byte // of copies of records
		var room []lotItem
		clone := func(raw []byte) []byte {
			if len(raw) > cap(slab)-len(slab) {
				slab = make([]byte, 0, max(len(raw), slabBytes))
			}
			from := len(slab)
			slab = append(slab, raw...)
			return slab[from:len(slab):len(slab)]
		}
		next := func() *lotItem {
			if len(room) == 0 {
				room = make([]lotItem, slabItems)
			}
			item := &room[0]
			room = room[1:]
			return item
		}
		give := func(item *lotItem, size int) error {
			if !yield(item, size+itemBytes) {
				return records.ErrStop
			}
			return nil
		}
		r := t.reading()
		r.Issue = func(_ records.Source, is *records.Issue) error {
			copied := *is
			copied.Raw = clone(is.Raw)
			item := next()
			item.err = &copied
			return give(item, len(is.Raw))
		}
		r.Record = func(in records.Source, rec *records.Record) error {
			switch {
			case rec.Flaw != "" && t.c.Images != nil: // nobody can say that it is new
				return records.NewIssue(in, rec, rec.Flaw)
			case t.c.Near == nil && rec.Doc.Text == "" && rec.Doc.Fingerprint != nil:
				rec.Flaw = "it has a fingerprint, which --near K compares, and no text"
			}
			item := next()
			item.rec = *rec
			if reason := t.c.Take(&item.rec.Doc); reason != "" {
				return records.NewIssue(in, rec, reason)
			}
			item.rec.Raw = clone(rec.Raw)
			t.reduce(&item.rec.Doc)
			return give(item, len(rec.Raw)+len(item.rec.Doc.Text)+len(item.rec.Doc.Fields))
		}
		if err := a.Env().ReadSource(ctx, t.sources, in, r); err != nil {
			yield(&lotItem{err: err}, 0)
		}
	}
}

// reduce leaves of a document that is not to be stored what is compared.
func (t *matching) reduce(doc *engine.Doc) {
	if t.c.Add {
		return
	}
	doc.Fields = nil
	if t.c.Near == nil {
		return
	}
	if doc.Fingerprint == nil {
		words, _ := t.db.Hash(doc.Text)
		doc.SetFingerprint(words...)
	}
	doc.Text = ""
}

// records decides all records of an input, and writes what is to be written of them.
func (t *matching) records(a *app.App, in records.Source) error {
	read := func(ctx context.Context) iter.Seq2[*lotItem, int] { return t.items(ctx, a, in) }
	for items := range pipeline.Arrivals(a.Context(), t.c.lotBytes()/itemBytes, t.c.lotBytes(), read) {
		if end := items[len(items)-1].end(); end != nil && a.Interrupted() {
			return end
		}
		for len(items) > 0 {
			n := len(items)
			if i := slices.IndexFunc(items, func(i *lotItem) bool { return i.err != nil }); t.c.Add && i >= 0 {
				n = i + 1 // nothing is stored that comes after a line that may end the run
			}
			err := t.lot(a.Context(), in, items[:n])
			if err = cmp.Or(err, t.flush()); err != nil {
				return err
			}
			for _, i := range items[:n] {
				*i = lotItem{} // others, in the same array, stay in memory for longer
			}
			items = items[n:]
		}
		if t.rows != nil && (t.c.Add || t.sources.Total == 0) { // who writes a pipe may wait for them
			if err := t.rows.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// lot decides some records, and writes what is to be written of them. Records before an error are
// decided nevertheless.
func (t *matching) lot(ctx context.Context, in records.Source, items []*lotItem) error {
	decide := t.decide
	if t.c.Add {
		decide = t.add
	}
	done, failed := decide(ctx, items)
	for _, d := range done { // also those whose lines an error of the output keeps from being written
		if t.read++; d.Stored {
			t.fresh++
		}
		if d.Replaced {
			t.renewed++
		}
		if d.Expired {
			t.expired++
		}
	}
	if failed != nil {
		t.read++ // the one that failed has been read too
	}
	for i := range items {
		rec, err := &items[i].rec, items[i].end()
		is, bad := items[i].err.(*records.Issue)
		switch {
		case err != nil:
		case bad:
			err = errors.Join(t.rejects.Add(in, is), t.audit.issue(is))
		case len(done) == 0:
			return errors.Join(failed, items[len(items)-1].end())
		default:
			t.rejects.Note(in, rec)
			err = t.decided(in, rec, done[0])
			done = done[1:]
		}
		if err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// add stores the documents of a lot that are new, as one group, and says what became of each. After
// an error it says so only of those before the one that failed.
func (t *matching) add(ctx context.Context, items []*lotItem) ([]engine.Novelty, error) {
	t.docs = t.docs[:0]
	for i := range items {
		if items[i].err == nil {
			t.docs = append(t.docs, items[i].rec.Doc)
		}
	}
	return t.db.AddNovel(ctx, t.docs, t.c.Criterion(!t.c.NoVerify))
}

// decide says, as add does, what would become of the documents of a lot. One with the same ID is a
// match like any other.
func (t *matching) decide(ctx context.Context, items []*lotItem) ([]engine.Novelty, error) {
	s, err := t.db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	t.docs = t.docs[:0]
	var beside []string // IDs of those in allowed pairs, which are few
	var at []int        // where these are in docs
	for i := range items {
		if items[i].err != nil {
			continue
		}
		d := items[i].rec.Doc
		if len(t.allowed[d.ID]) > 0 {
			beside, at = append(beside, d.ID), append(at, len(t.docs))
		}
		d.ID = ""
		t.docs = append(t.docs, d)
	}
	done := make([]engine.Novelty, len(t.docs))
	failed := t.find(ctx, s, t.docs, done)
	if failed == nil && beside == nil {
		return done, nil
	}
	for i := range t.docs {
		switch {
		case len(at) > 0 && at[0] == i:
			done[i], err = t.findBeside(ctx, s, &t.docs[i], beside[0])
			at, beside = at[1:], beside[1:]
		case failed != nil: // of a document that is not named
			err = t.find(ctx, s, t.docs[i:i+1], done[i:i+1])
		}
		if err != nil {
			return done[:i], err
		}
	}
	return done, nil
}

// find decides documents together.
func (t *matching) find(ctx context.Context, s *engine.Snapshot, docs []engine.Doc, done []engine.Novelty) error {
	by := t.c.Criterion(!t.c.NoVerify)
	for i := range done {
		done[i] = engine.Novelty{Stored: true}
	}
	if !t.names() {
		known, err := s.Any(ctx, docs, by, nil)
		for i, is := range known {
			done[i].Stored = !is
		}
		return err
	}
	var at []int
	if t.c.Near != nil { // few of many are found faster so
		known, err := s.Any(ctx, docs, by, nil)
		if err != nil {
			return err
		}
		var found []engine.Doc
		for i, is := range known {
			if is {
				found, at = append(found, docs[i]), append(at, i)
			}
		}
		docs = found
	}
	named := make([]engine.Match, len(docs))
	known, err := s.Any(ctx, docs, by, named)
	for i, is := range known {
		switch {
		case !is:
		case at != nil:
			done[at[i]] = engine.Novelty{Match: named[i]}
		default:
			done[i] = engine.Novelty{Match: named[i]}
		}
	}
	return err
}

// findBeside decides a document that is in allowed pairs under this ID: whether one in the database
// is similar to it, apart from those that are paired with it. It names the best one.
func (t *matching) findBeside(ctx context.Context, s *engine.Snapshot, doc *engine.Doc, id string) (engine.Novelty, error) {
	by := t.c.Criterion(!t.c.NoVerify)
	if _, near := by.Distance(); doc.Text == "" && (doc.Fingerprint == nil || !near) {
		return engine.Novelty{Stored: true}, nil // it is like nothing
	}
	for m, err := range s.Search(ctx, *doc, by) {
		if err != nil || !slices.Contains(t.allowed[id], m.ID) {
			return engine.Novelty{Match: m}, err
		}
	}
	return engine.Novelty{Stored: true}, nil
}

// allowedOf returns of each id in allowed pairs the ids that it is paired with.
func allowedOf(db *engine.DB) (map[string][]string, error) {
	s, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	pairs := map[string][]string{}
	for p := range s.Allowed() {
		pairs[p.A], pairs[p.B] = append(pairs[p.A], p.B), append(pairs[p.B], p.A)
	}
	return pairs, nil
}
