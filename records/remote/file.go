package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
)

// firstBytes is the length of the first request for a file. It suffices to recognise the format, so
// that nothing else of a file of columns is sent in vain.
const firstBytes = records.HeadBytes + 512

var errChanged = errors.New("the file was changed while it was read")

// info describes a version of a file.
type info struct {
	id   place.ID
	size int64 // -1 if unknown
	time time.Time
}

// Name returns the last part of the name.
func (i *info) Name() string {
	if u, err := url.Parse(i.id.Name); err == nil {
		return path.Base(u.Path)
	}
	return path.Base(i.id.Name)
}

// Mode returns that of a regular file, or of a pipe if the size is unknown.
func (i *info) Mode() fs.FileMode {
	if i.size < 0 {
		return 0o444 | fs.ModeNamedPipe
	}
	return 0o444
}

// Size returns the size in bytes, or -1.
func (i *info) Size() int64 { return i.size }

// ModTime returns the time of the last change, or the zero time.
func (i *info) ModTime() time.Time { return i.time }

// IsDir returns false.
func (i *info) IsDir() bool { return false }

// Sys returns a place.ID.
func (i *info) Sys() any { return i.id }

// changed reports whether a newer answer describes another version of the file.
func (i *info) changed(now *info) bool {
	if i.id.ETag != "" && now.id.ETag != "" {
		return i.id.ETag != now.id.ETag
	}
	return i.size != now.size || !i.time.Equal(now.time)
}

// expect asks a server to refuse a request if the file has another version.
func (i *info) expect(header http.Header) {
	if i.id.ETag != "" && !strings.HasPrefix(i.id.ETag, "W/") {
		header.Set("If-Match", i.id.ETag)
	}
}

// answered describes the version of the file that an answer is about; its size is that of the answer.
func answered(t *target, resp *http.Response) *info {
	now := &info{id: place.ID{Name: t.name, ETag: resp.Header.Get("ETag")}, size: resp.ContentLength}
	now.time, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	return now
}

// stream reads the bytes of a file from off on, up to end; before the first answer, -n means its last n
// bytes. Each connection that breaks is replaced by one for the bytes that are missing.
type stream struct {
	ctx    context.Context
	t      *target
	of     *info // nil until the first answer
	ranged bool  // the server has sent a part of the file
	off    int64
	end    int64 // -1 if unknown

	body   io.ReadCloser // of the open connection, at off; or nil
	cancel context.CancelFunc
	watch  *time.Timer // breaks the connection after a silence
	broken int         // connections that broke since the last byte
}

// connect asks for the bytes from off to end.
func (s *stream) connect() error {
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancel = cancel
	header := http.Header{}
	if s.off > 0 || s.end >= 0 {
		last := ""
		if s.end >= 0 {
			last = strconv.FormatInt(s.end-1, 10)
		}
		header.Set("Range", fmt.Sprintf("bytes=%d-%s", s.off, last))
	} else if s.off < 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d", s.off))
	}
	if s.of != nil && !s.t.noMatch {
		s.of.expect(header)
	}
	resp, err := s.t.do(ctx, request{header: header})
	if err == nil {
		if err = s.accept(resp); err != nil {
			resp.Body.Close()
		}
	}
	if err != nil {
		cancel()
		return err
	}
	s.body, s.watch = resp.Body, time.AfterFunc(silence, cancel)
	return nil
}

// accept checks an answer.
func (s *stream) accept(resp *http.Response) error {
	now := answered(s.t, resp)
	from := int64(0)
	switch resp.StatusCode {
	case http.StatusPreconditionFailed:
		return errChanged
	case http.StatusRequestedRangeNotSatisfiable:
		if s.of == nil && s.end >= 0 { // the file is empty
			resp.Body.Close()
			s.end = -1
			return errNoRange
		}
		return errChanged
	case http.StatusPartialContent:
		var last int64
		size := ""
		if n, _ := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%s", &from, &last, &size); n == 3 && s.off < 0 {
			s.off = from
		} else if n != 3 {
			from = -1
		}
		if from != s.off || last < from {
			return fmt.Errorf("the server sent other bytes than those from %d on: %q", s.off, resp.Header.Get("Content-Range"))
		}
		var err error
		if now.size, err = strconv.ParseInt(size, 10, 64); err != nil {
			now.size = -1
		}
		s.ranged, s.end = true, last+1
	default:
		s.end = now.size
	}
	if s.of == nil {
		s.of = now
	} else if s.of.changed(now) {
		return errChanged
	}
	_, err := io.CopyN(io.Discard, resp.Body, s.off-from) // of a server that cannot send parts
	return err
}

// errNoRange asks to repeat a request without a range, which an empty file does not have.
var errNoRange = errors.New("the file is empty")

// disconnect ends the connection.
func (s *stream) disconnect() {
	if s.body != nil {
		s.watch.Stop()
		s.cancel()
		s.body.Close()
		s.body = nil
	}
}

// Read reads the next bytes.
func (s *stream) Read(p []byte) (int, error) {
	for {
		if s.end >= 0 && s.off >= s.end {
			s.disconnect()
			return 0, io.EOF
		}
		var n int
		var err error
		if s.body == nil {
			err = s.connect()
			if err == errNoRange {
				continue
			}
			if err != nil && s.of == nil || isFinal(err) {
				return 0, err
			}
		}
		if err == nil {
			s.watch.Reset(silence)
			n, err = s.body.Read(p)
			s.watch.Stop()
			s.off += int64(n)
		}
		switch {
		case n > 0:
			if s.broken = 0; err != nil {
				s.disconnect()
			}
			return n, nil
		case err == nil:
		case err == io.EOF && s.end < 0:
			s.disconnect()
			s.end = s.off
		default:
			s.disconnect()
			if err := s.again(err); err != nil {
				return 0, err
			}
		}
	}
}

// isFinal reports whether it is useless to connect again after an error.
func isFinal(err error) bool {
	return errors.Is(err, errChanged) || errors.As(err, new(*statusError))
}

// again waits before the next connection. It returns an error if the last ones broke too often.
func (s *stream) again(err error) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if s.end < 0 {
		return fmt.Errorf("the connection broke at byte %d, and the server does not say the size of the file: %w", s.off, err)
	}
	if s.broken++; s.broken > repetitions {
		return fmt.Errorf("the connection broke at byte %d of %d, %d times: %w", s.off, s.of.size, s.broken, err)
	}
	return wait(s.ctx, s.broken)
}

// wait waits before the nth repetition.
func wait(ctx context.Context, n int) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(min(pause<<(n-1), maxPause)):
		return nil
	}
}

// file is a File that is read from its beginning to its end.
type file struct{ stream }

// rangedFile is a file of a server that sends parts of files.
type rangedFile struct {
	*file
	ranges
}

// open opens a file; the first answer has at most first bytes.
func open(ctx context.Context, t *target, first int64) (place.File, error) {
	f := &file{stream{ctx: ctx, t: t, end: first}}
	err := f.connect()
	if err == errNoRange {
		err = f.connect()
	}
	if err != nil {
		return nil, err
	}
	if !f.ranged || f.of.size < 0 {
		return f, nil
	}
	return &rangedFile{f, ranges{ctx: ctx, t: t, of: f.of}}, nil
}

// Read reads the next bytes.
func (f *file) Read(p []byte) (int, error) {
	if f.off == f.end && f.end < f.of.size {
		f.disconnect()
		f.end = f.of.size
	}
	return f.stream.Read(p)
}

// Seek sets the place of the next Read.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.off
	case io.SeekEnd:
		offset += f.of.size
	}
	if offset < 0 || whence == io.SeekEnd && f.of.size < 0 {
		return 0, fs.ErrInvalid
	}
	if offset != f.off {
		f.disconnect()
		f.off, f.end = offset, f.of.size
	}
	return offset, nil
}

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) { return f.of, nil }

// Close ends the connection.
func (f *file) Close() error {
	f.disconnect()
	return nil
}
