package sstable

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/hamming"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// indexOffset returns where the part of the file begins that searches read: all of it where there
// are no texts.
func (r *Reader) indexOffset() int64 {
	s := r.section(KindBlocks, 0)
	if !r.params.StoreText || s == nil {
		return 0
	}
	return s.Offset + s.Length
}

// scanned returns the parts of the file that searches read in order: the bitmaps of sketches.
func (r *Reader) scanned() (parts [][2]int64) {
	for _, s := range r.info.Sections {
		if s.Kind == KindBitmaps {
			parts = append(parts, [2]int64{s.Offset, s.Offset + s.Length})
		}
	}
	return parts
}

// OpenBytes opens a table that is in memory. data must not change until the reader is closed.
func OpenBytes(data []byte, name string) (r *Reader, err error) {
	r = &Reader{file: name, data: data}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

// open opens the table in data. It reads the directories only.
func (r *Reader) open() (err error) {
	defer r.unguard(guard(), &err)
	if r.params, r.info, err = parseFooter(r.data, r.file); err != nil {
		return err
	}
	r.pages.SetIndex(r.indexOffset(), r.scanned())
	for _, s := range r.info.Sections {
		if s.Kind&dirFlag != 0 {
			r.pages.Fetch(s.Offset, s.Offset+s.Length)
		}
	}
	if err := r.openSections(); err != nil {
		return err
	}
	r.order = sync.OnceValues(r.storedOrder)
	r.index = hamming.New(hamming.Layout(r.params.Layout), r.runs, r.names)
	return nil
}

// Close releases the file. What aliases it must not be used any more. A second call does nothing.
func (r *Reader) Close() error {
	var err error
	r.pages.Close()
	if r.unmap != nil {
		err = r.unmap()
	}
	if r.closer != nil {
		if cerr := r.closer(); err == nil {
			err = cerr
		}
	}
	r.pages, r.unmap, r.closer, r.data = nil, nil, nil, nil
	return err
}

// Params returns what the table's fingerprints were made with.
func (r *Reader) Params() Params { return r.params }

// Info returns what the table says of itself. Its Sections must not be changed.
func (r *Reader) Info() Info { return r.info }

// Note returns a copy of what the table's owner keeps with it (WriterOptions.Note), nil if there is
// nothing.
func (r *Reader) Note() (note []byte, err error) {
	defer r.unguard(guard(), &err)
	s := r.section(KindNote, 0)
	if s == nil {
		return nil, nil
	}
	note = bytes.Clone(r.bytes(s))
	if crc.Sum(note) != s.Checksum {
		return nil, base.Corruptf(r.file, s.Name(), s.Offset, "wrong checksum of the section")
	}
	return note, nil
}

// NumDocs returns the number of documents: they are numbered 0..NumDocs-1.
func (r *Reader) NumDocs() uint32 { return r.info.Docs }

// NumFingerprints returns the number of documents with a fingerprint: 0..NumFingerprints-1, in
// order of fingerprints.
func (r *Reader) NumFingerprints() uint32 { return r.info.Fingerprints }

// ID returns the ID of a document. It aliases the file and is valid until the reader is closed;
// AppendID copies it, and so turns a fault in the file into an error.
func (r *Reader) ID(doc uint32) (id []byte, err error) {
	defer r.unguard(guard(), &err)
	if err := r.checkDoc(doc); err != nil {
		return nil, err
	}
	return r.names.Get(doc)
}

// AppendID appends the ID of a document to dst.
func (r *Reader) AppendID(dst []byte, doc uint32) (ids []byte, err error) {
	defer r.unguard(guard(), &err)
	if err := r.checkDoc(doc); err != nil {
		return dst, err
	}
	id, err := r.names.Get(doc)
	return append(dst, id...), err
}

// Fingerprint returns the fingerprint of a document, and false if it has none.
func (r *Reader) Fingerprint(doc uint32) (fp Fingerprint, ok bool, err error) {
	defer r.unguard(guard(), &err)
	if err := r.checkDoc(doc); err != nil || doc >= r.info.Fingerprints {
		return fp, false, err
	}
	fp, err = r.runs[0].Key(int(doc))
	return fp, err == nil, err
}

// Time returns when a document was stored, in microseconds since the Unix epoch.
func (r *Reader) Time(doc uint32) (t int64, err error) {
	defer r.unguard(guard(), &err)
	rank, err := r.rank(doc)
	if err != nil {
		return 0, err
	}
	v, err := r.timeAt(rank)
	return timeOf(v), err
}

// Seq returns the sequence number of a document's write.
func (r *Reader) Seq(doc uint32) (seq uint64, err error) {
	defer r.unguard(guard(), &err)
	rank, err := r.rank(doc)
	if err != nil {
		return 0, err
	}
	return r.seqs.Key(rank)
}

// rank returns the position of a document in the order of writing.
func (r *Reader) rank(doc uint32) (int, error) {
	if err := r.checkDoc(doc); err != nil || r.ranks == nil {
		return int(doc), err
	}
	v, err := r.ranks.Get(int(doc))
	return int(v), err
}

// timeAt returns the time of the document with a rank, as orderedTime gives it.
func (r *Reader) timeAt(rank int) (uint64, error) {
	return r.times.Get(rank)
}

// TimeSketch returns up to TimeQuantiles times, ascending: the least and the greatest of the
// documents, and between them quantiles of a sample. Of n quantiles, about i in n-1 of all
// documents were stored before quantile i. Nil if the table has no documents.
func (r *Reader) TimeSketch() (times []int64, err error) {
	defer r.unguard(guard(), &err)
	s := r.section(KindTimeSketch, 0)
	if s == nil {
		return nil, nil
	}
	b := r.bytes(s)
	end := len(b) - 4
	if s.Count == 0 || s.Count > TimeQuantiles || uint64(end) != 8*s.Count || crc.Sum(b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, base.Corruptf(r.file, s.Name(), s.Offset, "wrong checksum or size of %d quantiles", s.Count)
	}
	for i := 0; i < end; i += 8 {
		times = append(times, timeOf(binary.LittleEndian.Uint64(b[i:])))
	}
	return times, nil
}

// record returns text and fields of a document, parts of a decoded block.
func (r *Reader) record(doc uint32) (text, fields []byte, err error) {
	if r.records == nil {
		return nil, nil, nil
	}
	place, err := r.place(doc)
	if err != nil || place == r.records.Len() {
		return nil, nil, err
	}
	return r.records.Get(place)
}

// HasDeadRecords reports whether the table holds texts that no document has: those of documents
// that a merge left out, in blocks that it copied.
func (r *Reader) HasDeadRecords() (has bool, err error) {
	defer r.unguard(guard(), &err)
	if r.places == nil {
		return false, nil
	}
	var values [keyrun.BlockLen]uint64
	used := 0
	for b := range r.places.NumBlocks() {
		n, err := r.places.Block(b, values[:])
		if err != nil {
			return false, err
		}
		for _, v := range values[:n] {
			if v < uint64(r.records.Len()) {
				used++
			}
		}
	}
	return used < int(r.records.Len()), nil
}

// place returns the number of a document's record, that of records if it has none.
func (r *Reader) place(doc uint32) (uint32, error) {
	if r.places == nil {
		return doc, nil
	}
	v, err := r.places.Get(int(doc))
	return uint32(v), err
}

// Sketch appends the sketch of a document to dst; nothing if it has none, or the table keeps none.
func (r *Reader) Sketch(doc uint32, dst []uint32) (sketch []uint32, err error) {
	defer r.unguard(guard(), &err)
	if err := r.checkDoc(doc); err != nil || r.sketches == nil {
		return dst, err
	}
	return r.sketches.Sketch(doc, dst)
}

// Document sets d to a document. ID, Text, Fields and Sketch are copied to d's slices, which grow
// as needed. The blocks that texts were decompressed from last are kept for the next call.
func (r *Reader) Document(doc uint32, d *Document) (err error) {
	defer r.unguard(guard(), &err)
	err = r.withoutSketch(doc, d)
	if err == nil && r.sketches != nil {
		d.Sketch, err = r.sketches.Sketch(doc, d.Sketch)
	}
	return err
}

// WithoutSketch is Document that reads no sketch: d.Sketch becomes empty.
func (r *Reader) WithoutSketch(doc uint32, d *Document) (err error) {
	defer r.unguard(guard(), &err)
	return r.withoutSketch(doc, d)
}

func (r *Reader) withoutSketch(doc uint32, d *Document) error {
	d.Sketch = d.Sketch[:0]
	if err := r.entry(doc, d); err != nil {
		return err
	}
	text, fields, err := r.record(doc)
	d.Text, d.Fields = append(d.Text[:0], text...), append(d.Fields[:0], fields...)
	return err
}

// AppendText appends the text of a document to dst, as Document does with all of it.
func (r *Reader) AppendText(dst []byte, doc uint32) (text []byte, err error) {
	defer r.unguard(guard(), &err)
	if err := r.checkDoc(doc); err != nil {
		return dst, err
	}
	stored, _, err := r.record(doc)
	return append(dst, stored...), err
}

// entry sets all of d but Text, Fields and Sketch.
func (r *Reader) entry(doc uint32, d *Document) error {
	if err := r.checkDoc(doc); err != nil {
		return err
	}
	// What of a cold table lies in different places is fetched together.
	if r.ranks != nil {
		r.ranks.Fetch(int(doc))
	}
	if doc < r.info.Fingerprints {
		r.runs[0].Fetch(int(doc))
	}
	id, err := r.names.Get(doc)
	if err != nil {
		return err
	}
	d.ID = append(d.ID[:0], id...)
	d.HasFingerprint, d.Fingerprint = doc < r.info.Fingerprints, 0
	if d.HasFingerprint {
		if d.Fingerprint, err = r.runs[0].Key(int(doc)); err != nil {
			return err
		}
	}
	rank, err := r.rank(doc)
	if err != nil {
		return err
	}
	r.times.Fetch(rank)
	r.seqs.Fetch(rank)
	t, err := r.timeAt(rank)
	if err != nil {
		return err
	}
	d.Time = timeOf(t)
	d.Seq, err = r.seqs.Key(rank)
	return err
}
