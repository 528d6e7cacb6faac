package table

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/contain"
	"github.com/simdb/simdb/internal/table/internal/fieldidx"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"golang.org/x/sync/errgroup"
)

// Verify reads the whole table and returns the first damage it finds:
//
//	bytes    checksums of all sections; zero bytes between them
//	bytes    checksums of all sections are right; bytes between sections are zero
//	early    the copies of directories, and of entries before blocks of names and sketches
//	records  the blocks of names, records and sketches fill their sections
//	order    each rank and each record belongs to one document at most; sequence numbers ascend
//	         with the rank; they and the times have the extremes stated in the info
//	runs     for each word, run 0 ascends, and run i has its distinct values, permuted, in order
//	ids      each document appears once, under the hash of its ID; IDs differ; the order of IDs
//	sketches bitmaps and postings agree with the sketches
//	sets     sizes of sets and bins of features agree with the texts
//	values   the lists of indexed fields ascend, and agree with the fields
//
// It detects mistakes of the writer as well as damage by storage. The checks run in parallel on all
// processors; if several find damage, Verify returns the error of the first in the list. progress,
// if not nil, is called every few megabytes, by one goroutine at a time; done and total are bytes,
// and each byte of the file counts twice.
func (r *Reader) Verify(ctx context.Context, progress func(done, total int64)) error {
	defer r.t.Pages.Sequential()()
	v := &verification{progress: progress, total: 2 * r.t.Info.Size}
	steps := []func(*verifier) error{(*verifier).checkBytes, (*verifier).checkRecords, (*verifier).checkOrder, (*verifier).checkPlaces,
		(*verifier).checkRuns, (*verifier).checkIDs, (*verifier).checkIDParts, (*verifier).checkSketches, (*verifier).checkSets, (*verifier).checkFields,
		(*verifier).checkEarly}
	errs := make([]error, len(steps))
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, check := range steps {
		work.Go(func() error {
			errs[i] = r.verifyStep(ctx, v, check)
			return nil
		})
	}
	work.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	v.report(v.total)
	return ctx.Err()
}

func (r *Reader) verifyStep(ctx context.Context, v *verification, check func(*verifier) error) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	return check(&verifier{Reader: r, ctx: ctx, all: v})
}

// VerifySums checks every byte of the file against the checksums, and nothing else. It detects
// damage by storage, at the speed of reading; Verify checks more. Damage is reported as a
// *base.CorruptionError; any other error comes from the context.
func (r *Reader) VerifySums(ctx context.Context) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	defer r.t.Pages.Sequential()()
	v := &verifier{Reader: r, ctx: ctx, all: &verification{total: r.t.Info.Size}}
	if err = v.checkBytes(); err == nil {
		err = ctx.Err()
	}
	return err
}

// verifyBytes is the number of bytes that a check reads between two reports of progress.
const verifyBytes = 4 << 20

// verification is the progress that all checks of a table share.
type verification struct {
	mu          sync.Mutex
	progress    func(done, total int64)
	done, total int64
}

// report counts n bytes as done.
func (v *verification) report(n int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done = min(v.done+n, v.total)
	if v.progress != nil {
		v.progress(v.done, v.total)
	}
}

// verifier is the state of one check.
type verifier struct {
	*Reader
	ctx   context.Context
	all   *verification
	quiet int64 // bytes read since the last report
}

// advance counts n bytes as done.
func (v *verifier) advance(n int64) error {
	if v.quiet += n; v.quiet < verifyBytes {
		return nil
	}
	v.all.report(v.quiet)
	v.quiet = 0
	return v.ctx.Err()
}

// checkBytes verifies the checksums of sections, and that only padding lies between them.
func (v *verifier) checkBytes() error {
	header := format.AppendHeader(nil, v.t.Info.Version)
	if !bytes.Equal(v.t.Data[:format.HeaderSize], header) {
		return base.Corruptf(v.t.File, "header", 0, "reserved bytes are not zero")
	}
	end := int64(format.HeaderSize)
	for i := range v.t.Info.Sections {
		s := &v.t.Info.Sections[i]
		if err := v.checkZero(end, s.Offset); err != nil {
			return err
		}
		end = s.Offset + s.Length
		if err := v.checkSection(s); err != nil {
			return err
		}
	}
	return v.checkZero(end, format.Align(end))
}

func (v *verifier) checkSection(s *format.Section) error {
	var sum uint32
	for data := v.t.Bytes(s); len(data) > 0; {
		chunk := data[:min(len(data), verifyBytes)]
		sum = kernel.CRC32C(sum, chunk)
		if err := v.advance(int64(len(chunk))); err != nil {
			return err
		}
		data = data[len(chunk):]
	}
	if sum != s.Checksum {
		return base.Corruptf(v.t.File, s.Name(), s.Offset, "wrong checksum of the section")
	}
	return nil
}

// checkZero verifies that the bytes between two sections are zero.
func (v *verifier) checkZero(from, to int64) error {
	for i, b := range v.t.Data[from:to] {
		if b != 0 {
			return base.Corruptf(v.t.File, "padding", from+int64(i), "byte %#02x, not zero", b)
		}
	}
	return nil
}

// checkRecords verifies the blocks of names, records and sketches, in the order of the file.
func (v *verifier) checkRecords() error {
	w := walk{verifier: v, spans: v.blockSpans(), salt: v.spareSalt()}
	for w.names < v.t.Names.NumBlocks() || w.records < v.recordBlocks() || w.sketches < v.sketchBlocks() {
		if err := w.next(); err != nil {
			return err
		}
	}
	if v.recordBlocks() > 0 && w.record != v.t.Records.Len() {
		return v.corrupt(format.KindRecords, 0, "blocks of %d records, the directory says %d", w.record, v.t.Records.Len())
	}
	w.nextSection()
	if size, err := w.spare(); size > 0 || err != nil { // the one that says: no sketches
		if err := w.pass(uint64(size), err); err != nil {
			return err
		}
		w.nextSection()
	}
	if s := v.t.Section(format.KindBlocks, 0); len(w.spans) > 1 || w.at != w.spans[0].end {
		return base.Corruptf(v.t.File, s.Name(), s.Offset+int64(w.at), "the section continues")
	}
	return nil
}

// span is the range of a section of blocks, as offsets from the start of the first such section.
type span struct{ start, end uint64 }

func (v *verifier) blockSpans() (spans []span) {
	first := v.t.Section(format.KindBlocks, 0).Offset
	for i := range v.t.Info.Sections {
		if s := &v.t.Info.Sections[i]; s.Kind == format.KindBlocks {
			spans = append(spans, span{uint64(s.Offset - first), uint64(s.Offset + s.Length - first)})
		}
	}
	return spans
}

func (v *verifier) sketchBlocks() int {
	if v.t.Sketches == nil || v.t.Sketches.List() == nil {
		return 0
	}
	return v.t.Sketches.List().NumBlocks()
}

func (v *verifier) recordBlocks() int {
	if v.t.Records == nil {
		return 0
	}
	return v.t.Records.NumBlocks()
}

// walk visits all blocks, in the order of the file.
type walk struct {
	*verifier
	spans                    []span // sections that are left, first the section of the next block
	at                       uint64 // where the next block must start
	names, records, sketches int    // blocks so far
	record                   uint32 // records so far
	salt                     uint32 // initial value of the checksums of spares
	blk                      blobs.Block
}

// nextSection moves to the next non-empty section if the end of this one is reached.
func (w *walk) nextSection() {
	for w.at == w.spans[0].end && len(w.spans) > 1 {
		w.spans = w.spans[1:]
		w.at = w.spans[0].start
	}
}

// next verifies the block that starts where the previous one ends. Empty blocks may have any
// offset; they are verified when their number comes up.
func (w *walk) next() error {
	w.nextSection()
	if size, err := w.spare(); size > 0 || err != nil {
		return w.pass(uint64(size), err)
	}
	if w.names < w.verifier.t.Names.NumBlocks() {
		if off, length := w.verifier.t.Names.Extent(w.names); off == w.at {
			w.names++
			return w.pass(length, w.verifier.t.Names.Check(w.names-1))
		}
	}
	if w.sketches < w.sketchBlocks() {
		x := w.verifier.t.Sketches.List()
		if off, length := x.Extent(w.sketches); off == w.at || length == 0 {
			w.sketches++
			return w.pass(length, x.Check(w.sketches-1))
		}
	}
	if w.records == w.recordBlocks() {
		return w.corrupt(format.KindBlocks, int64(w.at), "no block starts here")
	}
	if err := w.verifier.t.Records.Decode(w.records, &w.blk); err != nil {
		return err
	}
	off, length := w.blk.Extent()
	if length > 0 && off != w.at {
		return w.corrupt(format.KindBlocks, int64(w.at), "no block starts here")
	}
	if err := w.verifier.t.Records.Check(&w.blk, w.record); err != nil {
		return err
	}
	w.records, w.record = w.records+1, w.record+w.blk.Count()
	return w.pass(length, nil)
}

// pass advances past a block of length bytes, whose verification returned err.
func (w *walk) pass(length uint64, err error) error {
	if err != nil {
		return err
	}
	if length > w.spans[0].end-w.at {
		return w.corrupt(format.KindBlocks, int64(w.at), "a block of %d bytes goes beyond the section", length)
	}
	w.at += length
	return w.advance(int64(length))
}

// corrupt returns the error for damage at an offset of a section.
func (v *verifier) corrupt(kind format.Kind, at int64, format string, args ...any) error {
	s := v.t.Section(kind, 0)
	return base.Corruptf(v.t.File, s.Name(), s.Offset+at, format, args...)
}

// checkSketches verifies that bitmaps and postings agree with the sketches.
func (v *verifier) checkSketches() error {
	if v.t.Sketches == nil || v.t.Sketches.List() == nil {
		return nil
	}
	return v.t.Sketches.Verify(v.advance)
}

// checkSets verifies that the index of sets agrees with the texts, by sums of hashes.
func (v *verifier) checkSets() error {
	x := v.t.Sets
	if x == nil {
		return nil
	}
	h, width := keyrun.NewSetHash(), contain.Width(v.t.Info.Docs)
	var got, want, prev uint64
	err := x.Keys.EachBlock(func(pos int, keys []uint64) error {
		for i, key := range keys {
			if pos+i > 0 && key == prev {
				return x.Keys.Corrupt(0, "key %016x occurs twice", key)
			}
			prev, got = key, got+h.Of(key)
		}
		return v.advance(int64(x.Keys.BlockSize(pos / keyrun.BlockLen)))
	})
	if err != nil {
		return err
	}
	sets, texts := v.t.Params.NewSetHasher(), v.Texts()
	err = v.EachInTextOrder(v.ctx, func(doc uint32) error {
		text, _, err := texts.Get(doc)
		if err != nil {
			return err
		}
		set := sets.LastSet(text)
		if size, err := x.Sizes.Get(int(doc)); err != nil || size != uint64(len(set)) {
			return cmp.Or(err, x.Sizes.Corrupt(0, "document %d has %d features, not %d", doc, len(set), size))
		}
		for i, hash := range set {
			if bin := contain.BinOf(hash); i == 0 || bin != contain.BinOf(set[i-1]) {
				want += h.Of(uint64(bin)<<width | uint64(doc))
			}
		}
		return nil
	})
	if err == nil && got != want {
		err = x.Keys.Corrupt(0, "a document is missing or repeated under a feature")
	}
	return err
}

// checkFields verifies that the lists of indexed fields agree with the documents, by sums of
// hashes.
func (v *verifier) checkFields() error {
	paths := v.t.Params.Indexed()
	if len(paths) == 0 {
		return nil
	}
	h, got, want := keyrun.NewSetHash(), make([]uint64, len(v.t.Fields)), make([]uint64, len(v.t.Fields))
	hash := func(key []byte, doc uint32) uint64 { return h.Of(format.HashID(key) + uint64(doc)*0x9e3779b97f4a7c15) }
	for i := range v.t.Fields {
		l := &v.t.Fields[i]
		it := l.Iter()
		last, lastDoc := []byte(nil), uint32(0)
		for n := 0; ; n++ {
			ok, err := it.Next()
			if err != nil {
				return err
			} else if !ok {
				break
			}
			if n > 0 && fieldidx.Compare(last, lastDoc, it.Key, it.Doc) >= 0 {
				return v.corrupt(format.KindValues, 0, "value %d of list %d is not after the one before", n, i)
			}
			last, lastDoc, got[i] = it.Key, it.Doc, got[i]+hash(it.Key, it.Doc)
			if err := v.advance(int64(len(it.Key)) + 3); err != nil {
				return err
			}
		}
	}
	texts := v.Texts()
	err := v.EachInTextOrder(v.ctx, func(doc uint32) error {
		_, fields, err := texts.Get(doc)
		for i, path := range paths {
			fieldidx.Each(path, fields, func(list int, key []byte) { want[fieldidx.Lists*i+list] += hash(key, doc) })
		}
		return err
	})
	for i := range got {
		if err == nil && got[i] != want[i] {
			err = v.corrupt(format.KindValues, 0, "list %d lacks values of some documents", i)
		}
	}
	return err
}

// checkOrder verifies that every rank belongs to one document, that times and sequence numbers have
// the extremes stated in the info, and that the time sketch agrees with the times.
func (v *verifier) checkOrder() error {
	if v.t.Ranks != nil {
		if err := v.checkOnce(v.t.Ranks, int(v.t.Info.Docs)); err != nil {
			return err
		}
	}
	if err := v.t.Seqs.EachBlock(func(pos int, _ []uint64) error {
		return v.advance(int64(v.t.Seqs.BlockSize(pos / keyrun.BlockLen)))
	}); err != nil || v.t.Info.Docs == 0 {
		return err
	}
	lo, err := v.t.Seqs.Key(0)
	if err != nil {
		return err
	}
	if hi := v.t.Seqs.Greatest(); lo != v.t.Info.MinSeq || hi != v.t.Info.MaxSeq {
		return v.corrupt(format.KindSeqs, 0, "sequence numbers %d..%d, the info says %d..%d", lo, hi, v.t.Info.MinSeq, v.t.Info.MaxSeq)
	}
	return v.checkTimes()
}

func (v *verifier) checkTimes() error {
	sample := format.NewTimeSample(int(v.t.Info.Docs))
	var values [keyrun.BlockLen]uint64
	for b := range v.t.Times.NumBlocks() {
		n, err := v.t.Times.Block(b, values[:])
		if err != nil {
			return err
		}
		for _, t := range values[:n] {
			sample.Add(t)
		}
		if err := v.advance(int64(v.t.Times.BlockSize(b))); err != nil {
			return err
		}
	}
	if lo, hi := format.TimeOf(sample.Least), format.TimeOf(sample.Greatest); lo != v.t.Info.MinTime || hi != v.t.Info.MaxTime {
		return v.corrupt(format.KindTimes, 0, "times %d..%d, the info says %d..%d", lo, hi, v.t.Info.MinTime, v.t.Info.MaxTime)
	}
	quantiles, err := v.TimeSketch()
	if err != nil || quantiles == nil {
		return err
	}
	want := sample.Quantiles()
	if len(quantiles) != len(want) {
		return v.corrupt(format.KindTimeSketch, 0, "%d quantiles, not %d", len(quantiles), len(want))
	}
	for i, q := range want {
		if quantiles[i] != format.TimeOf(q) {
			return v.corrupt(format.KindTimeSketch, int64(8*i), "quantile %d is %d, not %d", i, quantiles[i], format.TimeOf(q))
		}
	}
	return nil
}

// checkPlaces verifies that every record belongs to one document at most.
func (v *verifier) checkPlaces() error {
	if v.t.Places == nil {
		return nil
	}
	return v.checkOnce(v.t.Places, int(v.t.Records.Len()))
}

// checkOnce verifies that no value less than n occurs twice in a column.
func (v *verifier) checkOnce(c *keyrun.Column, n int) error {
	seen := make([]uint64, (n+63)/64)
	var values [keyrun.BlockLen]uint64
	for b := range c.NumBlocks() {
		count, err := c.Block(b, values[:])
		if err != nil {
			return err
		}
		for _, value := range values[:count] {
			if int(value) >= n {
				continue // in places, this means a document without a record
			}
			if bit := uint64(1) << (value & 63); seen[value>>6]&bit != 0 {
				return c.Corrupt(c.Info(b).Off, "%d occurs twice", value)
			} else {
				seen[value>>6] |= bit
			}
		}
		if err := v.advance(int64(c.BlockSize(b))); err != nil {
			return err
		}
	}
	return nil
}

// checkRuns verifies that all runs have the same fingerprints. It compares sums of keyed hashes,
// with random keys, so that no file can be made to pass with different sets.
func (v *verifier) checkRuns() error {
	h := keyrun.NewSetHash()
	for word := range v.t.Params.NumWords() {
		if err := v.checkWord(word, h); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) checkWord(word int, h keyrun.SetHash) error {
	var want uint64
	var distinct uint32
	for permuted := range v.t.Params.Layout.Tables() {
		sum, n, repeated, err := v.checkRun(word, permuted, h)
		if err != nil {
			return err
		}
		s := v.t.Section(format.KindRun, format.RunIndex(word, permuted))
		switch {
		case permuted == 0:
			want, distinct = sum, n
		case repeated:
			return base.Corruptf(v.t.File, s.Name(), s.Offset, "a fingerprint occurs twice")
		case sum != want:
			return base.Corruptf(v.t.File, s.Name(), s.Offset, "not the fingerprints of run 0")
		}
		if n != distinct || word == 0 && n != v.t.Info.Distinct {
			return base.Corruptf(v.t.File, s.Name(), s.Offset, "%d distinct fingerprints, not %d", n, v.t.Info.Distinct)
		}
	}
	if word > 0 {
		return v.checkWordDocs(word, h)
	}
	return nil
}

// checkWordDocs verifies that run 0 of a later word lists each document under its word.
func (v *verifier) checkWordDocs(word int, h keyrun.SetHash) error {
	var got, want uint64
	w := v.t.Words[word-1]
	it := w.Runs[0].Iter(0)
	for i := 0; it.Next(); i++ {
		doc, err := w.Runs[0].Value(i)
		if err != nil {
			return err
		}
		got += h.OfPair(it.Key(), uint32(doc))
	}
	if err := it.Err(); err != nil {
		return err
	}
	err := v.RestBlocks(word, func(first uint32, words []Fingerprint) error {
		for i, fp := range words {
			want += h.OfPair(fp, first+uint32(i))
		}
		return v.advance(int64(8 * len(words)))
	})
	if err == nil && got != want {
		err = w.Runs[0].Corrupt(0, "a document is missing or repeated under its word")
	}
	return err
}

// checkRun reads a key run. It returns the hash of the set of its fingerprints, their number, and
// whether any occurs more than once.
func (v *verifier) checkRun(word, permuted int, h keyrun.SetHash) (sum uint64, n uint32, repeated bool, err error) {
	run, prev := v.t.RunAt(format.RunIndex(word, permuted)), uint64(0)
	it := run.Iter(0)
	for i := 0; it.Next(); i++ {
		key := it.Key()
		if i > 0 && key < prev {
			s := v.t.Section(format.KindRun, format.RunIndex(word, permuted))
			return 0, 0, false, base.Corruptf(v.t.File, s.Name(), s.Offset, "key %016x after %016x", key, prev)
		}
		if i > 0 && key == prev {
			repeated = true
		} else {
			sum += h.Of(v.t.Params.Layout.Unpermute(permuted, key))
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

// checkIDs verifies that the run of IDs lists every document once, under its hash, and that no ID
// occurs twice. The pairs of hash and document are read twice, by document and by hash; both passes
// are sequential and must give the same set.
func (v *verifier) checkIDs() error {
	h := keyrun.NewSetHash()
	want, err := v.sumNames(h)
	if err != nil {
		return err
	}
	var got, prev uint64
	var same []uint32 // documents whose IDs have the hash prev, ascending
	it := v.t.IDs.Iter(0)
	for i := 0; it.Next(); i++ {
		doc, err := v.t.DocAt(i)
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
			if err := v.advance(int64(v.t.IDs.BlockSize(i / keyrun.BlockLen))); err != nil {
				return err
			}
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	if got != want {
		return v.corrupt(format.KindIDs, 0, "a document is missing or repeated under the hash of its ID")
	}
	return v.checkUnique(same)
}

// sumNames returns the hash of the set of all pairs of a document and the hash of its ID.
func (v *verifier) sumNames(h keyrun.SetHash) (sum uint64, err error) {
	for doc := range v.t.Info.Docs {
		id, err := v.t.Names.Get(doc)
		if err != nil {
			return 0, err
		}
		sum += h.OfPair(format.IDKey(id), doc)
		if b, first := v.t.Names.First(doc); first {
			_, length := v.t.Names.Extent(b)
			if err := v.advance(int64(length)); err != nil {
				return 0, err
			}
		}
	}
	return sum, nil
}

// checkUnique verifies that documents whose IDs have the same hash have different IDs.
func (v *verifier) checkUnique(docs []uint32) error {
	if len(docs) < 2 {
		return nil
	}
	ids := make([][]byte, len(docs))
	for i, doc := range docs {
		var err error
		if ids[i], err = v.t.Names.Get(doc); err != nil {
			return err
		}
	}
	slices.SortFunc(ids, bytes.Compare)
	for i, id := range ids[1:] {
		if bytes.Equal(id, ids[i]) {
			return v.corrupt(format.KindIDs, 0, "ID %.100q occurs twice", id)
		}
	}
	return nil
}

// checkEarly verifies that the early section agrees with the directory.
func (v *verifier) checkEarly() error {
	s := v.t.Section(format.KindEarly, 0)
	if s == nil {
		return nil
	}
	e, ok := format.ParseEarly(v.t.Data, s.Offset+s.Length)
	if !ok || e.Start != s.Offset {
		return v.corrupt(format.KindEarly, 0, "no directory at the end of the section")
	}
	got, want := e.Info, v.t.Info
	got.Sections, want.Sections, got.Checksum, want.Checksum = nil, nil, 0, 0
	if e.Params != v.t.Params || !sameInfo(got, want) {
		return v.corrupt(format.KindEarly, 0, "the parameters and numbers do not match the directory")
	}
	for i := range e.Info.Sections {
		a := &e.Info.Sections[i]
		b := v.t.Section(a.Kind, a.Index)
		if b == nil && a.Optional {
			continue
		}
		if b == nil || !a.IsCopied() && *a != *b || a.IsCopied() && (a.Count != b.Count || !bytes.Equal(v.t.Bytes(a), v.t.Bytes(b))) {
			return v.corrupt(format.KindEarly, a.Offset-s.Offset, "section %s does not match the directory", a.Name())
		}
	}
	return nil
}

// sameInfo reports whether two infos without sections are the same.
func sameInfo(a, b format.Info) bool {
	return a.Docs == b.Docs && a.Fingerprints == b.Fingerprints && a.Distinct == b.Distinct && a.MinTime == b.MinTime &&
		a.MaxTime == b.MaxTime && a.MinSeq == b.MinSeq && a.MaxSeq == b.MaxSeq && a.Identity == b.Identity
}

// spareSalt returns the initial value of the checksums of spares: the checksum of the early
// directory.
func (v *verifier) spareSalt() uint32 {
	if s := v.t.Section(format.KindEarly, 0); s != nil && s.Length >= format.TailSize {
		return binary.LittleEndian.Uint32(v.t.Bytes(s)[s.Length-format.TailSize+12:])
	}
	return 0
}

// spare verifies the spare at the position of the next block and returns its size, 0 if there is
// none.
func (w *walk) spare() (size int, err error) {
	first := w.verifier.t.Section(format.KindBlocks, 0).Offset
	at := int64(w.at)
	s, ok := format.ParseSpare(w.t.Data[first+at:min(first+int64(w.spans[0].end), int64(len(w.t.Data)))], w.salt)
	if !ok {
		return 0, nil
	}
	var dir []byte
	if sec := w.verifier.t.Section(s.Kind, 0); sec != nil && (s.Kind == format.KindNames || s.Kind == format.KindSketches) {
		dir = w.verifier.t.Bytes(sec)
	}
	from := s.First * blobs.ListEntry
	if from > len(dir) || len(s.Entries) > len(dir)-from || !bytes.Equal(s.Entries, dir[from:from+len(s.Entries)]) {
		return 0, w.corrupt(format.KindBlocks, at, "the spare entries do not match the directory")
	}
	return s.Size, nil
}

// checkIDParts verifies that the order of IDs lists each document once, in the part to which its ID
// belongs.
func (v *verifier) checkIDParts() error {
	o, err := v.storedOrder()
	if err != nil {
		return err
	}
	for i := range o.stored {
		if err := v.checkStretch(o, &o.stored[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkStretch is checkIDParts for the documents of one stretch.
func (v *verifier) checkStretch(o *IDOrder, s *stretch) error {
	const none = math.MaxUint16
	parts := make([]uint16, s.run.Len())
	for i := range parts {
		parts[i] = none
	}
	err := s.run.EachBlock(func(pos int, keys []uint64) error {
		for _, key := range keys {
			part, doc := key>>s.shift, key&(1<<s.shift-1)
			if part >= uint64(o.divider.Parts()) || doc >= uint64(len(parts)) || parts[doc] != none {
				return s.run.Corrupt(0, "document %d of %d in part %d of %d occurs twice or does not belong there", doc, len(parts), part, o.divider.Parts())
			}
			parts[doc] = uint16(part)
		}
		return v.advance(int64(s.run.BlockSize(pos / keyrun.BlockLen)))
	})
	if err != nil {
		return err
	}
	it := v.t.Names.Iter(s.first)
	for doc, part := range parts {
		id, err := it.Next()
		if err != nil {
			return err
		}
		if o.divider.Part(id) != int(part) {
			return s.run.Corrupt(0, "document %d is in part %d of the order of IDs, and its ID belongs to %d", s.first+uint32(doc), part, o.divider.Part(id))
		}
	}
	return nil
}
