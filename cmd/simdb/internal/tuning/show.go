package tuning

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/tune"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
)

// Columns are the names of the values of a row.
var Columns = []string{"criterion", "share", "removes", "pairs", "chance", "a", "b", "share_error", "pairs_error"}

// show writes the rows; it adds the report below a table, and as a page if the user wants one.
func (c *Command) show(a *app.App, r *Report) error {
	k := r.Distance()
	if c.HTML != "" {
		if err := c.page(a, r, k); err != nil {
			return err
		}
	}
	return a.RowsThen(c.RowFlags, Columns, func(w *output.Writer) error { return c.rows(r, w.Row) }, func(w io.Writer) error {
		if !c.charted() {
			return nil
		}
		o := c.RowFlags.Options()
		return r.WriteText(w, Chart{Width: o.Width, Color: o.Color, Clean: app.OneLine, K: k}, r.Boundary(k))
	})
}

// charted reports whether the report follows the rows.
func (c *Command) charted() bool { return c.RowFlags.Options().Format == output.Table }

func (c *Command) rows(r *Report, row func(...any) error) error {
	write := func(name string, byChance any, of tune.Criterion) error {
		a, b := c.example(of.Example)
		pairsError := any(nil)
		if !math.IsNaN(of.Pairs.Error) {
			pairsError = int64(math.Ceil(of.Pairs.Error))
		}
		return row(name, app.Rounded(of.Share.Value, 4), app.Rounded(of.Removes.Value, 4), int64(math.Round(of.Pairs.Value)), byChance, a, b, app.Rounded(of.Share.Error, 4), pairsError)
	}
	for k := range tune.MaxDistance + 1 {
		if err := write(option.Set("Near", int64(r.Bits(k))), app.Rounded(r.Chance(k), 4), r.Near(k)); err != nil {
			return err
		}
	}
	for tenths := 9; tenths >= 5 && r.Scored; tenths-- {
		of := float64(tenths) / 10
		if err := write(option.Set("Jaccard", of), nil, r.AtLeast(of)); err != nil {
			return err
		}
	}
	return nil
}

// example returns the example of a criterion as rows show it: the ids or, with --texts, the texts
// that are stored.
func (c *Command) example(p *tune.Pair) (a, b any) {
	switch {
	case p == nil:
		return nil, nil
	case c.Texts:
		return cmp.Or(p.TextA, p.A), cmp.Or(p.TextB, p.B)
	}
	return p.A, p.B
}

func (c *Command) page(a *app.App, r *Report, k int) error {
	w, err := a.Create("--html", c.HTML, outfile.HTML)
	if err != nil {
		return err
	}
	if err := r.WritePage(w, k, r.Boundary(k)); err != nil {
		return err
	}
	return w.Commit()
}

// command returns the command that applies a threshold: dedup of a file, clusters of a database.
func (c *Command) command(threshold string) string {
	verb, out := "dedup", " -o kept"
	if !c.OfFiles() && !inputs.NamesFiles(c.Data) {
		return "simdb clusters " + app.ShellWord(c.Data) + " " + threshold
	}
	switch ending := filepath.Ext(outfile.PlainName(c.Data)); {
	case c.OfFiles():
		out += ".txt"
	case ending == "":
		out += ".jsonl"
	default:
		out += ending
	}
	return "simdb " + verb + " " + app.ShellWord(c.Data) + " " + threshold + c.sameFlags() + out
}

// flagWriter writes flags as they are given to a command.
type flagWriter struct{ strings.Builder }

// flag writes a flag with a value, unless that is "".
func (b *flagWriter) flag(name, value string) {
	if value != "" {
		fmt.Fprintf(b, " --%s %s", name, app.ShellWord(value))
	}
}

// set writes a flag without a value.
func (b *flagWriter) set(name string, on bool) {
	if on {
		b.WriteString(" --" + name)
	}
}

// sameFlags returns the flags that say how the data is read and compared.
func (c *Command) sameFlags() string {
	b := &flagWriter{}
	b.set("files", c.WholeFiles)
	b.flag("images", c.ImagesName())
	if c.Images != nil && c.Orientations != "1" {
		b.flag("orientations", c.Orientations)
	}
	for _, e := range c.Exclude {
		b.flag("exclude", e)
	}
	b.set("hidden", c.Hidden)
	if c.InputFormat != records.Auto {
		b.flag("input-format", string(c.InputFormat))
	}
	b.flag("id-field", c.IDField)
	b.flag("id-from", string(c.IDFrom))
	b.flag("text-field", c.TextField)
	b.flag("fingerprint-field", c.FingerprintField)
	b.flag("record-start", c.RecordStart)
	b.set("no-header", c.NoHeader)
	if c.Delimiter != 0 {
		b.flag("delimiter", string(rune(c.Delimiter)))
	}
	if c.Comment != 0 {
		b.flag("comment", string(rune(c.Comment)))
	}
	if c.Encoding != records.UTF8 {
		b.flag("encoding", string(c.Encoding))
	}
	if c.Fingerprints != base.Auto {
		b.flag("fingerprints", fmt.Sprint(c.Fingerprints))
	}
	c.featureFlags(b)
	return b.String()
}

// featureFlags writes the flags of the features.
func (c *Command) featureFlags(b *flagWriter) {
	if c.Shingle.N > 0 {
		b.flag("shingle", string(c.Shingle.Unit)+":"+strconv.Itoa(c.Shingle.N))
	}
	var fields []string
	for _, f := range c.Field {
		fields = append(fields, fmt.Sprintf("%s:%v", f.Name, f.Weight))
	}
	b.flag("field", strings.Join(fields, ","))
	b.set("symbols", c.Symbols)
	b.flag("stop-words", c.StopWords)
	b.flag("require-word", c.RequireWord)
	for _, m := range c.Mask {
		b.flag("mask", m)
	}
	b.flag("fold", strings.Join(c.FeatureFlags.Folded(), ","))
	if c.Bits > 0 {
		b.flag("bits", strconv.Itoa(int(c.Bits)))
	}
	if c.MinWords > 0 {
		b.flag("min-words", strconv.Itoa(int(c.MinWords)))
	}
	b.flag("weights", c.Weights)
	b.flag("ignore", c.Ignore)
	if c.IgnoreCommon > 0 {
		b.flag("ignore-common", strings.ReplaceAll(c.IgnoreCommon.Percent(), " ", ""))
	}
	b.flag("set-field", c.SetField)
	b.flag("features-field", c.FeaturesField)
}
