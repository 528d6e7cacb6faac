package dedup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// A Part is a run on some of the inputs of a job that many workers share. It makes the same passes
// without the join; instead it receives the results that concern its documents. These are numbered
// from 0. As with an output folder, the kept records of each input go to their own file.
type Part struct{ d *job }

// Tally is the counts and inputs of a Part. The tallies of all Parts add up.
type Tally struct {
	Documents, Textual, Given, Empty int64 // all; with a text, with their own fingerprint, with neither
	Dropped, Kept                    int64
	Rejected                         int64
	Words                            int // in a fingerprint
	Inputs                           []AuditInput
	Against                          []AuditInput
	Flawed                           []bool   // by index in Inputs
	Outputs                          []string // names of files
	Fields                           []string // of a rule: those that some document has
}

// Add adds the tally of another Part, whose inputs come later.
func (t *Tally) Add(o Tally) error {
	if t.Words > 0 && o.Words > 0 && t.Words != o.Words {
		return fmt.Errorf("some inputs have fingerprints of %d bits, others of %d", 64*t.Words, 64*o.Words)
	}
	t.Documents, t.Textual, t.Given, t.Empty = t.Documents+o.Documents, t.Textual+o.Textual, t.Given+o.Given, t.Empty+o.Empty
	t.Dropped, t.Kept, t.Rejected, t.Words = t.Dropped+o.Dropped, t.Kept+o.Kept, t.Rejected+o.Rejected, max(t.Words, o.Words)
	t.Inputs, t.Against, t.Flawed = append(t.Inputs, o.Inputs...), append(t.Against, o.Against...), append(t.Flawed, o.Flawed...)
	t.Outputs, t.Fields = append(t.Outputs, o.Outputs...), append(t.Fields, o.Fields...)
	return nil
}

// Criterion says which texts are near-duplicates.
type Criterion = corpus.Criterion

// Criterion returns the criterion that finds the near-duplicates, among which a rule may choose.
func (c *Job) Criterion() Criterion {
	if rule, t, err := c.sharedRule(); rule != nil && err == nil {
		return Criterion{Sets: true, T: t}
	}
	x := c.criteria()
	return x.criterion()
}

// NewPart prepares a run on files, which it knows under other names. Its outputs go to a folder.
func (c Job) NewPart(ctx context.Context, env *inputs.Env, names, files []string, dir string) (*Part, error) {
	c.Output = dir + string(filepath.Separator)
	d, err := c.start(ctx, env)
	if err != nil {
		return nil, err
	}
	if err := inputs.ReadFeatures(&d.opt, d.features); err != nil {
		return nil, err
	}
	if d.Sources, err = inputs.FileSources(files); err == nil && len(d.Files) != len(names) {
		err = errors.New("a file has two of the names")
	}
	if err != nil {
		return nil, err
	}
	if d.Names = names; d.rule != nil {
		d.Measures = MeasuresOf(engine.Jaccard(c.Criterion().T))
	}
	if _, err := d.makeFolder(); err != nil {
		return nil, err
	}
	if err := d.folder.MakeParents(names); err != nil {
		return nil, err
	}
	if _, _, d.formats, err = inputs.ProbeAll(len(d.Files), false, d.begins); err != nil {
		return nil, err
	}
	if d.params.Real() {
		return nil, invalid("many workers compare features of whole weights: leave out fractions in %s", option.Name("Fields"))
	}
	d.rejects = env.NewRejects(ctx, c.Rejects, c.Output)
	d.rejects.Part = true
	return &Part{d}, nil
}

// Extract is the first pass. For each document it calls place with the document's position, and if
// Job.Ruled with the document for a RuledPart, and later each with its features, in slices that it reuses.
func (p *Part) Extract(dir string, place func(at Place, document []byte) error, each func(elements, prints []uint64) error) (t Tally, err error) {
	d := p.d
	c := d.newCorpus(dir, false)
	defer c.Close()
	d.digests = d.newDigests()
	defer d.digests.stop()
	x := corpus.NewExtractor(d.ctx, d.params, c)
	defer x.Stop()
	rule, _, err := d.c.sharedRule()
	if err != nil {
		return t, err
	}
	var document []byte
	var has *found
	if rule != nil {
		has = foundIn(rule)
	}
	err = d.readAll(func(rec *records.Record) error {
		if rule != nil {
			has.add(&rec.Doc, d.opt.TextFields())
			document = appendDocument(document[:0], rec, len(has.fields) > 0)
		}
		if err := place(Place{rec.Doc.ID, rec.File, rec.Pos}, document); err != nil {
			return err
		}
		return x.Add(&rec.Doc, nil)
	})
	if err == nil {
		err = x.Finish()
	}
	if err == nil {
		err = inputs.CheckDistance(d.Near, max(64*len(c.Fingerprints), d.c.Compared.Bits))
	}
	if err := d.closeRejects(err); err != nil {
		return t, err
	}
	t = Tally{Documents: d.read, Textual: c.Textual, Given: c.Given, Empty: c.EmptyFrom(0), Rejected: d.rejects.N, Words: len(c.Fingerprints), Flawed: d.flawed}
	if rule != nil {
		t.Fields = has.names()
	}
	if t.Inputs, err = d.digests.wait(); err != nil {
		return t, err
	}
	return t, c.Each(each)
}

// closeRejects completes the files of rejects. The whole job decides whether rejects are an
// error.
func (d *job) closeRejects(err error) error {
	err = d.rejects.Close(err)
	if errors.Is(err, inputs.ErrRejected) {
		return nil
	}
	return err
}

// A PartMember is a document of a cluster.
type PartMember struct {
	Doc     uint32 // its number in the Part
	Cluster uint32 // its number in the whole job
	Size    uint32
	Keeper  Place
	Kept    bool    // the document is the keeper
	Score   float64 // similarity with the keeper, or distance in bits
	// Similarity of the texts with the keeper's, for Near; negative if there are none.
	Similarity float64
}

// Write is the second pass: it copies the kept records, and writes the rows of the audit. It
// needs the Tally of the first pass.
func (p *Part) Write(t Tally, members []PartMember, auditTo io.Writer) (Tally, error) {
	d := p.d
	d.read, d.flawed = t.Documents, t.Flawed
	o := &d.out
	o.keeper = make([]uint32, d.read)
	for n := range o.keeper {
		o.keeper[n] = uint32(n)
	}
	a := &audit{places: true, e: AuditEncoder(auditTo), keep: &d.keep, out: o, gone: d.gone}
	o.score = make([]float64, d.read)
	if d.Near != nil {
		o.distance = make([]uint16, d.read)
	}
	unscored, numbers := false, map[uint32]uint32{} // clusters: from the number in the job to the number here
	o.cluster = make([]uint32, d.read)              // first the keepers of this Part, then those of other Parts
	cluster := func(m PartMember) uint32 {
		n, ok := numbers[m.Cluster]
		if !ok {
			o.names, o.sizes, a.keepers = append(o.names, m.Cluster), append(o.sizes, m.Size), append(a.keepers, &m.Keeper)
			n = uint32(len(o.names))
			numbers[m.Cluster] = n
		}
		return n
	}
	keepers := map[uint32]uint32{} // by cluster number here
	for _, m := range members {
		if m.Kept {
			o.cluster[m.Doc] = cluster(m)
			keepers[o.cluster[m.Doc]] = m.Doc
		}
	}
	for _, m := range members {
		if m.Kept {
			continue
		}
		n := cluster(m)
		keeper, ok := keepers[n]
		if !ok {
			keeper = uint32(len(o.cluster))
			keepers[n], o.cluster = keeper, append(o.cluster, n)
		}
		o.dropped++
		o.keeper[m.Doc], o.score[m.Doc] = keeper, m.Score
		if d.Near != nil {
			o.distance[m.Doc], o.score[m.Doc] = uint16(m.Score), m.Similarity
			unscored = unscored || m.Similarity < 0
		}
	}
	if unscored {
		o.score = nil
	}
	return p.copy(a)
}

// AuditHead returns the first line of the audit of a whole job, given its Tally.
func (c *Job) AuditHead(t Tally) (AuditHead, error) {
	d := &job{c: c, criteria: c.criteria()}
	d.keep.rules = c.Rules()
	var err error
	d.params, d.features, err = c.Compared.Params(0)
	head := AuditHead{Version: version.String(), Parameters: d.parameters(), Against: t.Against, Inputs: t.Inputs}
	if c.level() != units.Document {
		head.Parameters = d.levelParameters()
	}
	return head, err
}
