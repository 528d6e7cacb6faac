package sstable

import (
	"bytes"
	"context"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/sethash"
)

// Verify reads the whole table and returns the first damage it finds:
//
//	bytes    checksums of all sections; zero bytes between them
//	records  the blocks of names and documents fill their section, and hold every document once
//	columns  times and sequence numbers have the extremes that the info says
//	runs     run 0 ascends; run i holds exactly its distinct fingerprints, permuted, in order
//	ids      each document once, under the hash of its ID; no ID twice
//	sketches bitmaps and postings are those of the sketches
//
// It checks what a writer may have got wrong as well as what storage may have lost. progress, if
// not nil, is called every few megabytes; done and total are bytes, each of the file counting
// twice.
func (r *Reader) Verify(ctx context.Context, progress func(done, total int64)) (err error) {
	defer r.unguard(guard(), &err)
	v := &verifier{Reader: r, ctx: ctx, progress: progress, total: 2 * r.info.Size}
	for _, step := range []func() error{v.checkBytes, v.checkRecords, v.checkColumns, v.checkRuns, v.checkIDs,
		v.checkSketches, v.finish} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// verifyStep is how many bytes are read between two looks at the context.
const verifyStep = 4 << 20

// verifier is a verification that goes on.
type verifier struct {
	*Reader
	ctx         context.Context
	progress    func(done, total int64)
	done, total int64
	quiet       int64 // bytes since the last report
}

// advance counts n bytes as done.
func (v *verifier) advance(n int64) error {
	v.done += n
	if v.quiet += n; v.quiet < verifyStep {
		return nil
	}
	v.quiet = 0
	if v.progress != nil {
		v.progress(min(v.done, v.total), v.total)
	}
	return v.ctx.Err()
}

// finish reports the end.
func (v *verifier) finish() error {
	if v.progress != nil {
		v.progress(v.total, v.total)
	}
	return v.ctx.Err()
}

// checkBytes verifies the checksums of sections, and that nothing is between them.
func (v *verifier) checkBytes() error {
	header := appendHeader(nil, v.info.Version)
	if !bytes.Equal(v.data[:headerSize], header) {
		return base.Corruptf(v.file, "header", 0, "reserved bytes are not zero")
	}
	end := int64(headerSize)
	for i := range v.info.Sections {
		s := &v.info.Sections[i]
		if err := v.checkZero(end, s.Offset); err != nil {
			return err
		}
		end = s.Offset + s.Length
		if err := v.checkSection(s); err != nil {
			return err
		}
	}
	return v.checkZero(end, align(end))
}

// checkSection verifies the checksum of a section.
func (v *verifier) checkSection(s *Section) error {
	var sum uint32
	for data := v.bytes(s); len(data) > 0; {
		chunk := data[:min(len(data), verifyStep)]
		sum = crc.Update(sum, chunk)
		if err := v.advance(int64(len(chunk))); err != nil {
			return err
		}
		data = data[len(chunk):]
	}
	if sum != s.Checksum {
		return base.Corruptf(v.file, s.Name(), s.Offset, "wrong checksum of the section")
	}
	return nil
}

// checkZero verifies that the bytes between two sections are zero.
func (v *verifier) checkZero(from, to int64) error {
	for i, b := range v.data[from:to] {
		if b != 0 {
			return base.Corruptf(v.file, "padding", from+int64(i), "byte %#02x, not zero", b)
		}
	}
	return nil
}

// checkRecords verifies the blocks of names, documents and sketches, in the order in which they
// lie.
func (v *verifier) checkRecords() error {
	w := walk{verifier: v, spans: v.blockSpans()}
	for w.names < v.names.NumBlocks() || w.docs < v.docs.NumBlocks() || w.sketches < v.sketchBlocks() {
		if err := w.next(); err != nil {
			return err
		}
	}
	if s := v.section(KindBlocks, 0); w.doc != v.info.Docs || len(w.spans) > 1 || w.at != w.spans[0].end {
		return base.Corruptf(v.file, s.Name(), s.Offset+int64(w.at), "%d of %d documents; the section goes on", w.doc, v.info.Docs)
	}
	return nil
}

// span is a section of blocks, by offsets from the start of the first one.
type span struct{ start, end uint64 }

// blockSpans returns the sections of blocks.
func (v *verifier) blockSpans() (spans []span) {
	first := v.section(KindBlocks, 0).Offset
	for i := range v.info.Sections {
		if s := &v.info.Sections[i]; s.Kind == KindBlocks {
			spans = append(spans, span{uint64(s.Offset - first), uint64(s.Offset + s.Length - first)})
		}
	}
	return spans
}

// sketchBlocks returns the number of blocks of sketches.
func (v *verifier) sketchBlocks() int {
	if v.sketches == nil {
		return 0
	}
	return v.sketches.List().NumBlocks()
}

// walk is a walk over blocks.
type walk struct {
	*verifier
	spans                 []span // sections from that of the next block on
	at                    uint64 // where the next block must start
	names, docs, sketches int    // blocks so far
	doc                   uint32 // documents so far
	blk                   blobs.Block
}

// next verifies the block that starts where the one before it ends. Blocks of records are taken
// last, as those without bytes may be anywhere.
func (w *walk) next() error {
	if w.at == w.spans[0].end && len(w.spans) > 1 {
		w.spans = w.spans[1:]
		w.at = w.spans[0].start
	}
	if w.names < w.verifier.names.NumBlocks() {
		if off, length := w.verifier.names.Extent(w.names); off == w.at {
			w.names++
			return w.pass(length, w.verifier.names.Check(w.names-1))
		}
	}
	if w.sketches < w.sketchBlocks() {
		x := w.verifier.sketches.List()
		if off, length := x.Extent(w.sketches); off == w.at {
			w.sketches++
			return w.pass(length, x.Check(w.sketches-1))
		}
	}
	if w.docs == w.verifier.docs.NumBlocks() {
		return w.corrupt(KindBlocks, int64(w.at), "no block starts here")
	}
	if err := w.verifier.docs.Decode(w.docs, &w.blk); err != nil {
		return err
	}
	off, length := w.blk.Extent()
	if length > 0 && off != w.at {
		return w.corrupt(KindBlocks, int64(w.at), "no block starts here")
	}
	if err := w.verifier.docs.Check(&w.blk, w.doc); err != nil {
		return err
	}
	w.docs, w.doc = w.docs+1, w.doc+w.blk.Count()
	return w.pass(length, nil)
}

// pass steps over a block of length bytes, in which err was found.
func (w *walk) pass(length uint64, err error) error {
	if err != nil {
		return err
	}
	if length > w.spans[0].end-w.at {
		return w.corrupt(KindBlocks, int64(w.at), "a block of %d bytes goes beyond the section", length)
	}
	w.at += length
	return w.advance(int64(length))
}

// corrupt is the error for damage at an offset of a section.
func (v *verifier) corrupt(kind Kind, at int64, format string, args ...any) error {
	s := v.section(kind, 0)
	return base.Corruptf(v.file, s.Name(), s.Offset+at, format, args...)
}

// checkSketches verifies that bitmaps and postings are those of the sketches.
func (v *verifier) checkSketches() error {
	if v.sketches == nil {
		return nil
	}
	return v.sketches.Verify(v.advance)
}

// checkColumns verifies that the least and greatest values of the columns by document are those of
// the info.
func (v *verifier) checkColumns() error {
	lo, hi, err := v.extremes(v.times)
	if err != nil {
		return err
	}
	if v.info.Docs > 0 && (timeOf(lo) != v.info.MinTime || timeOf(hi) != v.info.MaxTime) {
		return v.corrupt(KindTimes, 0, "times %d..%d, the info says %d..%d", timeOf(lo), timeOf(hi), v.info.MinTime, v.info.MaxTime)
	}
	if lo, hi, err = v.extremes(v.seqs); err != nil {
		return err
	}
	if v.info.Docs > 0 && (lo != v.info.MinSeq || hi != v.info.MaxSeq) {
		return v.corrupt(KindSeqs, 0, "sequence numbers %d..%d, the info says %d..%d", lo, hi, v.info.MinSeq, v.info.MaxSeq)
	}
	return nil
}

// extremes returns the least and the greatest value of a column.
func (v *verifier) extremes(c *keyrun.Column) (lo, hi uint64, err error) {
	var values [keyrun.BlockLen]uint64
	lo = ^uint64(0)
	for b := range c.NumBlocks() {
		n, err := c.Block(b, values[:])
		if err != nil {
			return 0, 0, err
		}
		lo, hi = min(lo, slices.Min(values[:n])), max(hi, slices.Max(values[:n]))
		if err := v.advance(int64(c.BlockSize(b))); err != nil {
			return 0, 0, err
		}
	}
	return lo, hi, nil
}

// checkRuns verifies that all runs hold the same fingerprints. Sets are compared by the sum of
// keyed hashes of their members, whose keys are drawn here so that no file can be made to deceive
// it.
func (v *verifier) checkRuns() error {
	h := sethash.New()
	var want uint64
	for table := range v.runs {
		sum, n, repeated, err := v.checkRun(table, h)
		if err != nil {
			return err
		}
		s := v.section(KindRun, uint16(table))
		switch {
		case table == 0:
			want = sum
		case repeated:
			return base.Corruptf(v.file, s.Name(), s.Offset, "a fingerprint is there twice")
		case sum != want:
			return base.Corruptf(v.file, s.Name(), s.Offset, "not the fingerprints of run 0")
		}
		if n != v.info.Distinct {
			return base.Corruptf(v.file, s.Name(), s.Offset, "%d distinct fingerprints, the info says %d", n, v.info.Distinct)
		}
	}
	return nil
}

// checkRun reads a key run; it returns the hash of the set of its fingerprints, their number, and
// whether any is there more than once.
func (v *verifier) checkRun(table int, h sethash.Hash) (sum uint64, n uint32, repeated bool, err error) {
	run, prev := v.runs[table], uint64(0)
	it := run.Iter(0)
	for i := 0; it.Next(); i++ {
		key := it.Key()
		if i > 0 && key < prev {
			s := v.section(KindRun, uint16(table))
			return 0, 0, false, base.Corruptf(v.file, s.Name(), s.Offset, "key %016x after %016x", key, prev)
		}
		if i > 0 && key == prev {
			repeated = true
		} else {
			sum += h.Of(v.params.Layout.Unpermute(table, key))
			n++
		}
		prev = key
		if i%keyrun.BlockLen == 0 {
			if err := v.advance(int64(run.BlockSize(i / keyrun.BlockLen))); err != nil {
				return 0, 0, false, err
			}
		}
	}
	return sum, n, repeated, it.Err()
}

// checkIDs verifies that the run of IDs has every document once, under its hash, and no ID twice.
// Both ways to go through all pairs of hash and document, by document and by hash, are sequential
// and must give the same set.
func (v *verifier) checkIDs() error {
	h := sethash.New()
	want, err := v.sumNames(h)
	if err != nil {
		return err
	}
	var got, prev uint64
	var same []uint32 // documents under the hash prev
	it := v.ids.Iter(0)
	for i := 0; it.Next(); i++ {
		doc, err := v.docAt(i)
		if err != nil {
			return err
		}
		got += h.OfPair(it.Key(), doc)
		if it.Key() != prev {
			if err := v.checkUnique(same); err != nil {
				return err
			}
			same, prev = same[:0], it.Key()
		}
		same = append(same, doc)
		if i%keyrun.BlockLen == 0 {
			if err := v.advance(int64(v.ids.BlockSize(i / keyrun.BlockLen))); err != nil {
				return err
			}
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	if got != want {
		return v.corrupt(KindIDs, 0, "not every document is there once, under the hash of its ID")
	}
	return v.checkUnique(same)
}

// sumNames returns the hash of the set of all documents with the hashes of their IDs.
func (v *verifier) sumNames(h sethash.Hash) (sum uint64, err error) {
	for doc := range v.info.Docs {
		id, err := v.names.Get(doc)
		if err != nil {
			return 0, err
		}
		sum += h.OfPair(v.idHash.key(id), doc)
		if b, first := v.names.First(doc); first {
			_, length := v.names.Extent(b)
			if err := v.advance(int64(length)); err != nil {
				return 0, err
			}
		}
	}
	return sum, nil
}

// checkUnique verifies that no two of some documents, whose IDs have the same hash, have the same
// ID.
func (v *verifier) checkUnique(docs []uint32) error {
	if len(docs) < 2 {
		return nil
	}
	ids := make([][]byte, len(docs))
	for i, doc := range docs {
		var err error
		if ids[i], err = v.names.Get(doc); err != nil {
			return err
		}
	}
	slices.SortFunc(ids, bytes.Compare)
	for i, id := range ids[1:] {
		if bytes.Equal(id, ids[i]) {
			return v.corrupt(KindIDs, 0, "ID %.100q is there twice", id)
		}
	}
	return nil
}
