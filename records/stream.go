package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/text/transform"

	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/vfs"
)

// HeadBytes is the number of bytes that are read from an input to recognise its format.
const HeadBytes = 64 << 10

// Stream is the decompressed content of an input. Its beginning is read ahead, so that the format
// can be recognised before a Source exists.
//
//	| head, which Head returns and Reader repeats | rest |
//
// Only one goroutine may use a Stream, except for Progress and Close.
type Stream struct {
	name   string
	packed string // "gzip", "zstd" or ""
	size   int64  // of src, or -1 if unknown
	read   atomic.Int64
	src    io.ReadCloser
	rest   io.Reader // the content after head
	done   func()    // frees the decompressor

	head     []byte
	headEnds bool     // the content ends with head
	encoding Encoding // the encoding that head and rest were decoded from
	mark     bool     // a byte order mark was removed from head
	cr       bool     // lines end in CR; CR and LF are swapped in head and rest
	spooled  *os.File // the copy that ReaderAt reads, or nil
}

// openFile opens a file or standard input. It returns the name for messages and the size, or -1. If
// ctx is not nil, its end interrupts reads of pipes, terminals and remote files.
func openFile(ctx context.Context, path string) (name string, src io.ReadCloser, size int64, err error) {
	var f place.File = os.Stdin
	if name = path; path == "-" {
		name = "stdin"
	} else if f, err = place.Open(ctx, path); err != nil {
		return path, nil, 0, err
	} else if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return path, nil, 0, &ReadError{File: path, Pos: NoPosition, Err: errors.New("it is a folder")}
	}
	if size = regularSize(f); size >= 0 || ctx == nil || place.IsRemote(path) {
		return name, f, size, nil
	}
	return name, struct {
		io.Reader
		io.Closer
	}{pipeline.Reader(ctx, f), f}, size, nil
}

// newStream reads the beginning of src. The caller must close the Stream even after an error.
func newStream(name string, src io.ReadCloser, size int64, memory int64) (*Stream, error) {
	s := &Stream{name: ShownName(name), src: src, size: size, done: func() {}}
	content, packed, done, err := decompress(counting{src, &s.read}, size, memory)
	if err != nil {
		return s, err
	}
	s.packed, s.done = packed, done
	s.rest = explaining{content, packed}
	return s, s.ReadHead(s.headSize())
}

// headSize returns the number of bytes to read ahead. For a small file it is one more than its
// size, so that the read finds its end.
func (s *Stream) headSize() int {
	if s.packed == "" && s.size >= 0 && s.size < HeadBytes {
		return int(s.size) + 1
	}
	return HeadBytes
}

// Decode decodes the content of a text file from this encoding, or from the one that a byte order
// mark shows. It is called for the fallback family; other text formats must call it before they
// read.
func (s *Stream) Decode(e Encoding) error {
	if e == UTF8 {
		e = encodingOf(string(s.head[:min(len(s.head), 4)]))
	}
	if e != UTF8 {
		s.encoding, s.rest = e, transform.NewReader(s.Reader(), e.decoder())
		s.head, s.headEnds = nil, false
		if err := s.ReadHead(s.headSize()); err != nil {
			return err
		}
	}
	s.head, s.mark = bytes.CutPrefix(s.head, []byte(bom))
	seen := s.head
	if !s.headEnds && len(seen) > 0 {
		seen = seen[:len(seen)-1] // a newline may follow
	}
	if s.cr = bytes.IndexByte(s.head, '\n') < 0 && bytes.IndexByte(seen, '\r') >= 0; s.cr {
		s.rest = transform.NewReader(s.rest, lineEnds{})
		lineEnds{}.Transform(s.head, s.head, false)
	}
	return nil
}

// Describe sets the encoding, byte order mark and line ends of the content in a description.
func (s *Stream) Describe(info *Info) {
	info.Encoding, info.ByteOrderMark, info.OldLineEnds = s.encoding, s.mark, s.cr
	if s.encoding != UTF8 {
		info.Shape += " in " + string(s.encoding)
	}
	if s.cr {
		info.Shape += " with lines that end in CR"
	}
}

// Name returns the name of the file for messages.
func (s *Stream) Name() string { return s.name }

// Head returns the beginning of the content, and whether that is the whole content. After Decode,
// it has no byte order mark.
func (s *Stream) Head() (head []byte, all bool) { return s.head, s.headEnds }

// ReadHead reads until the head has size bytes or the content ends. On a live input it returns as
// soon as another line is complete, because the writer may wait for an answer. An error after the
// first line is not returned here; Reader returns it at its position.
func (s *Stream) ReadHead(size int) error {
	had := len(s.head)
	head := make([]byte, had, max(size, had))
	copy(head, s.head)
	var err error
	for len(head) < size && err == nil && (!s.Live() || bytes.IndexByte(head[had:], '\n') < 0) {
		var n int
		n, err = s.rest.Read(head[len(head):size])
		head = head[:len(head)+n]
	}
	s.head = head
	switch {
	case err == io.EOF:
		s.headEnds = true
	case err != nil && bytes.IndexByte(head, '\n') < 0:
		return &ReadError{File: s.name, Unit: "line", Err: err}
	case err != nil:
		s.rest, s.headEnds = failing{err}, true
	}
	return nil
}

// Live reports whether the writer of the input may wait for an answer to each record: the input is
// an uncompressed pipe or terminal.
func (s *Stream) Live() bool { return s.size < 0 && s.packed == "" }

// Packed reports whether the input is compressed.
func (s *Stream) Packed() bool { return s.packed != "" }

// Reader returns the whole content, from the head on. Errors other than io.EOF explain the problem
// with the file.
func (s *Stream) Reader() io.Reader { return io.MultiReader(bytes.NewReader(s.head), s.rest) }

// ReaderAt returns the content for random access, and its size: a regular uncompressed file itself,
// also a remote one whose server sends parts, otherwise a temporary copy, which Release removes.
func (s *Stream) ReaderAt() (io.ReaderAt, int64, error) {
	if f, ok := s.src.(io.ReaderAt); ok && s.size >= 0 && s.packed == "" && s.encoding == UTF8 {
		return f, s.size, nil
	}
	n, err := s.spool()
	return s.spooled, n, err
}

// spool copies the content to a temporary file and returns its size.
func (s *Stream) spool() (int64, error) {
	f, err := vfs.Temp("", "simdb-input-*")
	if err != nil {
		return 0, err
	}
	s.spooled = f
	return io.Copy(f, &unpacked{s: s, r: s.Reader()})
}

// Files of columns are already compressed. If one is compressed again, and decompressing it yields
// more than maxUnpacked bytes and maxRatio times its size, it was made to fill disks.
const (
	maxRatio    = 100
	maxUnpacked = 64 << 20
)

// unpacked reads the content of a Stream, and fails if that grows too much.
type unpacked struct {
	s *Stream
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if u.n += int64(n); u.s.Packed() && u.n > maxUnpacked && u.n > maxRatio*u.s.read.Load() {
		return 0, fmt.Errorf("the %s data grow to more than %d times their size: decompress the file first", u.s.packed, maxRatio)
	}
	return n, err
}

// Progress returns the number of bytes read from the file, and its size, or -1 if unknown; both
// count compressed bytes. It may be called at any time.
func (s *Stream) Progress() (done, size int64) { return s.read.Load(), s.size }

// Release frees the decompressor and the copy of ReaderAt. The reading goroutine calls it when it
// is done.
func (s *Stream) Release() {
	s.done()
	vfs.RemoveTemp(s.spooled)
	s.spooled = nil
}

// Close closes the file. It does not wait for a read in progress.
func (s *Stream) Close() error { return s.src.Close() }

// counting counts the bytes read from r.
type counting struct {
	r io.Reader
	n *atomic.Int64
}

// Read reads from r.
func (c counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// explaining is a reader that words the errors of a decompressor for a user.
type explaining struct {
	r      io.Reader
	packed string
}

// Read reads from r.
func (e explaining) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil && err != io.EOF {
		err = explain(e.packed, err)
	}
	return n, err
}

type failing struct{ err error }

// Read fails.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// unpackedName returns name in lower case, without the ending of a compressed file.
func unpackedName(name string) string {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".gzip", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, packed)
	}
	return name
}

// content is the decompressed content of a file.
type content struct {
	io.Reader
	s *Stream
}

// Close closes the file.
func (c content) Close() error {
	c.s.Release()
	return c.s.Close()
}

// OpenContent opens, decompresses and decodes a file whose lines are not documents, such as an
// audit; "-" is standard input.
func OpenContent(ctx context.Context, path string, encoding Encoding) (io.ReadCloser, error) {
	name, src, size, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	s, err := newStream(name, src, size, 0)
	if err == nil {
		err = s.refuse()
	}
	if err == nil {
		err = s.Decode(encoding)
	}
	if err == nil && bytes.IndexByte(s.head, 0) >= 0 {
		err = errors.New("it has NUL bytes, so it is not text")
	}
	if err != nil {
		content{s: s}.Close()
		if _, named := errors.AsType[*ReadError](err); !named {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return nil, err
	}
	return content{s.Reader(), s}, nil
}
