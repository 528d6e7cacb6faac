package dedup

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
)

// summary prints what was done.
func (d *job) summary(start time.Time) {
	if d.a.Global.Quiet && d.c.Summary != "json" {
		return
	}
	defer func() { d.c.Tell(d.a, start, append(d.figures, app.Figure{Name: "rejected", Value: d.rejects.N})...) }()
	row := d.row
	share := func(n int64) string { return percent(n, d.read) }
	row("read", d.read, "", fmt.Sprintf("documents, in %s", app.Seconds(start)))
	if n := d.empty - d.bare; n > 0 {
		row("empty", n, share(n), d.c.emptyNote())
	}
	if d.bare > 0 {
		row("no text", d.bare, share(d.bare), "have a fingerprint, which --near K compares, and no text; they match nothing and are kept")
	}
	for _, by := range d.keep.by {
		if n := by.missing; n > 0 {
			row("no value", n, share(n), fmt.Sprintf("have no %s: documents with one are preferred to them, then the first", by.rule.arg))
		}
	}
	if d.rejects.BadUTF8 > 0 {
		row("bad UTF-8", d.rejects.BadUTF8, share(d.rejects.BadUTF8), "have invalid UTF-8, which counts as no word and is copied as it is; --encoding NAME says how they are encoded")
	}
	if d.sayLevel != nil {
		d.sayLevel()
		return
	}
	dropped := d.read - d.kept
	row("clusters", d.out.clusters, "", "groups of near-duplicates: "+d.c.meaning()+d.c.Flags.Meaning())
	row("dropped", dropped, share(dropped), d.auditNote())
	if n, asked := d.unlike(); asked && dropped > 0 {
		d.row("unlike", n, percent(n, dropped),
			fmt.Sprintf("of the dropped share less than %s of their shingles with their keeper; --near K --verify T decides on the texts", app.DefaultJaccard.Percent()))
	}
	if d.equal != nil {
		n := d.equal.count(&d.out)
		if n[0] > 0 && !d.features.Symbols {
			row("symbols", n[0], percent(n[0], dropped), "of the dropped score 1 but differ in symbols such as == and !=: --symbols tells them apart")
		}
		if n[1] > 0 {
			row("order", n[1], percent(n[1], dropped), "of the dropped score 1 but have their words in another order or number, as shingles are a set: longer ones (--shingle) tell more of them apart")
		}
	}
	row("kept", d.kept, share(d.kept), d.keptNote())
	if d.short != "" && d.c.Summary != "json" {
		d.a.Say("%s", d.short)
	}
}

// percent is n as a part of all: " 12.3 %".
func percent(n, all int64) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(all))
}

// row prints a line of the summary.
func (d *job) row(what string, n int64, share, note string) {
	if d.c.Summary == "json" {
		name := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(what))
		d.figures = append(d.figures, app.Figure{Name: name, Value: n})
		return
	}
	const notesAt = 32 // columns
	w := d.a.Err
	fmt.Fprintf(w, "%-9s %11s  %7s  %s\n", what, quantity.Number(n), share, app.Wrapped(app.OneLine(note), notesAt, app.TerminalWidth(w)))
}

// unlike counts the documents that were dropped by their fingerprints alone and are less similar to
// their keepers than without --near they would have to be; false if that is not known.
func (d *job) unlike() (n int64, asked bool) {
	if d.c.Near == nil || d.c.Verify != nil || d.out.score == nil {
		return 0, false
	}
	for i, score := range d.out.score {
		if !d.out.kept(int64(i)) && score < float64(app.DefaultJaccard) {
			n++
		}
	}
	return n, true
}

// rule describes the rules of --keep.
func (d *job) rule() string {
	var all []string
	for _, k := range d.c.Keep.all {
		switch k.name {
		case "max":
			all = append(all, "the one with the greatest "+k.arg)
		case "min":
			all = append(all, "the one with the least "+k.arg)
		case "prefer":
			all = append(all, "the one of a file like "+k.arg)
		default:
			all = append(all, "the "+k.name)
		}
	}
	return strings.Join(all, ", then ")
}

func (d *job) auditNote() string {
	measure := "distance"
	if d.c.Near == nil {
		measure = "score"
	}
	if d.c.DryRun {
		return "near-duplicates"
	}
	if path := d.c.auditPath(); path != "" {
		return "near-duplicates; keeper and " + measure + " of each " + areAt(path)
	}
	return "near-duplicates; --audit FILE writes a list of them"
}

func (d *job) keptNote() string {
	if d.c.Keep.none() {
		return "all documents in no group, and none of a group, " + d.whereKept()
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

// whereKept says where the documents that are kept are.
func (d *job) whereKept() string {
	if d.c.DryRun {
		return "would be kept; nothing is written (--dry-run)"
	}
	where := areAt(cmp.Or(d.c.Output, "-"))
	if d.c.toFolder() {
		where += ", a file for each input"
	}
	if d.c.All {
		where += ", and so are all others, with " + d.c.Columns.String()
	}
	return where
}
