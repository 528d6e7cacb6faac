package compaction

import (
	"github.com/simdb/simdb/internal/table"
)

// Options are the parameters of the policy; zero values mean the defaults.
type Options struct {
	Fanout    int     // number of tables at which a tier is merged, at least 2; default 4
	DeadShare float64 // share of dead documents at which a table is rewritten; default 0.3
	Smallest  int64   // in bytes; all smaller tables count as one tier; default 4 MiB

	// MaxBytes and MaxDocs are the limits of the result of a merge; the defaults are 4 GiB and the
	// limit of the format. A merge of one table, which only drops documents, may exceed MaxBytes.
	MaxBytes, MaxDocs int64

	// MaxTables is the number of tables, not counting those that are more than half full, above
	// which tables are merged although no tier is full; default 12.
	MaxTables int

	Expired int64 // documents older than this, microseconds since 1970, have expired; 0 for none
	TTL     int64 // time to live in microseconds; 0 for none
	Windows int   // number of windows into which a time to live is divided; default 5

	// Slack is the ratio of dead and expired documents to living ones, in a database with a time to
	// live, above which tables are rewritten; default 0.2.
	Slack float64
}

func (o Options) withDefaults() Options {
	if o.Fanout < 2 {
		o.Fanout = 4
	}
	if o.DeadShare <= 0 {
		o.DeadShare = 0.3
	}
	if o.Smallest <= 0 {
		o.Smallest = 4 << 20
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 4 << 30
	}
	if o.MaxDocs <= 0 {
		o.MaxDocs = table.MaxDocs
	}
	if o.MaxTables <= 0 {
		o.MaxTables = 12
	}
	if o.Windows <= 0 {
		o.Windows = 5
	}
	if o.Slack <= 0 {
		o.Slack = 0.2
	}
	return o
}

// Fit reports whether the living documents of tables fit into one table.
func (o Options) Fit(tables []Table) bool {
	var all extent
	for i := range tables {
		all = all.plus(tables[i].living())
	}
	return o.withDefaults().fits(all)
}

// Full reports whether t is more than half full. Such a table is not merged with others.
func (o Options) Full(t Table) bool {
	e := t.living()
	return !o.withDefaults().fits(e.plus(e))
}

// fits reports whether e is within the limits. o must have its defaults.
func (o Options) fits(e extent) bool { return e.bytes <= o.MaxBytes && e.docs <= o.MaxDocs }

// An extent is the size of the result of a merge, as far as it can be known: bytes are estimated by
// the living share of the documents.
type extent struct{ bytes, docs int64 }

func (e extent) plus(f extent) extent { return extent{e.bytes + f.bytes, e.docs + f.docs} }
