package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/listing"
	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/table"
)

// A Range selects documents, and says which of their parts to read. The zero Range selects all
// documents, in the order of their IDs, without texts and fields.
type Range struct {
	From, To string // IDs >= From and < To; "" for no bound
	Prefix   string // of the ID
	// After is the last ID of the previous page: the iteration begins with the next ID in its
	// direction. "" starts at the beginning.
	After     string
	Reverse   bool      // the greatest ID first
	Since     time.Time // stored then or later; zero for any time
	Limit     int       // yield at most this many documents; 0 means all
	Unordered bool      // yield documents as they are found, without holding them, not in order of ID
	Written   bool      // in the order in which they were written, the oldest first
	Load      bool      // read texts and fields, too
	OnlyIDs   bool      // read only IDs
	// Match, if not nil, selects documents by their IDs. The slice is valid only during the call
	// and must not be changed. An error ends the iteration. Match may be called more than once for
	// an ID.
	Match func(id []byte) (bool, error)
	// Where, if not nil, selects documents by their text and their fields, a JSON object or
	// nothing. Both are valid only during the call and must not be changed. An error ends the
	// iteration. If Unordered, Where is called right before the document is yielded; otherwise in
	// no particular order, and possibly for documents that are not yielded.
	Where func(text, fields []byte) (bool, error)
	// Fields are conditions on indexed fields: for each element, a document must have a value in at
	// least one of its ranges. A table in which few documents satisfy them is not read as a whole.
	// Where, if not nil, must reject all documents that do not satisfy the conditions, and decides
	// about the others.
	Fields [][]FieldRange
	// FieldsDecide promises that Where, if not nil, accepts all documents that Fields select, so
	// that it need not be called for them.
	FieldsDecide bool
}

// A FieldRange is a range of values of an indexed field: see Options.Index. Values are ordered byte
// by byte: strings without their quotes and escapes, other JSON values as written. Null counts as
// no value.
type FieldRange struct {
	Field        string // as in Options.Index
	From, To     string // both inclusive; "" for no bound
	Above, Below bool   // exclude From, exclude To
	// Numbers selects numbers, and strings that are numbers, between two numbers.
	Numbers bool
}

// Range yields every visible document that the Range selects, with its fingerprints, its time and
// its Seq, and with its text and fields if Load is set. It holds one page of documents at a time,
// or none if they are not ordered, and does not look far beyond the last document that it yields, or
// that the caller reads.
//
// A selection by time alone reads the times of tables that have older documents, and no times of
// other tables. A selection by order or bounds reads the IDs that it selects, and a few more: each
// table has an order of its IDs.
//
// In the order of writing, too, Range reads all documents that may be selected. It holds about 16
// bytes for each document, at most four million at a time, and texts in a quarter of
// Options.Memory, up to 128 MiB, or one larger text.
//
// In order of ID, the texts and fields of the first documents are read one by one. Then documents are
// read ahead, ever more, in up to 16 MiB or a quarter of Options.Memory, or in one larger
// document: so a block of texts is decompressed once for all its texts. Reading all texts of a table is
// faster Unordered, unless no document has a fingerprint: then they are stored in the order of IDs.
// With Where, Range reads the texts of the documents that the other conditions select, in the order
// in which they are stored. In order of ID it first reads texts one by one, as their IDs come up,
// for a fraction of the documents of a table; the fraction is larger if there is a Limit. Only if
// that was not enough does it read all other texts of the table, and it then holds at most one bit
// per document.
//
// The error, which is the last value yielded, is ErrClosed, *CorruptionError, ctx.Err(), or the
// error of Match or Where; it is ErrParams if Fields are not indexed, and ErrInvalid if bounds are
// not numbers.
func (r *Reader) Range(ctx context.Context, of Range) iter.Seq2[Doc, error] {
	return each(ctx, r, func(s *Snapshot) iter.Seq2[Doc, error] { return s.rangeOf(ctx, of) })
}

func (s *Snapshot) rangeOf(ctx context.Context, r Range) iter.Seq2[Doc, error] {
	found := s.documents(ctx, r, listing.FirstPage, s.v.Most(2*search.EntryBytes))
	if r.Limit > 0 && r.Written {
		found = view.First(r.Limit, found)
	}
	return found
}

// documents is Range with given page lengths: first for the first page of a table, others for the
// later pages of all tables together.
func (s *Snapshot) documents(ctx context.Context, r Range, first, others int) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		var err error
		if r.Where == nil {
			if r.Where, err = r.whereFields(s); err != nil {
				yield(Doc{}, err)
				return
			}
			r.FieldsDecide = true
		}
		if r.Written {
			if err := s.written(ctx, r, yield); err != nil {
				yield(Doc{}, err)
			}
			return
		}
		a := s.newReading(ctx, &r, yield)
		err = s.each(ctx, r, first, others, a.add)
		if e := a.flush(); e != nil { // also before an error of a later document
			err = e
		}
		if err != nil && !a.stopped {
			yield(Doc{}, err)
		}
	}
}

// written yields the documents that r selects in the order of writing.
func (s *Snapshot) written(ctx context.Context, r Range, yield func(Doc, error) bool) error {
	f, err := r.inner(s)
	if err != nil {
		return err
	}
	f.Fields = nil // r.Where decides
	return listing.EachWritten(ctx, &s.v, f, r.Load, func(id []byte, p view.Place, text, fields []byte) error {
		d := Doc{ID: string(id)}
		if !r.OnlyIDs {
			if err := s.read(&d, p); err != nil {
				return err
			}
		}
		if r.Load {
			d.Text, d.Fields = string(text), append(json.RawMessage(nil), fields...)
		}
		if !yield(d, nil) {
			return view.ErrStopped
		}
		return nil
	})
}

// loadByWhere makes r.Where remember text and fields for the function that it returns.
func (r *Range) loadByWhere(s *Snapshot) func(d *Doc, p view.Place) error {
	var found Doc
	where := r.Where
	r.FieldsDecide = false
	r.Where = func(text, fields []byte) (ok bool, err error) {
		if ok = where == nil; !ok {
			ok, err = where(text, fields)
		}
		if ok {
			found.Text, found.Fields = string(text), append(json.RawMessage(nil), fields...)
		}
		return ok, err
	}
	return func(d *Doc, p view.Place) error {
		d.Text, d.Fields = found.Text, found.Fields
		return s.read(d, p)
	}
}

// each calls fn for the visible documents that r selects until fn returns false.
func (s *Snapshot) each(ctx context.Context, r Range, first, others int, fn func(id []byte, p view.Place) (bool, error)) error {
	f, err := r.inner(s)
	if err != nil {
		return err
	}
	if !r.Unordered {
		return listing.EachInOrder(ctx, &s.v, f, first, others, fn)
	}
	return listing.Each(ctx, &s.v, f, func(id []byte, p view.Place) error {
		more, err := fn(id, p)
		if err == nil && !more {
			err = view.ErrStopped
		}
		return err
	})
}

func (r Range) inner(s *Snapshot) (f listing.Filter, err error) {
	f = listing.Filter{From: max(r.From, r.Prefix), To: r.To, Reverse: r.Reverse, Life: view.Always, Limit: r.Limit, Match: r.Match, Where: r.Where, Decide: r.FieldsDecide}
	before := func(to string) {
		if to != "" && (f.To == "" || to < f.To) {
			f.To = to
		}
	}
	before(base.PrefixEnd(r.Prefix))
	if r.Reverse {
		before(r.After)
	} else if r.After != "" {
		f.From = max(f.From, r.After+"\x00") // the next possible ID
	}
	if !r.Since.IsZero() {
		f.Since = view.Micros(r.Since)
	}
	f.Fields, err = s.indexed(r.Fields)
	return f, err
}

// whereFields returns a Where function for the conditions of Fields only.
func (r *Range) whereFields(s *Snapshot) (func(_, fields []byte) (bool, error), error) {
	all, err := s.indexed(r.Fields)
	if all == nil {
		return nil, err
	}
	paths := s.v.Params.Indexed()
	return func(_, fields []byte) (bool, error) {
		for _, ranges := range all {
			if !slices.ContainsFunc(ranges, func(of table.FieldRange) bool { return of.Has(jsonfield.Of(fields, paths[of.Field])) }) {
				return false, nil
			}
		}
		return true, nil
	}, nil
}

// indexed converts ranges of fields to those of package table.
func (s *Snapshot) indexed(fields [][]FieldRange) (inner [][]table.FieldRange, err error) {
	if len(fields) == 0 {
		return nil, nil
	}
	index := s.v.Params.Indexed()
	for _, ranges := range fields {
		var alternatives []table.FieldRange
		for _, r := range ranges {
			paths, err := jsonfield.Paths(r.Field)
			if err != nil || len(paths) != 1 {
				return nil, fmt.Errorf("%q is not a field: %w", r.Field, files.ErrInvalid)
			}
			i := slices.IndexFunc(index, func(path []string) bool { return slices.Equal(path, paths[0]) })
			if i < 0 {
				return nil, fmt.Errorf("the field %s is not indexed: %w", r.Field, files.ErrParams)
			}
			for _, bound := range []string{r.From, r.To} {
				if r.Numbers && bound != "" && !jsonfield.IsNumber([]byte(bound)) {
					return nil, fmt.Errorf("%q is not a number: %w", bound, files.ErrInvalid)
				}
			}
			alternatives = append(alternatives, table.FieldRange{Field: i, From: r.From, To: r.To, Above: r.Above, Below: r.Below, Numbers: r.Numbers})
		}
		inner = append(inner, alternatives)
	}
	return inner, nil
}

// Estimate returns an upper bound of the number of documents that Range yields, regardless of
// Limit: all documents in tables and memtables, including deleted, replaced and expired ones that
// merges have not removed yet, or, with Range.Fields, those that indexes find, and all documents of
// tables in which the indexes find too many. It needs microseconds per table.
func (r *Reader) Estimate(ctx context.Context, of Range) (int64, error) {
	return read(ctx, r, func(s *Snapshot) (n int64, err error) {
		if len(of.Fields) > 0 {
			f, err := of.inner(s)
			if err != nil {
				return 0, err
			}
			return listing.CountIndexed(ctx, &s.v, f, !of.Unordered)
		}
		for i := range s.v.Version.Parts {
			n += int64(s.v.Version.Parts[i].NumDocs())
		}
		for _, m := range s.v.Mems {
			n += int64(len(m.Docs))
		}
		return n, nil
	})
}

// Count returns the number of documents that Range yields. If the Range selects only by time, or
// all documents, Count reads no documents; for a time, or if some documents may have expired, it
// reads times.
func (r *Reader) Count(ctx context.Context, of Range) (int64, error) {
	return read(ctx, r, func(s *Snapshot) (n int64, err error) {
		if of.From == "" && of.To == "" && of.Prefix == "" && of.After == "" && of.Limit == 0 && of.Match == nil && of.Where == nil && len(of.Fields) == 0 {
			since := int64(math.MinInt64)
			if !of.Since.IsZero() {
				since = view.Micros(of.Since)
			}
			return listing.Count(ctx, &s.v, since)
		}
		of.OnlyIDs, of.Load, of.Written = true, false, false
		if of.Limit == 0 && of.After == "" {
			of.Unordered = true
		}
		for _, err := range s.rangeOf(ctx, of) {
			if err != nil {
				return 0, err
			}
			n++
		}
		return n, nil
	})
}
