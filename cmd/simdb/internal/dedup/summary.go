package dedup

import (
	"fmt"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/quantity"
)

// summary prints what was done.
func (d *job) summary(start time.Time) {
	if d.a.Global.Quiet {
		return
	}
	w, width := d.a.Err, app.TerminalWidth(d.a.Err)
	share := func(n int64) string {
		if d.read == 0 {
			return ""
		}
		return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(d.read))
	}
	row := func(what string, n int64, share, note string) {
		const notesAt = 32 // columns
		fmt.Fprintf(w, "%-9s %11s  %7s  %s\n", what, quantity.Number(n), share, app.Wrapped(app.OneLine(note), notesAt, width))
	}
	row("read", d.read, "", fmt.Sprintf("documents, in %s", app.Seconds(start)))
	if d.rejects.N > 0 {
		where := d.rejects.Unit + "s could not be used"
		if d.rejects.Path != "" {
			where += ", they are in " + d.rejects.Path
		}
		row("rejected", d.rejects.N, "", where)
	}
	if d.empty > 0 {
		row("empty", d.empty, share(d.empty), "have no words; they match nothing and are kept")
	}
	if n := d.keep.missing; n > 0 {
		row("no value", n, share(n), fmt.Sprintf("have no %s: documents with one are preferred to them, then the first", d.c.Keep.field))
	}
	if d.badUTF8 > 0 {
		row("bad UTF-8", d.badUTF8, share(d.badUTF8), "have invalid UTF-8; it counts as no word and is copied as it is")
	}
	dropped := d.dropped()
	row("clusters", d.clusters, "", "groups of near-duplicates: "+d.c.Meaning(!d.c.NoVerify))
	row("dropped", dropped, share(dropped), d.auditNote())
	row("kept", d.kept, share(d.kept), d.keptNote())
}

// rule describes the rule of --keep.
func (d *job) rule() string {
	switch k := d.c.Keep; k.name {
	case "max":
		return "the one with the greatest " + k.field
	case "min":
		return "the one with the least " + k.field
	default:
		return "the " + k.name
	}
}

func (d *job) auditNote() string {
	measure := "distance"
	if d.c.Jaccard != nil {
		measure = "score"
	}
	if path := d.c.auditPath(); path != "" {
		return "near-duplicates; keeper and " + measure + " of each are in " + path
	}
	return "near-duplicates; --audit FILE writes a list of them"
}

func (d *job) keptNote() string {
	where := "in " + d.c.Output
	if d.c.Output == "" || d.c.Output == "-" {
		where = "on standard output"
	}
	return fmt.Sprintf("%s of each group, and all documents in no group, are %s", d.rule(), where)
}
