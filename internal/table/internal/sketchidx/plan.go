package sketchidx

import (
	"fmt"
)

// Plan says how a search by sketch would be executed.
type Plan struct {
	Method     string // "postings" or "scan"; "postings" if at least one segment is not scanned
	Prefix     int    // hashes of the query whose postings are read; 0 for a scan
	Postings   int    // postings to read
	Candidates int    // documents whose bitmap would be compared
	Scans      int    // segments whose bitmaps would all be read

	// Cost is the estimated cost of searching this table, in nanoseconds on one core, in the same
	// unit as the costs of package hamming. The estimate for a scan assumes that the documents are
	// unrelated to the query.
	Cost float64
}

// Nanoseconds on one core for the steps of a search by sketch, with AVX-512 and sketches of 128
// hashes. The costs of postings are fitted to go test -bench 'Jaccard$/' ./internal/table; those of a scan
// are measured by
//
//	go test -run - -bench JaccardScan ./internal/table
//
// at the thresholds 0.5, where bitmaps reject all unrelated documents, and 0.2, where they reject
// none. Bitmaps that are not in a cache cost somewhat more.
const (
	postingNs   = 4   // read a posting
	candidateNs = 150 // process a candidate from postings: bitmap and, unless rejected, sketch
	bitmapNs    = 2   // compare a bitmap in a scan
	scoreNs     = 500 // fetch, decode and compare the sketch of a document that passed a scan
)

// String returns one line: "postings of 26 hashes, 768 postings, 182 candidates".
func (p Plan) String() string {
	if p.Method == "scan" {
		return fmt.Sprintf("scan, %d candidates", p.Candidates)
	}
	return fmt.Sprintf("postings of %d hashes, %d postings, %d candidates", p.Prefix, p.Postings, p.Candidates)
}

// Plan returns how Search(x, q) would search. It reads the postings, but no bitmaps and no sketches.
func (s *Searcher) Plan(x *Index, q Query) (p Plan, err error) {
	p.Method = "scan"
	j, err := x.query(q, s)
	if err != nil || len(q.Sketch) == 0 {
		return p, err
	}
	before := s.stats.Postings
	for i := range x.segments {
		seg := &x.segments[i]
		if seg.bitmaps.zero {
			continue
		}
		gathered, err := x.gather(seg, j, s)
		if err != nil {
			return p, err
		}
		if gathered {
			p.Method, p.Prefix = "postings", len(s.prefix)
			p.Candidates += len(s.set.docs)
			p.Cost += candidateNs * float64(len(s.set.docs))
		} else {
			p.Scans++
			p.Candidates += seg.bitmaps.len()
			p.Cost += (bitmapNs + scoreNs*j.passing()) * float64(seg.bitmaps.len())
		}
	}
	p.Postings = s.stats.Postings - before
	p.Cost += postingNs * float64(p.Postings)
	s.stats.Postings = before
	return p, nil
}
