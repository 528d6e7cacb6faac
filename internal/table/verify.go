package table

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"runtime"
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
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
		(*verifier).checkRuns, (*verifier).checkIDs, (*verifier).checkIDOrder, (*verifier).checkSketches, (*verifier).checkSets, (*verifier).checkFields,
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
	r.t.Whole()
	return check(&verifier{Reader: r, ctx: ctx, all: v})
}

// VerifySums checks every byte of the file against the checksums, and nothing else. It detects
// damage by storage, at the speed of reading; Verify checks more. Damage is reported as a
// *base.CorruptionError; any other error comes from the context. progress is as for Verify, but each
// byte counts once.
func (r *Reader) VerifySums(ctx context.Context, progress func(done, total int64)) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	defer r.t.Pages.Sequential()()
	r.t.Whole()
	v := &verifier{Reader: r, ctx: ctx, all: &verification{progress: progress, total: r.t.Info.Size}}
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
