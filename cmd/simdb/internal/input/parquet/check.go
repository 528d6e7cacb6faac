package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Limits of what a file may declare. They bound the memory that a damaged or hostile file can take
// before its damage is found.
const (
	maxFooter     = 256 << 20 // bytes of the footer
	maxDepth      = 100       // columns within columns
	maxPage       = 1 << 30   // bytes of a page, decompressed
	maxPageValues = 1 << 25   // values of a page
	maxRows       = 1 << 40   // rows of a file
	minStruct     = 4         // bytes of an element of the footer, on average
)

const magic = "PAR1"

var (
	errNoFooter  = errors.New("it has no Parquet footer: was it cut off?")
	errEncrypted = errors.New("it is encrypted Parquet: decrypt it first")
)

// checkFooter checks the footer of a file, so that decoding it takes memory in proportion to it.
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return errNoFooter
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil && err != io.EOF {
		return err
	}
	switch string(tail[4:]) {
	case magic:
	case "PARE":
		return errEncrypted
	default:
		return errNoFooter
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 {
		return errNoFooter
	}
	if n > maxFooter {
		return fmt.Errorf("its footer has %d bytes, at most %d are read", n, maxFooter)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil {
		return err
	}
	s := scanner{b: footer}
	s.fields(0, nil)
	if s.err == nil && int64(s.structs)*minStruct > n {
		s.err = errThrift
	}
	if s.err != nil {
		return s.err
	}
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footer, &meta); err != nil {
		return fmt.Errorf("%w: %w", errThrift, err)
	}
	return checkMetadata(&meta)
}

// checkMetadata checks what would overflow later.
func checkMetadata(meta *format.FileMetaData) error {
	if meta.EncryptionAlgorithm.Value != nil {
		return errEncrypted
	}
	var open []int32 // children still to come, of each group
	for i := range meta.Schema {
		e := &meta.Schema[i]
		if e.TypeLength.Valid && (e.TypeLength.V < 0 || e.TypeLength.V > 1<<20) {
			return fmt.Errorf("the column %q has values of %d bytes", e.Name, e.TypeLength.V)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if e.NumChildren.V > 0 {
			if open = append(open, e.NumChildren.V); len(open) > maxDepth {
				return fmt.Errorf("its columns are nested deeper than %d", maxDepth)
			}
		}
	}
	rows := int64(0)
	for i := range meta.RowGroups {
		n := meta.RowGroups[i].NumRows
		if n < 0 || n > maxRows-rows {
			return fmt.Errorf("row group %d has %d rows", i+1, n)
		}
		rows += n
	}
	return nil
}

// pageHeader is what is checked in the header of a page.
type pageHeader struct {
	size, packed, values, width int64 // width is the length of the header itself

	levels int64 // bytes before what is compressed, in a data page of version 2
	plain  bool  // a data page of version 2 that is not compressed
}

// scanPageHeader reads the header of a page.
func scanPageHeader(b []byte) (h pageHeader, err error) {
	s := scanner{b: b}
	s.fields(0, func(id int16, typ byte) bool {
		switch {
		case id == 2 && typ == typeI32:
			h.size = s.varint()
		case id == 3 && typ == typeI32:
			h.packed = s.varint()
		case (id == 5 || id == 7 || id == 8) && typ == typeStruct:
			version2 := id == 8
			s.fields(1, func(id int16, typ byte) bool {
				switch {
				case id == 1 && typ == typeI32:
					h.values = s.varint()
				case version2 && (id == 5 || id == 6) && typ == typeI32:
					h.levels += s.varint()
				case version2 && id == 7 && typ == typeFalse:
					h.plain = true
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
	h.width = int64(len(b) - len(s.b))
	return h, s.err
}

// Sizes of what is read of a page to find its header, which may have statistics in it.
const (
	headerRead    = 1 << 10
	maxHeaderRead = 16 << 20
)

// checkPages checks all pages of a column of a row group: their headers, and that what is
// compressed has no more bytes than its header says, since the decoder takes as much memory as it
// finds.
func checkPages(r io.ReaderAt, fileSize int64, col *pq.Column, chunk *format.ColumnMetaData) error {
	at, left := chunk.DataPageOffset, chunk.TotalCompressedSize
	if chunk.DictionaryPageOffset != 0 {
		at = chunk.DictionaryPageOffset
	}
	if at < int64(len(magic)) || left < 0 || at > fileSize || left > fileSize-at {
		return errors.New("it is said to be outside of the file")
	}
	width := int64(1)
	if col.Type().Kind() == pq.FixedLenByteArray {
		width = int64(col.Type().Length())
	}
	for left > 0 {
		h, err := readPageHeader(r, at, left)
		switch {
		case err != nil:
			return err
		case h.size < 0 || h.packed < 0 || h.values < 0 || h.packed > left-h.width:
			return errors.New("the header of a page is damaged")
		case h.size > maxPage || h.values > maxPageValues || h.values*width > maxPage:
			return fmt.Errorf("a page has %d bytes and %d values, at most %d and %d are read", h.size, h.values, maxPage, maxPageValues)
		case h.levels < 0 || h.levels > h.packed || h.levels > h.size:
			return errors.New("the header of a page is damaged")
		}
		if n := h.packed - h.levels; n > 0 && !h.plain {
			page := io.NewSectionReader(r, at+h.width+h.levels, n)
			if err := checkSize(page, chunk.Codec, h.size-h.levels); err != nil {
				return err
			}
		}
		at += h.width + h.packed
		left -= h.width + h.packed
	}
	return nil
}

var (
	errLarger = errors.New("a page has more bytes than its header says")

	zstdReaders = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			panic(err)
		}
		return d
	}}
)

// checkSize checks that a compressed page has at most size bytes. Other damage is the decoder's to
// find.
func checkSize(page *io.SectionReader, codec format.CompressionCodec, size int64) error {
	var r io.Reader
	switch codec {
	case format.Snappy:
		var b [binary.MaxVarintLen64]byte
		n, _ := page.Read(b[:])
		if length, _ := binary.Uvarint(b[:n]); length > uint64(size) {
			return errLarger
		}
		return nil
	case format.Gzip:
		z, err := gzip.NewReader(page)
		if err != nil {
			return err
		}
		r = z
	case format.Brotli:
		r = brotli.NewReader(page)
	case format.Zstd:
		d := zstdReaders.Get().(*zstd.Decoder)
		defer zstdReaders.Put(d)
		if err := d.Reset(page); err != nil {
			return err
		}
		defer d.Reset(nil)
		r = d
	default:
		return nil
	}
	if n, _ := io.CopyN(io.Discard, r, size+1); n > size {
		return errLarger
	}
	return nil
}

// readPageHeader reads the header at an offset, which ends before left bytes.
func readPageHeader(r io.ReaderAt, at, left int64) (pageHeader, error) {
	for n := int64(headerRead); ; n *= 16 {
		b := make([]byte, min(n, left))
		if _, err := r.ReadAt(b, at); err != nil && err != io.EOF {
			return pageHeader{}, err
		}
		h, err := scanPageHeader(b)
		if !errors.Is(err, errThriftEnd) || n >= left || n >= maxHeaderRead {
			return h, err
		}
	}
}

// panicked returns what a panic of the decoder says of a file.
func panicked(v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("damaged: %w", err)
	}
	return fmt.Errorf("damaged: %v", v)
}
