package rulejoin

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/docfield"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/pairrule"
)

// A Search finds the stored documents that match others by a rule.
type Search struct {
	Rule    *pairrule.Rule
	Options Options
	Index   []string // engine.Options.Index: the indexed fields
	Text    []string // the fields that make up the texts of documents that are looked up; Options has those of the stored ones
	Join    JoinOptions

	fields []*field // of the rule
}

// Unknown returns a field that the rule names and that none of the compared documents has, or nil.
func (s *Search) Unknown() *docfield.Field {
	for _, f := range s.fields {
		if !f.found {
			return &f.of
		}
	}
	return nil
}

// A Found is a document that matches another one.
type Found struct {
	ID    string
	Score float64
}

// Drivers of a search: what lists the documents that may match by a branch.
const (
	byCriterion = iota // a search of the database, by a similarity of the texts
	byIndex            // an indexed field
	byScan             // all documents that are equal in what must be equal
)

// driver returns how documents are listed for a branch, and by which atom. If it is -1, the branch has
// no equality, so that a scan lists all documents.
func (s *Search) driver(branch []pairrule.Literal) (how, atom int) {
	how, atom = byScan, -1
	for _, l := range branch {
		a := &s.Rule.Atoms[l.Atom]
		switch {
		case l.Not:
		case a.Kind == pairrule.Equal && a.Of == pairrule.Value && !a.Distinct && how != byIndex && s.indexed(a.Fields[0]) != "":
			how, atom = byIndex, l.Atom
		case a.Kind == pairrule.Equal && atom < 0:
			atom = l.Atom
		case how == byScan && s.criterion(a).Kind() != "":
			how, atom = byCriterion, l.Atom
		}
	}
	return how, atom
}

// indexed returns the name under which a field is indexed, or "".
func (s *Search) indexed(field string) string {
	path, _ := jsonfield.Cut(field)
	if slices.Contains(s.Text, field) {
		return ""
	}
	for _, name := range s.Index {
		if paths, err := jsonfield.Paths(name); err == nil && slices.Equal(paths[0], path) {
			return name
		}
	}
	return ""
}

// criterion returns the criterion of a database that finds at least the documents that are similar by
// an atom, the zero criterion if there is none.
func (s *Search) criterion(a *pairrule.Atom) engine.Criterion {
	if s.Options.Params.Ignored != nil && (a.Kind == pairrule.Jaccard || a.Kind == pairrule.Near) {
		return engine.Criterion{} // the database's indexes are of all features
	}
	if a.Kind == pairrule.Equal || a.Kind == pairrule.Contains || a.Kind == pairrule.Differ || a.Unit != "" || a.Fields != nil && !slices.Equal(a.Fields, s.Options.TextFields) {
		return engine.Criterion{}
	}
	return CriterionOf(a)
}

// CriterionOf returns the criterion of a similarity of the texts other than CONTAINS, which has a
// direction in a search.
func CriterionOf(a *pairrule.Atom) engine.Criterion {
	switch a.Kind {
	case pairrule.Near:
		return engine.Near(a.K)
	case pairrule.Cosine:
		return engine.Cosine(a.T)
	case pairrule.Levenshtein:
		return engine.Levenshtein(a.T)
	}
	return engine.Jaccard(a.T)
}

// Best returns for each of docs the stored document that matches it best, of equally good ones the one
// with the smallest ID, and a zero Found if none matches that may: refuse, if not nil, says which.
func (s *Search) Best(ctx context.Context, snap *engine.Snapshot, docs []engine.Doc, refuse func(i int, id string) bool) (best []Found, err error) {
	for i := range s.Rule.Atoms {
		if a := &s.Rule.Atoms[i]; a.Recurs() {
			return nil, fmt.Errorf("%s: which differences recur is known of all pairs, not of one document: %w", a, engine.ErrInvalid)
		}
	}
	c, err := New(ctx, s.Rule, s.Options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var ids []string
	err = s.candidates(ctx, snap, docs, func(d *engine.Doc) error {
		ids = append(ids, d.ID)
		return c.Add(&Doc{Doc: *d})
	})
	c.Text(s.Text)
	for i := range docs {
		err = cmp.Or(err, c.Add(&Doc{Doc: docs[i]}))
	}
	if err = cmp.Or(err, c.Finish()); err != nil {
		return nil, err
	}
	for i, f := range s.fields { // the same rule makes the same fields, in the same order
		c.fields[i].found = c.fields[i].found || f.found
	}
	s.fields = c.fields
	best = make([]Found, len(docs))
	err = c.Across(ctx, uint32(len(ids)), s.Join, func(a, b uint32, score float64) bool {
		i, f := int(b)-len(ids), Found{ids[a], score}
		if was := &best[i]; (was.ID == "" || f.Score > was.Score || f.Score == was.Score && f.ID < was.ID) && (refuse == nil || !refuse(i, f.ID)) {
			*was = f
		}
		return true
	})
	return best, err
}

// candidates passes to add, once, at least all stored documents that match one of docs.
func (s *Search) candidates(ctx context.Context, snap *engine.Snapshot, docs []engine.Doc, add func(d *engine.Doc) error) error {
	listed := map[string]bool{}
	for _, branch := range s.Rule.Branches {
		how, atom := s.driver(branch)
		var err error
		switch how {
		case byScan:
			return s.scan(ctx, snap, docs, add)
		case byIndex:
			err = s.lookUp(ctx, snap, docs, &s.Rule.Atoms[atom], listed)
		default:
			err = s.search(ctx, snap, docs, s.criterion(&s.Rule.Atoms[atom]), listed)
		}
		if err != nil {
			return err
		}
	}
	for id := range listed {
		d, err := snap.Get(ctx, id)
		if err = cmp.Or(err, context.Cause(ctx)); err == nil {
			err = add(&d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// search lists the documents that match by a criterion.
func (s *Search) search(ctx context.Context, snap *engine.Snapshot, docs []engine.Doc, by engine.Criterion, listed map[string]bool) error {
	queries := make([]engine.Doc, 0, len(docs))
	for _, d := range docs {
		if d.Text != "" || by.Kind() == "near" && d.Fingerprints != nil {
			queries = append(queries, engine.Doc{Text: d.Text, Fingerprints: d.Fingerprints})
		}
	}
	for m, err := range snap.SearchBatch(ctx, queries, by, nil) {
		if err != nil {
			return err
		}
		listed[m.ID] = true
	}
	return nil
}

// lookUp lists the documents that are equal in an indexed field.
func (s *Search) lookUp(ctx context.Context, snap *engine.Snapshot, docs []engine.Doc, a *pairrule.Atom, listed map[string]bool) error {
	field, values := docfield.NewField(a.Fields[0]), []engine.FieldRange(nil)
	for i := range docs {
		raw := string(jsonfield.Value(field.Path.Of(docs[i].Fields)))
		if v := field.Of(&docs[i]); v.Kind != docfield.Absent && raw != "" {
			values = append(values, engine.FieldRange{Field: s.indexed(a.Fields[0]), From: raw, To: raw, Numbers: v.Kind == docfield.Number})
		}
	}
	if values == nil {
		return nil
	}
	for d, err := range snap.Range(ctx, engine.Range{Unordered: true, OnlyIDs: true, Fields: [][]engine.FieldRange{values}}) {
		if err != nil {
			return err
		}
		listed[d.ID] = true
	}
	return nil
}

// scan passes to add the documents that are equal to one of docs in all that a branch requires to be
// equal.
func (s *Search) scan(ctx context.Context, snap *engine.Snapshot, docs []engine.Doc, add func(d *engine.Doc) error) error {
	f := &Corpus{rule: s.Rule, o: s.Options, columns: make([]*column, len(s.Rule.Atoms))}
	wanted := make([]map[string]bool, len(s.Rule.Branches)) // by branch: the keys of docs
	all := false                                            // a branch without equality
	for n, branch := range s.Rule.Branches {
		equal := false
		for _, l := range branch {
			if a := &s.Rule.Atoms[l.Atom]; a.Kind == pairrule.Equal && !l.Not && f.columns[l.Atom] == nil {
				column, err := f.newColumn(a)
				if err != nil {
					return err
				}
				f.columns[l.Atom] = column
			}
			equal = equal || !l.Not && f.columns[l.Atom] != nil
		}
		all = all || !equal
		wanted[n] = map[string]bool{}
	}
	keyOf := func(n int, d *Doc, number func(x *column, d *Doc) uint32) (key []byte, ok bool) {
		for _, l := range s.Rule.Branches[n] {
			if x := f.columns[l.Atom]; x != nil && !l.Not {
				of := number(x, d)
				if of == unknown {
					return nil, false
				}
				key = binary.LittleEndian.AppendUint32(key, of)
			}
		}
		return key, true
	}
	f.Text(s.Text)
	for i := range docs {
		for n := range wanted {
			if key, ok := keyOf(n, &Doc{Doc: docs[i]}, (*column).number); ok {
				wanted[n][string(key)] = true
			}
		}
	}
	f.Text(s.Options.TextFields)
	for d, err := range snap.Range(ctx, engine.Range{Unordered: true, Load: true}) {
		if err != nil {
			return err
		}
		may := all
		for n := 0; n < len(wanted) && !may; n++ {
			key, ok := keyOf(n, &Doc{Doc: d}, (*column).known)
			may = ok && wanted[n][string(key)]
		}
		if may {
			if err := add(&d); err != nil {
				return err
			}
		}
	}
	return nil
}
