package dedup

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"os"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/units"
)

// levelParameters are the flags that decide what is kept.
type levelParameters struct {
	Level    units.Level `json:"level"`
	MinWords int         `json:"min_words"`
	MinCount int         `json:"min_count"`
	Features string      `json:"features,omitempty"`
}

// unitRow is a line of the audit: a line or paragraph that was removed, or with the rule "empty" a
// document of which nothing is left.
type unitRow struct {
	app.AuditRow
	Unit       uint32  `json:"unit,omitempty"`   // its number in the text, from 1
	Offset     *int    `json:"offset,omitempty"` // where it begins in the text, in bytes
	Bytes      int     `json:"bytes,omitempty"`  // of it, without its line end
	KeeperUnit *uint32 `json:"keeper_unit,omitempty"`
}

// newLevelAudit starts the audit of a run.
func (l *level) newLevelAudit() (*audit, error) {
	a := &audit{w: l.auditTo}
	if a.w == nil {
		return a, nil
	}
	inputs, err := l.digests.wait()
	if err != nil {
		return nil, err
	}
	a.e = app.AuditEncoder(a.w)
	return a, a.e.Encode(app.AuditHead{Version: app.Version(), Parameters: levelParameters{
		Level: l.c.Level, MinWords: cmp.Or(int(l.c.MinWords), minUnitWords), MinCount: l.c.MinCount, Features: l.features.Describe(),
	}, Inputs: inputs})
}

// auditUnit takes note of a unit that is removed.
func (l *level) auditUnit(rec *input.Record, r units.Repeat) error {
	if l.audit.w == nil {
		return nil
	}
	first, err := l.places.get(r.First.Doc())
	if err != nil {
		return err
	}
	span := l.spans[r.At.Unit()]
	return l.audit.e.Encode(&unitRow{
		AuditRow: app.AuditRow{
			ID: &rec.Doc.ID, File: rec.File, Line: rec.Pos, Keeper: &first.id, KeeperFile: &first.file, KeeperLine: &first.line,
			Exact: new(true), Rule: string(l.c.Level),
		},
		Unit: r.At.Unit() + 1, Offset: &span.From, Bytes: span.To - span.From, KeeperUnit: new(r.First.Unit() + 1),
	})
}

// auditEmptied takes note of a document of which nothing is left.
func (l *level) auditEmptied(rec *input.Record) error {
	if l.audit.w == nil {
		return nil
	}
	return l.audit.e.Encode(&unitRow{AuditRow: app.AuditRow{ID: &rec.Doc.ID, File: rec.File, Line: rec.Pos, Rule: "empty"}})
}

// places are the places of all documents, in two temporary files: the rows, and where each begins.
type places struct {
	rows, index *os.File
	toRows      *bufio.Writer
	toIndex     *bufio.Writer
	size        int64
	files       []string // their names; a row has the number
	read        map[uint32]*place
}

// newPlaces returns places without documents, whose files are in dir.
func newPlaces(dir string) (*places, error) {
	rows, err := app.TempFile(dir)
	if err != nil {
		return nil, err
	}
	index, err := app.TempFile(dir)
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return &places{rows: rows, index: index, toRows: bufio.NewWriterSize(rows, 64<<10), toIndex: bufio.NewWriterSize(index, 64<<10), read: map[uint32]*place{}}, nil
}

// close frees the files.
func (p *places) close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.rows.Close(), p.index.Close())
}

// add takes the next document.
func (p *places) add(rec *input.Record) error {
	if p == nil {
		return nil
	}
	if n := len(p.files); n == 0 || p.files[n-1] != rec.File {
		p.files = append(p.files, rec.File)
	}
	var b [8 + 3*binary.MaxVarintLen64]byte
	binary.LittleEndian.PutUint64(b[:], uint64(p.size))
	row := binary.AppendUvarint(b[8:8], uint64(len(p.files)-1))
	row = binary.AppendUvarint(row, uint64(rec.Pos))
	row = binary.AppendUvarint(row, uint64(len(rec.Doc.ID)))
	p.size += int64(len(row) + len(rec.Doc.ID))
	_, err := p.toIndex.Write(b[:8])
	if err == nil {
		_, err = p.toRows.Write(row)
	}
	if err == nil {
		_, err = p.toRows.WriteString(rec.Doc.ID)
	}
	return err
}

// maxPlaces is how many places are held that have been looked up.
const maxPlaces = 4096

// get returns the place of a document, after the last one was added.
func (p *places) get(doc uint32) (*place, error) {
	if at, ok := p.read[doc]; ok {
		return at, nil
	}
	if err := errors.Join(p.toRows.Flush(), p.toIndex.Flush()); err != nil {
		return nil, err
	}
	var b [8]byte
	if _, err := p.index.ReadAt(b[:], 8*int64(doc)); err != nil {
		return nil, err
	}
	from := int64(binary.LittleEndian.Uint64(b[:]))
	row := make([]byte, min(256, p.size-from))
	for {
		if _, err := p.rows.ReadAt(row, from); err != nil {
			return nil, err
		}
		at, need := p.parse(row)
		if at != nil {
			if len(p.read) >= maxPlaces {
				clear(p.read)
			}
			p.read[doc] = at
			return at, nil
		}
		row = make([]byte, min(int64(need), p.size-from))
	}
}

// parse returns the place that a row begins with, or how many bytes it takes.
func (p *places) parse(row []byte) (at *place, need int) {
	file, n := binary.Uvarint(row)
	line, m := binary.Uvarint(row[n:])
	size, k := binary.Uvarint(row[n+m:])
	if need = n + m + k + int(size); need > len(row) {
		return nil, need
	}
	return &place{string(row[n+m+k : need]), p.files[file], input.Position(line)}, need
}
