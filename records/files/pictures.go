package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"

	"golang.org/x/sync/semaphore"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
)

// goodQuality is the minimum quality of a PDQ hash that Meta recommends.
const goodQuality = 50

// pictures is the Source of a list of pictures. The fingerprint of a record is the hash.
type pictures struct {
	source
	workers int
	memory  int64               // limit for all pictures decoded at the same time, in bytes
	free    *semaphore.Weighted // the unused part of memory
}

// newPictures returns a Source for a list of pictures.
func newPictures(t *Tree, opt records.Options) *pictures {
	memory := cmp.Or(opt.Memory, imagehash.DefaultMemory)
	return &pictures{source{tree: t, opt: opt}, cmp.Or(opt.Workers, runtime.GOMAXPROCS(0)), memory, semaphore.NewWeighted(memory)}
}

// Info describes the list.
func (s *pictures) Info() records.Info {
	return records.Info{Name: s.tree.name, Format: Files, Shape: "pictures", Bits: s.tree.images.Bits(), Several: s.opt.Orientations, FingerprintsOnly: true}
}

// hashed is a picture, or the error of its file.
type hashed struct {
	rec *records.Record
	err error
	why string // why it is compared only for equality, or ""
}

// Records yields a record for each picture. A picture that cannot be decoded has a flaw, and a
// fingerprint made from the bytes of its file. A file that cannot be read is an Issue.
func (s *pictures) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		if s.opt.Need != records.NeedID { // with NeedID, no picture is decoded
			s.tree.refused, s.tree.poor = records.Counts{}, 0
		}
		rest := s.tree.entries[min(int(s.opt.After), len(s.tree.entries)):]
		err := pipeline.Ordered(ctx, len(rest), s.workers, func(i int) (hashed, error) {
			return s.hash(ctx, rest[i]), ctx.Err()
		}, func(i int, h hashed) error {
			if h.rec != nil {
				h.rec.End = s.opt.After + records.Position(i+1)
				s.count(h)
			}
			if !yield(h.rec, h.err) {
				return records.ErrStop
			}
			return nil
		})
		if err != nil && err != records.ErrStop {
			yield(nil, context.Cause(ctx))
		}
	}
}

// count counts pictures without a hash, and those whose hash has a low quality.
func (s *pictures) count(h hashed) {
	switch {
	case h.why != "":
		s.tree.refused[h.why]++
	case h.rec.Picture != nil && h.rec.Picture.Quality >= 0 && h.rec.Picture.Quality < goodQuality:
		s.tree.poor++
	}
}

// hash makes the record of a picture.
func (s *pictures) hash(ctx context.Context, e entry) (h hashed) {
	name := records.ShownName(e.path)
	issue := &records.Issue{File: name, Pos: 1, Unit: records.UnitFile, Reason: e.reason, Raw: []byte(e.path)}
	if e.reason != "" {
		return hashed{err: issue}
	}
	h.rec = &records.Record{Doc: engine.Doc{ID: name}, File: name, Pos: 1, Raw: issue.Raw}
	if s.opt.Need == records.NeedID {
		return h
	}
	if s.opt.Need <= records.NeedDoc {
		h.rec.Doc.Fields = e.fields(nil)
	}
	p, sum, err := s.decode(ctx, e.path)
	if refused, ok := errors.AsType[*imagehash.RefusedError](err); ok {
		h.why, h.rec.Flaw = cmp.Or(refused.Format, refused.Reason.String()), refused.Error()
		if refused.Reason == imagehash.TooLarge && s.opt.Memory > 0 {
			h.rec.Flaw += "; " + option.Name("Memory") + " gives more"
		}
		h.rec.Doc.Fingerprints = []engine.Fingerprint{sum}
		return h
	}
	if err != nil {
		issue.Reason = outfile.Cause(err).Error()
		return hashed{err: issue}
	}
	if h.rec.Picture = &p; p.Refused != nil {
		h.why = p.Refused.Reason.String()
	}
	for _, hash := range p.Hashes {
		if h.rec.Doc.Fingerprints = append(h.rec.Doc.Fingerprints, hash); !s.opt.Orientations {
			break
		}
	}
	if s.opt.Need <= records.NeedDoc {
		fields := fmt.Appendf(nil, `{"width":%d,"height":%d,"format":%q}`, p.Width, p.Height, p.Format)
		if p.Quality >= 0 {
			fields = append(fmt.Appendf(nil, `{"quality":%d,`, p.Quality), fields[1:]...)
		}
		h.rec.Doc.Fields = e.fields(fields)
	}
	return h
}

// decode hashes a picture, or the bytes of a file that is not a usable picture. It starts with an
// equal share of the memory. If a picture needs more, decode doubles the share, and fewer pictures
// are decoded at the same time.
func (s *pictures) decode(ctx context.Context, path string) (p imagehash.Result, sum []uint64, err error) {
	f, err := place.Open(ctx, path)
	if err != nil {
		return p, nil, err
	}
	defer f.Close()
	defer func() {
		n, _ := f.Seek(0, io.SeekCurrent)
		s.read.Add(n)
	}()
	for memory := max(1, s.memory/int64(s.workers)); ; memory = min(2*memory, s.memory) {
		if err := s.free.Acquire(ctx, memory); err != nil {
			return p, nil, err
		}
		p, err = imagehash.Hash(f, *s.tree.images, imagehash.Options{Orientations: s.opt.Orientations, Memory: memory, Name: path})
		s.free.Release(memory)
		refused, ok := errors.AsType[*imagehash.RefusedError](err)
		if !ok {
			return p, nil, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return p, nil, err
		}
		if refused.Reason != imagehash.TooLarge || memory == s.memory {
			sum, failed := imagehash.Sum(f, *s.tree.images)
			return p, sum, cmp.Or(failed, err)
		}
	}
}
