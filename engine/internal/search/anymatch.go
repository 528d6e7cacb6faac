package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// An Admission is the result of Admit.
type Admission struct {
	Match    view.Match // the matching document, if d is not new
	New      bool
	Expired  bool // d has expired; it is neither new nor matched
	Replaces bool // d is new, and another document has its ID

	Old view.Place // place of the stored document with the same ID, if d is new; it may have expired
}

// Admit decides whether a document is new and should be stored. It is not new if it matches another
// document, or if it is already stored with the same ID, text and fingerprints: it may have been
// sent again. With another text it is a new version of the document with its ID.
func Admit(ctx context.Context, v *view.View, d *table.Document, fps [][]base.Fingerprint, by view.Criterion, most int) (a Admission, err error) {
	if !v.Has(d) {
		return Admission{Expired: true}, nil
	}
	same := false
	err = v.Safely(ctx, func() (err error) {
		if a.Old, a.Replaces, err = v.Find(d.ID); err == nil && a.Replaces {
			same, err = isSame(v, a.Old, d, fps)
		}
		return err
	})
	switch {
	case err != nil:
		return Admission{}, err
	case same && by.Near():
		return Admission{Match: view.Match{ID: string(d.ID)}}, nil
	case same:
		return Admission{Match: view.Match{ID: string(d.ID), Score: 1, Exact: v.Params.StoreText}}, nil
	}
	m, found, err := AnyMatch(ctx, v, d, fps, by, most)
	if err != nil || found {
		return Admission{Match: m}, err
	}
	a.New = true
	return a, nil
}

// isSame reports whether a stored document has the same text, if texts are stored, and the same
// fingerprints as d, and the same fields if there is nothing else to compare.
func isSame(v *view.View, p view.Place, d *table.Document, fps [][]base.Fingerprint) (bool, error) {
	var have table.Document
	if err := p.Unnamed(&have); err != nil {
		return false, err
	}
	bare := !d.HasFingerprint && (len(d.Text) == 0 || !v.Params.StoreText)
	if v.Params.StoreText && !bytes.Equal(have.Text, d.Text) || bare && !bytes.Equal(have.Fields, d.Fields) ||
		have.HasFingerprint != d.HasFingerprint || have.Fingerprint != d.Fingerprint || !slices.Equal(have.Rest, d.Rest) {
		return false, nil
	}
	others, err := v.Fingerprints(string(d.ID))
	return slices.EqualFunc(others, fps, slices.Equal[[]base.Fingerprint]), err
}

// AnyMatch reports whether a visible document of v matches d, which must have its fingerprint, by
// the criterion, and returns the best of the first most matches. fps are further fingerprints of d,
// which count by Near. Neither the document with d's ID nor a document in an allowed pair with d
// matches.
func AnyMatch(ctx context.Context, v *view.View, d *table.Document, fps [][]base.Fingerprint, by view.Criterion, most int) (m view.Match, found bool, err error) {
	first := existence{v: v, ctx: ctx, by: by, of: d, most: most, except: string(d.ID)}
	if m, found, err = first.match(); err != nil || !by.Near() {
		return m, found, err
	}
	for _, words := range fps {
		also := existence{v: v, ctx: ctx, by: by, most: most, except: string(d.ID)}
		also.of = &table.Document{ID: d.ID, Fingerprint: words[0], Rest: words[1:], HasFingerprint: true}
		other, ok, err := also.match()
		if err != nil {
			return m, false, err
		}
		if ok && (!found || cmp.Or(cmp.Compare(other.Distance, m.Distance), strings.Compare(other.ID, m.ID)) < 0) {
			m, found = other, true
		}
	}
	return m, found, nil
}

// match runs the search.
func (x *existence) match() (m view.Match, found bool, err error) {
	d, by, ctx := x.of, x.by, x.ctx
	err = x.v.Safely(ctx, func() (err error) {
		switch {
		case by.Together:
			err = x.together()
		case by.Text != view.NoTextMeasure:
			err = x.similar()
		case by.Jaccard && len(d.Sketch) > 0:
			err = x.jaccard()
		case by.Near() && d.HasFingerprint:
			err = x.near()
		}
		x.work.Matches += int64(min(x.found, 1))
		x.work.report(ctx)
		m, found = x.best, x.found > 0
		return errors.Join(err, ctx.Err())
	})
	return m, found && err == nil, err
}

// existence is a search that decides whether a document has a match.
type existence struct {
	v     *view.View
	ctx   context.Context
	by    view.Criterion
	of    *table.Document
	work  Counts
	most  int        // number of matches after which the search ends
	found int        // number of matches
	best  view.Match // best match so far

	words  []base.Fingerprint // words of the fingerprint, for Near
	except string             // ID of a document that does not match

	// gather, if not nil, receives the candidates that texts must decide, which are then not
	// compared. It reports whether it has enough.
	gather func(minhash.Score, view.Place) (enough bool)

	mine    features.Hashes // set of the query's text, computed for the first text comparison
	sets    *features.SetHasher
	scratch []byte

	tried int // number of candidates
	vain  int // number of documents whose texts are known not to match
	notes memindex.Notes
}

// accepts reports whether the document with an ID may be named as a match.
func (x *existence) accepts(id []byte) bool {
	return string(id) != x.except && !x.v.Allowed.Has(string(id), string(x.of.ID))
}

// named returns the ID of document doc of a part. ok reports whether the document is visible and
// may be named.
func (x *existence) named(p *view.Part, doc uint32) (id []byte, ok bool, err error) {
	if id, ok, err = x.v.AliveID(p, doc); !ok {
		return nil, false, err
	}
	id, _ = view.Owner(id)
	return id, x.accepts(id), x.ctx.Err()
}

// take records a match, and reports whether there are enough.
func (x *existence) take(m view.Match) (enough bool) {
	better := cmp.Or(cmp.Compare(m.Distance, x.best.Distance), cmp.Compare(x.best.Score, m.Score), strings.Compare(m.ID, x.best.ID)) < 0
	if x.found == 0 || better {
		x.best = m
	}
	x.found++
	return x.found >= x.most
}

// together compares the text with all others together. Its match is no single document, and has the
// share that was found.
func (x *existence) together() error {
	s := NewSeen(x.v)
	if s.Add(x.of.Text) == 0 {
		return nil
	}
	err := s.Find(x.ctx, x.except)
	if x.best = (view.Match{Score: s.Share(x.of.Text), Exact: true}); x.best.Score >= x.by.T {
		x.found = 1
	}
	return err
}

// similar searches for similar texts.
func (x *existence) similar() error {
	return NewSimilar(x.v, x.of.Text, x.by).Each(x.ctx, x.except, func(id []byte, _ view.Place, similarity float64) (bool, error) {
		if !x.accepts(id) {
			return true, nil
		}
		return !x.take(view.Match{ID: string(id), Score: similarity, Exact: true}), nil
	})
}

func (x *existence) jaccard() error {
	sc := jaccardPool.Get().(*Jaccard)
	defer jaccardPool.Put(sc)
	target := newTarget(x.v, x.of.Sketch, x.own, x.by)
	for i := range x.v.Version.Parts {
		p := &x.v.Version.Parts[i]
		skip := x.exclude(&p.Families)
		sc.table.TakeStats()
		found, err := sc.table.JaccardFirst(p.Reader, target.query(), skip, func(h table.JaccardHit) (bool, error) {
			score := estimate(h)
			if !target.accepts(score) {
				return false, nil
			}
			id, ok, err := x.named(p, h.Doc)
			if !ok || err != nil {
				return false, err
			}
			return x.matches(id, score, view.Place{Part: p, Doc: h.Doc}, &p.Families, h.Doc)
		})
		x.learn(&p.Families)
		x.work.Tables++
		work := sc.table.TakeStats()
		x.work.Probes += int64(work.Postings)
		x.work.Candidates += int64(work.Candidates)
		if found || err != nil {
			return err
		}
	}
	for _, m := range x.v.Mems {
		enough, err := x.jaccardMem(m, &target, sc)
		if x.learn(&m.Families); enough || err != nil {
			return err
		}
	}
	return nil
}

// exclude returns a function that reports which documents of a table or memtable can be skipped,
// because its families say that they do not match; nil if there are none.
func (x *existence) exclude(f *memindex.Families) (skip func(doc uint32) bool) {
	if !x.by.Verified || x.gather != nil || f.Empty() {
		return nil
	}
	no := f.Exclude(x.own(), x.by.T)
	if no.N == 0 || no.Matches() >= x.most {
		return nil // or most documents match, so that the search ends soon
	}
	x.vain += no.N
	return no.Has
}

// crowdedVain is how many texts are compared without a match before the following ones are noted as
// members of families.
const crowdedVain = 64

// learn makes the noted documents members of families.
func (x *existence) learn(f *memindex.Families) {
	if !x.notes.Empty() {
		f.Learn(x.v.Short, &x.notes)
	}
}

// own returns the set of the query.
func (x *existence) own() features.Hashes {
	if x.sets == nil {
		x.sets = x.v.Texts.Sets()
		x.mine = x.sets.Set(x.of.Text)
	}
	return x.mine
}

func (x *existence) jaccardMem(m view.MemView, target *target, sc *Jaccard) (enough bool, err error) {
	bitmap := target.sketch.Bitmap()
	x.work.Tables++
	skip := x.exclude(&m.Families)
	if sc.gather(m, target, &bitmap, &x.work) {
		return x.takeSimilar(m, 0, sc.mem, target, skip)
	}
	for from := 0; from < len(m.Bitmaps); from += existChunk {
		maps := m.Bitmaps[from:min(from+existChunk, len(m.Bitmaps))]
		sc.mem = kernel.FilterBitmaps(sc.mem[:0], &bitmap, maps, minhash.MaxMissing(len(target.sketch), target.t))
		x.work.Candidates += int64(len(maps))
		if enough, err := x.takeSimilar(m, from, sc.mem, target, skip); enough || err != nil {
			return enough, err
		}
		if err := x.ctx.Err(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// takeSimilar adds the matches among sketches of a memtable, at positions from + found[i], that are
// similar and whose documents are visible and may be named. It leaves out positions for which skip,
// if not nil, returns true. It reports whether there are enough matches.
func (x *existence) takeSimilar(m view.MemView, from int, found []uint32, target *target, skip func(i uint32) bool) (enough bool, err error) {
	for _, i := range found {
		i += uint32(from)
		if skip != nil && skip(i) {
			continue
		}
		d := m.Docs[m.BitmapDoc[i]]
		if score, ok := minhash.JaccardAtLeast(target.sketch, d.Sketch, int(x.v.Params.Sketch), target.t); ok && target.accepts(score) && (x.tried == 0 || !target.rejects(d)) && x.v.MemAlive(d) && x.accepts(d.ID) {
			if enough, err := x.matches(d.ID, score, view.Place{Mem: d}, &m.Families, i); enough || err != nil {
				return enough, err
			}
		}
	}
	return false, nil
}

// matches decides about a document whose estimate is high enough, by its text if the criterion
// requires that. number identifies the document in families. matches reports whether there are
// enough matches.
func (x *existence) matches(id []byte, score minhash.Score, p view.Place, f *memindex.Families, number uint32) (enough bool, err error) {
	x.tried++
	if x.gather != nil {
		return x.gather(score, p), nil
	}
	if x.by.Verified {
		mine := x.own()
		text, err := p.Text(&x.scratch)
		if err != nil {
			return false, err
		}
		other := x.sets.LastSet(text)
		similar, ok := x.sets.JaccardAtLeast(mine, other, x.by.T)
		if !ok {
			if x.vain++; x.vain > crowdedVain && !x.v.Texts.Spec().Real() && x.notes.Note(number, other) {
				x.learn(f)
			}
			return false, nil
		}
		score = minhash.Score{Score: similar, Exact: true}
	}
	if score.Score < x.by.T {
		return false, nil
	}
	return x.take(scored(string(id), score)), nil
}
