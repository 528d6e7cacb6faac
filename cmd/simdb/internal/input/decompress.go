package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is the most memory that a zstd frame may ask for: what `zstd --ultra --long=27` writes.
const maxWindow = 128 << 20

// foreign are the beginnings of files that hold documents in a wrapping that is not read here, and what to do.
var foreign = []struct{ magic, what string }{
	{"\xfd7zXZ\x00", "it is xz-compressed: xz -dc FILE | simdb ... -"},
	{"BZh", "it is bzip2-compressed: bzip2 -dc FILE | simdb ... -"},
	{"PK\x03\x04", "it is a zip archive: unzip -p FILE | simdb ... -"},
	{"PAR1", "it is Parquet: convert it to JSON lines"},
	{"SQLite format 3\x00", "it is an SQLite database: export it as CSV"},
	{"\xff\xfe", "it is UTF-16: iconv -f UTF-16 -t UTF-8 FILE | simdb ... -"},
	{"\xfe\xff", "it is UTF-16: iconv -f UTF-16 -t UTF-8 FILE | simdb ... -"},
}

// decompress looks at the first bytes of r and returns the content: r itself, or what gzip (all members) or zstd (all
// frames) make of it. Call done when finished.
func decompress(r io.Reader) (content io.Reader, kind string, done func(), err error) {
	done = func() {}
	b := bufio.NewReaderSize(r, 256<<10)
	head, err := b.Peek(6)
	if err != nil && err != io.EOF {
		return nil, "", done, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, "", done, explain("gzip", err)
		}
		return z, "gzip", done, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), isSkippable(head):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, "", done, explain("zstd", err)
		}
		return z, "zstd", z.Close, nil
	}
	return b, "", done, nil
}

// isSkippable says whether a zstd file begins with a skippable frame, as those of pzstd do.
func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// explain words an error of a decompressor.
func explain(kind string, err error) error {
	switch {
	case kind == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("the %s data end too early, is the file truncated? (%w)", kind, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("damaged %s data: %w", kind, err)
}

// refuse returns an error if the file is none that is read here.
func (f *File) refuse() error {
	for _, foreign := range foreign {
		if bytes.HasPrefix(f.head, []byte(foreign.magic)) {
			return errors.New(foreign.what)
		}
	}
	if name := strings.ToLower(f.name); len(f.head) == 0 && f.packed == "" && f.size == 0 {
		for _, ending := range []string{".gz", ".gzip", ".zst", ".zstd"} {
			if strings.HasSuffix(name, ending) {
				return fmt.Errorf("it is empty, which no %s file is: was it cut off?", ending)
			}
		}
	}
	return nil
}
