package rulejoin

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/simdb/simdb/engine"
)

// AddNovel stores each of docs, in order, that no visible document matches, as engine.Writer.AddNovel
// does by a criterion. Checks and writes are one transaction, which is repeated if others have written
// meanwhile.
func (s *Search) AddNovel(ctx context.Context, db *engine.DB, docs []engine.Doc) ([]engine.Novelty, error) {
	for {
		tx, err := db.Begin()
		if err != nil {
			return nil, err
		}
		done, err := s.AddTo(ctx, db, tx, docs)
		if err == nil && slices.ContainsFunc(done, func(n engine.Novelty) bool { return n.Stored }) {
			err = db.Commit(ctx, tx)
		}
		tx.Close()
		if err == nil {
			return done, nil
		} else if !errors.Is(err, engine.ErrConflict) {
			return nil, err
		}
	}
}

// AddTo is AddNovel as a part of a transaction.
func (s *Search) AddTo(ctx context.Context, db *engine.DB, tx *engine.Tx, docs []engine.Doc) ([]engine.Novelty, error) {
	snap, err := tx.Snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	a := &admission{Search: s, docs: slices.Clone(docs), stored: map[string]*engine.Doc{}, allowed: map[engine.Pair]bool{}}
	for p := range snap.Allowed() {
		a.allowed[engine.Pair{A: p.A, B: p.B}] = true
	}
	for i := range a.docs {
		d := &a.docs[i]
		if fp, _ := db.Hash(d.Text); fp != nil && d.Fingerprints == nil {
			d.Fingerprints = []engine.Fingerprint{fp}
		}
		if db.Options().NoText {
			d.Text = ""
		}
	}
	if err := a.find(ctx, snap); err != nil {
		return nil, err
	}
	done := make([]engine.Novelty, len(docs))
	for i := range docs {
		if db.HasExpired(docs[i]) {
			done[i].Expired = true
			continue
		}
		if done[i] = a.decide(i); !done[i].Stored {
			continue
		}
		if err := tx.Put(ctx, docs[i]); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// An admission decides which documents are new. A stored document that has the ID of one of them may
// be replaced: such documents are compared with all of them.
type admission struct {
	*Search
	docs    []engine.Doc
	stored  map[string]*engine.Doc // by ID of docs: the visible document, nil if there is none
	allowed map[engine.Pair]bool
	best    []Found           // by document: the best match among the other stored documents
	near    [][]other         // by document: those of docs, and of stored, that it matches
	ids     []string          // of those of stored, which follow docs
	holder  map[string]uint32 // by ID: the document that is visible now
}

// An other is a document that matches another one.
type other struct {
	n     uint32 // index in docs, or from len(docs) on in ids
	score float64
}

// refuses reports whether two documents do not count as matches: they have the same ID, or are an
// allowed pair.
func (a *admission) refuses(x, y string) bool {
	return x == y || a.allowed[engine.Pair{A: min(x, y), B: max(x, y)}]
}

// find finds all matches.
func (a *admission) find(ctx context.Context, snap *engine.Snapshot) (err error) {
	all := slices.Clone(a.docs)
	a.holder = map[string]uint32{}
	for i := range a.docs {
		id := a.docs[i].ID
		if _, known := a.stored[id]; known {
			continue
		}
		d, err := snap.Get(ctx, id)
		switch {
		case err == nil:
			a.stored[id], a.holder[id] = &d, uint32(len(all))
			all, a.ids = append(all, d), append(a.ids, id)
		case errors.Is(err, engine.ErrNotFound):
			a.stored[id] = nil
		default:
			return err
		}
	}
	a.best, err = a.Best(ctx, snap, a.docs, func(i int, id string) bool {
		_, mine := a.stored[id]
		return mine || a.refuses(a.docs[i].ID, id)
	})
	if a.near = make([][]other, len(all)); err != nil || len(all) < 2 {
		return err
	}
	c, err := New(ctx, a.Rule, a.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.Text(a.Text)
	for i := range all {
		if i == len(a.docs) {
			c.Text(a.Options.TextFields)
		}
		err = cmp.Or(err, c.Add(&Doc{Doc: all[i]}))
	}
	if err = cmp.Or(err, c.Finish()); err != nil {
		return err
	}
	return c.Pairs(ctx, a.Join, func(x, y uint32, score float64) bool {
		if !a.refuses(all[x].ID, all[y].ID) {
			a.near[x], a.near[y] = append(a.near[x], other{y, score}), append(a.near[y], other{x, score})
		}
		return true
	})
}

// decide decides on the next document.
func (a *admission) decide(i int) engine.Novelty {
	d := &a.docs[i]
	if old := a.stored[d.ID]; old != nil && equal(old, d) {
		return engine.Novelty{Match: engine.Match{ID: d.ID, Score: 1, Exact: true}}
	}
	best := a.best[i]
	for _, o := range a.near[i] {
		id := a.idOf(o.n)
		if now, visible := a.holder[id]; visible && now == o.n && (best.ID == "" || o.score > best.Score || o.score == best.Score && id < best.ID) {
			best = Found{id, o.score}
		}
	}
	if best.ID != "" {
		return engine.Novelty{Match: engine.Match{ID: best.ID, Score: best.Score, Exact: true}}
	}
	n := engine.Novelty{Stored: true, Replaced: a.stored[d.ID] != nil}
	a.holder[d.ID], a.stored[d.ID] = uint32(i), d
	return n
}

func (a *admission) idOf(n uint32) string {
	if int(n) < len(a.docs) {
		return a.docs[n].ID
	}
	return a.ids[int(n)-len(a.docs)]
}

// equal reports whether a stored document has the same text and fingerprints as one that is submitted,
// and the same fields if the latter has neither.
func equal(stored, d *engine.Doc) bool {
	return stored.Text == d.Text && (d.Text != "" || d.Fingerprints != nil || string(stored.Fields) == string(d.Fields)) &&
		slices.EqualFunc(stored.Fingerprints, d.Fingerprints, func(a, b engine.Fingerprint) bool { return slices.Equal(a, b) })
}
