package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// Options say what Replay expects.
type Options struct {
	// Last says that the log is the newest of its database, whose end may be torn. Any other log
	// must be whole and have an end frame.
	Last bool
	// Header, if not nil, is the one that the log must have.
	Header *Header
	// From is the position from which to continue, the End of an earlier replay; 0 is the start.
	// Replay does not check the frames before it.
	From int64
}

// Result describes the log that Replay read.
type Result struct {
	Version   uint32 // version of the format
	Header    Header
	Frames    int   // payloads delivered
	End       int64 // position after the last intact frame; 0 if not even the file header is intact
	Clean     bool  // the log ends with an end frame
	Torn      bool  // after End there are bytes that a crash left half written
	TornBytes int64 // number of these bytes
}

// Replay calls fn for each payload of a log in order. A payload is valid only during the call. An
// error of fn ends the replay and is returned unchanged; damaged data is a *base.CorruptionError.
// After an error, Result counts the payloads delivered before it.
//
// Replay does not change the file. Before another log is created, Cut must make the last log whole
// and durable.
func Replay(fs vfs.FS, name string, opts Options, fn func(payload []byte) error) (Result, error) {
	f, err := fs.Open(name)
	if err != nil {
		return Result{}, fmt.Errorf("open log: %w", err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return Result{}, fmt.Errorf("open log %s: %w", name, err)
	}
	s := &scanner{r: reader{f: f, name: name, size: size}, last: opts.Last}
	if err := s.header(opts.Header); err != nil || s.res.Torn {
		return s.res, err
	}
	if opts.From > size {
		return s.res, s.corrupt(size, "the log ends here, but had %d bytes before", opts.From)
	}
	s.res.End = max(s.res.End, opts.From)
	err = s.frames(fn)
	return s.res, err
}

// Framed returns logs, numbers in ascending order, without those at the end that are too short for
// a frame: a process has prepared a log or made it, and was killed before it wrote frames. The log
// before them may lack an end frame. name returns the name of a log's file.
func Framed(fs vfs.FS, name func(number uint64) string, logs []uint64) ([]uint64, error) {
	for n := len(logs); n > 0; n-- {
		info, err := fs.Stat(name(logs[n-1]))
		if err != nil || info.Size > HeaderSize {
			return logs[:n], err
		}
	}
	return nil, nil
}

// Cut ends the last log at the end that Replay found: it cuts off the torn part, and adds an end
// frame, so that the log is whole. It removes a log without a file header, which holds no data. Cut
// returns the new size of the log, or 0 if it was removed. Everything is durable when Cut returns.
// Cut syncs a Clean log, too: the process that wrote it may have been killed before it could sync
// the end frame. If Cut fails or crashes, another Replay and Cut repair the log.
func Cut(fs vfs.FS, name string, res Result) (size int64, err error) {
	switch {
	case res.Clean:
		size, err = res.End, vfs.SyncFile(fs, name)
	case res.End == 0:
		err = remove(fs, name)
	default:
		size, err = res.End+frameHeader, cut(fs, name, res)
	}
	if err != nil {
		return 0, fmt.Errorf("cut log %s: %w", name, err)
	}
	return size, nil
}

func remove(fs vfs.FS, name string) error {
	if err := fs.Remove(name); err != nil {
		return err
	}
	return fs.SyncDir(filepath.Dir(name))
}

func cut(fs vfs.FS, name string, res Result) (err error) {
	f, err := fs.Append(name)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	if err := f.Truncate(res.End); err != nil {
		return err
	}
	// The remaining frames may never have been synced, but the end frame claims that they are.
	if err := f.Sync(); err != nil {
		return err
	}
	_, seed := encodeHeaderOf(res.Version, res.Header)
	if err := writeAll(f, formats[res.Version].appendFrame(nil, seed, res.End, res.End, typeEnd, nil)); err != nil {
		return err
	}
	return f.Sync()
}

// scanner is the state of one Replay.
type scanner struct {
	r      reader
	last   bool
	format format // format of the file's version
	seed   uint32
	res    Result
}

func (s *scanner) corrupt(offset int64, format string, args ...any) error {
	return base.Corruptf(s.r.name, Section, offset, format, args...)
}

// torn ends the replay at pos.
func (s *scanner) torn(pos int64) {
	s.res.End, s.res.Torn, s.res.TornBytes = pos, true, s.r.size-pos
}

// header reads the file header. Frames are written only after the header is durable. If the header
// is torn, it is therefore the whole file, and short or all zeros.
func (s *scanner) header(want *Header) error {
	buf, err := s.r.bytes(0, min(HeaderSize, s.r.size))
	if err != nil {
		return err
	}
	if int64(len(buf)) < HeaderSize || s.r.size == HeaderSize && allZero(buf) {
		if !s.last {
			return s.corrupt(0, "no header")
		}
		s.torn(0)
		return nil
	}
	version, h, seed, err := decodeHeader(buf)
	if errors.Is(err, ErrVersion) {
		return fmt.Errorf("open log %s: %w", s.r.name, err)
	}
	if err != nil {
		return s.corrupt(0, "%w", err)
	}
	if want != nil && *want != h {
		return s.corrupt(0, "found log %d of database %x instead of log %d of database %x",
			h.Number, h.Database, want.Number, want.Database)
	}
	s.res.Version, s.res.Header, s.seed, s.res.End = version, h, seed, HeaderSize
	s.format = formats[version]
	return nil
}

// frames delivers the payloads up to the log's end.
func (s *scanner) frames(fn func([]byte) error) error {
	for s.res.End < s.r.size {
		pos := s.res.End
		h, payload, err := s.frame(pos)
		if err != nil {
			return err
		}
		switch h.typ {
		case typeData:
			if err := fn(payload); err != nil {
				return err
			}
			s.res.Frames++
			s.res.End = pos + frameSize(h.payload)
		case typeEnd:
			s.res.End, s.res.Clean = pos+frameHeader, true
			if s.res.End < s.r.size {
				return s.corrupt(s.res.End, "%d bytes after the end frame", s.r.size-s.res.End)
			}
		default:
			return s.damaged(pos)
		}
	}
	if !s.res.Clean && !s.last {
		return s.corrupt(s.res.End, "the log stops without an end frame and is not the last")
	}
	return nil
}

// frame returns the intact frame at pos; its type is 0 if there is none. The payload is valid until
// the next read.
func (s *scanner) frame(pos int64) (frameHead, []byte, error) {
	h, ok, err := s.head(pos)
	if err != nil || !ok {
		return frameHead{}, nil, err
	}
	buf, err := s.r.bytes(pos, frameSize(h.payload))
	if err != nil {
		return frameHead{}, nil, err
	}
	if frameCRC(s.seed, pos, buf) != binary.LittleEndian.Uint32(buf) {
		return frameHead{}, nil, nil
	}
	return h, buf[frameHeader : frameHeader+h.payload], nil
}

// head returns the frame header at pos; ok reports whether its values are possible.
func (s *scanner) head(pos int64) (h frameHead, ok bool, err error) {
	if s.r.size-pos < frameHeader {
		return frameHead{}, false, nil
	}
	buf, err := s.r.bytes(pos, frameHeader)
	if err != nil {
		return frameHead{}, false, err
	}
	h, ok = s.format.decodeHead(buf, pos, s.r.size)
	return h, ok, nil
}

// damaged decides whether the damage at pos is a torn end or corruption, by the rules in the
// package comment.
//
// It looks for intact frames at every possible position after pos. Payloads may imitate frame
// headers; the number of bytes that are checksummed without finding a frame is bounded, so that a
// hostile file cannot make this quadratic.
func (s *scanner) damaged(pos int64) error {
	const reason = "damaged frame"
	if !s.last {
		return s.corrupt(pos, "%s", reason)
	}
	budget := 8*(s.r.size-pos) + 1<<20
	checked := false // whether the first intact frame after pos was found
	for at := pos + frameAlign; s.r.size-at >= frameHeader; {
		h, ok, err := s.head(at)
		if err != nil {
			return err
		}
		if !ok {
			at += frameAlign
			continue
		}
		if budget -= frameSize(h.payload); budget < 0 {
			return s.corrupt(pos, "%s, followed by too many bytes that look like frames", reason)
		}
		if h, _, err = s.frame(at); err != nil {
			return err
		}
		if h.typ == 0 {
			at += frameAlign
			continue
		}
		if h.synced > pos {
			return s.corrupt(pos, "%s before position %d, up to which the log was synced", reason, h.synced)
		}
		if !checked {
			unwritten, err := s.unwritten(pos, at)
			if err != nil {
				return err
			}
			if !unwritten {
				return s.corrupt(pos, "%s before an intact one at %d, without a sector that was not written", reason, at)
			}
			checked = true
		}
		at += frameSize(h.payload)
	}
	s.torn(pos)
	return nil
}

// unwritten reports whether a sector between the start of the damaged frame at pos and the intact
// frame at next is zero, from pos on. It ignores the sector that contains next: that sector was
// written after the damaged frame.
func (s *scanner) unwritten(pos, next int64) (bool, error) {
	const sector = 512
	for start := pos; ; {
		end := start - start%sector + sector
		if end > next {
			return false, nil
		}
		buf, err := s.r.bytes(start, end-start)
		if err != nil {
			return false, err
		}
		if allZero(buf) {
			return true, nil
		}
		start = end
	}
}

func allZero(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}

// reader reads a file through a window that moves forward.
type reader struct {
	f    vfs.File
	name string
	size int64

	buf   []byte
	start int64 // position of buf[0]
}

// windowSize is how many bytes are read at a time.
const windowSize = 256 << 10

// bytes returns n bytes at off, which must be within the file. They are valid until the next call.
func (r *reader) bytes(off, n int64) ([]byte, error) {
	if off < r.start || off+n > r.start+int64(len(r.buf)) {
		if err := r.fill(off, min(max(n, windowSize), r.size-off)); err != nil {
			return nil, err
		}
	}
	return r.buf[off-r.start:][:n:n], nil
}

func (r *reader) fill(off, n int64) error {
	if int64(cap(r.buf)) < n {
		r.buf = make([]byte, n)
	}
	r.buf, r.start = r.buf[:n], off
	got, err := r.f.ReadAt(r.buf, off)
	if int64(got) == n {
		return nil
	}
	r.buf = r.buf[:0]
	if err == nil || errors.Is(err, io.EOF) {
		return base.Corruptf(r.name, Section, off+int64(got), "the file shrank while it was read")
	}
	return fmt.Errorf("read log %s: %w", r.name, err)
}
