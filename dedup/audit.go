package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// auditParameters are the flags that decide what is kept.
type auditParameters struct {
	Measures
	Across      string      `json:"across,omitempty"`
	WithinField string      `json:"within_field,omitempty"`
	Keep        string      `json:"keep"`
	Against     []string    `json:"against,omitempty"`
	Decisions   *AuditInput `json:"decisions,omitempty"`
	Allowed     int64       `json:"allowed,omitempty"` // pairs of the databases of Against

	Shingle  string `json:"shingle,omitempty"` // not of measures of whole texts
	Features string `json:"features,omitempty"`
	Reading  string `json:"reading,omitempty"`
}

// auditStarts are how the audits of this version and of earlier ones begin.
var auditStarts = []string{`{"simdb":`, `{"id":`}

// claimAudit checks that the audit may be written. If its name is derived from -o, only an earlier
// audit is replaced, as the user has not named it.
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
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	head := make([]byte, len(auditStarts[0]))
	n, _ := f.ReadAt(head, 0)
	isAudit := func(start string) bool { return strings.HasPrefix(string(head[:n]), start) }
	if n > 0 && !slices.ContainsFunc(auditStarts, isAudit) {
		err = fmt.Errorf("%s is there and is no audit: %s", path, elsewhere)
	}
	return errors.Join(err, f.Close())
}

// audit writes audit rows in the order of the input. Where a document may be kept that comes later
// than one that is dropped for it, the inputs are read once more before, for the places of keepers,
// so that no rows wait in memory.
type audit struct {
	places  bool      // keepers are wanted, for an audit or for columns
	e       auditSink // nil: no audit is written
	keep    *rankings
	out     *outcome
	known   int64    // documents of Against
	keepers []*Place // of each cluster; nil until it is met
	decided *decided
	gone    func(n int64) bool
}

// auditSink takes the lines of an audit.
type auditSink interface{ Encode(line any) error }

// auditFunc is an auditSink of rows alone.
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

// parameters are those of the head of the audit.
func (d *job) parameters() auditParameters {
	p := auditParameters{
		Measures: d.Measures, Across: d.c.Across, WithinField: d.c.WithinField,
		Keep: d.keep.rules.String(), Against: d.c.Against,
		Features: d.features.Describe(),
		Reading:  d.c.ReadingAs,
	}
	if d.c.Where.Images == nil && !d.ofTexts() {
		p.Shingle = fmt.Sprintf("%s:%d", cmp.Or(d.features.Unit, engine.UnitWords), d.params.Shingle)
	}
	return p
}

// tellAudit gives Audited the audit of a dry run.
func (d *job) tellAudit() error {
	if d.c.Audited == nil {
		return nil
	}
	a, err := newAudit(d)
	if err == nil {
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

// member takes note of a document of a cluster.
func (a *audit) member(n int64, rec *records.Record) error {
	if !a.places {
		return nil
	}
	keeper := a.out.keeper[n]
	cluster := a.out.cluster[keeper]
	if int64(keeper) == n {
		a.keepers[cluster-1] = &Place{rec.Doc.ID, rec.File, rec.Pos}
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
	if a.e == nil {
		return nil
	}
	row := RowOf(rec, "against")
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

// issue takes note of a line that can't be used.
func (a *audit) issue(_ records.Source, is *records.Issue) error {
	if a.e == nil {
		return nil
	}
	return a.e.Encode(RejectedRow(is))
}

// place notes where a document stands if it is kept and others are dropped for it, and counts it in n.
// There are as many as there were, before number end.
func (d *job) place(a *audit, n *int64, end int64, rec *records.Record) error {
	if *n == end {
		return inputs.ErrChanged
	}
	if c := d.out.cluster[*n]; c > 0 {
		a.keepers[c-1] = &Place{rec.Doc.ID, rec.File, rec.Pos}
	}
	*n++
	return nil
}

// placeKeepers notes where the documents stand that are kept, unless each comes before all that are
// dropped for it.
func (d *job) placeKeepers(a *audit) error {
	if d.keep.rules[0].Name == "first" && d.Stored == nil && !d.decided.reorders() || d.out.dropped == 0 {
		return nil
	}
	n := d.known
	return d.each("find what is kept", nil, func(_ records.Source, rec *records.Record) error {
		return d.place(a, &n, d.known+d.read, rec)
	}, ignored)
}

// values are those of document n, after member was given it if it is in a cluster. Distance and
// score are null for a keeper, and where they are not known.
func (a *audit) values(c Columns, n int64) []any {
	values := make([]any, len(c))
	keeper := a.out.keeper[n]
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
		}
	}
	return values
}

// placeKnown notes where the known documents stand that others are dropped for.
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
