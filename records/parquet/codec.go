package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/format"
	lz4block "github.com/pierrec/lz4/v4"
)

// readable reports whether pages with this compression can be read.
func readable(codec format.CompressionCodec) bool {
	return codec >= format.Uncompressed && codec <= format.Lz4Raw && codec != format.LZO
}

// writeCodec returns the compression of a column of a copy, given that of the input. It is the
// same, except that LZ4 with Hadoop's frames becomes its successor LZ4_RAW.
func writeCodec(codec format.CompressionCodec) compress.Codec {
	switch codec {
	case format.Snappy:
		return fastSnappy{&pq.Snappy}
	case format.Lz4, format.Lz4Raw:
		return &lz4.Codec{Level: lz4.Fastest}
	}
	return pq.LookupCompressionCodec(codec)
}

// fastSnappy compresses like other Snappy writers. parquet-go's Snappy searches for longer matches,
// and needs twice the time.
type fastSnappy struct{ *snappy.Codec }

// Encode compresses src.
func (fastSnappy) Encode(dst, src []byte) ([]byte, error) { return s2.EncodeSnappy(dst, src), nil }

var (
	errLarger = errors.New("a page has more bytes than its header says")
	errLZ4    = errors.New("damaged: a page is not LZ4")

	scratch       = sync.Pool{New: func() any { return new([]byte) }}
	gzipReaders   = sync.Pool{New: func() any { return new(gzip.Reader) }}
	brotliReaders = sync.Pool{New: func() any { return brotli.NewReader(nil) }}
	zstdReaders   = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			panic(err)
		}
		return d
	}}
)

// decompress appends the decompressed src to dst: at most size bytes, the size in the header of the
// page. It never allocates memory for a size that is only declared.
func decompress(dst, src []byte, codec format.CompressionCodec, size int) ([]byte, error) {
	switch codec {
	case format.Uncompressed:
		if len(src) > size {
			return dst, errLarger
		}
		return append(dst, src...), nil
	case format.Snappy:
		n, err := s2.DecodedLen(src)
		if err != nil {
			return dst, err
		}
		return inPlace(dst, n, size, 64*len(src), func(to []byte) (int, error) {
			_, err := s2.Decode(to, src)
			return n, err
		})
	case format.Lz4Raw:
		return lz4Block(dst, src, size)
	case format.Lz4:
		return lz4Frames(dst, src, size)
	case format.Gzip:
		return pooled(dst, src, &gzipReaders, size)
	case format.Brotli:
		return pooled(dst, src, &brotliReaders, size)
	case format.Zstd:
		d := zstdReaders.Get().(*zstd.Decoder)
		defer zstdReaders.Put(d)
		if err := d.Reset(bytes.NewReader(src)); err != nil {
			return dst, err
		}
		defer d.Reset(nil)
		return limited(dst, d, size)
	}
	return dst, fmt.Errorf("it is compressed with %v, which is not supported", codec)
}

// pooled appends the content of src, which a reader of a pool decompresses, at most size bytes.
func pooled(dst, src []byte, readers *sync.Pool, size int) ([]byte, error) {
	r := readers.Get().(interface {
		io.Reader
		Reset(io.Reader) error
	})
	defer readers.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return dst, err
	}
	return limited(dst, r, size)
}

// limited appends the content of r, at most size bytes.
func limited(dst []byte, r io.Reader, size int) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	n, err := b.ReadFrom(io.LimitReader(r, int64(size)+1))
	if n > int64(size) {
		return dst, errLarger
	}
	return b.Bytes(), err
}

// inPlace appends n bytes of a page, which f writes. It fails if n exceeds size, the declared size
// of the page, or most, the size to which the compressed page can grow at most.
func inPlace(dst []byte, n, size, most int, f func(to []byte) (int, error)) ([]byte, error) {
	switch {
	case n > size:
		return dst, errLarger
	case n > most:
		return dst, errPageHeader
	}
	at := len(dst)
	dst = slices.Grow(dst, n)
	n, err := f(dst[at : at+n : at+n])
	return dst[:at+n], err
}

func lz4Block(dst, src []byte, size int) ([]byte, error) {
	if size == 0 && len(src) == 1 { // an empty block
		return dst, nil
	}
	return inPlace(dst, size, size, 256*len(src), func(to []byte) (int, error) {
		if len(to) == 0 {
			return 0, errLarger
		}
		n, err := lz4block.UncompressBlock(src, to)
		if err != nil {
			return 0, errLZ4
		}
		return n, nil
	})
}

// lz4Frames decompresses LZ4 data from Hadoop: blocks, each preceded by its size and its compressed
// size. Some programs used the same name for blocks without these sizes.
func lz4Frames(dst, src []byte, size int) ([]byte, error) {
	whole, out, left := src, dst, size
	for len(src) >= 8 {
		n, packed := int64(binary.BigEndian.Uint32(src)), int64(binary.BigEndian.Uint32(src[4:]))
		src = src[8:]
		if n > int64(left) || packed > int64(len(src)) {
			break
		}
		from := len(out)
		var err error
		if out, err = lz4Block(out, src[:packed], int(n)); err != nil || len(out)-from != int(n) {
			break
		}
		left -= int(n)
		if src = src[packed:]; len(src) == 0 && left == 0 {
			return out, nil
		}
	}
	return lz4Block(dst, whole, size)
}

// grow returns a slice of n bytes, which reuses b if its capacity suffices.
func grow(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }

var (
	errPageHeader = errors.New("the header of a page is damaged")
	errDictionary = errors.New("damaged: a page needs a dictionary, and there is none before it")
)
