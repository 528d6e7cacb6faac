package wal

import (
	"errors"
	"fmt"

	"github.com/simdb/simdb/internal/vfs"
)

// Salvaged describes the log that Salvage read.
type Salvaged struct {
	Clean bool    // the log has an end frame
	End   int64   // position after the last intact frame
	Gaps  []error // a *base.CorruptionError for each unreadable part
}

// Salvage calls fn for the payload of every intact frame of a log. After a damaged frame, it looks
// for the next intact frame at each multiple of 8. expected, if not nil, is the header that the log
// should have: it replaces a damaged header in the file, and a log with another header is not read.
// fn receives the position of the frame; the payload is valid only during the call. An error of fn
// or of the file system ends the reading and is returned unchanged.
//
// As in Replay, the number of bytes that are checksummed without finding a frame is bounded; when
// it is reached, the rest is a gap.
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
	s.out.End = s.res.End
	return s.out, err
}

type salvage struct {
	scanner
	out Salvaged
}

// gap records that the part that begins at from is unreadable.
func (s *salvage) gap(from int64, format string, args ...any) {
	s.out.Gaps = append(s.out.Gaps, s.corrupt(from, format, args...))
}

// salvageHeader reads the file header, or uses the expected one. ok reports whether frames may
// follow.
func (s *salvage) salvageHeader(expected *Header) (ok bool, err error) {
	buf, err := s.r.bytes(0, min(HeaderSize, s.r.size))
	if err != nil {
		return false, err
	}
	s.res.End = min(HeaderSize, s.r.size)
	h, seed, headErr := Header{}, uint32(0), error(s.corrupt(0, "no header"))
	if len(buf) == HeaderSize {
		s.res.Version, h, seed, headErr = decodeHeader(buf)
	}
	switch {
	case errors.Is(headErr, ErrVersion):
		return false, fmt.Errorf("open log %s: %w", s.r.name, headErr)
	case headErr == nil && expected != nil && h != *expected:
		s.gap(0, "log %d of database %x", h.Number, h.Database)
		return false, nil
	case headErr != nil:
		s.gap(0, "%w", headErr)
		if expected == nil { // without it, frames of this log cannot be distinguished from others
			return false, nil
		}
		s.res.Version = Version
		_, seed = encodeHeader(*expected)
	}
	s.seed, s.format = seed, formats[s.res.Version]
	return s.r.size > HeaderSize, nil
}

// scan delivers the payloads of all intact frames.
func (s *salvage) scan(fn func(at int64, payload []byte) error) error {
	budget := 8*s.r.size + 1<<20
	lost := int64(-1) // start of the current damaged part, or -1
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
			s.gap(lost, "%d bytes of damaged frames", at-lost)
			lost = -1
		}
		if h.typ == typeEnd {
			s.out.Clean = true
		} else if err := fn(at, payload); err != nil {
			return err
		}
		budget += frameSize(h.payload)
		at += frameSize(h.payload)
		s.res.End = at
	}
	if s.res.End < s.r.size {
		s.gap(s.res.End, "%d bytes: damaged, or half written when a process was killed", s.r.size-s.res.End)
	}
	return nil
}

// ParseHeader returns the header of a log that starts with prefix, and false if it is damaged.
func ParseHeader(prefix []byte) (Header, bool) {
	if len(prefix) < HeaderSize {
		return Header{}, false
	}
	_, h, _, err := decodeHeader(prefix)
	return h, err == nil
}
