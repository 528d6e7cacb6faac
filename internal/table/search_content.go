package table

import (
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/table/internal/contain"
	"github.com/simdb/simdb/internal/table/internal/fieldidx"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// SetQuery searches for the documents that contain at least the share T of a set of features or,
// with Within, for the documents of whose features the set contains at least that share.
type SetQuery = contain.Query

// SetDocBytes is the memory, in bytes, that a search by sets needs for each document it counts.
const SetDocBytes = contain.DocBytes

// SetCandidates appends to dst, ascending, the documents that may match a query: all that do match,
// and few others. read is the number of index entries read. It returns false if there is no index,
// or if reading all texts would be faster.
func (r *Reader) SetCandidates(dst []uint32, q SetQuery) (docs []uint32, read int, ok bool, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if r.t.Sets == nil {
		return dst, 0, false, nil
	}
	return r.t.Sets.Candidates(dst, q)
}

// RunCandidates is SetCandidates for the documents that may have all features of some run of number
// consecutive ones in features; number must be at least 1.
func (r *Reader) RunCandidates(dst []uint32, features []uint64, number, most int) (docs []uint32, read int, ok bool, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if r.t.Sets == nil {
		return dst, 0, false, nil
	}
	return r.t.Sets.Runs(dst, features, number, most)
}

// A FieldRange is a range of values of an indexed field.
type FieldRange struct {
	Field        int    // index of the field in Params.Indexed
	From, To     string // "" means no bound
	Above, Below bool   // whether the bounds themselves are excluded
	// Numbers says that the bounds are numbers, which are compared only with values that are
	// numbers.
	Numbers bool
}

// keys returns the first and the last key of the range, nil for no bound.
func (f *FieldRange) keys() (from, to []byte) {
	key := jsonfield.TextKey
	if f.Numbers {
		key = func(value []byte) []byte { return jsonfield.AppendNumberKey(nil, value) }
	}
	if f.From != "" {
		from = key([]byte(f.From))
	}
	if f.To != "" {
		to = key([]byte(f.To))
	}
	return from, to
}

// Exact reports whether FieldCandidates finds only documents with a value in the range. It may find
// others if a bound is longer than a key, since keys are truncated.
func (f *FieldRange) Exact() bool {
	from, to := f.keys()
	return len(from) < jsonfield.MostKey && len(to) < jsonfield.MostKey
}

// Has reports whether a JSON value is in the range; nil means no value or null.
func (f *FieldRange) Has(raw []byte) bool {
	if raw == nil {
		return false
	}
	value := string(jsonfield.Value(raw))
	compare := strings.Compare
	if f.Numbers {
		if !jsonfield.IsNumber([]byte(value)) {
			return false
		}
		compare = func(a, b string) int { return quantity.ParseDecimal(a).Compare(quantity.ParseDecimal(b)) }
	}
	if f.From != "" {
		if c := compare(value, f.From); c < 0 || c == 0 && f.Above {
			return false
		}
	}
	if f.To != "" {
		if c := compare(value, f.To); c > 0 || c == 0 && f.Below {
			return false
		}
	}
	return true
}

// rangeOf calls search with the arguments of List.Range for f. A truncated bound is always
// included, since other values have the same key.
func (f *FieldRange) rangeOf(search func(list int, from, to []byte, above, below bool)) {
	list, cut := fieldidx.Texts, jsonfield.MostKey
	if f.Numbers {
		list = fieldidx.Numbers
	}
	from, to := f.keys()
	search(fieldidx.Lists*f.Field+list, from, to, f.Above && len(from) < cut, f.Below && len(to) < cut)
}

// fieldRange returns a list, and the positions in it of the keys in the range.
func (r *Reader) fieldRange(f *FieldRange) (l *fieldidx.List, lo, hi int, err error) {
	f.rangeOf(func(list int, from, to []byte, above, below bool) {
		l = &r.t.Fields[list]
		lo, hi, err = l.Range(from, to, above, below)
	})
	return l, lo, hi, err
}

// CountFields returns an upper bound of the number of documents that FieldCandidates finds: a
// document in several ranges is counted once for each range.
func (r *Reader) CountFields(ranges []FieldRange) (n int, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	for i := range ranges {
		_, lo, hi, err := r.fieldRange(&ranges[i])
		if err != nil {
			return 0, err
		}
		n += hi - lo
	}
	return n, nil
}

// FieldCandidates returns, ascending, the documents that may have a value in one of ranges: all
// that have one, and perhaps others if a bound is longer than a key. The result is never nil.
func (r *Reader) FieldCandidates(ranges []FieldRange) (docs []uint32, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	docs = []uint32{} // nil means no index
	for i := range ranges {
		l, lo, hi, err := r.fieldRange(&ranges[i])
		if err == nil {
			docs, err = l.AppendDocs(docs, lo, hi)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(docs)
	return slices.Compact(docs), nil
}

// A FieldIndex finds documents in memory by the values of their indexed fields. It reads a
// document's fields once, when a search first needs them. The zero value is ready to use; any
// number of goroutines may use it.
type FieldIndex struct{ keys fieldidx.Growing }

// Candidates returns, ascending, which of the first n documents may have a value in one of some
// ranges. all has one or more lists of ranges; Candidates uses the list that selects the fewest
// documents. fields returns the fields of a document by its number; they must never change.
func (x *FieldIndex) Candidates(p *Params, n int, fields func(doc int) []byte, all [][]FieldRange) (docs []uint32) {
	x.keys.Grow(n, p.Indexed, fields)
	var least [][]fieldidx.Keyed
	most := math.MaxInt
	for _, ranges := range all {
		var found [][]fieldidx.Keyed
		count := 0
		for i := range ranges {
			ranges[i].rangeOf(func(list int, from, to []byte, above, below bool) {
				for _, keys := range x.keys.Range(list, from, to, above, below) {
					found, count = append(found, keys), count+len(keys)
				}
			})
		}
		if count < most {
			least, most = found, count
		}
	}
	for _, keys := range least {
		for _, k := range keys {
			if k.Record < uint32(n) {
				docs = append(docs, k.Record)
			}
		}
	}
	slices.Sort(docs)
	return slices.Compact(docs)
}
