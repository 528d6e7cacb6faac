package dedup

import (
	"cmp"

	"github.com/simdb/simdb/engine"
)

// A Report is what a job has read and done.
type Report struct {
	Read     int64 // documents
	Empty    int64 // of them, those without words, or without what is compared
	Bare     int64 // of Empty, those with a fingerprint, which is not compared
	BadUTF8  int64 // those with invalid UTF-8
	Rejected int64 // input that is no record
	Missing  []Missing
	Clusters int64 // groups of near-duplicates
	Dropped  int64
	Kept     int64

	Unlike  *int64    // dropped by fingerprints alone, and less similar to their keepers than DefaultJaccard; nil if that is not known
	Equal   *[2]int64 // dropped with score 1 that differ in symbols, and in the order or number of words; nil if nobody asked
	Leveled *Leveled  // with Level; else nil

	By       engine.Criterion // that was used
	Features engine.Features  // that were compared
	Run      int              // of Levenshtein: characters of a run that similar texts share; up to 1 there is none
	Advice   string           // about texts that are too short for their shingles; or ""
}

// Missing says how many documents have no value in a field that Keep compares.
type Missing struct {
	Field string
	N     int64
}

// report describes what was done.
func (d *job) report() *Report {
	r := &Report{
		Read: d.read, Empty: d.empty, Bare: d.bare, BadUTF8: d.rejects.BadUTF8, Rejected: d.rejects.N,
		Clusters: d.out.clusters, Dropped: d.read - d.kept, Kept: d.kept,
		Leveled: d.leveled, Features: d.features, Advice: d.short, By: cmp.Or(d.c.By, d.Criterion()),
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

// unlike counts the documents that were dropped by their fingerprints alone and are less similar to
// their keepers than DefaultJaccard; false if that is not known.
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
