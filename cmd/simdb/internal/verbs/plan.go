package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/dedup/tune"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Plan is `simdb plan`.
type Plan struct {
	Files  []string     `arg:"" file:"in" optional:"" name:"file" help:"Files with documents, or with --files or --images the documents themselves, which are counted; - is standard input."`
	N      app.Quantity `xor:"what" placeholder:"N" help:"Plan for N uniform fingerprints instead, such as 1e9."`
	K      app.Distance `short:"k" default:"3" placeholder:"K" help:"Distance of the searches, in bits (default: 3)."`
	Layout []app.Layout `placeholder:"M:C" help:"Layouts to compare (default: 2:1, 3:1, 4:1, 5:1, 8:1, 5:2, 6:3, 8:2, 4x4)."`
	Memory app.Memory   `default:"auto" placeholder:"SIZE" help:"Memory to forecast load and dedup with (default: the default of these commands)."`
	app.RowInputFlags
	app.RejectFlags
	app.FeatureFlags
	app.RowFlags

	rejects *inputs.Rejects
	layouts []table.Layout
	words   int // words of a fingerprint
}

// Help explains the columns.
func (Plan) Help() string {
	return `A layout says how many permuted tables a database has and which bits lead them; every layout answers every distance. The
columns are the bytes per fingerprint of all tables, and, for one search on one core, the ranges looked up (probes), the fingerprints
compared (candidates) and the expected time (us). They come from formulas with costs measured on other, idle machines. Fingerprints
are assumed to be uniform, and to have 64 bits unless --bits or the files say otherwise. The recommended layout is the one that
simdb load chooses.

For files it counts the documents and also forecasts the time, memory and disk that simdb load needs, and for texts simdb dedup.
Memory does not include the page cache, which the system can reclaim. From a sample, it warns if a family of similar documents
lies close to the threshold of dedup, which then keeps some and drops others.`
}

// Validate checks the arguments.
func (c *Plan) Validate() error {
	if (len(c.Files) > 0) == (c.N > 0) {
		return errors.New("name files, or give --n N")
	}
	c.layouts = table.Layouts()
	if len(c.Layout) > 0 {
		c.layouts = nil
	}
	for _, l := range c.Layout {
		c.layouts = append(c.layouts, l.Layout)
	}
	return nil
}

// Run compares the layouts.
func (c *Plan) Run(a *app.App) error {
	c.rejects = a.NewRejects(c.RejectFlags, c.Output)
	return c.rejects.Close(c.run(a))
}

func (c *Plan) run(a *app.App) error {
	n := int64(c.N)
	c.words = max(1, int(c.Bits)/base.FingerprintBits)
	if len(c.Files) > 0 {
		size, err := c.count(a)
		if err != nil {
			return err
		}
		if n = size.prints; n == 0 {
			return errors.New("the files have no fingerprints: no text has words")
		}
		c.words = max(c.words, size.words)
	}
	if err := inputs.CheckDistance((*int)(&c.K), base.FingerprintBits*c.words); err != nil {
		return fmt.Errorf("-k: %w", err)
	}
	var all []table.Estimate
	for _, l := range c.layouts {
		if a.Interrupted() {
			return app.ErrInterrupted
		}
		e, err := c.estimate(l, n)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	return c.show(a, n, all)
}

// estimate returns the cost of a search among n uniform fingerprints, in as many tables as these
// need. The distance is distributed evenly over the words, of which at most k+1 are searched.
func (c *Plan) estimate(l table.Layout, n int64) (table.Estimate, error) {
	parts := (n + table.MaxDocs - 1) / table.MaxDocs
	searched := min(c.words, int(c.K)+1)
	e, err := table.EstimateNear(l, n/parts, (int(c.K)+searched)/searched-1)
	times := float64(parts * int64(searched))
	e.Probes, e.Candidates = e.Probes*times, e.Candidates*times
	e.Cost = e.Cost*times + searchBase
	e.Bytes = bytesOf(e.Bytes, c.words)
	return e, err
}

// bytesOf returns the size of a fingerprint of several words, given the size of one with a single
// word.
func bytesOf(one float64, words int) float64 {
	const column = 10 // bytes of each further word in the column by document, in addition to its tables
	return one*float64(words) + column*float64(words-1)
}

// searchBase is the time of a search outside the tables, in nanoseconds: for the view, the rows,
// and the IDs of matches, which are not cached.
const searchBase = 650

// show writes the estimates and recommends one.
func (c *Plan) show(a *app.App, n int64, all []table.Estimate) error {
	made := table.ChooseLayout(min(n, table.MaxDocs))
	columns := []string{"layout", "tables", "bytes", "method", "probes", "candidates", "us", "recommended"}
	var rows []query.Row
	for _, e := range all {
		rows = append(rows, query.Row{
			e.Layout.String(), e.Tables, app.Rounded(e.Bytes, 2), e.Method, int64(math.Round(e.Probes)), int64(math.Round(e.Candidates)),
			app.Rounded(e.Cost/1e3, 2), e.Layout == made,
		})
	}
	_, err := a.Rows(c.RowFlags, columns, app.Fixed(rows...))
	e, failed := c.estimate(made, n)
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	parts := ""
	if n > table.MaxDocs {
		parts = fmt.Sprintf(", in %d tables, because one holds at most %s documents", (n+table.MaxDocs-1)/table.MaxDocs, quantity.Number(table.MaxDocs))
	}
	a.Say("%s, distance %d: simdb load makes layout %v, which needs %s and about %.2g us per search%s",
		quantity.Count(n, "fingerprint"), c.K, made, quantity.Bytes(int64(e.Bytes*float64(n))), e.Cost/1e3, parts)
	return nil
}

// count reads the files, predicts the cost of load and dedup, and returns the size of the files.
func (c *Plan) count(a *app.App) (size planSize, err error) {
	s, err := a.NewSources(c.Files, c.InputFlags)
	if err != nil {
		return size, err
	}
	params, of, err := c.FeatureFlags.Params(0)
	if err != nil {
		return size, err
	}
	opt := c.RowInputFlags.Options()
	opt.MakeID, opt.Bits, size.words = true, int(c.Bits), c.words
	if err := inputs.ReadFeatures(&opt, of); err != nil {
		return size, err
	}
	m := a.Meter()
	defer m.Stop()
	docs, _, err := tune.Draw(tune.Documents{Each: func(_ string, f func(*engine.Doc) error) error {
		return a.Env().EachInput(a.Context(), s, inputs.Reading{
			Stage: "count documents", Options: opt, Rejects: c.rejects,
			Record: func(_ records.Source, rec *records.Record) error {
				size.add(&rec.Doc)
				return f(&rec.Doc)
			},
		})
	}}, planSample, 1, int64(c.Memory)/8)
	if err != nil {
		return size, err
	}
	m.Stop()
	a.Env().TellSkipped(s, c.rejects)
	if err := c.rejects.Nothing(); err != nil {
		return size, err
	}
	size.say(a, c.Memory)
	return size, c.warn(a, params, docs)
}

// planSample is the number of documents that are compared with each other for the warning.
const planSample = 1000

// warn prints a warning if many documents of a sample are so similar to many others that the
// threshold of dedup cuts through them.
func (c *Plan) warn(a *app.App, params features.Params, docs []engine.Doc) error {
	of := tune.Documents{Params: params, Each: func(_ string, f func(*engine.Doc) error) error {
		for i := range docs {
			if err := f(&docs[i]); err != nil {
				return err
			}
		}
		return nil
	}}
	r, err := tune.Compare(a.Context(), of, docs, int64(len(docs)), int64(c.Memory)/2)
	if err != nil {
		return err
	}
	if share := r.Cut(planSample / 100); share > 0.05 {
		a.Say("warning: %.0f %% of the sampled documents have many neighbours with similarities just above and just below 0.8: "+
			"dedup keeps many near-duplicates, and takes longer; simdb tune FILE helps to choose a threshold", 100*share)
	}
	return nil
}

// planSize is the size of the content of files. Formulas predict the cost of load and dedup from
// it; their constants fit texts of some hundred words.
type planSize struct {
	documents int64
	prints    int64 // documents with a fingerprint or a text
	words     int   // words of the longest fingerprint
	texts     int64 // bytes
	others    int64 // bytes of IDs and fields
}

// add counts a document.
func (s *planSize) add(d *engine.Doc) {
	s.documents++
	has := d.Fingerprints != nil
	s.words = max(s.words, 1)
	if has {
		s.words = max(s.words, len(d.Fingerprints[0]))
	}
	for range (token.Rules{}).Split(d.Text) {
		has = true
		break
	}
	if has {
		s.prints++
	}
	s.texts += int64(len(d.Text))
	s.others += int64(len(d.ID) + len(d.Fields))
}

// load estimates the processor time of a load, and the bytes on disk.
func (s *planSize) load() (cpu time.Duration, disk int64) {
	cpu = time.Duration(2500*s.documents + 18*(s.texts+s.others))
	if e, err := table.EstimateNear(table.ChooseLayout(min(s.prints, table.MaxDocs)), max(s.prints, 1), 3); err == nil {
		disk = int64(bytesOf(e.Bytes, s.words) * float64(s.prints))
	}
	disk += 10*s.documents + s.others + 9*s.texts/20
	if s.texts > 0 {
		disk += min(400*s.documents, s.texts) // sketches
	}
	return cpu, disk
}

// say prints the cost of load and dedup.
func (s *planSize) say(a *app.App, memory app.Memory) {
	cpu, disk := s.load()
	held := min(loading.WithSpare(memory), (s.texts+s.others)*8/5+40*s.documents) + loading.BesideMemory
	a.Say("%s: load needs about %s of processor time, %s of memory (--memory %s), and %s of disk, temporarily twice as much",
		quantity.Count(s.documents, "document"), roughly(cpu), quantity.Bytes(held), quantity.Bytes(int64(memory)), quantity.Bytes(disk))
	if s.texts > 0 {
		cpu, held, disk := dedup.Cost(s.documents, s.texts, int64(memory))
		a.Say("%s: dedup --jaccard 0.8 needs about %s of processor time, %s of memory (--memory %s) and %s of temporary files",
			quantity.Count(s.documents, "document"), roughly(cpu), quantity.Bytes(held), quantity.Bytes(int64(memory)), quantity.Bytes(disk))
	}
}

// roughly returns a time in words: 3 s, 4.5 min.
func roughly(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.2g s", max(d.Seconds(), 0.1))
	case d < 2*time.Hour:
		return fmt.Sprintf("%.2g min", d.Minutes())
	}
	return fmt.Sprintf("%.2g h", d.Hours())
}
