package wal

import (
	"errors"
	"fmt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// A Gap is a part of a log that can't be read.
type Gap struct {
	Offset, Bytes int64
	// Torn says that it may be what a crash left half written of the newest log: it is the end of
	// the file, which has no end frame.
	Torn bool
	Err  error // a *base.CorruptionError
}

// Salvaged says what Salvage found.
type Salvaged struct {
	Header Header
	Frames int   // payloads delivered
	Clean  bool  // there is an end frame
	End    int64 // the position after the last intact frame
	Gaps   []Gap
}

// Salvage calls fn for the payload of every frame of a log that is intact, also of those after a
// damaged one, which it finds at the next multiple of 8 where there is one. Expected, if not nil,
// is the header that the log should have: it serves if the one in the file is damaged. fn gets the
// position of the frame; the payload is valid during the call only. An error of fn ends the reading
// and is returned as it is, as are those of the file system.
//
// The bytes that are checksummed in vain are bounded, as in Replay; what comes after is a Gap.
func Salvage(fs vfs.FS, name string, expected *Header, fn func(at int64, payload []byte) error) (Salvaged, error) {
	f, err := fs.Open(name)
	if err != nil {
		return Salvaged{}, fmt.Errorf("open log: %w", err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return Salvaged{}, fmt.Errorf("open log %s: %w", name, err)
	}
	s := &salvage{scanner: scanner{r: reader{f: f, name: name, size: size}}}
	ok, err := s.salvageHeader(expected)
	if err == nil && ok {
		err = s.scan(fn)
	}
	s.out.Header, s.out.End = s.res.Header, s.res.End
	return s.out, err
}

type salvage struct {
	scanner
	out Salvaged
}

// gap notes that [from, to) can't be read.
func (s *salvage) gap(from, to int64, format string, args ...any) {
	s.out.Gaps = append(s.out.Gaps, Gap{Offset: from, Bytes: to - from, Torn: to == s.r.size, Err: s.corrupt(from, format, args...)})
}

// salvageHeader reads the file header, or takes the expected one. ok is false if there is none, or
// the file has no more than that.
func (s *salvage) salvageHeader(expected *Header) (ok bool, err error) {
	buf, err := s.r.bytes(0, min(headerSize, s.r.size))
	if err != nil {
		return false, err
	}
	s.res.End = min(headerSize, s.r.size)
	headErr := error(base.Corruptf(s.r.name, Section, 0, "no header"))
	if int64(len(buf)) == headerSize {
		s.res.Version, s.res.Header, s.seed, headErr = decodeHeader(buf)
	}
	if errors.Is(headErr, ErrVersion) {
		return false, fmt.Errorf("open log %s: %w", s.r.name, headErr)
	}
	if headErr != nil {
		s.gap(0, s.res.End, "%w", headErr)
		if expected == nil {
			if s.res.End < s.r.size {
				s.gap(s.res.End, s.r.size, "the frames can't be told from others without the header")
			}
			return false, nil
		}
		s.res.Version, s.res.Header = Version, *expected
		_, s.seed = encodeHeaderOf(Version, *expected)
	}
	s.format = formats[s.res.Version]
	return s.r.size > headerSize, nil
}

// scan delivers the payloads of all intact frames.
func (s *salvage) scan(fn func(at int64, payload []byte) error) error {
	budget := 8*s.r.size + 1<<20
	lost := int64(-1) // where the damage began that at is in
	for at := s.res.End; at < s.r.size; {
		h, ok, err := s.head(at)
		if err != nil {
			return err
		}
		var payload []byte
		if ok {
			if budget -= frameSize(h.payload); budget < 0 {
				break
			}
			if h, payload, err = s.frame(at); err != nil {
				return err
			}
		}
		if !ok || h.typ == 0 {
			if lost < 0 {
				lost = at
			}
			at += frameAlign
			continue
		}
		if lost >= 0 {
			s.gap(lost, at, "damaged frames")
			lost = -1
		}
		if h.typ == typeEnd {
			s.out.Clean = true
		} else {
			s.out.Frames++
			if err := fn(at, payload); err != nil {
				return err
			}
			budget += frameSize(h.payload)
		}
		at += frameSize(h.payload)
		s.res.End = at
	}
	if s.res.End < s.r.size {
		s.gap(s.res.End, s.r.size, "no intact frame follows")
	}
	return nil
}

// ParseHeader returns the header of a log that starts with prefix, and false if it is damaged.
func ParseHeader(prefix []byte) (Header, bool) {
	if len(prefix) < headerSize {
		return Header{}, false
	}
	_, h, _, err := decodeHeader(prefix)
	return h, err == nil
}
