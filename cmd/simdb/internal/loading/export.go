package loading

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/records/lines"
	"github.com/simdb/simdb/records/stored"
	"github.com/simdb/simdb/repl/output"
)

// Export is `simdb export`.
type Export struct {
	DB           string        `arg:"" file:"db" help:"The database."`
	Output       string        `short:"o" file:"rows" placeholder:"FILE" help:"Write to FILE instead of standard output; .jsonl, .csv and .parquet set the format, .gz or .zst after that compresses the output."`
	Format       app.RowFormat `placeholder:"FORMAT" help:"jsonl, csv or parquet (default: by the ending of -o, else jsonl)."`
	Times        bool          `help:"Also write when each document was stored, as the field time, and when it expires by itself, as expires; simdb load --time-field time --expires-field expires reads them."`
	Fingerprints bool          `help:"Write all fingerprints (default: those that load cannot compute from the texts)."`

	IDField          string `placeholder:"NAME" help:"Name of the id (default: id)."`
	TextField        string `placeholder:"NAME" help:"Name of the text (default: text, or as the database says)."`
	FingerprintField string `placeholder:"NAME" help:"Name of the fingerprint, or of several (default: fingerprint; fingerprints)."`
	TimeField        string `placeholder:"NAME" help:"Name of the time; implies --times (default: time)."`
	ExpiresField     string `placeholder:"NAME" help:"Name of the time of expiry; implies --times (default: expires)."`
}

// Help describes the output.
func (Export) Help() string {
	return `Documents are written in the form that simdb load reads, in the order of writing: id and text, the fields as they are, and fingerprints that
were not computed from the text. A field with one of these names is an error; the flags choose other names.

JSON lines keep everything byte for byte. In Parquet a field is a column of its type, or of JSON if its values have several types. CSV
has only strings, and cannot tell a missing field from an empty one. Parameters are not exported: simdb create NEW --like DB makes a
database with the same ones. A document that could not be read back is an error.`
}

// Run writes the documents.
func (c *Export) Run(a *app.App) (err error) {
	start := time.Now()
	if c.Times || c.TimeField != "" || c.ExpiresField != "" {
		c.TimeField, c.ExpiresField = cmp.Or(c.TimeField, "time"), cmp.Or(c.ExpiresField, "expires")
	}
	flags := app.RowFlags{Format: c.Format, Output: c.Output}
	format := flags.Options().Format
	if _, named := output.FormatOf(outfile.PlainName(c.Output)); !named && !c.Format.Set {
		format = output.JSONL
	}
	if format != output.JSONL && format != output.CSV && format != output.Parquet {
		return fmt.Errorf("export writes jsonl, csv or parquet, not %s", format)
	}
	s, err := a.Env().OpenStored(c.DB, inputs.Access{})
	if err != nil {
		return err
	}
	defer s.Close(&err)
	s.Fingerprints, s.TimeField, s.ExpiresField, s.Written = c.Fingerprints, c.TimeField, c.ExpiresField, true
	x := &export{a: a, db: s, src: s.Sources(), format: format, meter: a.Meter()}
	defer x.meter.Stop()
	x.opt = records.Options{IDField: c.IDField, TextField: c.TextField, FingerprintField: c.FingerprintField}
	form, err := stored.NewForm(s.DB.Options(), x.opt)
	if err != nil {
		return err
	}
	form.Time, form.Expires = c.TimeField, c.ExpiresField
	if err := form.CheckNames(); err != nil {
		return err
	}
	if format != output.JSONL {
		if err := x.findColumns(); err != nil {
			return err
		}
	}
	to, err := a.Sink(c.Output, flags.Kind(), output.Options{Format: format})
	if err != nil {
		return err
	}
	if format == output.JSONL {
		w := bufio.NewWriterSize(to, 256<<10)
		err = cmp.Or(x.lines(w), w.Flush())
	} else {
		err = x.rows(to)
	}
	if err = to.Close(err); err != nil {
		return err
	}
	x.meter.Stop()
	a.Say("%s: %s exported in %s", c.DB, quantity.Count(x.n, "document"), app.Seconds(start))
	x.tell()
	return nil
}

type export struct {
	a      *app.App
	db     *inputs.Stored
	src    *inputs.Sources
	opt    records.Options
	format output.Format
	meter  *app.Meter
	n      int64 // documents written
	table  *columns
}

// each calls f for every document.
func (x *export) each(stage string, need records.Need, f func(in records.Source, rec *records.Record) error) error {
	x.opt.Need = need
	return x.a.Env().EachInput(x.a.Context(), x.src, inputs.Reading{Stage: stage, Options: x.opt, Record: f})
}

func (x *export) lines(w *bufio.Writer) error {
	out, err := lines.JSONL.NewCopier(w, records.CopyOptions{})
	if err != nil {
		return err
	}
	err = x.each("export", records.NeedAll, func(in records.Source, rec *records.Record) error {
		x.n++
		return out.Copy(in, rec.Raw)
	})
	return cmp.Or(err, out.Close())
}

// tell prints notes about data that the output lacks.
func (x *export) tell() {
	p := x.db.DB.Options()
	if p.NoText && p.Sketch > 0 {
		x.a.Say("the database stores no texts: its sketches, which JACCARD uses, are not in the output")
	}
	if n := len(slices.Collect(x.db.Allowed())); n > 0 {
		x.a.Say("%s not in the output; simdb allowed lists them", quantity.Plain(n, "allowed pair is", "allowed pairs are"))
	}
	if x.table != nil && x.format == output.CSV && !x.table.strings {
		x.a.Say("CSV has only strings: numbers and other values are read back as strings, and missing values as empty strings; JSON lines and Parquet preserve them")
	}
}
