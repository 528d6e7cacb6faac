package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/simdb/simdb/internal/intersect"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// AnyMatch is Snapshot.AnyMatch now.
func (db *DB) AnyMatch(ctx context.Context, doc Doc, by Criterion) (m Match, found bool, err error) {
	s, err := db.Snapshot()
	if err != nil {
		return Match{}, false, err
	}
	defer s.Close()
	return s.AnyMatch(ctx, doc, by)
}

// AnyMatch says whether a visible document matches doc by the criterion, and names one that does: what is asked for is doc.Fingerprint,
// or that of doc.Text, or by Jaccard doc.Text. The document doc.ID is none, nor are those that Allow has noted beside it.
//
// It takes no longer where very many match, as it goes no further than to the first. That is one of equal fingerprint if there is one;
// by Jaccard the most similar one of the first few candidates that hold any, those whose sketches look most similar. The document
// named is the same on any number of threads, though it may be another one after a compaction.
func (s *Snapshot) AnyMatch(ctx context.Context, doc Doc, by Criterion) (m Match, found bool, err error) {
	if err := s.db.checkCriterion(by); err != nil {
		return Match{}, false, err
	}
	d := &sstable.Document{ID: []byte(doc.ID), Text: []byte(doc.Text)}
	if doc.Fingerprint != nil {
		d.Fingerprint, d.HasFingerprint = *doc.Fingerprint, true
	}
	if by.jaccard || !d.HasFingerprint {
		s.db.fingerprint(d, doc.Text)
	}
	return s.anyMatch(ctx, d, by, 1)
}

// novelMatches is how many matches are found, at most, for PutNovel to name the best of them.
const novelMatches = 32

// anyMatch is AnyMatch for a document that has been fingerprinted. It names the best of the first matches, so many at most.
func (s *Snapshot) anyMatch(ctx context.Context, d *sstable.Document, by Criterion, most int) (m Match, found bool, err error) {
	err = s.safely(ctx, func() (err error) {
		x := &existence{s: s, ctx: ctx, by: by, of: d, most: most, stats: statsOf(ctx, new(QueryStats))}
		switch {
		case by.jaccard && len(d.Sketch) > 0:
			err = x.jaccard()
		case !by.jaccard && d.HasFingerprint:
			err = x.near()
		}
		x.stats.Matches += int64(min(x.found, 1))
		m, found = x.best, x.found > 0
		return errors.Join(err, ctx.Err())
	})
	return m, found && err == nil, err
}

// existence is the question whether a document has a match.
type existence struct {
	s     *Snapshot
	ctx   context.Context
	by    Criterion
	of    *sstable.Document
	stats *QueryStats
	most  int   // matches after which the search ends
	found int   // matches
	best  Match // of them

	mine    shingleSet // where texts decide, once one has been compared
	sets    *shingler
	scratch []byte
}

// accepts reports whether the document of an ID is another one that may be named.
func (x *existence) accepts(id []byte) bool {
	return string(id) != string(x.of.ID) && !x.s.allowed.has(string(id), string(x.of.ID))
}

// named returns the ID of document doc of a part if it is visible and may be named.
func (x *existence) named(p *part, doc uint32) (id []byte, ok bool, err error) {
	if ok, err = x.s.alive(p, doc); !ok || err != nil {
		return nil, false, err
	}
	if id, err = p.ID(doc); err != nil {
		return nil, false, err
	}
	return id, x.accepts(id), x.ctx.Err()
}

// take notes a match, and reports whether there are enough.
func (x *existence) take(m Match) (enough bool) {
	better := cmp.Or(cmp.Compare(m.Distance, x.best.Distance), cmp.Compare(x.best.Score, m.Score), strings.Compare(m.ID, x.best.ID)) < 0
	if x.found == 0 || better {
		x.best = m
	}
	x.found++
	return x.found >= x.most
}

// near looks for equal fingerprints, and if there are none for near ones.
func (x *existence) near() error {
	sc := nearPool.Get().(*nearScratch)
	defer sc.release()
	parts := x.s.version.parts
	sc.readers = sc.readers[:0]
	for i := range parts {
		sc.readers = append(sc.readers, parts[i].Reader)
	}
	x.stats.Tables += int64(len(parts) + len(x.s.mems))
	for k := 0; ; k = x.by.k {
		found, err := sc.group.NearFirst(sc.readers, x.of.Fingerprint, k, func(i int, h sstable.Hit) (bool, error) {
			x.stats.Candidates++
			id, ok, err := x.named(&parts[i], h.Doc)
			return ok && err == nil && x.take(Match{ID: string(id), Distance: int(h.Distance)}), err
		})
		if found || err != nil {
			return err
		}
		for _, m := range x.s.mems {
			if x.nearMem(m, k, sc) {
				return nil
			}
		}
		if x.found > 0 || k == x.by.k {
			return nil
		}
	}
}

// existChunk is how much of a memtable is scanned before what is found is looked at.
const existChunk = 4096

// nearMem is near in a memtable. It reports whether there are enough matches.
func (x *existence) nearMem(m memSnapshot, k int, sc *nearScratch) (enough bool) {
	for from := 0; from < len(m.fps); from += existChunk {
		fps := m.fps[from:min(from+existChunk, len(m.fps))]
		sc.mem = kernel.ScanFlat(sc.mem[:0], fps, x.of.Fingerprint, k)
		x.stats.Candidates += int64(len(fps))
		for _, i := range sc.mem {
			d := m.docs[m.fpDoc[from+int(i)]]
			if x.s.memAlive(d) && x.accepts(d.ID) && x.take(Match{ID: string(d.ID), Distance: distance(x.of.Fingerprint, fps[i])}) {
				return true
			}
		}
	}
	return false
}

func (x *existence) jaccard() error {
	sc := jaccardPool.Get().(*jaccardScratch)
	defer jaccardPool.Put(sc)
	sketch, t := minhash.Sketch(x.of.Sketch), x.by.t
	if x.by.verified {
		t = x.s.candidateThreshold(sketch, t)
	}
	for i := range x.s.version.parts {
		p := &x.s.version.parts[i]
		sc.table.Stats = sstable.JaccardStats{}
		found, err := p.JaccardFirst(sketch, t, &sc.table, func(h sstable.JaccardHit) (bool, error) {
			id, ok, err := x.named(p, h.Doc)
			if !ok || err != nil {
				return false, err
			}
			return x.matches(id, minhash.Score{Score: h.Score, Error: h.Err, Exact: h.Exact}, place{part: p, doc: h.Doc})
		})
		x.stats.Tables++
		x.stats.Probes += int64(sc.table.Stats.Postings)
		x.stats.Candidates += int64(sc.table.Stats.Candidates)
		if found || err != nil {
			return err
		}
	}
	for _, m := range x.s.mems {
		if enough, err := x.jaccardMem(m, sketch, t, sc); enough || err != nil {
			return err
		}
	}
	return nil
}

func (x *existence) jaccardMem(m memSnapshot, sketch minhash.Sketch, t float64, sc *jaccardScratch) (enough bool, err error) {
	bitmap := sketch.Bitmap()
	x.stats.Tables++
	for from := 0; from < len(m.bitmaps); from += existChunk {
		maps := m.bitmaps[from:min(from+existChunk, len(m.bitmaps))]
		sc.mem = intersect.Filter(sc.mem[:0], &bitmap, maps, minhash.MaxMissing(len(sketch), t))
		x.stats.Candidates += int64(len(maps))
		for _, i := range sc.mem {
			d := m.docs[m.bitmapDoc[from+int(i)]]
			if !x.s.memAlive(d) || !x.accepts(d.ID) {
				continue
			}
			if score, ok := minhash.JaccardAtLeast(sketch, d.Sketch, int(x.s.db.params.Sketch), t); ok {
				if enough, err := x.matches(d.ID, score, place{mem: d}); enough || err != nil {
					return enough, err
				}
			}
		}
		if err := x.ctx.Err(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// matches decides on a document whose estimate is high enough, on the texts if the criterion asks for it. It reports
// whether there are enough matches.
func (x *existence) matches(id []byte, score minhash.Score, p place) (enough bool, err error) {
	if x.by.verified {
		if x.sets == nil {
			x.sets = x.s.db.shingleSets()
			x.mine = x.sets.ofBytes(x.of.Text)
		}
		text, err := p.text(&x.scratch)
		if err != nil {
			return false, err
		}
		score = minhash.Score{Score: x.mine.jaccard(x.sets.ofBytes(text)), Exact: true}
	}
	if score.Score < x.by.t {
		return false, nil
	}
	return x.take(Match{ID: string(id), Score: score.Score, Error: score.Error, Exact: score.Exact}), nil
}

// AnyNear says for each fingerprint whether a visible document differs from it in at most k bits, k in 0..64. Many share one walk through
// each table, as in NearBatch; where very many documents match, fingerprints are looked up one by one, each up to its first match.
func (db *DB) AnyNear(ctx context.Context, fps []uint64, k int) ([]bool, error) {
	if err := checkDistance(k); err != nil {
		return nil, err
	}
	s, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	known := make([]bool, len(fps))
	for first := 0; first < len(fps) && err == nil; first += chunkQueries {
		last := min(first+chunkQueries, len(fps))
		err = s.safely(ctx, func() error { return s.anyNear(ctx, fps[first:last], k, known[first:last]) })
	}
	return known, err
}

// crowdedMatches is how many matches a query may have on average for a batch to be worth it, with as many besides as a small batch has.
const crowdedMatches = 16

// anyNear is AnyNear for a chunk of fingerprints.
func (s *Snapshot) anyNear(ctx context.Context, fps []uint64, k int, known []bool) error {
	b := batchPool.Get().(*nearBatch)
	defer b.release()
	left := crowdedMatches * int64(len(fps)+existChunk)
	for i := range s.version.parts {
		p := &s.version.parts[i]
		err := b.scratch.NearBatch(ctx, p.Reader, fps, k, func(query int, h sstable.Hit) (err error) {
			if left--; left < 0 {
				return errCrowded
			}
			if !known[query] {
				known[query], err = s.alive(p, h.Doc)
			}
			return err
		})
		if errors.Is(err, errCrowded) {
			break
		}
		if err != nil {
			return err
		}
	}
	if left >= 0 {
		return s.anyNearMems(ctx, fps, k, known, b)
	}
	for i, fp := range fps {
		if known[i] {
			continue
		}
		_, found, err := s.anyMatch(ctx, &sstable.Document{Fingerprint: fp, HasFingerprint: true}, Near(k), 1)
		if err != nil {
			return err
		}
		known[i] = found
	}
	return nil
}

// anyNearMems is anyNear for the memtables.
func (s *Snapshot) anyNearMems(ctx context.Context, fps []uint64, k int, known []bool, b *nearBatch) error {
	for _, m := range s.mems {
		for from := 0; from < len(m.fps); from += memKeys {
			keys := m.fps[from:min(from+memKeys, len(m.fps))]
			for first := 0; first < len(fps); first += memQueries {
				b.pairs = kernel.ScanMany(b.pairs[:0], fps[first:min(first+memQueries, len(fps))], keys, k)
				for _, p := range b.pairs {
					query, d := first+int(p>>32), m.docs[m.fpDoc[from+int(uint32(p))]]
					known[query] = known[query] || s.memAlive(d)
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}
