package dedup

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"strings"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// level is a run with Level. The first pass finds units that have occurred before (for passages a
// second pass does), and the last pass copies documents without them.
type level struct {
	*job
	found  finder
	places *places // nil if no audit is written
	audit  *audit
	spans  []units.Span // of the current text
	gone   []units.Removed
	doc    uint32 // of the current text

	options units.Options
	split   func(dst []units.Span, text string) []units.Span

	counts  units.Counts
	removed int64 // units; for passages, words
	pieces  int64 // audit rows of removed units
	stood   int64 // part of removed: those whose first occurrence is in Against
	bytes   int64 // bytes of text
	removes int64 // bytes removed, including line ends
	changed int64 // documents that are copied without some of their units
	emptied int64 // documents that have lost all their units
}

// A finder finds the units to remove: units.Repeats, units.Seen, or nearUnits.
type finder interface {
	Know(docs int64, only bool)
	Find(ctx context.Context) error
	All() iter.Seq2[units.Repeat, error]
	Close() error
}

// workLevel reads the inputs, finds repeated units, and writes the outputs.
func (d *job) workLevel(dir string) (err error) {
	memory := d.c.memory()
	if d.c.level() == units.Passage {
		memory /= 2 // anchors use a quarter
	}
	repeats := units.NewRepeats(memory, func() (*os.File, error) { return vfs.Temp(dir, "spill-*") }, d.c.minCount())
	if d.c.keepsNoUnit() {
		repeats.RemoveAll()
	}
	l := d.newLevel(repeats)
	defer l.tell()
	defer func() { err = errors.Join(err, l.found.Close(), l.places.close()) }()
	if d.auditTo != nil {
		if l.places, err = newPlaces(dir); err != nil {
			return err
		}
	}
	to, again := repeats, func() bool { return false }
	switch {
	case d.c.Seen != 0:
		s := d.newSeen(dir)
		l.found, again, l.options.Seen = s, s.Again, s
	case d.c.By.Kind() != "":
		near := d.newNearUnits(dir)
		l.found, l.options.Text = near, near.add
	case d.c.level() == units.Passage:
		l.options.Anchors = units.NewAnchors(memory / 2)
		to, again = nil, func() bool { return true }
	}
	if err := l.read(to); err != nil {
		return err
	}
	if again() {
		if err := l.readAgain(repeats); err != nil {
			return err
		}
		l.options.Anchors = nil // Find needs their memory
	}
	if err := l.found.Find(d.ctx); err != nil {
		return err
	}
	return l.write()
}

// newLevel returns a run that removes the units which found finds.
func (d *job) newLevel(found finder) *level {
	l := &level{job: d, found: found}
	l.options = units.Options{Level: d.c.level(), MinWords: d.c.MinWords(), Spec: features.Spec(d.features), Shingle: d.params.Shingle, Seed: d.params.Seed, All: d.c.keepsNoUnit()}
	l.split = l.options.Splitter()
	return l
}

// read is the first pass. to receives the units; with nil, the pass counts the anchors of
// passages.
func (l *level) read(to *units.Repeats) error {
	x := units.NewExtractor(l.ctx, l.options, to)
	defer x.Stop()
	add := func(rec *records.Record) error { return errors.Join(l.places.add(rec), x.Add(rec.Doc.Text)) }
	err := l.readKnown(add)
	if err == nil {
		err = x.Finish()
	}
	if err != nil {
		return err
	}
	x.Counts = units.Counts{} // count only the inputs
	l.found.Know(l.known, l.c.OnlyAgainst)
	err = l.readInputs(add)
	if err == nil {
		err = x.Finish()
	}
	l.counts = x.Counts
	return err
}

// readInputs calls add for every document of the first pass.
func (l *level) readInputs(add func(rec *records.Record) error) error {
	err := l.each(readStage, func(_ int, in records.Source) error { return l.canCut(in) }, func(in records.Source, rec *records.Record) error {
		if l.known+l.job.read >= math.MaxUint32-1 {
			return errors.New("there are too many documents")
		}
		if err := l.canCut(in); err != nil { // a record may show that its format cannot
			return fmt.Errorf("%s:%d: %w", rec.File, rec.Pos, err)
		}
		l.rejects.Note(in, rec)
		if strings.TrimSpace(rec.Doc.Text) == "" {
			if l.empty++; rec.Doc.Fingerprints != nil {
				return inputs.NoTexts()
			}
		}
		l.job.read++
		l.bytes += int64(len(rec.Doc.Text))
		return add(rec)
	}, l.rejects.Add)
	if err == nil {
		err = l.damage()
	}
	if err == nil {
		err = l.rejects.Nothing()
	}
	return err
}

// canCut returns an error if texts of an input are to be cut but cannot be.
func (l *level) canCut(in records.Source) error {
	if l.c.Drop {
		return nil
	}
	return records.CanCut(in)
}

// readAgain reads all texts once more, for the windows of passages, or for n-grams.
func (l *level) readAgain(to *units.Repeats) error {
	x := units.NewExtractor(l.ctx, l.options, to)
	defer x.Stop()
	add := func(rec *records.Record) error { return x.Add(rec.Doc.Text) }
	if err := l.eachKnown(add, ignored); err != nil {
		return err
	}
	if err := l.each(compareStage, nil, func(_ records.Source, rec *records.Record) error { return add(rec) }, ignored); err != nil {
		return err
	}
	return x.Finish()
}

// write is the last pass. It publishes all outputs or none; with DryRun there are none.
func (l *level) write() (err error) {
	if l.audit, err = l.newLevelAudit(); err != nil {
		return err
	}
	if err := l.copy(); err != nil || l.c.DryRun {
		return err
	}
	return l.publish()
}

// copy writes what stays to the outputs, and the removed units to the audit.
func (l *level) copy() error {
	next, stop := iter.Pull2(l.found.All())
	defer stop()
	out := &copies{job: l.job}
	begin := out.begin
	if l.c.DryRun {
		begin = func(int, records.Source) error { return nil }
	}
	var n int64
	rep, err, left := next()
	each := l.each("write", begin, func(in records.Source, rec *records.Record) error {
		var mine []units.Repeat
		for ; left && err == nil && int64(rep.At.Doc()) == l.known+n; rep, err, left = next() {
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
		return inputs.ErrChanged
	}
	return nil
}

// cut returns a record without its repeated units, nil if nothing is left.
func (l *level) cut(in records.Source, rec *records.Record, repeats []units.Repeat) ([]byte, error) {
	l.kept++
	if len(repeats) == 0 {
		return rec.Raw, nil
	}
	text := rec.Doc.Text
	l.doc = repeats[0].At.Doc()
	l.spans, l.gone = l.split(l.spans[:0], text), l.gone[:0]
	for _, r := range repeats {
		l.gone = l.options.Remove(l.gone, r)
	}
	for _, r := range l.gone {
		if int(r.To) > len(l.spans) {
			return nil, inputs.ErrChanged
		}
		n := int64(r.To - r.From)
		if l.removed += n; r.Share == 0 && int64(r.First.Doc()) < l.known {
			l.stood += n
		}
		if err := l.auditUnit(rec, r); err != nil {
			return nil, err
		}
	}
	l.pieces += int64(len(l.gone))
	words := units.Words(l.split)
	if l.c.level() != units.Passage {
		words = nil
	}
	var keep []units.Span
	if !l.c.Drop {
		keep = units.Keep(text, l.spans, l.gone, words)
	}
	l.removes += int64(len(text))
	spans := make([]records.Span, len(keep))
	for i, k := range keep {
		spans[i] = records.Span(k)
		l.removes -= int64(k.To - k.From)
	}
	if l.c.Cut != nil {
		l.c.Cut(rec, records.Parts(text, spans))
	}
	if keep == nil {
		l.kept--
		l.emptied++
		return nil, l.auditEmptied(rec)
	}
	l.changed++
	return records.CutText(in, rec, spans), nil
}

// Leveled is the result of a job with Level.
type Leveled struct {
	Units   int64 // for passages, words
	Short   int64 // part of Units: units that are too short, or in texts that are
	Removed int64 // part of Units
	Pieces  int64 // units that were removed
	Known   int64 // part of Removed: units whose first occurrence is in Against
	Bytes   int64 // bytes of text
	Removes int64 // bytes removed, including line ends
	Changed int64 // documents that have lost a part of their text
	Emptied int64 // documents that have lost all their text, or with Drop a part of it, and are dropped
}

// tell puts the result into the report.
func (l *level) tell() {
	l.leveled = &Leveled{l.counts.Units, l.counts.Short, l.removed, l.pieces, l.stood, l.bytes, l.removes, l.changed, l.emptied}
}

// levelParameters are the flags that decide which units stay.
type levelParameters struct {
	Level    units.Level `json:"level"`
	Seen     float64     `json:"seen,omitempty"`
	Jaccard  float64     `json:"jaccard,omitempty"`
	Shingle  string      `json:"shingle,omitempty"`
	MinWords int         `json:"min_words"`
	MinCount int         `json:"min_count"`
	Keep     string      `json:"keep,omitempty"`
	Drop     bool        `json:"drop,omitempty"`
	Against  []string    `json:"against,omitempty"`
	Only     bool        `json:"only_against,omitempty"`
	Features string      `json:"features,omitempty"`
}

// unitRow is a row of the audit for a removed line, paragraph or passage, or with the rule
// "empty" for a document that has lost all its units.
type unitRow struct {
	AuditRow
	Unit       uint32  `json:"unit,omitempty"`   // its number in the text, from 1; for a passage, the number of its first word
	Offset     *int    `json:"offset,omitempty"` // byte offset in the text
	Bytes      int     `json:"bytes,omitempty"`  // its length, without its line end
	Words      uint32  `json:"words,omitempty"`  // for a passage
	KeeperUnit *uint32 `json:"keeper_unit,omitempty"`
}

// newLevelAudit starts the audit of a run.
func (l *level) newLevelAudit() (*audit, error) {
	a := &audit{}
	if l.auditTo == nil {
		return a, nil
	}
	inputs, err := l.digests.wait()
	if err != nil {
		return nil, err
	}
	a.e = AuditEncoder(l.auditTo)
	return a, a.e.Encode(AuditHead{Version: version.String(), Parameters: l.levelParameters(), Against: l.auditKnown(), Inputs: inputs})
}

func (d *job) levelParameters() levelParameters {
	shingle, jaccard := "", d.c.By.T()
	if d.c.Seen != 0 || jaccard != 0 {
		shingle = d.parameters().Shingle
	}
	keep := ""
	if d.c.keepsNoUnit() {
		keep = None.Name
	}
	return levelParameters{
		Level: d.c.level(), Seen: d.c.Seen, Jaccard: jaccard, Shingle: shingle, MinWords: d.c.MinWords(), MinCount: d.c.minCount(), Against: d.c.Against, Only: d.c.OnlyAgainst, Features: d.features.Describe(),
		Keep: keep, Drop: d.c.Drop,
	}
}

func (l *level) auditUnit(rec *records.Record, r units.Removed) error {
	if l.audit.e == nil {
		return nil
	}
	span := units.Span{From: l.spans[r.From].From, To: l.spans[r.To-1].To}
	row := unitRow{
		AuditRow: RowOf(rec, string(l.c.level())), Unit: r.From + 1, Offset: &span.From, Bytes: span.To - span.From,
	}
	if row.Exact = new(true); r.Score > 0 {
		row.Score = &r.Score
	}
	if l.c.keepsNoUnit() {
		row.Rule = None.Name
	}
	if r.Share > 0 {
		row.Rule, row.Score = "seen", &r.Share
		return l.audit.e.Encode(&row)
	}
	if r.First == units.At(l.doc, r.From) {
		return l.audit.e.Encode(&row)
	}
	first, err := l.places.get(r.First.Doc())
	if err != nil {
		return err
	}
	row.KeeperUnit = new(r.First.Unit() + 1)
	row.keeps(first)
	if l.c.level() == units.Passage {
		row.Words = r.To - r.From
	}
	if int64(r.First.Doc()) < l.known {
		row.Rule = "against"
	}
	return l.audit.e.Encode(&row)
}

// auditEmptied records a document that has lost all its units.
func (l *level) auditEmptied(rec *records.Record) error {
	if l.audit.e == nil {
		return nil
	}
	rule := "empty"
	if l.c.Drop {
		rule = "drop"
	}
	return l.audit.e.Encode(&unitRow{AuditRow: RowOf(rec, rule)})
}

// places stores where each document stands, in two temporary files: rows, and an index of their
// offsets.
type places struct {
	rows, index     *os.File
	toRows, toIndex *bufio.Writer
	size            int64
	files           []string // names that rows refer to by number
	read            map[uint32]*Place
}

// newPlaces returns empty places with their files in dir.
func newPlaces(dir string) (*places, error) {
	rows, err := vfs.Temp(dir, "spill-*")
	if err != nil {
		return nil, err
	}
	index, err := vfs.Temp(dir, "spill-*")
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return &places{rows: rows, index: index, toRows: bufio.NewWriterSize(rows, 64<<10), toIndex: bufio.NewWriterSize(index, 64<<10), read: map[uint32]*Place{}}, nil
}

// close closes the files, which frees them.
func (p *places) close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.rows.Close(), p.index.Close())
}

// add adds the next document.
func (p *places) add(rec *records.Record) error {
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

// maxPlaces is the number of places that get caches.
const maxPlaces = 4096

// get returns the place of a document. No document may be added afterwards.
func (p *places) get(doc uint32) (*Place, error) {
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

// parse returns the place at the beginning of row, or only how many bytes it needs if row is
// shorter.
func (p *places) parse(row []byte) (at *Place, need int) {
	file, n := binary.Uvarint(row)
	line, m := binary.Uvarint(row[n:])
	size, k := binary.Uvarint(row[n+m:])
	if need = n + m + k + int(size); need > len(row) {
		return nil, need
	}
	return &Place{string(row[n+m+k : need]), p.files[file], records.Position(line)}, need
}
