package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pages checks and decompresses the pages of a column of a row group, and yields them in the format
// that parquet-go reads. It is an io.ReaderAt that can only be read sequentially, and may return
// fewer bytes than requested.
type pages struct {
	r        io.ReaderAt
	codec    format.CompressionCodec
	width    int64 // bytes of a value, at least
	kind     pq.Kind
	levels   int    // kinds of levels before the values in a data page of version 1
	most     int    // the definition level of a value that is not null
	at, left int64  // offset and size of the unread part of the file
	head     []byte // part of a page header not yet returned
	page     []byte // part of a page not yet returned
	pos      int64  // offset of the next byte to return
	buf      []byte
	header   format.PageHeader
}

// newPages returns the pages of a column of a row group.
func newPages(r io.ReaderAt, fileSize int64, chunk *columnMetadata, col *pq.Column) (*pages, error) {
	at, left := chunk.DataPageOffset, chunk.TotalCompressedSize
	if d := chunk.DictionaryPageOffset; d > 0 && d < at {
		at = d
	}
	if left > 0 && at < int64(len(magic)) || left < 0 || at > fileSize || left > fileSize-at {
		return nil, errors.New("its position is outside of the file")
	}
	p := &pages{r: r, codec: chunk.Codec, width: 1, kind: col.Type().Kind(), at: at, left: left}
	if p.kind == pq.FixedLenByteArray {
		p.width = int64(col.Type().Length())
	}
	p.most = col.MaxDefinitionLevel()
	p.levels = min(p.most, 1) + min(col.MaxRepetitionLevel(), 1)
	return p, nil
}

// ReadAt returns the next bytes.
func (p *pages) ReadAt(b []byte, off int64) (int, error) {
	if off != p.pos { // parquet-go would read again from the beginning
		return 0, errDictionary
	}
	for len(p.head)+len(p.page) == 0 {
		if p.left <= 0 {
			return 0, io.EOF
		}
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	from := &p.head
	if len(*from) == 0 {
		from = &p.page
	}
	n := copy(b, *from)
	*from = (*from)[n:]
	p.pos += int64(n)
	return n, nil
}

// next reads a page. It skips a page without values.
func (p *pages) next() error {
	h, head, err := readPageHeader(p.r, p.at, p.left)
	switch {
	case err != nil:
		return err
	case h.size < 0 || h.packed < 0 || h.values < 0 || h.packed > p.left-h.width:
		return errPageHeader
	case max(h.size, h.packed) > maxPage || h.values > maxPageValues || h.values*p.width > maxPage:
		return fmt.Errorf("a page has %d bytes and %d values; the limits are %d and %d", max(h.size, h.packed), h.values, maxPage, maxPageValues)
	case h.levels < 0 || h.levels > h.packed || h.levels > h.size:
		return errPageHeader
	}
	p.header = format.PageHeader{}
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), head, &p.header); err != nil {
		return fmt.Errorf("%w: %w", errPageHeader, err)
	}
	at := p.at + h.width
	p.at += h.width + h.packed
	p.left -= h.width + h.packed
	switch t := p.header.Type; {
	case t == format.DictionaryPage, (t == format.DataPage || t == format.DataPageV2) && h.values > 0: // pyarrow writes some pages without values
		return p.decompress(h, at)
	}
	return nil
}

// decompress sets p.head and p.page to the page at offset at, whose header is p.header.
func (p *pages) decompress(h pageHeader, at int64) error {
	packed := scratch.Get().(*[]byte)
	defer scratch.Put(packed)
	*packed = grow(*packed, int(h.packed))
	if _, err := p.r.ReadAt(*packed, at); err != nil && err != io.EOF {
		return err
	}
	if sum := uint32(p.header.CRC); sum != 0 && sum != crc32.ChecksumIEEE(*packed) {
		return errors.New("damaged: the checksum of a page does not match its header")
	}
	p.buf = append(p.buf[:0], (*packed)[:h.levels]...)
	codec := p.codec
	if h.plain {
		codec = format.Uncompressed
	}
	var err error
	if body := (*packed)[h.levels:]; len(body) > 0 {
		if p.buf, err = decompress(p.buf, body, codec, int(h.size-h.levels)); err != nil {
			return err
		}
	}
	v1, v2 := &p.header.DataPageHeader.V, &p.header.DataPageHeaderV2.V
	switch p.header.Type {
	case format.DataPage:
		err = p.plain(&v1.Encoding, p.levels, 0, h.values)
	case format.DataPageV2:
		err = p.plain(&v2.Encoding, 0, int(h.levels), h.values)
	}
	if err != nil {
		return err
	}
	if p.kind == pq.ByteArray && p.isPlain() {
		p.trim(h)
	}
	p.header.CRC = 0
	p.header.UncompressedPageSize, p.header.CompressedPageSize = int32(len(p.buf)), int32(len(p.buf))
	v1.Statistics, v2.Statistics = format.Statistics{}, format.Statistics{}
	p.page = p.buf
	p.head, err = thrift.Marshal(new(thrift.CompactProtocol), &p.header)
	return err
}

// plain re-encodes the values in p.buf, at most most, with the encoding Plain if parquet-go would
// decode some pages wrongly. In p.buf, the first from bytes and the levels, each with its length,
// precede the values.
func (p *pages) plain(is *format.Encoding, levels, from int, most int64) error {
	decode := p.undelta
	switch {
	case p.kind == pq.Int32 && *is == format.DeltaBinaryPacked:
	case p.kind == pq.Boolean && *is == format.RLE:
		decode = p.unrun
	default:
		return nil
	}
	*is = format.Plain
	for range levels {
		if len(p.buf)-from < 4 {
			return errPageHeader
		}
		from += 4 + int(binary.LittleEndian.Uint32(p.buf[from:]))
	}
	if from > len(p.buf) {
		return errPageHeader
	}
	if from == len(p.buf) { // all values are null
		return nil
	}
	values := p.buf[from:]
	p.buf = p.buf[:from]
	return decode(values, most)
}

// undelta appends 32-bit numbers to p.buf. values begins at the end of p.buf and shares its memory.
// Differences of the numbers may have more than 32 bits.
func (p *pages) undelta(values []byte, most int64) error {
	s := scanner{b: values}
	if _, _, n := s.uvarint(), s.uvarint(), s.uvarint(); n > uint64(most) {
		return errPageHeader
	}
	numbers, err := new(delta.BinaryPackedEncoding).DecodeInt64(nil, values)
	for _, v := range numbers {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(v))
	}
	return err
}

// unrun appends booleans to p.buf. values begins at the end of p.buf and shares its memory. A run
// of booleans may have any length, so the next one may begin within a byte.
func (p *pages) unrun(values []byte, most int64) error {
	s, n := scanner{b: values}, int64(0)
	s.take(4) // skip the length
	s.b = bytes.Clone(s.b)
	add := func(bits byte, count int64) {
		for range min(count, most-n) {
			if n%8 == 0 {
				p.buf = append(p.buf, 0)
			}
			p.buf[len(p.buf)-1] |= bits & 1 << (n % 8)
			bits = bits>>1 | bits<<7
			n++
		}
	}
	for n < most && len(s.b) > 0 {
		run := s.uvarint()
		if run&1 == 0 { // a run of one repeated value
			add(-(s.byte() & 1), int64(run>>1))
			continue
		}
		for _, bits := range s.take(run >> 1) {
			add(bits, 8)
		}
	}
	return s.err
}

// isPlain reports whether the values of a page have the encoding Plain.
func (p *pages) isPlain() bool {
	switch p.header.Type {
	case format.DataPage:
		return p.header.DataPageHeader.V.Encoding == format.Plain
	case format.DataPageV2:
		return p.header.DataPageHeaderV2.V.Encoding == format.Plain
	}
	return true
}

// trim removes bytes that fastparquet writes after the values of a plain page, because parquet-go
// would print a warning on standard error. It leaves damaged pages unchanged.
func (p *pages) trim(h pageHeader) {
	from, n := 0, h.values
	cut := func(size int64) (part []byte) {
		if size <= int64(len(p.buf)-from) {
			part, from = p.buf[from:from+int(size)], from+int(size)
		}
		return part
	}
	length := func() int64 {
		if b := cut(4); b != nil {
			return int64(binary.LittleEndian.Uint32(b))
		}
		return math.MaxInt64
	}
	var levels []byte // show which values are null
	switch p.header.Type {
	case format.DataPage:
		for range p.levels {
			levels = cut(length())
		}
	case format.DataPageV2:
		cut(h.levels - int64(p.header.DataPageHeaderV2.V.DefinitionLevelsByteLength))
		levels = cut(int64(p.header.DataPageHeaderV2.V.DefinitionLevelsByteLength))
	}
	if p.most > 0 && p.header.Type != format.DictionaryPage {
		all, err := (&rle.Encoding{BitWidth: bits.Len(uint(p.most))}).DecodeLevels(nil, levels)
		if err != nil || int64(len(all)) < n {
			return
		}
		n = int64(bytes.Count(all[:n], []byte{byte(p.most)}))
	}
	for ; n > 0; n-- {
		if cut(length()) == nil {
			return
		}
	}
	p.buf = p.buf[:from]
}

type pageHeader struct {
	size, packed, values, width int64 // width is the length of the header

	levels int64 // bytes before the compressed part, in a data page of version 2
	plain  bool  // a data page of version 2 is not compressed
}

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

// Bytes to read to find the header of a page, which may contain statistics.
const (
	headerRead    = 1 << 10
	maxHeaderRead = 16 << 20
)

// readPageHeader reads the page header at an offset. It ends before left bytes.
func readPageHeader(r io.ReaderAt, at, left int64) (h pageHeader, head []byte, err error) {
	for n := int64(headerRead); ; n *= 16 {
		b := make([]byte, min(n, left))
		if _, err := r.ReadAt(b, at); err != nil && err != io.EOF {
			return h, nil, err
		}
		h, err = scanPageHeader(b)
		if !errors.Is(err, errThriftEnd) || n >= left || n >= maxHeaderRead {
			return h, b[:h.width], err
		}
	}
}
