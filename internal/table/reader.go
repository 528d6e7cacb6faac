package table

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/hamming"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/vfs"
)

// Reader reads a table. Any number of goroutines may call its methods, but Close must be the last
// call. Errors about the file's contents are *CorruptionError: checksums are verified when a block
// is first read.
type Reader struct {
	t     *format.Table
	index *hamming.Wide

	mu    sync.Mutex
	order *IDOrder // once it has been opened; an error may be that of a server, and pass
}

// OpenBytes opens a table that is in memory. data must not change until the reader is closed.
func OpenBytes(data []byte, name string) (r *Reader, err error) {
	return newReader(&format.Table{File: name, Data: data})
}

func newReader(t *format.Table) (*Reader, error) {
	if err := t.Open(); err != nil {
		t.Close()
		return nil, err
	}
	runs, columns := [][]*keyrun.Run{t.Runs}, []*keyrun.Column{}
	for _, w := range t.Words {
		runs, columns = append(runs, w.Runs), append(columns, w.Column)
	}
	return &Reader{t: t, index: hamming.NewWide(t.Params.Layout, runs, columns, t.Names)}, nil
}

// Cache holds decoded blocks of texts and fields of any number of tables: see blobs.Cache.
type Cache = blobs.Cache

// CacheStats describes a Cache.
type CacheStats = blobs.CacheStats

// NewCache returns a cache of size bytes, nil if size is not positive.
func NewCache(size int64) *Cache { return blobs.NewCache(size) }

// SetCache sets the cache for texts and fields that are read one by one, by Document for example;
// nil means that each read decodes a block. It must be called before all other methods. Close
// removes the blocks of the table from the cache.
func (r *Reader) SetCache(c *Cache) {
	if r.t.Records != nil {
		r.t.Records.SetCache(c)
	}
}

// Close releases the file. Slices that alias it must not be used afterwards. A second call does
// nothing.
func (r *Reader) Close() error { return r.t.Close() }

// Note returns a copy of the note that the table's owner stored in it (WriterOptions.Note), nil if
// there is none.
func (r *Reader) Note() ([]byte, error) { return r.t.Note() }

// unguardAny is Table.Unguard for a function that reads several tables.
func unguardAny(readers []*Reader, before bool, err *error) {
	vfs.Restore(before)
	if p := recover(); p != nil {
		*err = format.FaultIn(p, tablesOf(readers)...)
	}
}

func tablesOf(readers []*Reader) []*format.Table {
	tables := make([]*format.Table, len(readers))
	for i, r := range readers {
		tables[i] = r.t
	}
	return tables
}

// Params returns the parameters of the table.
func (r *Reader) Params() format.Params { return r.t.Params }

// Info returns the Info of the table. Its Sections must not be changed.
func (r *Reader) Info() format.Info { return r.t.Info }

// NumDocs returns the number of documents: they are numbered 0..NumDocs-1.
func (r *Reader) NumDocs() uint32 { return r.t.Info.Docs }

// NumFingerprints returns the number of documents with a fingerprint: 0..NumFingerprints-1, in
// order of fingerprints.
func (r *Reader) NumFingerprints() uint32 { return r.t.Info.Fingerprints }

// ID returns the ID of a document. It aliases the file and is valid until the reader is closed.
// AppendIDs copies IDs instead, so it can turn a fault in the file into an error.
func (r *Reader) ID(doc uint32) (id []byte, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.t.CheckDoc(doc); err != nil {
		return nil, err
	}
	return r.t.Names.Get(doc)
}

// AppendRest appends the words after the first of a document's fingerprint to dst; none if the
// document has no fingerprint.
func (r *Reader) AppendRest(dst []Fingerprint, doc uint32) (words []Fingerprint, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.t.CheckDoc(doc); err != nil || doc >= r.t.Info.Fingerprints {
		return dst, err
	}
	return r.t.AppendRest(dst, doc)
}

// Fingerprint returns the fingerprint of a document, or its first word, and false if it has none.
func (r *Reader) Fingerprint(doc uint32) (fp Fingerprint, ok bool, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.t.CheckDoc(doc); err != nil || doc >= r.t.Info.Fingerprints {
		return fp, false, err
	}
	fp, err = r.t.Runs[0].Key(int(doc))
	return fp, err == nil, err
}

// Time returns when a document was stored, in microseconds since the Unix epoch.
func (r *Reader) Time(doc uint32) (t int64, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	rank, err := r.t.Rank(doc)
	if err != nil {
		return 0, err
	}
	v, err := r.t.TimeAt(rank)
	return format.TimeOf(v), err
}

// Expiry returns when a document expires, in microseconds since the Unix epoch, or 0 for never.
func (r *Reader) Expiry(doc uint32) (t int64, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if r.t.Expiries == nil {
		return 0, nil
	}
	rank, err := r.t.Rank(doc)
	if err != nil {
		return 0, err
	}
	return r.t.ExpiryAt(rank)
}

// FirstExpiry returns the earliest time at which a document expires, in microseconds since the Unix
// epoch, or math.MaxInt64 if none does.
func (r *Reader) FirstExpiry() int64 { return format.TimeOf(r.t.FirstExpiry) }

// Seq returns the sequence number of a document's write.
func (r *Reader) Seq(doc uint32) (seq uint64, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	rank, err := r.t.Rank(doc)
	if err != nil {
		return 0, err
	}
	return r.t.Seqs.Key(rank)
}

// TextBytes returns roughly the average number of bytes of text and fields per document, 0 if it
// cannot be read.
func (r *Reader) TextBytes() int64 {
	var err error
	defer r.t.Unguard(format.Guard(), &err)
	if r.t.Records == nil {
		return 0
	}
	_, raw := r.t.Records.Sizes()
	return raw / int64(max(r.t.Records.Len(), 1))
}

// TimeSketch returns up to TimeQuantiles times, ascending: the minimum and the maximum of all
// documents, and between them quantiles of a sample. With n quantiles, about i/(n-1) of all
// documents were stored before quantile i. It returns nil if the table has no documents.
func (r *Reader) TimeSketch() (times []int64, err error) { return r.timeSketch(0) }

// ExpirySketch is TimeSketch for the expiries; documents that never expire have math.MaxInt64. It
// returns nil if the table has no column of expiries.
func (r *Reader) ExpirySketch() (times []int64, err error) { return r.timeSketch(format.Expiries) }

func (r *Reader) timeSketch(index uint16) (times []int64, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	s := r.t.Section(format.KindTimeSketch, index)
	if s == nil {
		return nil, nil
	}
	r.t.Pages.Need(s.Offset, s.Offset+s.Length)
	b := r.t.Bytes(s)
	end := len(b) - 4
	if s.Count == 0 || s.Count > format.TimeQuantiles || uint64(end) != 8*s.Count || kernel.CRC32C(0, b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, base.Corruptf(r.t.File, s.Name(), s.Offset, "wrong checksum or size of %d quantiles", s.Count)
	}
	for i := 0; i < end; i += 8 {
		times = append(times, format.TimeOf(binary.LittleEndian.Uint64(b[i:])))
	}
	return times, nil
}

// HasDeadRecords reports whether the table has texts that belong to no document. A merge leaves
// such texts where it drops documents but copies their blocks.
func (r *Reader) HasDeadRecords() (has bool, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if r.t.Places == nil {
		return false, nil
	}
	var values [keyrun.BlockLen]uint64
	used := 0
	for b := range r.t.Places.NumBlocks() {
		n, err := r.t.Places.Block(b, values[:])
		if err != nil {
			return false, err
		}
		for _, v := range values[:n] {
			if v < uint64(r.t.Records.Len()) {
				used++
			}
		}
	}
	return used < int(r.t.Records.Len()), nil
}

// Sketch appends the sketch of a document to dst; nothing if the document or the table has none.
func (r *Reader) Sketch(doc uint32, dst []uint32) (sketch []uint32, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.t.CheckDoc(doc); err != nil || r.t.Sketches == nil {
		return dst, err
	}
	return r.t.Sketches.Sketch(doc, dst)
}

// Document sets d to a document. ID and Sketch are copied to d's slices, which grow as needed. Text
// and Fields may be parts of a cached block: they stay valid, and must not be changed.
func (r *Reader) Document(doc uint32, d *Document) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err = r.unnamed(doc, d); err != nil {
		return err
	}
	id, err := r.t.Names.Get(doc)
	if d.ID = append(d.ID[:0], id...); err == nil && r.t.Sketches != nil {
		d.Sketch, err = r.t.Sketches.Sketch(doc, d.Sketch)
	}
	return err
}

// Unnamed is like Document for a caller that knows the ID: it reads neither the ID nor the sketch,
// which become empty.
func (r *Reader) Unnamed(doc uint32, d *Document) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	return r.unnamed(doc, d)
}

func (r *Reader) unnamed(doc uint32, d *Document) (err error) {
	d.ID, d.Sketch = d.ID[:0], d.Sketch[:0]
	if r.IsServed() {
		if err := r.announce([]uint32{doc}, PartText); err != nil {
			return err
		}
	}
	if err := r.entry(doc, d); err != nil {
		return err
	}
	d.Text, d.Fields, err = r.t.Record(doc)
	return err
}

// AppendText appends the text of a document to dst. Document does the same for the whole document.
func (r *Reader) AppendText(dst []byte, doc uint32) (text []byte, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.t.CheckDoc(doc); err != nil {
		return dst, err
	}
	stored, _, err := r.t.Record(doc)
	return append(dst, stored...), err
}

// Entry is Unnamed without text and fields, which it leaves as they are.
func (r *Reader) Entry(doc uint32, d *Document) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	return r.entry(doc, d)
}

// entry sets the fields of d except ID, Text, Fields and Sketch.
func (r *Reader) entry(doc uint32, d *Document) error {
	if err := r.t.CheckDoc(doc); err != nil {
		return err
	}
	// In a cold table, these values lie on different pages, which are fetched together.
	if r.t.Ranks != nil {
		r.t.Ranks.Fetch(int(doc))
	}
	if doc < r.t.Info.Fingerprints {
		r.t.Runs[0].Fetch(int(doc))
	}
	d.HasFingerprint, d.Fingerprint = doc < r.t.Info.Fingerprints, 0
	if d.HasFingerprint {
		var err error
		if d.Fingerprint, err = r.t.Runs[0].Key(int(doc)); err != nil {
			return err
		}
		if d.Rest, err = r.t.AppendRest(d.Rest[:0], doc); err != nil {
			return err
		}
	}
	rank, err := r.t.Rank(doc)
	if err != nil {
		return err
	}
	if r.t.Times.Fetch(rank); r.t.Pages.IsRemote() {
		keyrun.FetchAll(rank, &r.t.Times.Dir, &r.t.Seqs.Dir)
	}
	r.t.Seqs.Fetch(rank)
	t, err := r.t.TimeAt(rank)
	if err != nil {
		return err
	}
	d.Time = format.TimeOf(t)
	if d.Expires, err = r.t.ExpiryAt(rank); err != nil {
		return err
	}
	d.Seq, err = r.t.Seqs.Key(rank)
	return err
}

// WriteTo writes the table's file to w unchanged and returns the number of bytes written. It
// verifies nothing; Verify does. An unreadable page causes a *base.CorruptionError.
func (r *Reader) WriteTo(w io.Writer) (n int64, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	defer r.t.Pages.Sequential()()
	const chunk = 2 << 20
	for data := r.t.Data; len(data) > 0; {
		r.t.Pages.Need(n, min(n+chunk, int64(len(r.t.Data))))
		wrote, err := w.Write(data[:min(chunk, len(data))])
		n += int64(wrote)
		if err != nil {
			return n, err
		}
		data = data[wrote:]
	}
	return n, nil
}

// RestBlocks is FingerprintBlocks for a later word of the fingerprints, 1 to NumWords-1.
func (r *Reader) RestBlocks(word int, fn func(first uint32, words []Fingerprint) error) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	defer r.t.Pages.Sequential()()
	var block [keyrun.BlockLen]uint64
	for first, c := uint32(0), r.t.Words[word-1].Column; first < r.t.Info.Fingerprints; first += keyrun.BlockLen {
		n, err := c.Block(int(first>>keyrun.BlockShift), block[:])
		if err != nil {
			return err
		}
		if err := fn(first, block[:min(n, int(r.t.Info.Fingerprints-first))]); err != nil {
			return err
		}
	}
	return nil
}

// FingerprintBlocks calls fn with the fingerprints of all documents that have one, in order and in
// blocks of at most 512: fps[i], valid until fn returns, belongs to document first+i. It stops at
// fn's first error and returns it. It decodes the first run and reads nothing else.
func (r *Reader) FingerprintBlocks(fn func(first uint32, fps []Fingerprint) error) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	defer r.t.Pages.Sequential()()
	return r.t.Runs[0].EachBlock(func(pos int, keys []uint64) error { return fn(uint32(pos), keys) })
}
