package sstable

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// A Reader reads a table. Any number of goroutines may call its methods, but Close must be the last
// call. What it returns belongs to the caller, also after Close. Errors about the contents of the
// file are *CorruptionError: a block is compared with its checksum when it is first read.
//
// Documents have the numbers 0 to Info().Docs-1, in ascending order of their fingerprints; those
// without a fingerprint come last, in the order of their IDs.
type Reader struct{ t *table.Reader }

// cacheBytes is the size of a reader's cache of decoded texts: some hundred blocks.
const cacheBytes = 4 << 20

// Open maps the table in the file at path into memory. It returns errors of the file system, a
// *CorruptionError, ErrNotTable or ErrUnsupported.
func Open(path string) (*Reader, error) { return reader(table.Open(path)) }

// OpenReaderAt opens a table of size bytes that r reads, for example from a server. It reads the last
// 64 KiB, and later only what is needed, in few calls of ReadAt, which several goroutines make at the
// same time, until Close. What has been read stays in memory until then. Errors call the table name.
func OpenReaderAt(r io.ReaderAt, size int64, name string) (*Reader, error) {
	return reader(table.OpenReaderAt(r, size, name))
}

// OpenBytes opens a table that is in memory. data must not change until the reader is closed.
// Errors call the table name.
func OpenBytes(data []byte, name string) (*Reader, error) { return reader(table.OpenBytes(data, name)) }

func reader(t *table.Reader, err error) (*Reader, error) {
	if err != nil {
		return nil, err
	}
	t.SetCache(table.NewCache(cacheBytes))
	return &Reader{t}, nil
}

// Close releases the file. A second call does nothing.
func (r *Reader) Close() error { return r.t.Close() }

// Params returns the parameters of the table.
func (r *Reader) Params() Params { return paramsOf(r.t.Params()) }

// Info returns the description of the table: numbers of documents, ranges, sections.
func (r *Reader) Info() Info { return infoOf(r.t.Info()) }

// Lookup returns the number of the document with an ID, and false if there is none.
func (r *Reader) Lookup(id string) (doc uint32, found bool, err error) { return r.t.Lookup([]byte(id)) }

// ID returns the ID of a document by its number.
func (r *Reader) ID(doc uint32) (string, error) {
	id, _, err := r.t.AppendIDs(nil, nil, []uint32{doc})
	return string(id), err
}

// Document returns a document by its number.
func (r *Reader) Document(doc uint32) (Document, error) {
	var d table.Document
	if err := r.t.Document(doc, &d); err != nil {
		return Document{}, err
	}
	return documentOf(&d), nil
}

func documentOf(d *table.Document) Document {
	out := Document{
		ID: string(d.ID), Text: string(d.Text), Fields: bytes.Clone(d.Fields), Time: time.UnixMicro(d.Time), Expires: d.ExpiresAt(), Seq: d.Seq,
	}
	if d.HasFingerprint {
		out.Fingerprint = append([]uint64{d.Fingerprint}, d.Rest...)
	}
	if len(d.Sketch) > 0 {
		out.Sketch = slices.Clone(d.Sketch)
	}
	if len(out.Fields) == 0 {
		out.Fields = nil
	}
	return out
}

// Documents iterates over all documents in the order of their numbers. It decodes each block of
// texts about once. After an error it ends.
func (r *Reader) Documents() iter.Seq2[Document, error] { return each(r.t.Iter) }

// Entries is Documents without Text, Fields and Sketch, which it does not read.
func (r *Reader) Entries() iter.Seq2[Document, error] { return each(r.t.Entries) }

func each(start func() *table.Iter) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		it := start()
		for it.Next() {
			if !yield(documentOf(it.Document()), nil) {
				return
			}
		}
		if err := it.Err(); err != nil {
			yield(Document{}, err)
		}
	}
}

// A searcher has the buffers of searches, which the next search uses again.
type searcher struct {
	near    table.NearSearcher
	jaccard table.JaccardSearcher
	one     [1]*table.Reader
	hits    []table.JaccardHit
}

var searchers = sync.Pool{New: func() any { return new(searcher) }}

// Near returns all documents whose fingerprint differs from fp in at most k bits, the nearest
// first, and by number at equal distance. fp has Params.Bits/64 words. k is at least 0; the answer
// is complete for every k.
func (r *Reader) Near(fp []uint64, k int) (hits []Hit, err error) {
	if k < 0 {
		return nil, errNegative(k)
	}
	s := searchers.Get().(*searcher)
	defer searchers.Put(s)
	s.one[0] = r.t
	err = s.near.NearGroup(s.one[:], fp, min(k, 64*len(fp)), func(_ int, found []table.Hit, _ table.NearStats) error {
		for _, h := range found {
			hits = append(hits, Hit{h.Doc, int(h.Distance)})
		}
		return nil
	})
	s.one[0] = nil
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Doc, b.Doc)) })
	return hits, err
}

func errNegative(k int) error { return fmt.Errorf("sstable: a distance of %d bits is negative", k) }

// NearBatch is Near for many queries at once: it decodes each block of the table about once, which
// is faster from some hundred queries up. It yields each document within k bits of a query once for
// that query, in no particular order. It ends after an error; if ctx ends, the error is ctx.Err().
// It needs about 45 bytes of memory per query and 32 per hit.
func (r *Reader) NearBatch(ctx context.Context, fps [][]uint64, k int) iter.Seq2[BatchHit, error] {
	return func(yield func(BatchHit, error) bool) {
		if err := r.nearBatch(ctx, fps, k, func(h BatchHit) bool { return yield(h, nil) }); err != nil {
			yield(BatchHit{}, err)
		}
	}
}

// nearBatch calls yield with the hits until it returns false.
func (r *Reader) nearBatch(ctx context.Context, fps [][]uint64, k int, yield func(BatchHit) bool) error {
	if k < 0 {
		return errNegative(k)
	}
	words := r.t.Params().NumWords()
	columns := make([][]uint64, words)
	for i, fp := range fps {
		if len(fp) != words {
			return fmt.Errorf("sstable: query %d has %d bits, the fingerprints of the table have %d", i, 64*len(fp), 64*words)
		}
		for w, x := range fp {
			columns[w] = append(columns[w], x)
		}
	}
	if len(fps) == 0 {
		return nil
	}
	var s table.NearSearcher
	err := s.NearBatch(ctx, r.t, columns, min(k, 64*words), func(query int, h table.Hit) error {
		if !yield(BatchHit{query, Hit{h.Doc, int(h.Distance)}}) {
			return errStop
		}
		return nil
	})
	if err == errStop {
		return nil
	}
	return err
}

// errStop ends a search when the caller wants no more hits.
var errStop = errors.New("stop")

// Jaccard returns all documents whose estimated Jaccard similarity with the sketch q is at least t,
// 0 < t <= 1, the most similar first, equal ones by number. q ascends and has at most Params.Sketch
// hashes. The estimate equals minhash.Jaccard, and the answer is complete for every t. If the table
// has no sketches, the error wraps ErrNoSketches.
func (r *Reader) Jaccard(q minhash.Sketch, t float64) ([]SketchHit, error) {
	s := searchers.Get().(*searcher)
	defer searchers.Put(s)
	var err error
	s.hits, err = s.jaccard.Jaccard(r.t, table.JaccardQuery{Sketch: q, T: t}, s.hits[:0])
	if err != nil || len(s.hits) == 0 {
		return nil, err
	}
	hits := make([]SketchHit, len(s.hits))
	for i, h := range s.hits {
		hits[i] = SketchHit{Doc: h.Doc, Score: h.Score, Error: h.Err, Exact: h.Exact}
	}
	slices.SortFunc(hits, func(a, b SketchHit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc)) })
	return hits, nil
}

// Verify reads the whole file and returns the first damage it finds. It compares everything with
// its checksums, and the sections with each other: order, IDs, indexes. It thus finds mistakes of a
// writer as well as damage in storage. It uses all processors. progress, if not nil, is called
// every few megabytes, by one goroutine at a time, with bytes; each byte of the file counts twice.
func (r *Reader) Verify(ctx context.Context, progress func(done, total int64)) error {
	return r.t.Verify(ctx, progress)
}

// VerifySums only compares the bytes of the file with the checksums, at the speed of reading.
func (r *Reader) VerifySums(ctx context.Context) error { return r.t.VerifySums(ctx, nil) }

// Describe writes how the table is laid out, for a human reader: parameters, ranges, and for each
// section its offset, its size in bytes and its bits per element.
func (r *Reader) Describe(w io.Writer) error { return r.t.Describe(w) }

// WriteTo writes the file to w unchanged and returns the number of bytes written. It verifies
// nothing.
func (r *Reader) WriteTo(w io.Writer) (int64, error) { return r.t.WriteTo(w) }
