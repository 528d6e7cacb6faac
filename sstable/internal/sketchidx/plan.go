package sketchidx

import (
	"fmt"

	"github.com/simdb/simdb/minhash"
)

// Plan says how a search by sketch goes about a table.
type Plan struct {
	Method     string // "postings" or "scan"; "postings" if at least one segment is not scanned
	Prefix     int    // hashes of the query that postings are read for; 0 for a scan
	Postings   int    // postings to read
	Candidates int    // documents whose bitmap is to be looked at
	Scans      int    // segments of which all bitmaps are to be read

	// Cost is the estimated nanoseconds on one core of searching this table, in the same unit as
	// the costs of package hamming. It takes every candidate for one that its bitmap does not
	// reject, so it is an upper estimate.
	Cost float64
}

// Nanoseconds on one core of the steps of a search by sketch.
const (
	postingNs = 4   // reading a posting
	sketchNs  = 150 // fetching, decoding and comparing the sketch of a candidate
	bitmapNs  = 3   // comparing a bitmap in a scan of a segment
)

// String returns one line: "postings of 26 hashes, 768 postings, 182 candidates".
func (p Plan) String() string {
	if p.Method == "scan" {
		return fmt.Sprintf("scan, %d candidates", p.Candidates)
	}
	return fmt.Sprintf("postings of %d hashes, %d postings, %d candidates", p.Prefix, p.Postings, p.Candidates)
}

// Plan returns how Search(x, q, t) would search. It reads the postings, but no bitmaps and no
// sketches.
func (s *Searcher) Plan(x *Index, q minhash.Sketch, t float64) (p Plan, err error) {
	p.Method = "scan"
	if _, err := x.query(q, t, s); err != nil || len(q) == 0 {
		return p, err
	}
	before := s.stats.Postings
	for i := range x.segments {
		seg := &x.segments[i]
		if seg.bitmaps.zero {
			continue
		}
		gathered, err := x.gather(seg, s)
		if err != nil {
			return p, err
		}
		if gathered {
			p.Method, p.Prefix = "postings", len(s.prefix)
			p.Candidates += len(s.set.docs)
		} else {
			p.Scans++
			p.Candidates += seg.bitmaps.len()
			p.Cost += bitmapNs * float64(seg.bitmaps.len())
		}
	}
	p.Postings = s.stats.Postings - before
	p.Cost += postingNs*float64(p.Postings) + sketchNs*float64(p.Candidates)
	s.stats.Postings = before
	return p, nil
}
