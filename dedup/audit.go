package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// auditParameters are the flags that decide which documents stay.
type auditParameters struct {
	Measures
	Rule        string      `json:"rule,omitempty"`
	Agree       []string    `json:"agree,omitempty"`
	Distinct    []string    `json:"distinct,omitempty"`
	Across      string      `json:"across,omitempty"`
	WithinField string      `json:"within_field,omitempty"`
	Keep        string      `json:"keep"`
	Against     []string    `json:"against,omitempty"`
	OnlyAgainst bool        `json:"only_against,omitempty"`
	AgainstText string      `json:"against_text_field,omitempty"`
	AgainstID   string      `json:"against_id_field,omitempty"`
	Decisions   *AuditInput `json:"decisions,omitempty"`
	Allowed     int64       `json:"allowed,omitempty"` // pairs that the databases of Against allow

	Shingle  string `json:"shingle,omitempty"` // empty if whole texts are compared
	Features string `json:"features,omitempty"`

	Weights      string  `json:"weights,omitempty"`
	Ignore       string  `json:"ignore,omitempty"`
	IgnoreCommon float64 `json:"ignore_common,omitempty"`

	Reading string `json:"reading,omitempty"`
}

// auditStarts are the first bytes of audits of this version and of earlier ones.
var auditStarts = []string{`{"simdb":`, `{"id":`}

// claimAudit checks that the audit may be written. A name that is derived from -o may only
// replace an earlier audit, since the user did not choose it.
func (d *job) claimAudit() error {
	path := d.c.AuditPath()
	if path == "" {
		return nil
	}
	err := d.env.Claim(option.Name("Audit"), path, outfile.JSONLines)
	if d.c.Audit != "" {
		return err
	}
	elsewhere := option.Name("Audit") + " names another place for the audit, " + option.Name("NoAudit") + " writes none"
	if err != nil {
		return fmt.Errorf("%w: %s", err, elsewhere)
	}
	f, err := place.Open(d.ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	head := make([]byte, len(auditStarts[0]))
	n, _ := io.ReadFull(f, head)
	isAudit := func(start string) bool { return strings.HasPrefix(string(head[:n]), start) }
	if n > 0 && !slices.ContainsFunc(auditStarts, isAudit) {
		err = fmt.Errorf("%s exists and is not an audit: %s", path, elsewhere)
	}
	return errors.Join(err, f.Close())
}

// audit writes audit rows in the order of the input. If a keeper may come after a document that
// is dropped for it, the inputs are read once more beforehand to find the places of keepers, so
// that no rows wait in memory.
type audit struct {
	places  bool      // places of keepers are needed, for an audit or for columns
	e       auditSink // nil if no audit is written
	keep    *rankings
	out     *outcome
	known   int64    // documents of Against
	keepers []*Place // by cluster; nil until the keeper has been read
	texts   *keeperTexts
	lacks   *string // of the last document
	adds    *string
	decided *decided
	gone    func(n int64) bool
}

// auditSink receives the lines of an audit.
type auditSink interface{ Encode(line any) error }

// auditFunc is an auditSink that receives only rows.
type auditFunc func(*AuditRow) error

// Encode calls f.
func (f auditFunc) Encode(line any) error { return f(line.(*AuditRow)) }

// newAudit starts the audit of a run.
func newAudit(d *job) (*audit, error) {
	a := &audit{known: d.known, keep: &d.keep, out: &d.out, gone: d.gone, decided: d.decided}
	if d.c.Audited != nil {
		a.e = auditFunc(d.c.Audited)
	}
	if a.places = d.auditTo != nil || a.e != nil || d.c.Columns != nil; a.places {
		a.keepers = make([]*Place, d.out.clusters)
		a.texts = newKeeperTexts(d)
	}
	if d.auditTo == nil {
		return a, nil
	}
	a.e = AuditEncoder(d.auditTo)
	inputs, err := d.digests.wait()
	if err != nil {
		return nil, err
	}
	decided, err := d.auditDecisions()
	if err != nil {
		return nil, err
	}
	parameters := d.parameters()
	if parameters.Decisions = decided; d.decided != nil {
		parameters.Allowed = d.decided.allowed
	}
	return a, a.e.Encode(AuditHead{Version: version.String(), Parameters: parameters, Against: d.auditKnown(), Inputs: inputs})
}

// parameters returns the parameters for the head of the audit.
func (d *job) parameters() auditParameters {
	p := auditParameters{
		Measures: d.Measures, Rule: d.c.Rule.String(), Agree: d.c.Agree, Distinct: d.c.Distinct, Across: d.c.Across, WithinField: d.c.WithinField,
		Keep: d.keep.rules.String(), Against: d.c.Against,
		OnlyAgainst: d.c.OnlyAgainst, AgainstText: d.c.AgainstTextField, AgainstID: d.c.AgainstIDField,
		Features: d.features.Describe(),
		Weights:  d.c.Compared.Weights, Ignore: d.c.Compared.Ignore, IgnoreCommon: d.c.Compared.IgnoreCommon,
		Reading: d.c.ReadingAs,
	}
	if d.c.Rule != nil {
		p.Measures = Measures{} // of a rule that is a criterion
	}
	if d.c.Where.Images == nil && !d.ofTexts() {
		p.Shingle = fmt.Sprintf("%s:%d", cmp.Or(d.features.Unit, "words"), d.params.Shingle)
	}
	return p
}

// tellAudit passes the audit of a dry run to Audited.
func (d *job) tellAudit() (err error) {
	if d.c.Audited == nil {
		return nil
	}
	a, err := newAudit(d)
	defer func() { err = cmp.Or(err, a.texts.close()) }()
	if err == nil && d.out.clusters > 0 {
		err = cmp.Or(d.placeKnown(a), d.placeKeepers(a))
	}
	if err != nil {
		return err
	}
	n := d.known
	return d.each("write", nil, func(_ records.Source, rec *records.Record) error {
		n++
		if d.out.kept(n-1) && d.out.cluster[n-1] == 0 {
			return nil
		}
		return a.member(n-1, rec)
	}, ignored)
}

// member records a document that belongs to a cluster, or is dropped without one.
func (a *audit) member(n int64, rec *records.Record) error {
	if !a.places {
		return nil
	}
	keeper := a.out.keeper[n]
	if keeper == nobody {
		if a.e == nil {
			return nil
		}
		row := RowOf(rec, "seen")
		row.Score, row.Exact = &a.out.score[n], new(true)
		return a.e.Encode(&row)
	}
	cluster := a.out.cluster[keeper]
	if int64(keeper) == n {
		a.keepers[cluster-1] = &Place{rec.Doc.ID, rec.File, rec.Pos}
		if err := a.texts.add(cluster, rec.Doc.Text); err != nil {
			return err
		}
		if a.e == nil || !a.gone(n) {
			return nil
		}
		row := RowOf(rec, "none")
		row.Cluster = new(a.out.name(cluster))
		return a.e.Encode(&row)
	}
	at := a.keepers[cluster-1]
	if at == nil {
		return inputs.ErrChanged
	}
	var err error
	if a.lacks, a.adds, err = a.texts.differ(cluster, rec.Doc.Text); err != nil || a.e == nil {
		return err
	}
	row := RowOf(rec, "against")
	row.Lacks, row.Adds = a.lacks, a.adds
	row.Cluster = new(a.out.name(cluster))
	row.keeps(at)
	if a.decided.is(keeper, DecisionKeep) || a.decided.is(uint32(n), DecisionDrop) {
		row.Rule = ruleDecided
	} else if int64(keeper) >= a.known {
		row.Rule = a.keep.ruleFor(int64(keeper) - a.known)
	}
	if a.out.distance != nil {
		row.Distance = &a.out.distance[n]
	}
	if a.out.score != nil {
		row.Score, row.Exact = &a.out.score[n], new(true)
	}
	return a.e.Encode(&row)
}

// issue records a line that can't be used.
func (a *audit) issue(_ records.Source, is *records.Issue) error {
	if a.e == nil {
		return nil
	}
	return a.e.Encode(RejectedRow(is))
}

// place records where document n stands if others are dropped for it, and increments n. If n
// reaches end, there are more documents than before, so the input has changed.
func (d *job) place(a *audit, n *int64, end int64, rec *records.Record) error {
	if *n == end {
		return inputs.ErrChanged
	}
	if c := d.out.cluster[*n]; c > 0 {
		a.keepers[c-1] = &Place{rec.Doc.ID, rec.File, rec.Pos}
		if err := a.texts.add(c, rec.Doc.Text); err != nil {
			return err
		}
	}
	*n++
	return nil
}

// placeKeepers records where the keepers stand, unless every keeper comes before all documents
// that are dropped for it.
func (d *job) placeKeepers(a *audit) error {
	if d.keep.rules[0].Name == "first" && d.Stored == nil && !d.decided.reorders() || d.out.dropped == 0 {
		return nil
	}
	n := d.known
	return d.each("choose documents to keep", nil, func(_ records.Source, rec *records.Record) error {
		return d.place(a, &n, d.known+d.read, rec)
	}, ignored)
}

// values returns the columns of document n. If it is in a cluster, member must have been called
// for it. Distance and score are null for a keeper, and where they are unknown.
func (a *audit) values(c Columns, n int64) []any {
	values := make([]any, len(c))
	keeper := a.out.keeper[n]
	if keeper == nobody {
		return []any{a.out.score[n]} // the only column
	}
	cluster := a.out.cluster[keeper]
	if cluster == 0 {
		return values
	}
	for i, name := range c {
		switch {
		case name == "cluster":
			values[i] = int64(a.out.name(cluster))
		case name == "size":
			values[i] = int64(a.out.sizes[cluster-1])
		case name == "keeper":
			values[i] = a.keepers[cluster-1].ID
		case int64(keeper) == n:
		case name == "distance" && a.out.distance != nil:
			values[i] = int64(a.out.distance[n])
		case name == "score" && a.out.score != nil:
			values[i] = a.out.score[n]
		case name == "lacks" && a.lacks != nil:
			values[i] = *a.lacks
		case name == "adds" && a.adds != nil:
			values[i] = *a.adds
		}
	}
	return values
}

// placeKnown records the positions of the known documents because of which others are dropped.
func (d *job) placeKnown(a *audit) error {
	n := int64(0)
	err := d.eachKnown(func(rec *records.Record) error { return d.place(a, &n, d.known, rec) }, ignored)
	if err == nil && n != d.known {
		err = inputs.ErrChanged
	}
	return err
}

// ignored is a badFunc for passes after the first one.
func ignored(records.Source, *records.Issue) error { return nil }
