package dedup

import (
	"encoding/json"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/outfile"
)

// listing writes the cluster of every document, in the order of the input.
type listing struct {
	w   *outfile.Writer // nil: none is wanted
	e   *json.Encoder
	out *outcome
}

// listed is a line of a listing.
type listed struct {
	ID      string         `json:"id"`
	File    string         `json:"file"`
	Line    input.Position `json:"line"`
	Cluster *uint32        `json:"cluster"`
	Size    uint32         `json:"size"`
	Keep    bool           `json:"keep"`
}

// newListing starts the listing of a run.
func newListing(d *job) *listing {
	l := &listing{w: d.clustersTo, out: &d.out}
	if l.w != nil {
		l.e = json.NewEncoder(l.w)
		l.e.SetEscapeHTML(false)
	}
	return l
}

// add adds document n.
func (l *listing) add(n int64, rec *input.Record) error {
	if l.w == nil {
		return nil
	}
	row := listed{ID: rec.Doc.ID, File: rec.File, Line: rec.Pos, Size: 1, Keep: l.out.kept(n)}
	if c := l.out.cluster[l.out.keeper[n]]; c > 0 {
		row.Cluster, row.Size = &c, l.out.sizes[c-1]
	}
	return l.e.Encode(row)
}
