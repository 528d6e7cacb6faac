package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/lines"
)

// Parquet is the name of the format.
const Parquet records.Format = "parquet"

// hasMagic reports whether an input has the first bytes of a Parquet file.
func hasMagic(in *records.Stream) bool {
	head, _ := in.Head()
	return bytes.HasPrefix(head, []byte(magic)) || bytes.HasPrefix(head, []byte("PARE"))
}

// file is the Source of a Parquet file.
type file struct {
	in     *records.Stream
	opt    records.Options
	info   records.Info
	r      io.ReaderAt
	size   int64
	meta   *metadata
	f      *pq.File // opened from plainFooter(meta)
	roles  roles    // of the columns
	layout layout
	used   []*pq.Column // the leaf columns to read

	elements []*format.SchemaElement // schema of the leaf columns

	bytes int64        // size of the row groups
	done  atomic.Int64 // part of bytes that was read
	users atomic.Int32 // the caller, the goroutines of row groups, and a Copier that still has rows to copy
}

func open(in *records.Stream, opt records.Options) (_ records.Source, err error) {
	defer unpanic(&err)
	if in.Packed() {
		return nil, errors.New("it is Parquet that is compressed once more: decompress it to a file (Parquet compresses its own pages)")
	}
	if opt.Delimiter != 0 {
		return nil, errors.New("a delimiter is for csv, not for parquet")
	}
	if opt.Comment != 0 {
		return nil, errors.New("comments are for csv and tsv, not for parquet")
	}
	f := &file{in: in, opt: opt}
	if !hasMagic(in) {
		return nil, fmt.Errorf("it is not a Parquet file, which would begin with PAR1; %s names another format", option.Name("Format"))
	}
	r, size, err := in.ReaderAt()
	if err != nil {
		return nil, err
	}
	if f.meta, err = readFooter(r, size); err != nil {
		return nil, err
	}
	f.r, f.size = r, size
	if err := f.readColumns(); err != nil {
		return nil, fmt.Errorf("%w: %w", errThrift, err)
	}
	if err := f.choose(); err != nil {
		return nil, err
	}
	f.users.Store(1)
	return f, nil
}

// readColumns sets f.f. It removes annotations that do not fit the type of a column, because the
// type determines how values are stored.
func (f *file) readColumns() (err error) {
	schema := slices.Clone(f.meta.Schema)
	for {
		footer, err := plainFooter(f.meta, schema)
		if err != nil {
			return err
		}
		f.f, err = pq.OpenFile(bytes.NewReader(footer), int64(len(footer)), pq.SkipPageIndex(true), pq.SkipBloomFilters(true), pq.ReadBufferSize(4<<10))
		if err != nil {
			return err
		}
		leaves := leavesOf(f.f.Root())
		again := false
		f.elements = nil
		for i := range schema {
			e := &schema[i]
			if !e.Type.Valid {
				continue
			}
			f.elements = append(f.elements, &f.meta.Schema[i])
			t := leaves[len(f.elements)-1].Type()
			if kind := format.Type(t.Kind()); kind != e.Type.V || kind == format.FixedLenByteArray && t.Length() != int(e.TypeLength.V) {
				if e.LogicalType.Value == nil && !e.ConvertedType.Valid {
					return fmt.Errorf("the column %q is of type %v", e.Name, e.Type.V)
				}
				e.LogicalType, e.ConvertedType, again = format.LogicalType{}, thrift.Null[deprecated.ConvertedType]{}, true
			}
		}
		if !again {
			return nil
		}
	}
}

// plainFooter returns a file without pages that has this schema and the row groups of meta. Its
// columns are uncompressed, because pages decompresses them.
func plainFooter(meta *metadata, schema []format.SchemaElement) ([]byte, error) {
	plain := format.FileMetaData{Version: meta.Version, Schema: schema, NumRows: meta.NumRows}
	for _, g := range meta.RowGroups {
		columns := make([]format.ColumnChunk, len(g.Columns))
		for i := range g.Columns {
			c := &g.Columns[i].MetaData
			columns[i].MetaData = format.ColumnMetaData{
				Type: c.Type, PathInSchema: c.PathInSchema, NumValues: c.NumValues, TotalCompressedSize: maxChunk,
			}
		}
		plain.RowGroups = append(plain.RowGroups, format.RowGroup{Columns: columns, NumRows: g.NumRows})
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &plain)
	if err != nil {
		return nil, err
	}
	b := append([]byte(magic), footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, magic...), nil
}

// choose selects the columns to read.
func (f *file) choose() error {
	root := f.f.Root()
	f.info = records.Info{Name: f.in.Name(), Format: Parquet, Shape: "Parquet", Columns: shapeOf(root)}
	roles, err := newRoles(root, f.opt)
	if err != nil {
		return err
	}
	f.info.FingerprintsOnly = roles.texts == nil
	f.roles = roles
	if f.opt.Need == records.NeedID {
		roles.texts, roles.fp = nil, nil
	}
	f.layout = layout{name: f.info.Name, roles: roles, makeID: f.opt.MakeID, notation: f.opt.Fingerprints}
	if roles.id != nil && !isText(roles.id) {
		f.layout.formatID = unquoted(formatterOf(roles.id.Type()))
	}
	taken, err := f.layout.share()
	if err != nil {
		return err
	}
	for i := range roles.texts {
		if t := &roles.texts[i]; t.json || roles.set {
			t.node = f.newTree(root, otherLeaves(root, t.col))
		}
	}
	for _, leaf := range leavesOf(root) {
		if slices.Contains(taken, leaf.Index()) {
			f.used = append(f.used, leaf)
		}
	}
	if fields := f.newTree(root, taken); !fields.skip && f.opt.Need <= records.NeedDoc {
		f.layout.fields = fields
		for _, leaf := range leavesOf(root) {
			if !slices.Contains(taken, leaf.Index()) {
				f.used = append(f.used, leaf)
			}
		}
	}
	for i := range f.meta.RowGroups {
		f.bytes += sizeOf(&f.meta.RowGroups[i])
	}
	if err := f.checkChunks(); err != nil {
		return err
	}
	if f.opt.Need <= records.NeedDoc {
		f.info.Notice = lines.WarnOfDigests(f.firstTexts())
	}
	return nil
}

// firstTexts returns texts from the beginning of the file. It ignores damage, which Records will
// report.
func (f *file) firstTexts() (texts [][]byte) {
	defer func() { _ = recover() }()
	groups := f.groups(0)
	if f.roles.text() == nil || len(groups) == 0 {
		return nil
	}
	c, err := f.openCursor(groups[0].number, f.roles.text())
	if err != nil {
		return nil
	}
	defer c.close()
	for range min(groups[0].rows, 100) {
		v, err := c.next()
		if err != nil {
			return nil
		}
		if v.Kind() == pq.ByteArray {
			texts = append(texts, bytes.Clone(v.ByteArray()))
		}
	}
	return texts
}

// otherLeaves returns the numbers of the leaf columns outside of col.
func otherLeaves(root, col *pq.Column) (others []int) {
	mine := leavesOf(col)
	for _, leaf := range leavesOf(root) {
		if !slices.ContainsFunc(mine, func(c *pq.Column) bool { return c.Index() == leaf.Index() }) {
			others = append(others, leaf.Index())
		}
	}
	return others
}

// leavesOf returns the leaf columns below a column.
func leavesOf(col *pq.Column) (leaves []*pq.Column) {
	if col.Leaf() && col.Index() >= 0 {
		return []*pq.Column{col}
	}
	for _, c := range col.Columns() {
		leaves = append(leaves, leavesOf(c)...)
	}
	return leaves
}

// checkChunks returns an error if a column has a compression or an encoding that cannot be read.
func (f *file) checkChunks() error {
	for _, g := range f.meta.RowGroups {
		for _, col := range f.used {
			chunk := g.Columns[col.Index()].MetaData
			if !readable(chunk.Codec) {
				return fmt.Errorf("the column %q is compressed with %v, which is not supported: write the file with zstd or snappy", pathOf(col), chunk.Codec)
			}
			for _, e := range chunk.Encoding {
				if pq.LookupEncoding(e) == (encoding.NotSupported{}) {
					return fmt.Errorf("the column %q has the encoding %v, which is not supported: write the file with PLAIN or a dictionary", pathOf(col), e)
				}
			}
		}
	}
	return nil
}

// Info describes the file.
func (f *file) Info() records.Info { return f.info }

// CanExtend implements records.Extender.
func (f *file) CanExtend(columns []records.Column) error {
	var names []string
	for _, col := range f.f.Root().Columns() {
		names = append(names, col.Name())
	}
	return records.Clash(f.info.Name, columns, names)
}

// Progress returns the number of bytes read, estimated from the sizes of the row groups, and the
// size of the file.
func (f *file) Progress() (done, size int64) {
	read, size := f.in.Progress()
	if size < 0 || f.bytes == 0 {
		return read, size
	}
	return int64(float64(size) * min(1, float64(f.done.Load())/float64(f.bytes))), size
}

// Close closes the file. If a Copier still reads it, the Copier closes it later.
func (f *file) Close() error {
	if f.users.Add(-1) > 0 {
		return nil
	}
	f.in.Release()
	return f.in.Close()
}

type group struct {
	number int // counted from 0
	first  records.Position
	rows   int64
}

// groups returns the row groups that have rows after a position.
func (f *file) groups(after records.Position) (list []group) {
	first := records.Position(1)
	for i, g := range f.meta.RowGroups {
		if g.NumRows > 0 && first+records.Position(g.NumRows) > after+1 {
			list = append(list, group{i, first, g.NumRows})
		}
		first += records.Position(g.NumRows)
	}
	return list
}

func sizeOf(g *rowGroup) (n int64) {
	for i := range g.Columns {
		n += max(g.Columns[i].MetaData.TotalCompressedSize, 0)
	}
	return n
}
