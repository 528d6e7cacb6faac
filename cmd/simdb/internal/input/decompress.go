package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest zstd window that is accepted: what `zstd --ultra --long=27` writes.
const maxWindow = 128 << 20

// decompress returns the content of r, which is compressed with gzip (all members are read), with
// zstd (all frames) or not at all. The size of r is only a hint for the buffer, -1 if it is not
// known. Call done when finished.
func decompress(r io.Reader, size int64) (content io.Reader, kind string, done func(), err error) {
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
		return z, kind, done, nil
	case "zstd":
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, "", done, explain("zstd", err)
		}
		return z, kind, z.Close, nil
	}
	return b, "", done, nil
}

// packing returns "gzip" or "zstd" for what begins so, "" for anything else.
func packing(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), isSkippable(head):
		return "zstd"
	}
	return ""
}

// packedShare is how many bytes one of a compressed file may be.
const packedShare = 5

// ContentBytes returns about how many bytes a regular file has when it is decompressed, pages of a
// Parquet file too; 0 for a file that cannot be read.
func ContentBytes(path string) int64 {
	f, err := os.Open(path)
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

// bufferSize is the size of the buffer for an input of this size in bytes. Folders have many small
// files.
func bufferSize(size int64) int {
	const most = 256 << 10
	if size < 0 || size >= most {
		return most
	}
	return int(size) + 16
}

// isSkippable reports whether a zstd file begins with a skippable frame, as those of pzstd do.
func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// explain says what an error of a decompressor means for the file.
func explain(kind string, err error) error {
	switch {
	case kind == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("the %s data end too early, is the file truncated? (%w)", kind, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("damaged %s data: %w", kind, err)
}
