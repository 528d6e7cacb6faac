package verbs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
)

// dedupSummary prints a summary at the end of a run.
type dedupSummary struct {
	c       *Dedup
	j       *dedup.Job
	r       *dedup.Report
	a       *app.App
	figures []app.Figure // for --summary json
}

// tell prints the summary.
func (d *dedupSummary) tell(start time.Time) {
	if d.a.Global.Quiet && d.c.Summary != "json" {
		return
	}
	r := d.r
	defer func() { d.c.Tell(d.a, start, append(d.figures, app.Figure{Name: "rejected", Value: r.Rejected})...) }()
	row := d.row
	share := func(n int64) string { return percent(n, r.Read) }
	row("read", r.Read, "", fmt.Sprintf("documents, in %s", app.Seconds(start)))
	if n := r.Empty - r.Bare; n > 0 {
		row("empty", n, share(n), d.emptyNote())
	}
	if r.Bare > 0 {
		row("no text", r.Bare, share(r.Bare), "have a fingerprint but no text; they match nothing and are kept; --near K compares fingerprints")
	}
	for _, m := range r.Missing {
		row("no value", m.N, share(m.N), fmt.Sprintf("have no %s: documents that have one are preferred, then the first", m.Field))
	}
	if r.BadUTF8 > 0 {
		row("bad UTF-8", r.BadUTF8, share(r.BadUTF8), "have invalid UTF-8, which is not compared and is copied unchanged; --encoding NAME sets their encoding")
	}
	if r.Leveled != nil {
		d.leveled(r.Leveled)
		return
	}
	dropped := r.Dropped
	if d.c.Seen == nil {
		row("clusters", r.Clusters, "", "groups of near-duplicates: "+d.meaning()+d.c.GroupFlags.Meaning())
	}
	row("dropped", dropped, share(dropped), d.auditNote())
	if r.Unlike != nil && dropped > 0 {
		row("unlike", *r.Unlike, percent(*r.Unlike, dropped),
			fmt.Sprintf("dropped documents share less than %s of their shingles with their keeper; --near K --verify T compares the texts", app.DefaultJaccard.Percent()))
	}
	if n := r.Equal; n != nil {
		if n[0] > 0 && !r.Features.Symbols {
			row("symbols", n[0], percent(n[0], dropped), "dropped documents differ only in symbols such as == and !=: --symbols compares these too")
		}
		if n[1] > 0 {
			row("order", n[1], percent(n[1], dropped), "dropped documents have the keeper's shingles in another order or number: longer shingles (--shingle) distinguish more documents")
		}
	}
	d.differences(r.Differences)
	row("kept", r.Kept, share(r.Kept), d.keptNote())
	if r.Advice != "" && d.c.Summary != "json" {
		d.a.Say("%s", r.Advice)
	}
}

// differences prints the differences in words that recur among dropped documents.
func (d *dedupSummary) differences(of *dedup.Differences) {
	const few, shown = 50, 3 // a share of one in few, or less, tells nothing about the documents
	if of == nil || of.Recurring*few <= of.Looked {
		return
	}
	if d.c.Summary == "json" {
		d.figures = append(d.figures, app.Figure{Name: "recurring", Value: of.Recurring}, app.Figure{Name: "differences", Value: of.Most})
		return
	}
	looked := "dropped documents"
	if of.Looked < d.r.Dropped {
		looked = fmt.Sprintf("of %s dropped documents whose words were compared", quantity.Number(of.Looked))
	}
	if of.AtLeast {
		looked = "or more " + looked
	}
	d.row("recurring", of.Recurring, percent(of.Recurring, of.Looked), looked+" differ from their keeper in the same words as at least two others, as in a catalogue, where each may be another thing; the most frequent differences:")
	for _, m := range of.Most[:min(len(of.Most), shown)] {
		d.row("", m.Count, percent(m.Count, of.Looked), app.Difference(m.Lacks, m.Adds))
	}
}

// meaning says in words what makes two documents near-duplicates.
func (d *dedupSummary) meaning() string {
	by := d.r.By
	if d.j.Rule != nil {
		return "the rule holds for the kept document and each dropped one"
	}
	m := app.Meaning(by)
	switch by.Kind() {
	case "within":
		return fmt.Sprintf("the kept document contains at least %s of the shingles of each dropped one", app.Share(by.T()).Percent())
	case "levenshtein", "cosine":
		return fmt.Sprintf("%s; only pairs that share %s were compared", m, d.shared())
	case "near":
		if d.c.Images != nil {
			return app.PicturesMeaning(*d.c.Images, by.K())
		}
		if d.c.Verify != nil {
			m += fmt.Sprintf(", and they share at least %s of their shingles", d.c.Verify.Percent())
		}
	}
	return m
}

// shared says what pairs had to share to be compared by a measure of texts.
func (d *dedupSummary) shared() string {
	switch q := d.r.Run; {
	case d.r.By.Kind() != "levenshtein":
		return "enough words"
	case q > 1:
		return fmt.Sprintf("a run of %d characters at about the same place", q)
	}
	return "about the same length"
}

// emptyNote says what documents that match nothing lack.
func (d *dedupSummary) emptyNote() string {
	if d.r.By.Kind() == "levenshtein" {
		return "have no text; they match nothing and are kept"
	}
	if d.c.Ignore != "" || d.c.IgnoreCommon != 0 {
		return "have no words, or only ignored ones; they match nothing and are kept"
	}
	return "have no words; they match nothing and are kept"
}

// leveled prints the results of --level, after the line about the documents read.
func (d *dedupSummary) leveled(l *dedup.Leveled) {
	unit, what := string(d.c.Level), string(d.c.Level)+"s"
	first, short, between := "that occurred before", "have fewer than %s and stay", "their line ends"
	if d.c.MinCount > 2 {
		first = fmt.Sprintf("that occur %d times or more, except the first", d.c.MinCount)
	}
	if slices.Contains(d.j.Keep, dedup.None) {
		first = fmt.Sprintf("that occur %d times or more", max(d.c.MinCount, 2))
	}
	name, place := "repeated", "; the place of each, and of its first occurrence, "
	if d.c.Seen != nil {
		first = fmt.Sprintf("%s with at least %s of their shingles in texts that stay before them", what, d.c.Seen.Percent())
		name, place = "seen", "; the place and the share of each "
	} else if d.c.Level != dedup.Passage {
		first = what + " " + first
	} else {
		first = fmt.Sprintf("words, in %s %s", quantity.Count(l.Pieces, unit), first)
		what, short, between = "words", "are in texts of fewer than %s, which stay", "the text between them"
	}
	if len(d.c.Against) > 0 && d.c.Seen == nil {
		first += fmt.Sprintf("; %s of these %s occur in --against", quantity.Number(l.Known), what)
	}
	if path := d.j.AuditPath(); path != "" {
		first += place + areAt(path)
	}
	note := what
	if l.Short > 0 {
		note += fmt.Sprintf("; %s "+short, quantity.Number(l.Short), quantity.Count(int64(d.j.MinWords()), "word"))
	}
	d.row(what, l.Units, "", note)
	d.row(name, l.Removed, percent(l.Removed, l.Units), first)
	if d.c.Drop {
		d.row("dropped", l.Emptied, percent(l.Emptied, d.r.Read), "documents have such a "+unit+", and are dropped")
		d.row("kept", d.r.Kept, percent(d.r.Kept, d.r.Read), "documents "+d.whereKept())
		return
	}
	d.row("bytes", l.Removes, percent(l.Removes, l.Bytes), fmt.Sprintf("of %s of text are removed, with %s", quantity.Count(l.Bytes, "byte"), between))
	d.row("changed", l.Changed, percent(l.Changed, d.r.Read), "documents lost a part of their text")
	d.row("dropped", l.Emptied, percent(l.Emptied, d.r.Read), "documents had no other text, and are dropped")
	d.row("kept", d.r.Kept, percent(d.r.Kept, d.r.Read), "documents "+d.whereKept())
}

// percent returns n as a percentage of all: " 12.3 %".
func percent(n, all int64) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(all))
}

// row prints a line of the summary.
func (d *dedupSummary) row(what string, n int64, share, note string) {
	if d.c.Summary == "json" {
		name := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(what))
		d.figures = append(d.figures, app.Figure{Name: name, Value: n})
		return
	}
	const notesAt = 32 // columns
	w := d.a.Err
	fmt.Fprintf(w, "%-9s %11s  %7s  %s\n", what, quantity.Number(n), share, app.Wrapped(app.OneLine(note), notesAt, app.TerminalWidth(w)))
}

// rule describes the rules of --keep.
func (d *dedupSummary) rule() string {
	var all []string
	for _, k := range d.j.Rules() {
		switch k.Name {
		case "max":
			all = append(all, "the one with the greatest "+k.Arg)
		case "min":
			all = append(all, "the one with the least "+k.Arg)
		case "prefer":
			all = append(all, "the one of a file like "+k.Arg)
		default:
			all = append(all, "the "+k.Name)
		}
	}
	return strings.Join(all, ", then ")
}

func (d *dedupSummary) auditNote() string {
	measure := "distance"
	if d.r.By.Kind() != "near" {
		measure = "score"
	}
	if d.c.Seen != nil {
		note := fmt.Sprintf("have at least %s of their shingles in texts that stay before them", d.c.Seen.Percent())
		if path := d.j.AuditPath(); path != "" {
			note += "; the shares " + areAt(path)
		}
		return note
	}
	if d.c.DryRun {
		return "near-duplicates"
	}
	if path := d.j.AuditPath(); path != "" {
		return "near-duplicates; keeper and " + measure + " of each " + areAt(path)
	}
	return "near-duplicates; --audit FILE writes a list of them"
}

func (d *dedupSummary) keptNote() string {
	if slices.Contains(d.j.Rules(), dedup.None) {
		return "all documents in no group, and none of any group, " + d.whereKept()
	}
	if d.c.Seen != nil {
		return "documents " + d.whereKept()
	}
	if d.c.OnlyAgainst {
		return "documents that resemble none of --against " + d.whereKept()
	}
	if d.c.DryRun {
		return fmt.Sprintf("%s of each group, and all documents in no group; nothing is written (--dry-run)", d.rule())
	}
	return fmt.Sprintf("%s of each group, and all documents in no group, %s", d.rule(), d.whereKept())
}

// areAt says in which output lines are.
func areAt(path string) string {
	if outfile.IsStdout(path) {
		return "are on standard output"
	}
	return "are in " + path
}

// whereKept says where the kept documents are.
func (d *dedupSummary) whereKept() string {
	if d.c.DryRun {
		return "would be kept; nothing is written (--dry-run)"
	}
	where := areAt(cmp.Or(d.c.Output, "-"))
	if d.j.ToFolder() {
		where += ", a file for each input"
	}
	if d.c.All {
		where += ", and so are all others, with " + d.c.Columns.String()
	}
	return where
}
