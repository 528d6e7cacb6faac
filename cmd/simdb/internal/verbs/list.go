package verbs

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/records/inputs"
)

// ListFlags are the flags of commands that list near-duplicates in a database or in files.
type ListFlags struct {
	app.SimilarityFlags
	app.EstimateFlag
	app.GroupFlags
	app.MemoryFlag
	app.RowFlags
	Sample  app.Quantity `placeholder:"N" help:"List near-duplicates among N documents drawn at random."`
	Seed    uint64       `default:"1" placeholder:"SEED" help:"Seed of --sample (default: 1)."`
	Columns wordColumns  `placeholder:"NAME,..." help:"Add columns: lacks (words of a, or of the document to keep, that the other document lacks) and adds (words that only the other one has), by a shortest alignment, each up to 200 characters; … marks words between."`
	Threads int          `placeholder:"N" help:"Processors to use; the rows do not depend on it (default: all)."`
	app.RowInputFlags
	app.RejectFlags
	app.FeatureFlags
	TempDir string `placeholder:"FOLDER" help:"Folder for temporary files (default: the system's)."`
}

// wordColumns are names of columns of words that differ.
type wordColumns []string

// UnmarshalText parses names separated by commas.
func (c *wordColumns) UnmarshalText(text []byte) error {
	var of dedup.Columns
	if err := of.UnmarshalText(text); err != nil || slices.ContainsFunc(of, func(name string) bool { return name != "lacks" && name != "adds" }) {
		return fmt.Errorf("%q: the columns to add are lacks and adds", text)
	}
	*c = wordColumns(of)
	return nil
}

// append appends the values of the columns, null where they are not known.
func (c wordColumns) append(row query.Row, lacks, adds *string) query.Row {
	for _, name := range c {
		v := lacks
		if name == "adds" {
			v = adds
		}
		if v == nil {
			row = append(row, nil)
		} else {
			row = append(row, *v)
		}
	}
	return row
}

// columns returns the columns of rows that begin with some columns.
func (f *ListFlags) columns(first ...string) []string {
	return append(f.Scored(f.Ruled(f.Levenshtein)).Columns(first...), f.Columns...)
}

// values returns the values of columns for the row that of has yielded last.
func (f *ListFlags) values(a *app.App, of *dedup.Documents, m engine.Match, first ...any) (query.Row, error) {
	row := f.Scored(f.Ruled(f.Levenshtein)).Values(m, first...)
	if f.Columns == nil {
		return row, nil
	}
	lacks, adds, ok, err := of.Words(a.Context())
	if !ok {
		return f.Columns.append(row, nil, nil), err
	}
	return f.Columns.append(row, &lacks, &adds), nil
}

// Validate checks the flags.
func (f *ListFlags) Validate() error {
	if f.Threads < 0 {
		return fmt.Errorf("--threads %d: use 1 or more", f.Threads)
	}
	if f.Grouped() && f.Sample > 0 {
		return errors.New("--sample draws documents without their files and fields: --rule, --agree, --distinct, --across and --within-field do not apply")
	}
	return f.CheckImages(f.FileFlags)
}

// useThreads applies --threads until the caller calls restore.
func (f *ListFlags) useThreads() (restore func()) {
	if f.Threads == 0 {
		return func() {}
	}
	before := runtime.GOMAXPROCS(f.Threads)
	return func() { runtime.GOMAXPROCS(before) }
}

// list opens the collection that the arguments name, and calls write to write the rows.
func (f *ListFlags) list(a *app.App, args []string, job dedup.Listing, write func(*dedup.Documents) error) (err error) {
	defer f.useThreads()()
	defer app.KeepTo(int64(f.Memory))()
	m := a.Meter()
	defer m.Stop()
	if job.Compared, err = f.Compared(); err != nil {
		return err
	}
	src, err := a.NewCollection(args, f.InputFlags, inputs.Access{OrFile: true, Near: (*int)(f.Near), Compared: job.Compared, Memory: int64(f.Memory)})
	if err != nil {
		return err
	}
	defer src.Stored.Close(&err)
	f.Settle(a, src.DB(), f.Images)
	whole := src.Stored != nil && !f.Grouped() && !f.Ruled(f.Levenshtein) && f.Sample == 0 && job.Compared.NotStored() == nil
	if f.Estimate && !whole {
		return errors.New("--estimate uses the sketches of a whole database; files and a --sample have none, and --rule, fields of --levenshtein, --agree, --distinct, --across, --within-field, --ignore, --ignore-common and --weights compare texts")
	}
	job.By = f.Criterion(f.Estimate)
	job.Rule, job.Agree, job.Distinct = f.Pair(f.Levenshtein), f.Agree, f.Distinct
	job.Across, job.WithinField, job.Sample, job.Seed = f.Across, f.WithinField, int64(f.Sample), f.Seed
	job.Words = f.Columns != nil
	job.Memory, job.TempDir = int64(f.Memory), f.TempDir
	job.Read, job.Rejects, job.Output = f.RowInputFlags.Options(), f.RejectFlags.Options(), f.Output
	start := time.Now()
	found, err := job.Open(a.Context(), a.Env(), src)
	if err != nil {
		return err
	}
	err = write(found)
	if m.Stop(); !found.Whole() && (err == nil || errors.Is(err, app.Status(app.ExitNo))) {
		f.say(a, src, found, start)
	}
	return found.Close(err)
}

// say prints a summary of files, or of a sample.
func (f *ListFlags) say(a *app.App, src *inputs.Sources, of *dedup.Documents, start time.Time) {
	a.Env().TellSkipped(src, of.Rejects)
	if of.Repeated > 0 {
		a.Say("%s had the id of an earlier one; each counts as a document, as in dedup", quantity.Count(of.Repeated, "document"))
	}
	if of.Bare > 0 {
		a.Say("%s with a fingerprint but no text, which match nothing; --near K compares fingerprints", quantity.Count(of.Bare, "document"))
	}
	of.Rejects.TellUTF8()
	if f.Sample > 0 {
		share := float64(of.Listed) / float64(max(of.Read, 1))
		a.Say("%s drawn at random with --seed %d, %.3g %% of all: they include about %.3g %% of all pairs",
			quantity.Count(of.Listed, "document"), f.Seed, 100*share, 100*share*share)
	}
	a.Say("%s read%s; %s", quantity.Count(of.Read, "document"), f.PictureNote(f.Near), app.Seconds(start))
}
