// Package stored reads the documents of a database as an input: records in the order in which they
// are stored, as lines of JSON that load reads back.
package stored

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/lines"
)

// Input reads the documents of a snapshot.
//
// With records.NeedText a record has the text and all fingerprints of a document. With NeedDoc it
// has all that loading it again requires: a fingerprint is included only if the text would yield a
// different one. NeedAll adds Record.Raw. Positions are 0.
type Input struct {
	Snap           *engine.Snapshot
	Path           string
	Params         engine.Options
	Features       records.FeatureParams // parameters of the same database
	Only           map[string]bool       // IDs of the documents to read; nil for all
	NoTexts        bool                  // omit texts
	NoFingerprints bool                  // omit the fingerprints of documents with a text, except in Raw
	Written        bool                  // read documents in the order in which they were written
	Form           *Form                 // form of Raw
	Need           records.Need

	info       records.Info
	done, size int64
}

// Info implements records.Source.
func (in *Input) Info() records.Info {
	in.info.Name, in.info.Format, in.info.Shape = in.Path, lines.JSONL, "JSON lines"
	in.info.FingerprintsOnly, in.info.Several = in.Params.NoText, in.Params.Features.Several
	return in.info
}

// Progress implements records.Source, by documents.
func (in *Input) Progress() (done, size int64) { return in.done, in.size }

// Close implements records.Source. The database stays open.
func (in *Input) Close() error { return nil }

// CanExtend implements records.Extender.
func (in *Input) CanExtend([]records.Column) error { return nil }

// CanCut implements records.Cutter.
func (in *Input) CanCut() error {
	if in.Params.NoText || len(in.Form.Texts) > 1 || in.Form.set {
		return fmt.Errorf("%s has texts of several fields, which cannot be cut", in.Path)
	}
	return nil
}

// CutText implements records.Cutter.
func (in *Input) CutText(rec *records.Record, keep []records.Span) []byte {
	d := rec.Doc
	d.Text = records.Parts(d.Text, keep)
	raw, err := in.Form.Append(nil, &d)
	if err != nil { // Raw is the line of a larger document
		panic(err)
	}
	return raw
}

// A batch of documents is sent to a goroutine that makes records from them.
type batch struct {
	recs  []records.Record
	bytes int
}

const (
	batchDocs  = 256
	batchBytes = 256 << 10
	lineBytes  = 64 // approximate size of a line without text and fields
)

// Records implements records.Source. One goroutine reads documents; others process them.
func (in *Input) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	workers := sync.Pool{New: func() any { return in.worker() }}
	work := func(_ context.Context, b *batch) iter.Seq2[*batch, error] {
		return func(yield func(*batch, error) bool) {
			do := workers.Get().(func(*batch) error)
			defer workers.Put(do)
			yield(b, do(b))
		}
	}
	return func(yield func(*records.Record, error) bool) {
		if err := in.count(ctx); err != nil {
			yield(nil, err)
			return
		}
		for b, err := range pipeline.Concat(ctx, runtime.GOMAXPROCS(0)+1, 1, in.batches, work) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range b.recs {
				if in.done++; in.info.Bits == 0 && b.recs[i].Doc.Fingerprints != nil {
					in.info.Bits = in.Params.Bits
				}
				if !yield(&b.recs[i], nil) {
					return
				}
			}
		}
	}
}

// count sets in.size to the number of documents.
func (in *Input) count(ctx context.Context) (err error) {
	if in.size = int64(len(in.Only)); in.Only == nil {
		in.size, err = in.Snap.Count(ctx, engine.Range{Since: time.Time{}})
	}
	return err
}

// batches yields all documents in batches.
func (in *Input) batches(ctx context.Context) iter.Seq2[*batch, error] {
	whole := in.Need == records.NeedAll || in.Need == records.NeedDoc
	r := engine.Range{Unordered: !in.Written, Written: in.Written, OnlyIDs: in.Need == records.NeedID}
	r.Load = whole || !in.Params.NoText && !in.NoTexts && !r.OnlyIDs
	if in.Only != nil {
		r.Match = func(id []byte) (bool, error) { return in.Only[string(id)], nil }
	}
	return func(yield func(*batch, error) bool) {
		b := &batch{}
		for d, err := range in.Snap.Range(ctx, r) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !whole {
				d.Fields, d.Time, d.Expires = nil, time.Time{}, time.Time{}
			}
			b.recs = append(b.recs, records.Record{File: in.Path, Doc: d, Seq: d.Seq})
			if b.bytes += len(d.Text) + len(d.Fields); len(b.recs) < batchDocs && b.bytes < batchBytes {
				continue
			}
			if !yield(b, nil) {
				return
			}
			b = &batch{recs: make([]records.Record, 0, len(b.recs))}
		}
		yield(b, nil)
	}
}

// worker returns a function that reduces the documents of a batch to what load would read, and
// encodes them.
func (in *Input) worker() func(*batch) error {
	prints := features.NewFingerprinter(in.Features)
	anew := in.Need <= records.NeedDoc && !in.Form.Fingerprints && in.Params.Features.Code == ""
	return func(b *batch) (err error) {
		var raw []byte
		if in.Need == records.NeedAll {
			raw = make([]byte, 0, b.bytes+b.bytes/8+lineBytes*len(b.recs))
		}
		for i := range b.recs {
			d := &b.recs[i].Doc
			if anew && says(prints, d) {
				d.Fingerprints = nil
			}
			if in.Need == records.NeedAll {
				from := len(raw)
				if raw, err = in.Form.Append(raw, d); err != nil {
					return err
				}
				b.recs[i].Raw = raw[from:len(raw):len(raw)]
			}
			if in.NoFingerprints && d.Text != "" {
				d.Fingerprints = nil
			}
		}
		return nil
	}
}

// says reports whether the fingerprint of a document is the one that its text yields.
func says(prints *features.Fingerprinter, d *engine.Doc) bool {
	r := prints.Text(d.Text)
	if r.Empty || d.Fingerprints == nil {
		return false
	}
	own := d.Fingerprints[0]
	return own[0] == r.Fingerprint && slices.Equal(own[1:], r.Rest)
}
