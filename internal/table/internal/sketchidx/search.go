package sketchidx

import (
	"bytes"
	"fmt"
	"math"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/minhash"
)

// Hit is a document whose sketch has a score of at least the threshold.
type Hit struct {
	Doc   uint32  // its number in the table
	Score float64 // estimate of the Jaccard similarity: minhash.Score.Score
	Err   float64 // standard error of Score; 0 if Exact
	Exact bool    // Score is the similarity itself, because neither sketch is full
}

// Stats counts the work of searches by sketch.
type Stats struct {
	Postings   int // entries of postings read, and members of groups compared
	Candidates int // documents whose bitmap was compared
	Rejected   int // candidates that their bitmap ruled out
	Scored     int // sketches compared with the query
	Scans      int // segments whose bitmaps were all read
}

// Searcher searches indexes, one at a time. It holds the buffers of a search, so that the next one
// allocates nothing. Its zero value is ready to use. It must not be used concurrently.
type Searcher struct {
	// ForcePostings uses postings whatever their cost, for tests of small tables.
	ForcePostings bool

	stats  Stats    // of all searches since TakeStats
	prefix []uint32 // of the query
	cold   int      // number of cold hashes in prefix
	hot    []hot.Key
	shape  hot.Shape // set if not all are cold
	member [hot.Together]uint32
	probes []probe
	found  []uint32 // documents in postings, with repetitions, as numbers in the segment
	set    docSet
	passed []uint32 // candidates that their bitmap did not reject
	keys   kernel.Keys
	bits   [bitmapsBlock]minhash.Bitmap
	sketch minhash.Sketch
}

// Query is a search by sketch: for the documents whose score with a sketch by minhash.Jaccard is at
// least T, and that Odd does not reject.
type Query struct {
	Sketch minhash.Sketch // ascending, at most Params.Size hashes
	T      float64        // 0 < T <= 1

	// Odd, if not nil, returns a query whose rejections count with Params.Odd. It is called when
	// bitmaps are first compared, and must return the same each time.
	Odd func() *oddsketch.Query
}

// Search appends to dst every document that a query finds, each once, in no particular order.
//
//	order    determine the first p(q) hashes of the sketch in the table's order (see hot.Order)
//	gather   collect the documents in their postings, each once (see docSet)
//	reject   drop documents whose bitmap differs too much (see minhash.MaxMissing and oddsketch)
//	score    decode the sketches of the rest and compare
//
// The postings of a segment are not used if t is below Params.MinJaccard, for which they are not
// complete. They are not used either if reading all bitmaps of the segment is cheaper, because the
// segment is small, or its postings turn out to be many. Cache misses within each step overlap,
// because the previous step prefetches the data.
func (s *Searcher) Search(x *Index, q Query, dst []Hit) (hits []Hit, err error) {
	hits, _, err = s.SearchFew(x, q, math.MaxInt, dst)
	return hits, err
}

// SearchFew is Search with a limit of most sketches to score. As soon as there are more, it returns
// false and the hits of some segments.
func (s *Searcher) SearchFew(x *Index, q Query, most int, dst []Hit) (hits []Hit, few bool, err error) {
	j, err := x.query(q, s)
	if err != nil || len(q.Sketch) == 0 {
		return dst, err == nil, err
	}
	for i := range x.segments {
		seg := &x.segments[i]
		if seg.bitmaps.zero {
			continue
		}
		gathered, err := x.gather(seg, j, s)
		if err == nil && gathered {
			err = seg.reject(j, s)
		} else if err == nil {
			err = seg.scan(j, s)
		}
		if most -= len(s.passed); err == nil && most < 0 {
			return dst, false, nil
		}
		if err == nil {
			dst, err = x.score(seg, j, s, dst)
		}
		if err != nil {
			return dst, false, err
		}
	}
	return dst, true, nil
}

// query checks a query and finds its prefix, which is empty if postings cannot be used.
func (x *Index) query(q Query, s *Searcher) (*query, error) {
	j, err := x.scanned(q)
	s.prefix, s.cold = s.prefix[:0], 0
	if err != nil || q.T < x.params.MinJaccard {
		return j, err
	}
	order, err := x.order()
	if err != nil {
		return nil, err
	}
	s.prefix, s.cold, s.hot = order.Prefix(s.prefix, q.Sketch, prefixLength(len(q.Sketch), q.T), s.hot)
	if s.cold < len(s.prefix) {
		s.shape = hot.NewShape(len(q.Sketch), s.hot)
	}
	return j, nil
}

// scanned checks a query that needs no prefix.
func (x *Index) scanned(q Query) (*query, error) {
	if !(q.T > 0 && q.T <= 1) {
		return nil, fmt.Errorf("sstable: threshold %v is not in (0, 1]", q.T)
	}
	if err := CheckSketch(q.Sketch, x.params.Size); err != nil {
		return nil, fmt.Errorf("sstable: %w", err)
	}
	n := int(x.params.Size)
	return &query{
		sketch: q.Sketch, t: q.T, n: n, odd: q.Odd, isOdd: x.params.Odd,
		bitmap: q.Sketch.Bitmap(), maxMissing: minhash.MaxMissing(len(q.Sketch), q.T), maxExcess: minhash.MaxMissing(n, q.T),
	}, nil
}

const (
	// A segment with fewer documents than this per probe is scanned.
	scanDocsPerProbe = 24
	// A segment with fewer documents than this per posting is scanned.
	scanDocsPerPosting = 2
)

// gather collects the candidates of a segment in s.set. It returns false if a scan of the segment
// is necessary or cheaper.
func (x *Index) gather(seg *segment, j *query, s *Searcher) (bool, error) {
	docs := seg.bitmaps.len()
	if len(s.prefix) == 0 || docs < scanDocsPerProbe*len(s.prefix) && !s.ForcePostings {
		return false, nil
	}
	prefix, groups := x.groups(seg, s)
	s.probes = seg.postings.findAll(s.probes, prefix)
	s.found = s.found[:0]
	for _, p := range s.probes {
		var err error
		if s.found, err = seg.postings.documents(p, &s.keys, s.found); err != nil {
			return false, err
		}
		if scanDocsPerPosting*len(s.found) > docs && !s.ForcePostings {
			return false, nil
		}
	}
	s.stats.Postings += len(s.found)
	if groups != nil {
		compared, _ := groups.Each(&s.shape, j.t, s.member[:0], func(at []uint32) bool {
			s.found = append(s.found, at...)
			return false
		})
		s.stats.Postings += compared
	}
	s.set.reset(len(s.found))
	for _, doc := range s.found {
		if s.set.add(doc) {
			kernel.Prefetch(seg.bitmaps.at(int(doc)))
		}
	}
	return true, nil
}

// reject stores the candidates that their bitmap does not reject in s.passed.
func (seg *segment) reject(j *query, s *Searcher) error {
	s.passed = s.passed[:0]
	s.stats.Candidates += len(s.set.docs)
	seg.bitmaps.fetch(s.set.docs)
	var bitmap minhash.Bitmap
	for _, doc := range s.set.docs {
		if err := seg.bitmaps.get(int(doc), &bitmap); err != nil {
			return err
		}
		if _, ok := j.differ(&bitmap); ok {
			s.passed = append(s.passed, doc)
		}
	}
	s.stats.Rejected += len(s.set.docs) - len(s.passed)
	return nil
}

// scan stores all documents that their bitmap does not reject in s.passed.
func (seg *segment) scan(j *query, s *Searcher) error {
	s.passed = s.passed[:0]
	s.stats.Scans++
	s.stats.Candidates += seg.bitmaps.len()
	if all := &seg.bitmaps.all; all.Pages.IsRemote() {
		all.Fetch(0, len(all.Data))
	}
	for b := range seg.bitmaps.numBlocks() {
		maps, err := seg.bitmaps.block(b, &s.bits)
		if err != nil {
			return err
		}
		before := len(s.passed)
		s.passed = j.filter(s.passed, maps)
		for i := range s.passed[before:] {
			s.passed[before+i] += uint32(b << bitmapsShift)
		}
	}
	s.stats.Rejected += seg.bitmaps.len() - len(s.passed)
	return nil
}

// scoreAhead is how many sketches ahead of the comparison the prefetch is.
const scoreAhead = 8

// score compares the sketches of the documents in s.passed with the query. It reuses the last score
// if a sketch equals the previous one, as happens for equal texts that were stored together.
func (x *Index) score(seg *segment, j *query, s *Searcher, dst []Hit) ([]Hit, error) {
	s.stats.Scored += len(s.passed)
	seg.crowd.scored(s)
	if x.list.HasToFetch() {
		s.found = s.found[:0]
		for _, doc := range s.passed {
			s.found = append(s.found, seg.first+doc)
		}
		x.list.Fetch(s.found)
	}
	var last []byte // last sketch in encoded form
	var score minhash.Score
	similar := false
	for i, doc := range s.passed {
		if i+2*scoreAhead < len(s.passed) {
			x.list.PrefetchEntry(seg.first + s.passed[i+2*scoreAhead])
		}
		if i+scoreAhead < len(s.passed) {
			x.list.Prefetch(seg.first + s.passed[i+scoreAhead])
		}
		code, err := x.list.Get(seg.first + doc)
		if err != nil {
			return dst, err
		}
		if len(code) == 0 {
			continue
		}
		if !bytes.Equal(code, last) {
			if s.sketch, err = x.decode(seg.first+doc, code, s.sketch[:0]); err != nil {
				return dst, err
			}
			score, similar = minhash.JaccardAtLeast(j.sketch, s.sketch, j.n, j.t)
			last = code
		}
		if similar {
			dst = append(dst, Hit{Doc: seg.first + doc, Score: score.Score, Err: score.Error, Exact: score.Exact})
		}
	}
	return dst, nil
}

// TakeStats returns the work of the searches since the last call.
func (s *Searcher) TakeStats() Stats {
	work := s.stats
	s.stats = Stats{}
	return work
}
