package dedup

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/docfield"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// sharedRule returns the rule of a job with its short forms, and the least similarity by JACCARD of two
// documents that match; nil if a criterion decides without limits. Many workers find the pairs by this
// similarity, and then decide by the rule.
func (c *Job) sharedRule() (rule *pairrule.Rule, t float64, err error) {
	x := c.agreement()
	rule, limits, err := x.whole()
	if err == nil && limits != nil && x.by.Kind() == "jaccard" {
		rule, err = pairrule.Similarity(pairrule.Jaccard, 0, x.by.T()).And(limits)
	} else if limits != nil {
		err = x.unshared("they compare fields only beside JACCARD of the texts")
	}
	if rule == nil || err != nil {
		return nil, 0, err
	}
	t = 1
	for _, branch := range rule.Branches {
		most := 0.0
		for _, l := range branch {
			a := &rule.Atoms[l.Atom]
			if a.Recurs() {
				return nil, 0, x.unshared("no worker knows all pairs, so none knows which differences recur")
			}
			if !l.Not && a.Kind == pairrule.Jaccard && a.Fields == nil && a.Unit == "" {
				most = max(most, a.T)
			}
		}
		if t = min(t, most); most == 0 {
			return nil, 0, x.unshared("they find pairs by JACCARD of the texts, without a unit, which each alternative of the rule needs")
		}
	}
	return rule, t, nil
}

// unshared returns the error for a rule that many workers cannot decide by.
func (x *agreement) unshared(why string) error {
	e := &OptionError{Option: workers, Other: "WithinField", Why: why}
	switch {
	case x.rule != nil:
		e.Other = "Rule"
	case x.distinct != nil:
		e.Other = "Distinct"
	case x.agree != nil:
		e.Other = "Agree"
	case x.across != "":
		e.Other = "Across"
	}
	return e
}

// Ruled reports whether a rule decides for many workers, which then need documents, not only their sets.
func (c *Job) Ruled() bool {
	rule, _, err := c.sharedRule()
	return rule != nil && err == nil
}

// found is which fields of a rule some document has.
type found struct {
	fields []docfield.Field
	has    []bool
}

func foundIn(rule *pairrule.Rule) *found {
	f := &found{}
	for _, name := range rule.Fields() {
		f.fields = append(f.fields, docfield.NewField(name))
	}
	f.has = make([]bool, len(f.fields))
	return f
}

func (f *found) add(d *engine.Doc, text []string) {
	for i := range f.fields {
		if !f.has[i] {
			path := f.fields[i].Path
			some, _ := path.Text(d.Fields)
			f.has[i] = some != "" || f.fields[i].Of(d).Kind != docfield.Absent || slices.Equal(text, []string{path.String()})
		}
	}
}

// names returns the fields that a document has.
func (f *found) names() (names []string) {
	for i, has := range f.has {
		if has {
			names = append(names, f.fields[i].Path.String())
		}
	}
	return names
}

// CheckFields returns an error if no document has a field that the rule names.
func (c *Job) CheckFields(t Tally) error {
	rule, _, err := c.sharedRule()
	if rule == nil || err != nil {
		return err
	}
	for _, name := range rule.Fields() {
		if f := docfield.NewField(name); t.Documents > 0 && !slices.Contains(t.Fields, f.Path.String()) {
			return invalid("%s: no document has a field %q", c.agreement().names(name), name)
		}
	}
	return nil
}

// A RuledPart decides by the rule of a job on some of its documents.
type RuledPart struct {
	c      *rulejoin.Corpus
	memory int64
}

// NewRuledPart returns a RuledPart without documents, for up to size bytes of them. Close frees it.
func (c *Job) NewRuledPart(ctx context.Context, size int64, dir string) (*RuledPart, error) {
	rule, _, err := c.sharedRule()
	if err != nil {
		return nil, err
	}
	p, _, err := paramsOf(c.Compared)
	if err != nil {
		return nil, err
	}
	of, err := rulejoin.New(ctx, rule, ruleOptions(p, c.Read, c.memory(), size, dir))
	return &RuledPart{of, c.memory()}, err
}

// Add adds the next document, in the form in which Part.Extract passes it on.
func (x *RuledPart) Add(document []byte) error {
	var d rulejoin.Doc
	fields := ""
	for _, s := range []*string{&d.File, &d.ID, &d.Text, &fields} {
		n, size := binary.Uvarint(document)
		if size <= 0 || n > uint64(len(document)-size) {
			return errors.New("a document in a message is damaged")
		}
		*s, document = string(document[size:size+int(n)]), document[size+int(n):]
	}
	if fields != "" {
		d.Fields = []byte(fields)
	}
	return x.c.Add(&d)
}

// appendDocument appends a document in the form that RuledPart.Add reads.
func appendDocument(dst []byte, rec *records.Record, fields bool) []byte {
	all := []string{rec.File, rec.Doc.ID, rec.Doc.Text, ""}
	if fields {
		all[3] = string(rec.Doc.Fields)
	}
	for _, s := range all {
		dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	}
	return dst
}

// Stars returns for each document its keeper, itself if it is one, and their score. Earlier documents
// are preferred.
func (x *RuledPart) Stars(ctx context.Context) (keeper []uint32, scores []float64, err error) {
	if err := x.c.Finish(); err != nil {
		return nil, nil, err
	}
	return x.c.Stars(ctx, rulejoin.StarOptions{}, ruleJoin(&inputs.Env{}, x.memory))
}

// Match returns a function that compares two documents. Call it after all of Add.
func (x *RuledPart) Match(ctx context.Context) (func(a, b uint32) (score float64, ok bool, err error), error) {
	if err := x.c.Finish(); err != nil {
		return nil, err
	}
	return x.c.Match(ctx), nil
}

// Close frees the documents.
func (x *RuledPart) Close() error { return x.c.Close() }
