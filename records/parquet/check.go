package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Limits for the sizes that a file declares. They bound the memory that a damaged or hostile file
// can use before its damage is found.
const (
	maxFooter     = 256 << 20 // bytes of the footer
	maxDepth      = 100       // nesting depth of columns
	maxPage       = 1 << 30   // bytes of a page, decompressed
	maxPageValues = 1 << 25   // values of a page
	maxRows       = 1 << 40   // rows of a file
	maxChunk      = 1 << 50   // bytes of a column of a row group, decompressed
	minStruct     = 4         // average bytes of a footer element, at least
)

const magic = "PAR1"

var (
	errNoFooter  = errors.New("it has no Parquet footer: was it cut off?")
	errEncrypted = errors.New("it is encrypted Parquet: decrypt it first")
)

// metadata and the structs in it are the parts of format.FileMetaData that are read. As the format
// allows, a key may lack a value.
type metadata struct {
	Version          int32                              `thrift:"1,required"`
	Schema           thrift.Slice[format.SchemaElement] `thrift:"2,required"`
	NumRows          int64                              `thrift:"3,required"`
	RowGroups        thrift.Slice[rowGroup]             `thrift:"4,required"`
	KeyValueMetadata thrift.Slice[keyValue]             `thrift:"5,optional"`
	Encryption       format.EncryptionAlgorithm         `thrift:"8,optional"`
}

type keyValue struct {
	Key   string `thrift:"1,required"`
	Value string `thrift:"2,optional"`
}

type rowGroup struct {
	Columns thrift.Slice[columnChunk] `thrift:"1,required"`
	NumRows int64                     `thrift:"3,required"`
}

type columnChunk struct {
	FilePath       string                      `thrift:"1,optional"`
	MetaData       columnMetadata              `thrift:"3,optional"`
	CryptoMetadata format.ColumnCryptoMetaData `thrift:"8,optional"`
}

type columnMetadata struct {
	Type                 format.Type                   `thrift:"1,required"`
	Encoding             thrift.Slice[format.Encoding] `thrift:"2,required"`
	PathInSchema         thrift.Slice[string]          `thrift:"3,required"`
	Codec                format.CompressionCodec       `thrift:"4,required"`
	NumValues            int64                         `thrift:"5,required"`
	TotalCompressedSize  int64                         `thrift:"7,required"`
	DataPageOffset       int64                         `thrift:"9,required"`
	DictionaryPageOffset int64                         `thrift:"11,optional"`
}

// readFooter reads the footer of a file. It checks the footer before decoding it, so that decoding
// needs memory in proportion to the footer's size.
func readFooter(r io.ReaderAt, size int64) (*metadata, error) {
	var tail [8]byte
	if size < 12 {
		return nil, errNoFooter
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil && err != io.EOF {
		return nil, err
	}
	switch string(tail[4:]) {
	case magic:
	case "PARE":
		return nil, errEncrypted
	default:
		return nil, errNoFooter
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 {
		return nil, errNoFooter
	}
	if n > maxFooter {
		return nil, fmt.Errorf("its footer has %d bytes; the limit is %d", n, maxFooter)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil {
		return nil, err
	}
	s := scanner{b: footer}
	s.fields(0, nil)
	if s.err == nil && int64(s.structs)*minStruct > n {
		s.err = errThrift
	}
	if s.err != nil {
		return nil, s.err
	}
	meta := new(metadata)
	footer = footer[:len(footer)-len(s.b)] // an encrypted file has a signature after the footer
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footer, meta); err != nil {
		return nil, fmt.Errorf("%w: %w", errThrift, err)
	}
	return meta, meta.check()
}

// check checks for values that would overflow later, and for data in other files.
func (meta *metadata) check() error {
	if meta.Encryption.Value != nil {
		return errEncrypted
	}
	var open []int32 // number of children still to come, for each open group
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
		for j := range meta.RowGroups[i].Columns {
			switch c := &meta.RowGroups[i].Columns[j]; {
			case c.FilePath != "":
				return fmt.Errorf("it has no rows, but lists the rows of %q and other files", c.FilePath)
			case c.CryptoMetadata.Value != nil:
				return errEncrypted
			}
		}
	}
	return nil
}

// panicked returns an error for a panic of the decoder: the file is damaged.
func panicked(v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("damaged: %w", err)
	}
	return fmt.Errorf("damaged: %v", v)
}
