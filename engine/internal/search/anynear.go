package search

import (
	"cmp"
	"context"
	"errors"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table"
)

// near searches by fingerprint. If it stopped before it had seen all matches, a document with an
// equal fingerprint may be among the others: then it searches for one.
func (x *existence) near() error {
	sc := nearPool.Get().(*Near)
	defer nearPool.Put(sc)
	defer sc.Forget()
	sc.words = append(append(sc.words[:0], x.of.Fingerprint), x.of.Rest...)
	x.words = sc.words
	if err := x.v.CheckWords(len(x.words)); err != nil {
		return err
	}
	for _, m := range x.v.Mems {
		m.Index.Prefetch(x.of.Fingerprint, x.by.K/len(x.words))
	}
	x.work.Tables += int64(len(x.v.Version.Parts) + len(x.v.Mems))
	err := x.within(x.by.K, sc)
	if x.found < x.most || x.best.Distance == 0 || err != nil {
		return err
	}
	found := x.found
	x.found = 0
	err = x.within(0, sc) // a match replaces the best one
	x.found += found
	return err
}

// within adds the documents within k bits, until there are enough.
func (x *existence) within(k int, sc *Near) error {
	small := x.v.Version.Small()
	var compared int
	var ok bool
	sc.mem, compared, ok = lookWords(&sc.index, sc.mem[:0], &small.Columns, x.words, k)
	x.work.Candidates += int64(compared)
	for _, at := range sc.mem {
		if p, first, _ := small.Range(at); p != nil {
			if enough, err := x.takeHit(p, at-first, small.Distance(x.words, at)); enough || err != nil {
				return err
			}
		}
	}
	parts := small.Apart
	if !ok { // searching the tables is cheaper, or there is no index
		parts = small.All
	}
	sc.readersOf(parts)
	found, err := sc.group.NearFirst(sc.readers, x.words, k, func(i int, h table.Hit) (bool, error) {
		x.work.Candidates++
		return x.takeHit(parts[i], h.Doc, int(h.Distance))
	})
	if found || err != nil {
		return err
	}
	for _, m := range x.v.Mems {
		if x.nearMem(m, k, sc) {
			return nil
		}
	}
	return nil
}

// takeHit adds a document of a part, if it is visible and may be named. It reports whether there
// are enough matches.
func (x *existence) takeHit(p *view.Part, doc uint32, distance int) (enough bool, err error) {
	id, ok, err := x.named(p, doc)
	return ok && err == nil && x.take(view.Match{ID: string(id), Distance: distance}), err
}

// existChunk is how many fingerprints of a memtable are compared before the matches are examined.
const existChunk = 4096

// nearMem is near for a memtable. It reports whether there are enough matches.
func (x *existence) nearMem(m view.MemView, k int, sc *Near) (enough bool) {
	var compared int
	ok := len(x.words) > 1
	if ok {
		sc.mem, compared = findMem(&sc.index, sc.mem[:0], m.Columns, x.words, k)
	} else {
		sc.mem, compared, ok = sc.index.Look(sc.mem[:0], m.Index, len(m.FPs), x.of.Fingerprint, k)
	}
	x.work.Candidates += int64(compared)
	if ok {
		return x.takeMem(m, 0, sc.mem)
	}
	for from := 0; from < len(m.FPs); from += existChunk {
		fps := m.FPs[from:min(from+existChunk, len(m.FPs))]
		sc.mem = kernel.ScanFlat(sc.mem[:0], fps, x.of.Fingerprint, k)
		x.work.Candidates += int64(len(fps))
		if x.takeMem(m, from, sc.mem) {
			return true
		}
	}
	return false
}

// takeMem adds the matches among fingerprints of a memtable, at positions from + found[i], whose
// documents are visible and may be named. It reports whether there are enough matches.
func (x *existence) takeMem(m view.MemView, from int, found []uint32) (enough bool) {
	for _, i := range found {
		i += uint32(from)
		d := m.Docs[m.FPDoc[i]]
		if id, _ := view.Owner(d.ID); x.v.MemAlive(d) && x.accepts(id) && x.take(view.Match{ID: string(id), Distance: m.Distance(x.words, i)}) {
			return true
		}
	}
	return false
}

// AnyNear reports for each fingerprint of fps, one column per word, whether a visible document
// differs from it in at most k bits.
func AnyNear(ctx context.Context, v *view.View, fps [][]base.Fingerprint, k int) (known []bool, err error) {
	if err := cmp.Or(v.CheckDistance(k), v.CheckWords(len(fps))); err != nil {
		return nil, err
	}
	n := len(fps[0])
	known = make([]bool, n)
	for first := 0; first < n && err == nil; first += ChunkQueries {
		last := min(first+ChunkQueries, n)
		err = v.Safely(ctx, func() error { return anyNearChunk(ctx, v, rowsOf(fps, first, last), k, known[first:last]) })
	}
	return known, err
}

// crowdedMatches is how many matches per query, in addition to those of a small batch, make a batch
// slower than single searches.
const crowdedMatches = 16

// anyNearChunk is AnyNear for a chunk of fingerprints.
func anyNearChunk(ctx context.Context, v *view.View, fps [][]base.Fingerprint, k int, known []bool) error {
	b := batchPool.Get().(*nearBatch)
	defer b.release()
	left := crowdedMatches * int64(len(fps[0])+existChunk)
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		err := b.scratch.NearBatch(ctx, p.Reader, fps, k, func(query int, h table.Hit) (err error) {
			if left--; left < 0 {
				return errCrowded
			}
			if !known[query] {
				known[query], err = v.Alive(p, h.Doc)
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
		for _, m := range v.Mems {
			_, err := b.eachNearMem(ctx, m, fps, k, func(query int, at uint32) error {
				known[query] = known[query] || v.MemAlive(m.Docs[m.FPDoc[at]])
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	for i := range known {
		if known[i] {
			continue
		}
		d := table.Document{Fingerprint: fps[0][i], HasFingerprint: true}
		for _, word := range fps[1:] {
			d.Rest = append(d.Rest, word[i])
		}
		var err error
		if _, known[i], err = AnyMatch(ctx, v, &d, nil, view.Criterion{K: k}, 1); err != nil {
			return err
		}
	}
	return nil
}
