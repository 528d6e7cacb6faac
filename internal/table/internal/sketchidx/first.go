package sketchidx

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/minhash"
)

// firstScored is how many candidates are scored together when one match is enough.
const firstScored = 16

// First calls accept with documents of x that a query finds, until accept returns true, and reports whether it did. It is made for asking whether any match exists.
// Candidates come from one block of postings at a time, rare hashes first; within a block, those
// whose bitmap differs least from that of q come first, so a match is usually among the first
// that are scored. accept is called once for each document. If skip is not nil, documents for which
// it returns true are left out; otherwise the documents passed to accept depend only on q and
// the table.
func (s *Searcher) First(x *Index, q Query, skip func(doc uint32) bool, accept func(Hit) (bool, error)) (found bool, err error) {
	j, err := x.query(q, s)
	if err != nil || len(q.Sketch) == 0 {
		return false, err
	}
	f := &firstSearch{Index: x, query: j, s: s, skip: skip, accept: accept}
	for i := range x.segments {
		f.seg = &x.segments[i]
		if f.seg.bitmaps.zero {
			continue
		}
		if found, err := f.segment(); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

type firstSearch struct {
	*Index
	*query
	s      *Searcher
	skip   func(doc uint32) bool
	accept func(Hit) (bool, error)
	seg    *segment
	hits   []Hit
	near   []uint64 // candidates: number of differing bits<<32 | document
	vain   bool     // accept has returned false
}

// segment searches a segment by postings, unless a scan of its bitmaps is cheaper, or turns out to
// be.
func (f *firstSearch) segment() (bool, error) {
	s, docs := f.s, f.seg.bitmaps.len()
	s.set.reset(firstScored)
	if len(s.prefix) == 0 || docs < scanDocsPerProbe*len(s.prefix) && !s.ForcePostings {
		return f.scan()
	}
	prefix, groups := f.groups(f.seg, s)
	if found, err := f.postings(prefix); groups == nil || found || err != nil {
		return found, err
	}
	var found bool
	var err error
	compared, _ := groups.Each(&s.shape, f.t, s.member[:0], func(docs []uint32) bool {
		found, err = f.candidates(docs)
		return found || err != nil
	})
	s.stats.Postings += compared
	return found, err
}

// postings reads the postings of a prefix, or scans the bitmaps of the segment if that is cheaper.
func (f *firstSearch) postings(prefix []uint32) (bool, error) {
	s, docs := f.s, f.seg.bitmaps.len()
	s.probes = f.seg.postings.findAll(s.probes, prefix)
	read := 0
	for _, p := range s.probes {
		for b := max(p.block, 1) - 1; b < p.end; b++ {
			block := probe{first: p.first, block: b + 1, end: b + 1}
			var err error
			if s.found, err = f.seg.postings.documents(block, &s.keys, s.found[:0]); err != nil {
				return false, err
			}
			read += len(s.found)
			s.stats.Postings += len(s.found)
			if found, err := f.candidates(s.found); found || err != nil {
				return found, err
			}
			if scanDocsPerPosting*read > docs && !s.ForcePostings {
				return f.scan()
			}
		}
	}
	return false, nil
}

// scan scans the bitmaps of the segment.
func (f *firstSearch) scan() (bool, error) {
	s := f.s
	s.stats.Scans++
	for b := range f.seg.bitmaps.numBlocks() {
		maps, err := f.seg.bitmaps.block(b, &s.bits)
		if err != nil {
			return false, err
		}
		s.found = f.filter(s.found[:0], maps)
		for i := range s.found {
			s.found[i] += uint32(b << bitmapsShift)
		}
		if len(s.found) == 0 {
			continue
		}
		if found, err := f.candidates(s.found); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// candidates passes those of docs that match to accept, except documents that it has already seen.
func (f *firstSearch) candidates(docs []uint32) (bool, error) {
	s := f.s
	f.near = f.near[:0]
	if f.skip != nil {
		first := f.seg.first
		docs = slices.DeleteFunc(docs, func(doc uint32) bool { return f.skip(first + doc) })
	}
	s.set.reserve(len(docs))
	var bitmap minhash.Bitmap
	// The first of a few documents is often a match: a text of which there are copies. Odd sketches
	// are then not needed.
	few := f.isOdd && !f.vain && len(docs) <= firstScored
	if !few {
		f.seg.bitmaps.fetch(docs)
	}
	for _, doc := range docs {
		if !s.set.add(doc) {
			continue
		}
		s.stats.Candidates++
		if few {
			f.near = append(f.near, uint64(doc))
			continue
		}
		if err := f.seg.bitmaps.get(int(doc), &bitmap); err != nil {
			return false, err
		}
		if n, ok := f.differ(&bitmap); ok {
			f.near = append(f.near, uint64(n)<<32|uint64(doc))
		} else {
			s.stats.Rejected++
		}
	}
	slices.Sort(f.near)
	for rest := f.near; len(rest) > 0; {
		some := rest[:min(firstScored, len(rest))]
		rest = rest[len(some):]
		s.passed = s.passed[:0]
		for _, c := range some {
			s.passed = append(s.passed, uint32(c))
		}
		var err error
		if f.hits, err = f.score(f.seg, f.query, s, f.hits[:0]); err != nil {
			return false, err
		}
		slices.SortFunc(f.hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc)) })
		for _, h := range f.hits {
			if found, err := f.accept(h); found || err != nil {
				return found, err
			}
			f.vain = true
		}
	}
	return false, nil
}
