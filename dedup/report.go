package dedup

import (
	"cmp"

	"github.com/simdb/simdb/engine"
)

// A Report has the counts of a job.
type Report struct {
	Read     int64 // documents
	Empty    int64 // documents without words, or without anything to compare
	Bare     int64 // part of Empty: documents with a fingerprint, which is not compared
	BadUTF8  int64 // documents with invalid UTF-8
	Rejected int64 // input that is not a record
	Missing  []Missing
	Clusters int64 // groups of near-duplicates
	Dropped  int64
	Kept     int64

	Unlike  *int64    // documents dropped only by fingerprints whose similarity with the keeper is below DefaultJaccard; nil if unknown
	Equal   *[2]int64 // documents dropped with score 1 that differ in symbols, and in the order or number of words; nil without Job.Figures
	Leveled *Leveled  // nil without Level

	Differences *Differences // between dropped documents and their keepers; nil without Job.Figures, or if no words were compared

	By       engine.Criterion // the criterion used
	Features engine.Features  // the features compared
	Run      int              // for Levenshtein: length in characters of a run that all similar texts share; 0 or 1 means none
	Advice   string           // about texts that are too short for their shingles; or ""
}

// Missing counts the documents without a value in a field that Keep compares.
type Missing struct {
	Field string
	N     int64
}

// report returns the report of a job that has ended.
func (d *job) report() *Report {
	r := &Report{
		Read: d.read, Empty: d.empty, Bare: d.bare, BadUTF8: d.rejects.BadUTF8, Rejected: d.rejects.N,
		Clusters: d.out.clusters, Dropped: d.read - d.kept, Kept: d.kept,
		Leveled: d.leveled, Features: d.features, Advice: d.short, By: cmp.Or(d.c.By, d.Criterion()), Differences: d.differs,
	}
	if d.Levenshtein != nil {
		r.Run = d.textCriterion().Measure.Q
	}
	for _, by := range d.keep.by {
		if by.missing > 0 {
			r.Missing = append(r.Missing, Missing{by.rule.Arg, by.missing})
		}
	}
	if n, asked := d.unlike(); asked {
		r.Unlike = &n
	}
	if d.equal != nil {
		r.Equal = new(d.equal.count(&d.out))
	}
	return r
}

// unlike counts the documents that were dropped only by their fingerprints and whose similarity
// with their keepers is below DefaultJaccard; false if that is unknown.
func (d *job) unlike() (n int64, asked bool) {
	if d.Near == nil || d.Verify != nil || d.out.score == nil {
		return 0, false
	}
	for i, score := range d.out.score {
		if !d.out.kept(int64(i)) && score < DefaultJaccard {
			n++
		}
	}
	return n, true
}
