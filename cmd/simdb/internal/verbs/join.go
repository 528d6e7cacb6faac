package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
)

// Join is `simdb join`.
type Join struct {
	DB   string `arg:"" file:"db" name:"db|file" help:"The database, or with --files or --images a file or folder; with --contains or --within also a file with documents."`
	File string `arg:"" file:"in" help:"A file with documents, fingerprints or ids of stored documents, or a database, or with --files or --images a folder of documents; - is standard input."`
	app.SimilarityFlags
	app.GroupFlags
	Columns  wordColumns `placeholder:"NAME,..." help:"Add columns: lacks (words of the stored document that the line lacks) and adds (words that only the line has), by a shortest alignment, each up to 200 characters; … marks words between."`
	IDs      bool        `name:"ids" help:"The lines are ids of stored documents."`
	Estimate bool        `group:"criterion" help:"With --jaccard: estimate similarities from sketches, which is faster; by default they are computed from the texts, if the database stores them."`
	app.RowInputFlags
	TextFieldB string `group:"input" name:"text-field-b" placeholder:"NAME,..." help:"Field with the text in the second file (default: as --text-field)."`
	IDFieldB   string `group:"input" name:"id-field-b" placeholder:"NAME" help:"Field with the id in the second file (default: as --id-field)."`
	app.FeatureFlags
	app.RejectFlags
	app.MemoryFlag
	app.RowFlags
}

// Help explains the rows.
func (Join) Help() string {
	return `Writes a row for each line and each stored document that it resembles, in the order of lines, best match first: query is the id of
the line (or its place, if it has none), id that of the stored document. A line names a stored document if --ids is given (then each line
is an id), or if it is a JSON object with only an id. A stored document does not match itself.

Lines are looked up in batches, which is much faster; on a pipe, lines that arrive during one lookup form the next batch.`
}

// Run writes the rows.
func (c *Join) Run(a *app.App) (err error) {
	start := time.Now()
	o := dedup.JoinOptions{Rule: c.Pair(c.Levenshtein), Agree: c.Agree, Distinct: c.Distinct, Across: c.Across, WithinField: c.WithinField, Words: c.Columns != nil, Memory: int64(c.Memory), IDs: c.IDs, Read: c.RowInputFlags.Options()}
	o.Check = func(in records.Source) error { return c.CheckInput(in) } // c at the time of the call: the criterion is settled later
	o.Of = o.Read
	if b := &o.Read; c.TextFieldB != "" || c.IDFieldB != "" || inputs.NamesFiles(c.DB) {
		b.TextField = cmp.Or(c.TextFieldB, b.TextField)
		if c.IDFieldB != "" {
			b.IDField, b.IDFrom = c.IDFieldB, ""
		}
		b.Called = map[string]string{"TextField": "TextFieldB", "IDField": "IDFieldB"}
	}
	o.Of.MakeID, o.Read.MakeID, o.Read.IDsOnly, o.Read.Answers = true, true, true, true
	if name := filepath.Base(c.File); c.IDs && o.Read.Format == records.Auto && (!strings.Contains(name, ".") || strings.HasSuffix(name, ".txt")) {
		o.Read.Format = "txt" // ids may look like fingerprints
	}
	src, err := a.NewCollection([]string{c.File}, c.InputFlags, inputs.Access{})
	if err != nil {
		return err
	}
	defer src.Stored.Close(&err)
	if err := src.One(c.File); err != nil {
		return err
	}
	if src.Stored != nil {
		o.Read.Need = records.NeedDoc
	}
	if src.Stored != nil && (c.TextFieldB != "" || c.IDFieldB != "") {
		return fmt.Errorf("--text-field-b and --id-field-b name fields of a file: %s is a database", c.File)
	}
	if src.Stored != nil && c.IDs {
		return fmt.Errorf("--ids: %s is a database, not a list of ids", c.File)
	}
	defer app.KeepTo(int64(c.Memory))()
	m := a.Meter()
	defer m.Stop()
	o.Rejects = a.NewRejects(c.RejectFlags, c.Output)
	err = c.open(a, src, &o)
	defer o.Stored.Close(&err)
	if err != nil {
		return err
	}
	j, err := dedup.NewJoin(a.Context(), a.Env(), src, o)
	if err != nil {
		return err
	}
	defer j.Close()
	found, err := a.RowsTo(c.RowFlags, append(c.measure().Columns("query", "id"), c.Columns...), func(w *output.Writer) error {
		for rows, err := range j.Rows(a.Context()) {
			for i := 0; i < len(rows) && err == nil; i++ {
				r := &rows[i]
				err = w.Row(c.Columns.append(c.measure().Values(r.Match, r.Query, r.ID), r.Lacks, r.Adds)...)
			}
			if err == nil && src.Piped() { // the writer of the pipe may wait for the rows
				err = w.Flush()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	m.Stop()
	a.Env().TellSkipped(src, o.Rejects)
	a.Say("%s read, %s with a match%s; %s", quantity.Count(j.Read, "line"), quantity.Number(j.Matched), c.PictureNote(c.Near), app.Seconds(start))
	o.Rejects.TellUTF8()
	return o.Rejects.Close(app.FoundOr(found, cmp.Or(err, j.Check())))
}

// open opens the collection, and sets the options so that lines are read like its documents.
func (c *Join) open(a *app.App, src *inputs.Sources, o *dedup.JoinOptions) (err error) {
	what, _ := engine.Identifier()(c.DB)
	folder := c.OfFiles() && what == "" && inputs.Exists(c.DB)
	if (folder || inputs.NamesFiles(c.DB)) && (c.Contained() || c.Ruled(c.Levenshtein) || !c.OfFiles()) {
		return c.openFiles(a, o)
	}
	if o.By = c.Criterion(false); c.Images != nil {
		o.By = engine.Near(0) // it uses as many workers as the criterion of pictures
	}
	compared, err := c.Compared()
	if err != nil {
		return err
	}
	if o.Compared = compared; c.Estimate && (compared.Ignores() || c.Ruled(c.Levenshtein)) {
		return errors.New("--estimate uses sketches, which are of all shingles: --rule, --agree, --distinct, --ignore and --ignore-common compare texts")
	}
	path, how := c.DB, inputs.Access{Near: (*int)(c.Near), Compared: compared, Images: c.Images, Memory: o.Memory / int64(o.Workers())}
	if folder {
		path, err = c.load(a, *o, how)
	}
	if err == nil {
		o.Stored, err = a.Env().OpenStored(path, how)
	}
	if err != nil {
		return err
	}
	o.Stored.Path = c.DB
	c.Settle(a, o.Stored.DB, c.Images)
	params := o.Stored.DB.Options()
	o.By, o.Read.Bits = c.Criterion(c.Estimate), params.Bits
	if c.IDs {
		return nil
	}
	return cmp.Or(inputs.ReadFeatures(&o.Read, params.Features), src.Stored.ReadsAs(params.Features, c.DB))
}

// measure returns the criterion by which rows measure matches.
func (c *Join) measure() app.CriterionFlags {
	return c.Scored(c.Ruled(c.Levenshtein) || c.Ignore != "" || c.IgnoreCommon != 0)
}

// load loads the files that the first argument names into a temporary database.
func (c *Join) load(a *app.App, o dedup.JoinOptions, how inputs.Access) (path string, err error) {
	src, err := a.NewSources([]string{c.DB}, c.InputFlags)
	if err != nil {
		return "", err
	}
	if path, err = a.TempDirIn(""); err != nil {
		return "", err
	}
	path = filepath.Join(path, "files.simdb")
	err = dedup.LoadFiles(a.Context(), a.Env(), src, path, how, inputs.Reading{Stage: "read", Options: o.Of, Rejects: o.Rejects}, o.Memory)
	a.Env().TellSkipped(src, o.Rejects)
	return path, err
}

// openFiles opens the files that the first argument names.
func (c *Join) openFiles(a *app.App, o *dedup.JoinOptions) error {
	if !c.Contained() && !c.Ruled(c.Levenshtein) {
		return fmt.Errorf("%s: %w; without --files or --images, files can be joined only by --contains, --within and --rule", c.DB, engine.ErrNotDatabase)
	}
	if c.IDs {
		return fmt.Errorf("--ids needs a database: %s is a file", c.DB)
	}
	if c.DB == "-" && c.File == "-" {
		return errors.New("standard input (-) can be read only once")
	}
	params, said, err := c.Params(0)
	compared, failed := c.Compared()
	if err = cmp.Or(err, failed); err == nil {
		err = cmp.Or(inputs.ReadFeatures(&o.Read, said), inputs.ReadFeatures(&o.Of, said))
	}
	if err != nil {
		return err
	}
	o.By = c.Criterion(false)
	o.Read.IDsOnly = false // ids name stored documents
	if o.Files, err = a.NewSources([]string{c.DB}, c.InputFlags); err != nil {
		return err
	}
	dir, err := a.TempDirIn("")
	if err != nil {
		return err
	}
	if err := a.Env().Reread(a.Context(), o.Files, dir); err != nil {
		return err
	}
	w := inputs.Weighing{Inputs: o.Files, Read: o.Of, Memory: o.Memory, Dir: dir}
	w.Each = func(count func(*engine.Doc) error) error {
		return a.Env().EachInput(a.Context(), o.Files, inputs.Reading{
			Stage: "count features", Options: o.Of, Record: func(_ records.Source, rec *records.Record) error { return count(&rec.Doc) },
		})
	}
	err = a.Env().Weigh(a.Context(), compared, &params, w)
	o.Params, o.Compared = params, compared
	return err
}
