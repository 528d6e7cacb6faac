package dedup

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/units"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/quantity"
)

// level is a run with --level: the first pass finds the units that have come before, the second
// one copies documents without them.
type level struct {
	*job
	found  *units.Repeats
	places *places // nil: no audit is written
	audit  *audit
	spans  []units.Span // of the last text
	gone   []uint32     // units of the last document

	counts  units.Counts
	removed int64 // units
	bytes   int64 // of text
	removes int64 // bytes of them, with their line ends
	changed int64 // documents that are copied without some units
	emptied int64 // documents without any unit that stays
}

// workLevel reads, finds what comes again, and writes.
func (d *job) workLevel(dir string) (err error) {
	l := &level{job: d, found: units.NewRepeats(int64(d.c.Memory), func() (*os.File, error) { return app.TempFile(dir) }, d.c.MinCount)}
	d.sayLevel = l.summary
	defer func() { err = errors.Join(err, l.found.Close(), l.places.close()) }()
	if d.auditTo != nil {
		if l.places, err = newPlaces(dir); err != nil {
			return err
		}
	}
	if err := l.read(); err != nil {
		return err
	}
	if err := l.found.Find(d.a.Context()); err != nil {
		return err
	}
	return l.write()
}

// read is the first pass.
func (l *level) read() error {
	x := units.NewExtractor(l.a.Context(), units.Options{
		Level: l.c.Level, MinWords: cmp.Or(int(l.c.MinWords), minUnitWords), Symbols: l.features.Symbols, Normalize: features.Spec(l.features).Normalizer,
	}, l.found)
	defer x.Stop()
	err := l.each(readStage, func(_ int, in input.Source) error { return input.CanCut(in) }, func(in input.Source, rec *input.Record) error {
		if l.job.read == math.MaxUint32-1 {
			return errors.New("there are too many documents")
		}
		if err := input.CanCut(in); err != nil { // which a record may show
			return fmt.Errorf("%s:%d: %w", rec.File, rec.Pos, err)
		}
		l.rejects.Note(in, rec)
		if strings.TrimSpace(rec.Doc.Text) == "" {
			if l.empty++; rec.Doc.Fingerprint != nil {
				return corpus.ErrNoTexts
			}
		}
		l.job.read++
		l.bytes += int64(len(rec.Doc.Text))
		return errors.Join(l.places.add(rec), x.Add(rec.Doc.Text))
	}, l.rejects.Add)
	if err == nil {
		err = l.damage()
	}
	if err == nil {
		err = l.rejects.Nothing()
	}
	if err == nil {
		err = x.Finish()
	}
	l.counts = x.Counts
	return err
}

// write is the second pass. Either all outputs are published or none; with --dry-run there are
// none.
func (l *level) write() (err error) {
	if l.audit, err = l.newLevelAudit(); err != nil {
		return err
	}
	next, stop := iter.Pull2(l.found.All())
	defer stop()
	out := &copies{job: l.job}
	begin := out.begin
	if l.c.DryRun {
		begin = func(int, input.Source) error { return nil }
	}
	var n int64
	rep, err, left := next()
	each := l.each("write", begin, func(in input.Source, rec *input.Record) error {
		var mine []units.Repeat
		for ; left && err == nil && int64(rep.At.Doc()) == n; rep, err, left = next() {
			mine = append(mine, rep)
		}
		if n++; err != nil {
			return err
		}
		raw, err := l.cut(in, rec, mine)
		if err != nil || raw == nil || l.c.DryRun {
			return err
		}
		return out.to.Copy(in, raw)
	}, l.audit.issue)
	if e := out.close(); each == nil {
		each = e
	}
	if each != nil || l.c.DryRun {
		return each
	}
	if n != l.job.read || left || len(l.failed) > 0 {
		return app.ErrChanged
	}
	return l.publish()
}

// cut returns a record without the units that come again, nil if nothing of it is left.
func (l *level) cut(in input.Source, rec *input.Record, repeats []units.Repeat) ([]byte, error) {
	l.kept++
	if len(repeats) == 0 {
		return rec.Raw, nil
	}
	text := rec.Doc.Text
	l.spans, l.gone = units.Split(l.spans[:0], text, l.c.Level), l.gone[:0]
	for _, r := range repeats {
		if int(r.At.Unit()) >= len(l.spans) {
			return nil, app.ErrChanged
		}
		l.gone = append(l.gone, r.At.Unit())
		if err := l.auditUnit(rec, r); err != nil {
			return nil, err
		}
	}
	l.removed += int64(len(repeats))
	keep := units.Keep(text, l.spans, l.gone)
	if keep == nil {
		l.kept--
		l.emptied++
		l.removes += int64(len(text))
		return nil, l.auditEmptied(rec)
	}
	l.changed++
	left := 0
	spans := make([]input.Span, len(keep))
	for i, k := range keep {
		spans[i] = input.Span(k)
		left += k.To - k.From
	}
	l.removes += int64(len(text) - left)
	return input.CutText(in, rec, spans), nil
}

// summary prints what was done, after what was read.
func (l *level) summary() {
	unit := string(l.c.Level)
	note := unit + "s"
	if l.counts.Short > 0 {
		note += fmt.Sprintf("; %s of them have fewer than %s and stay", quantity.Number(l.counts.Short), quantity.Count(int64(cmp.Or(int(l.c.MinWords), minUnitWords)), "word"))
	}
	l.row(unit+"s", l.counts.Units, "", note)
	first := unit + "s that have come before"
	if l.c.MinCount > 2 {
		first = fmt.Sprintf("%ss that come %d times or more, but for the first", unit, l.c.MinCount)
	}
	if path := l.c.auditPath(); path != "" {
		first += "; where each stood, and the first of its kind, " + areAt(path)
	}
	l.row("repeated", l.removed, percent(l.removed, l.counts.Units), first)
	l.row("bytes", l.removes, percent(l.removes, l.bytes), fmt.Sprintf("of %s of text are in them and the line ends after them", quantity.Count(l.bytes, "byte")))
	l.row("changed", l.changed, percent(l.changed, l.job.read), "documents have lost a part of their text")
	l.row("dropped", l.emptied, percent(l.emptied, l.job.read), "documents had nothing else, and are left out")
	l.row("kept", l.kept, percent(l.kept, l.job.read), "documents "+l.whereKept())
}

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
