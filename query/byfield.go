package query

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/record"
	"github.com/simdb/simdb/query/internal/syntax"
)

// A fieldKey is the value of a field as a sort key. Numbers, and strings that contain a number,
// come first, by value; then other values, byte by byte, strings without quotes; missing values
// come last.
type fieldKey struct {
	rank   int8
	number quantity.Decimal
	text   string
}

// The ranks of values.
const (
	rankNumber = iota
	rankText
	rankMissing
)

func keyOf(raw json.RawMessage) fieldKey {
	if raw == nil {
		return fieldKey{rank: rankMissing}
	}
	k := fieldKey{rank: rankText, text: string(jsonfield.Value(raw))}
	if jsonfield.IsNumber([]byte(k.text)) {
		k.rank, k.number = rankNumber, quantity.ParseDecimal(k.text)
	}
	return k
}

// compare orders values; missing values come last even if desc is set.
func (k *fieldKey) compare(other *fieldKey, desc bool) int {
	if missing := cmpBool(k.rank == rankMissing, other.rank == rankMissing); missing != 0 {
		return missing
	}
	c := cmp.Or(cmp.Compare(k.rank, other.rank), k.number.Compare(other.number))
	if c == 0 && k.rank == rankText {
		c = strings.Compare(k.text, other.text)
	}
	if desc {
		return -c
	}
	return c
}

// withFields calls yield with each result of find and the fields of its document, in any order. It
// reads documents in batches, in storage order, as a tester does.
func (x *run) withFields(sel *selection, o predicate.ListOptions, yield func(r result, fields []byte, err error) bool) {
	most := int(min(max(x.DB.Metrics().Memory/8/batchBytes, 1), mostBatch))
	var batch []result
	flush := func() error {
		ids, read := make([]string, len(batch)), make([]bool, len(batch))
		for i := range batch {
			ids[i] = batch[i].id
		}
		var err error
		for c, failed := range x.Snap.Contents(x.Ctx, ids) {
			if err = failed; err != nil {
				break
			}
			if read[c.Index] = true; !yield(batch[c.Index], c.Fields, nil) {
				err = errStop
				break
			}
		}
		for i := range batch {
			if err == nil && !read[i] && !yield(batch[i], nil, nil) {
				err = errStop
			}
		}
		batch = batch[:0]
		return err
	}
	var err error
	x.find(sel, o, func(r result, failed error) bool {
		if err = failed; err == nil {
			if batch = append(batch, r); len(batch) == most {
				err = flush()
			}
		}
		return err == nil
	})
	if err == nil {
		err = flush()
	}
	if err != nil && !errors.Is(err, errStop) {
		yield(result{}, nil, err)
	}
}

// keyed is find that adds the values of the ORDER BY fields to each result.
func (x *run) keyed(sel *selection, o predicate.ListOptions, yield func(result, error) bool) {
	x.withFields(sel, o, func(r result, fields []byte, err error) bool {
		if err == nil {
			r.keys = make([]fieldKey, len(sel.fields))
			for i, f := range sel.fields {
				r.keys[i] = keyOf(f.Of(fields))
			}
		}
		return yield(r, err)
	})
}

// A valueCount is a row of COUNT BY.
type valueCount struct {
	key   fieldKey
	raw   json.RawMessage // if equal numbers are written differently, the bytewise least
	count int64
}

// countBy runs COUNT [query] BY field.
func (x *run) countBy(s *syntax.Count) error {
	if s.Pairs != nil || s.Clusters != nil {
		return syntax.Errorf(s.By.Pos.Offset, "COUNT lang = 'en' BY source counts documents", "pairs and clusters have no field")
	}
	sel, of, err := x.bindCountBy(s)
	if err != nil {
		return err
	}
	w, err := x.bindWindow("COUNT BY", s.Clauses)
	if err == nil {
		err = w.refuseShow()
	}
	if err != nil {
		return err
	}
	x.planFor(sel)
	x.answer([]string{"value", "count"}, windowRows(x, w.window, func(yield func(*valueCount, error) bool) {
		all, err := x.valueCounts(sel, of)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}, func(v *valueCount) Row { return Row{record.Field(v.raw), v.count} }))
	return nil
}

func (x *run) bindCountBy(s *syntax.Count) (*selection, *predicate.NamedField, error) {
	query := cmp.Or(s.Select, &syntax.Select{})
	for _, c := range query.Clauses {
		if c.Limit != nil || c.Offset != nil || c.Order != nil {
			return nil, nil, syntax.Errorf(s.By.Pos.Offset, "as in COUNT lang = 'en' BY source LIMIT 10", "write LIMIT and OFFSET after BY; the largest counts come first")
		}
	}
	sel, err := x.bindRowless("COUNT", query)
	if err != nil {
		return nil, nil, err
	}
	of, err := x.OneField(*s.By)
	return sel, of, err
}

// valueCounts counts the rows of a selection by the value of a field. The largest count comes
// first; equal counts are in the order of values.
func (x *run) valueCounts(sel *selection, of *predicate.NamedField) ([]*valueCount, error) {
	o := sel.options()
	o.Ordered, o.First = false, 0
	groups := map[string]*valueCount{}
	var key []byte
	var err error
	x.withFields(sel, o, func(_ result, fields []byte, failed error) bool {
		if err = failed; err != nil {
			return false
		}
		raw := of.Of(fields)
		switch {
		case len(raw) > 0 && raw[0] == '"':
			key = append(append(key[:0], '"'), jsonfield.Unquoted(raw)...)
		case raw != nil && jsonfield.IsNumber(raw):
			key = quantity.ParseDecimal(string(raw)).AppendOrdered(append(key[:0], '0'))
		default:
			key = append(key[:0], raw...)
		}
		g := groups[string(key)]
		if g == nil {
			if err = x.Hold(resultBytes + 3*len(raw)); err != nil {
				return false
			}
			g = &valueCount{keyOf(raw), bytes.Clone(raw), 0}
			groups[string(key)] = g
		} else if g.key.rank == rankNumber && bytes.Compare(raw, g.raw) < 0 {
			if err = x.Hold(max(len(raw)-len(g.raw), 0)); err != nil { // 1.000 is less than 1e0, and may be longer
				return false
			}
			g.raw = bytes.Clone(raw)
		}
		g.count++
		return true
	})
	all := make([]*valueCount, 0, len(groups))
	for _, g := range groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *valueCount) int {
		return cmp.Or(cmp.Compare(b.count, a.count), a.key.compare(&b.key, false), bytes.Compare(a.raw, b.raw))
	})
	return all, err
}
