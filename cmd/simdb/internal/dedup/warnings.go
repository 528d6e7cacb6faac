package dedup

import (
	"fmt"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/base"
)

// watch looks at the fingerprints of a corpus, where they came with the documents or differ in what
// they are of: documents of one fingerprint whose texts are not alike.
func (d *job) watch(c *corpus.Corpus) {
	if d.a.Global.Quiet || c.Prints == nil {
		return
	}
	var p app.Prints
	var words []base.Fingerprint
	for n := d.known; n < c.N; n++ {
		if words = c.Print(words[:0], uint32(n)); !c.Empty(uint32(n)) {
			p.Add(words[0], words[1:]...)
		}
	}
	if c.Given > 0 {
		d.warn.prints = p.Warnings()
		return
	}
	for _, common := range p.Common() {
		var all, unlike int64
		for n := d.known; n < c.N; n++ {
			if words = c.Print(words[:0], uint32(n)); app.PrintKey(words[0], words[1:]...) != common.Fingerprint || d.out.kept(n) {
				continue
			}
			if all++; d.out.score != nil && d.out.score[n] < unlikeScore {
				unlike++
			}
		}
		if 2*unlike > all {
			d.warn.prints = append(d.warn.prints, fmt.Sprintf("documents have %s, and most of them share less than half of their shingles with their keeper: --near K --verify T decides on the texts", p.Name(common)))
		}
	}
}

// unlikeScore is the similarity below which two texts are different.
const unlikeScore = 0.5

// expectLarge makes room for the keepers of clusters that have too many documents. The largest come
// first.
func (d *job) expectLarge() {
	const most = 3
	for _, size := range d.out.sizes {
		if len(d.warn.large) == most || !app.TooMany(int64(size), d.read) {
			return
		}
		d.warn.large = append(d.warn.large, Place{})
	}
}

// tell prints the warnings, as rows of the summary.
func (d *job) tell() {
	if 2*d.programs > d.read && !d.features.Symbols && !d.c.ofTexts() {
		d.row("programs", d.programs, percent(d.programs, d.read), "documents are source files: --symbols compares their operators, too")
	}
	for _, text := range d.warn.prints {
		d.a.Say("warning: %s", text)
	}
	if d.warn.short != "" {
		d.a.Say("%s", d.warn.short)
	}
	for i, at := range d.warn.large {
		size := int64(d.out.sizes[i])
		like := ""
		if at.ID != "" {
			like = fmt.Sprintf(" near-duplicates of %s (%s:%d);", at.ID, at.File, at.Line)
		}
		d.row("large", size, percent(size, d.read), fmt.Sprintf("documents are in cluster %d,%s %s", i+1, like, app.LargeAdvice))
	}
	if d.warn.templates == nil || d.read == 0 {
		return
	}
	share := d.warn.templates.Share(func(n int64) bool { return d.out.kept(d.known + n) })
	const least, most = 1000, 0.05
	if n := int64(share * float64(d.kept)); d.kept >= least && share > most {
		d.row("template", n, percent(n, d.kept), "about so many of the kept share half of their shingles, or more, with at least 2 % of all, but no document is like another: --level paragraph or line removes what they share")
	}
}

// percent is n as a part of all: " 12.3 %".
func percent(n, all int64) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(all))
}
