package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/internal/place"
)

// pieces reads exactly the requested parts of a file, from several goroutines. It has the
// end of the file, from byte end on, in memory.
type pieces struct {
	readers
	t    *target
	of   *info
	end  int64
	tail []byte
	// single is set if the server sends one part for each request
	single atomic.Bool
}

var errWhole = errors.New("the server sends this file only as a whole: download it first")

// OpenPieces opens a file whose parts are read in any order, and reads its last n bytes.
func (s *store) OpenPieces(ctx context.Context, name string, n int64) (place.Pieces, error) {
	t, err := s.target(ctx, name)
	if err != nil {
		return nil, err
	}
	end := &stream{ctx: ctx, t: t, off: -n, end: -1}
	defer end.disconnect()
	err = end.connect()
	if err == errChanged || err == nil && !end.ranged { // not all servers know what the last bytes are
		end.disconnect()
		first := &stream{ctx: ctx, t: t, end: 1}
		defer first.disconnect()
		if err = first.connect(); err == errNoRange || err == nil && !first.ranged {
			return nil, errWhole
		}
		if err == nil {
			end = &stream{ctx: ctx, t: t, of: first.of, off: max(0, first.of.size-n), end: first.of.size}
		}
	}
	if err != nil {
		return nil, err
	}
	p := &pieces{readers: readers{open: ctx, now: ctx}, t: t, of: end.of, end: end.off}
	if size := p.of.size; size < 0 || end.end != size || size-end.off > n {
		return nil, errWhole
	}
	p.tail = make([]byte, p.of.size-p.end)
	if _, err := io.ReadFull(end, p.tail); err != nil {
		return nil, err
	}
	p.single.Store(!s.several)
	return p, nil
}

// Size returns the size of the file.
func (p *pieces) Size() int64 { return p.of.size }

// ReadAt implements io.ReaderAt.
func (p *pieces) ReadAt(b []byte, off int64) (n int, err error) {
	for n < len(b) && off+int64(n) < p.end && err == nil {
		var got int
		from := off + int64(n)
		s := &stream{ctx: p.context(), t: p.t, of: p.of, off: from, end: min(off+int64(len(b)), p.end)}
		got, err = io.ReadFull(s, b[n:n+int(s.end-from)])
		s.disconnect()
		if n += got; err == io.ErrUnexpectedEOF && got > 0 { // a server may send less than requested
			err = nil
		}
	}
	if err != nil || n == len(b) {
		return n, err
	}
	n += copy(b[n:], p.tail[min(off+int64(n)-p.end, int64(len(p.tail))):])
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// ReadParts reads several parts by one request, the bytes from offs[i] on into parts[i]. If it returns
// false, it has not read all of them, and ReadAt should. Few stores, but most web servers, send several
// parts at once.
func (p *pieces) ReadParts(parts [][]byte, offs []int64) (ok bool, err error) {
	if p.single.Load() {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(p.context(), silence)
	defer cancel()
	var ranges []string
	size := int64(0)
	for i, off := range offs {
		ranges = append(ranges, fmt.Sprintf("%d-%d", off, off+int64(len(parts[i]))-1))
		size += int64(len(parts[i]))
	}
	header := http.Header{"Range": {"bytes=" + strings.Join(ranges, ",")}}
	p.of.expect(header)
	resp, err := p.t.do(ctx, request{header: header})
	if err != nil {
		if errors.As(err, new(*statusError)) { // for this reason or another, which reading them one by one shows
			p.single.Store(true)
		}
		return false, nil
	}
	defer resp.Body.Close()
	now := answered(p.t, resp)
	kind, params, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if now.size = p.of.size; resp.StatusCode == http.StatusPreconditionFailed || p.of.changed(now) {
		return true, errChanged
	}
	if resp.StatusCode != http.StatusPartialContent || kind != "multipart/byteranges" {
		p.single.Store(true)
		return false, nil
	}
	// A server may join parts, but has no reason to send much more than them.
	body := multipart.NewReader(io.LimitReader(resp.Body, 2*size+mostBetween), params["boundary"])
	missing := make(map[int]bool, len(parts))
	for i := range parts {
		missing[i] = true
	}
	for len(missing) > 0 {
		got, err := body.NextRawPart()
		if err != nil || fillFrom(got, parts, offs, missing) != nil {
			return false, nil
		}
	}
	return true, nil
}

// readers are the searches that read a file at a time. They share what was read, so a request goes on as long as
// one of them may need it.
type readers struct {
	open context.Context // of the file

	mu      sync.Mutex
	running int // searches
	waiting int // searches whose contexts have not ended
	now     context.Context
	stop    context.CancelCauseFunc
}

// context returns the context of a request.
func (r *readers) context() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// During tells that a search reads the file until end is called. Once the contexts of all searches have ended,
// requests end, too.
func (r *readers) During(ctx context.Context) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == 0 {
		r.now, r.stop = context.WithCancelCause(r.open)
	}
	r.running++
	r.waiting++
	leave := sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.waiting--; r.waiting == 0 {
			r.stop(context.Cause(ctx))
		}
	})
	unwatch := context.AfterFunc(ctx, leave)
	return func() {
		unwatch()
		leave()
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.running--; r.running == 0 {
			r.now = r.open
		}
	}
}

// mostBetween is the maximum size of what is sent between parts.
const mostBetween = 64 << 10

// fillFrom copies one part of an answer to the parts that it has whole, which are missing no longer.
func fillFrom(got *multipart.Part, parts [][]byte, offs []int64, missing map[int]bool) error {
	var from, last int64
	if n, _ := fmt.Sscanf(got.Header.Get("Content-Range"), "bytes %d-%d/", &from, &last); n != 2 || last < from {
		return io.ErrUnexpectedEOF
	}
	data, err := io.ReadAll(got)
	if err != nil || int64(len(data)) != last+1-from {
		return io.ErrUnexpectedEOF
	}
	for i, off := range offs {
		if n := int64(len(parts[i])); off >= from && off+n <= last+1 {
			copy(parts[i], data[off-from:])
			delete(missing, i)
		}
	}
	return nil
}
