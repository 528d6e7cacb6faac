package records

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/internal/place"
)

// decompress returns the content of r, which may be compressed with gzip (all members are read) or
// zstd (all frames). The size of r, -1 if unknown, only sets the size of the buffer; memory is
// Options.Memory. Call done when finished.
func decompress(r io.Reader, size, memory int64) (content io.Reader, kind string, done func(), err error) {
	done = func() {}
	b := bufio.NewReaderSize(r, bufferSize(size))
	head, err := b.Peek(6)
	if err != nil && err != io.EOF {
		return nil, "", done, err
	}
	switch kind = packing(head); kind {
	case "gzip":
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, "", done, explain("gzip", err)
		}
		z.Multistream(false)
		return &gzipMembers{b, z}, kind, done, nil
	case "zstd":
		frames := newFrames(b, memory)
		z, err := zstd.NewReader(frames, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(uint64(frames.window())))
		if err != nil {
			return nil, "", done, explain("zstd", err)
		}
		return frames.explaining(z), kind, z.Close, nil
	}
	return b, "", done, nil
}

// gzipMembers reads all members of a gzip file and skips zero padding after them.
type gzipMembers struct {
	b *bufio.Reader
	z *gzip.Reader
}

var errBehindGzip = errors.New("other data follows the gzip data: decompress the file with gzip first, which ignores it")

// Read reads from one member after the other.
func (m *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if n > 0 && err == io.EOF {
			err = nil // another member may follow
		}
		if n > 0 || err != io.EOF {
			return n, err
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next starts the next member.
func (m *gzipMembers) next() error {
	for {
		switch c, err := m.b.ReadByte(); {
		case err != nil:
			return err
		case c == 0:
			continue
		}
		m.b.UnreadByte()
		if head, _ := m.b.Peek(2); packing(head) != "gzip" {
			return errBehindGzip
		}
		if err := m.z.Reset(m.b); err != nil {
			return err
		}
		m.z.Multistream(false)
		return nil
	}
}

// packing returns the compression that the first bytes of a file show: "gzip", "zstd" or "".
func packing(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), isSkippable(head):
		return "zstd"
	}
	return ""
}

// packedShare is the assumed ratio of decompressed to compressed size.
const packedShare = 5

// ContentBytes estimates the decompressed size of a regular file in bytes; pages of a Parquet file
// count as compressed. It returns 0 for a file that cannot be read.
func ContentBytes(path string) int64 {
	f, err := place.Open(context.Background(), path)
	if err != nil {
		return 0
	}
	defer f.Close()
	n := max(regularSize(f), 0)
	var head [6]byte
	if read, _ := io.ReadFull(f, head[:]); packing(head[:read]) != "" || bytes.HasPrefix(head[:read], []byte("PAR1")) {
		n *= packedShare
	}
	return n
}

// bufferSize returns the size of the buffer for an input of size bytes. It saves memory for folders
// of many small files.
func bufferSize(size int64) int {
	const most = 256 << 10
	if size < 0 || size >= most {
		return most
	}
	return int(size) + 16
}

// explain words the error of a decompressor for a user.
func explain(kind string, err error) error {
	switch {
	case kind == "", err == errBehindGzip, errors.As(err, new(*windowError)):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("the %s data end too early, is the file truncated? (%w)", kind, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("damaged %s data: %w", kind, err)
}

// regularSize is the size of a regular file, or -1.
func regularSize(f place.File) int64 {
	if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
		return st.Size()
	}
	return -1
}
