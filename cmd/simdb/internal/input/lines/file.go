package lines

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/base"
)

func init() {
	list := []string{".tsv", ".txt", ".fps", ".fp"}
	input.Register(input.Family{
		Formats: []input.Description{
			{Name: JSONL, Aliases: []input.Format{"ndjson"}, Label: "JSON lines", Unit: "line", Endings: []string{".jsonl", ".json", ".ndjson"}},
			{Name: CSV, Label: "CSV", Unit: "line", Endings: []string{".csv"}},
			{Name: TSV, Label: "TSV", Unit: "line", Endings: []string{".tsv", ".tab"}},
			{Name: TXT, Aliases: []input.Format{"text"}, Label: "plain text", Unit: "line", Endings: []string{".txt", ".text"}},
			{Name: Fingerprints, Label: "fingerprints", Unit: "line", Endings: list},
			{Name: Hashes, Label: "fingerprints", Unit: "line", Endings: list},
			{Name: JSON, Label: "JSON", Unit: "line", EndUnit: "record", Endings: []string{".json"}},
		},
		Fingerprints: true,
		Open:         open,
		NewCopier:    newCopier,
	})
}

// file is the Source of a file of lines.
type file struct {
	in      *input.Stream
	content io.Reader
	live    bool
	reading bool // Records has been called
	opt     input.Options
	info    input.Info

	parse     parser // nil until the header has been read, where that names the columns
	hasHeader bool   // the first line that is not blank is not data
	before    []byte // the line before the header, which says what separates columns
	unnamed   bool   // the header does not name the first column
	seen      base.Evidence
	surveys   bool // it only collects what is seen
	members   bool // the records are the members of a JSON object
	usable
}

// open looks at the beginning of a file and prepares the parser, unless that needs the header.
func open(in *input.Stream, opt input.Options) (input.Source, error) {
	f := &file{in: in, live: in.Live(), opt: opt, info: input.Info{Name: in.Name()}}
	if err := in.Decode(opt.Encoding); err != nil {
		return nil, err
	}
	if err := f.choose(); err != nil {
		return nil, err
	}
	f.info.Shape = cmp.Or(f.info.Shape, f.info.Format.Describe().Label)
	if err := f.settle(); err != nil {
		return nil, err
	}
	if l, ok := f.parse.(*list); ok {
		f.info.FingerprintsOnly, f.info.PositionIDs = true, l.id < 0
		base := f.base(l.notation)
		f.info.Notice = l.describe(base)
		f.info.Shape = l.describe(cmp.Or(base, "hexadecimal")) // a list without a single number goes with those
		if l.header {
			f.info.Notice += ", after a header"
		}
	} else if f.info.Bits > 64 {
		f.info.Notice = strings.TrimPrefix(fmt.Sprintf("%s; its fingerprints have %d bits", f.info.Notice, f.info.Bits), "; ")
	}
	if f.info.Bits > 64 && (f.info.FingerprintsOnly || f.members) && f.base(f.opt.Fingerprints) == "hexadecimal" {
		f.info.Notice += "; checksums are no fingerprints: of them only equal ones would match"
	}
	if f.info.Notice == "" {
		f.info.Notice = WarnOfDigests(f.texts)
	}
	in.Describe(&f.info)
	return f, nil
}

// choose decides on the format and makes the parser, unless that needs a header.
func (f *file) choose() error {
	format := f.opt.Format
	switch {
	case f.opt.Records == "", format == JSON, format == JSONL:
	case format == input.Auto:
		format = JSON
	default:
		return fmt.Errorf("--records is for JSON, not for %s", format.Describe().Label)
	}
	head, all, err := f.head()
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(sampleLines(head, all), func(line []byte) bool { return isComment(line, f.opt.Comment) })
	s := &sample{}
	if format != JSONL && format != JSON && (format != input.Auto || byName(f.info.Name) != JSONL) {
		s = newSample(lines, f.opt.Fingerprints)
	}
	if f.opt.Delimiter != 0 && format != input.Auto && format != CSV {
		return fmt.Errorf("a delimiter is for csv, not for %s", format)
	}
	if sep := separatorLine(lines); sep != 0 && f.opt.Delimiter == 0 && (format == input.Auto || format == CSV) {
		f.opt.Delimiter = sep
	}
	if format == input.Auto {
		format = formatOf(f.info.Name, lines, s, f.opt)
		if err := f.suspect(format, head, lines, s); err != nil {
			return err
		}
	}
	if format == TXT && f.opt.Fingerprints != base.Auto {
		return notTaken(f.opt, lines)
	}
	if format, err = spreadOrNot(format, f.opt.Format, lines); err != nil {
		return err
	}
	if format, err = f.inJSON(format, head, all); err != nil {
		return err
	}
	if f.opt.Comment != 0 && format != CSV && format != TSV {
		return fmt.Errorf("comments are of csv and tsv, not of %s", format)
	}
	if format == CSV && f.opt.Comment == cmp.Or(f.opt.Delimiter, ',') {
		return fmt.Errorf("comments cannot begin with %q, which separates the columns", f.opt.Comment)
	}
	f.info.Format = format
	return f.makeParser(head, all, lines, s)
}

// makeParser makes the parser of the format, unless that needs a header, and says what is to be
// noted of how the file was taken.
func (f *file) makeParser(head []byte, all bool, lines [][]byte, s *sample) error {
	switch format := f.info.Format; format {
	case JSONL, JSON:
		f.parse = newObject(f.opt, f.members)
		if format == JSON && f.info.Shape == "" {
			f.info.Shape = jsonShape(lines)
		}
	case TXT:
		f.parse = text{}
		if f.opt.Format == input.Auto {
			f.info.Notice = almostList(s)
		}
		switch {
		case f.info.Notice != "" || f.opt.Format != input.Auto:
		case len(lines) > 1 && isHeader(lines[0], "\t"):
			f.info.Notice = plainText + "; --input-format tsv reads columns, of which the first line has the names"
		case byName(f.info.Name) != TXT:
			f.info.Notice = plainText
		}
	case Fingerprints, Hashes:
		l, err := newList(s, f.opt)
		f.parse, f.hasHeader = l, err == nil && l.header
		return err
	case CSV, TSV:
		f.hasHeader = true
		f.unnamed = !f.opt.NoHeader && f.rowsAreLonger(head, all)
	}
	return nil
}

// rowsAreLonger reports whether all rows at the beginning of a file have a cell more than its
// header, as where R writes the names of rows. A cell that is empty everywhere is none.
func (f *file) rowsAreLonger(head []byte, all bool) bool {
	var cut cutter = lineCutter{}
	if f.info.Format == CSV {
		cut = &rows{sep: f.separator()}
	}
	header, filled := -1, false
	for len(head) > 0 {
		end := cut.end(head)
		if end < 0 && (!all || cut.open() != "") {
			break
		} else if end < 0 {
			end = len(head)
		}
		raw := head[:end]
		head = head[end:]
		if len(bytes.TrimSpace(raw)) == 0 || isComment(raw, f.opt.Comment) || separatorLine([][]byte{raw}) != 0 {
			continue
		}
		switch cells := f.cells(nil, raw); {
		case header < 0:
			header = len(cells)
		case len(cells) != header+1:
			return false
		default:
			filled = filled || cells[header] != ""
		}
	}
	return filled
}

// suspect returns the refusal of a file that has a format by its content or name, and is rather
// something else.
func (f *file) suspect(format input.Format, head []byte, lines [][]byte, s *sample) error {
	switch columns := format == CSV || format == TSV; {
	case format == Fingerprints && len(s.header) == 0 && s.columns == 2 && s.column[0].large+s.column[1].large+s.column[0].letters+s.column[1].letters == 0 && s.column[0].n+s.column[1].n == s.lines:
		return refuseDigests(lines, true) // of which the numbers are the ids
	case format == TXT && bytes.IndexByte(head, 0) >= 0:
		return errors.New("it has NUL bytes, so it is not text; --input-format txt reads it anyway")
	case format == TXT && f.opt.Fingerprints != base.Auto: // which has its own message
	case format == TXT, columns && f.opt.Delimiter == 0 && !namesFields(f.opt) && !f.opt.NoHeader && len(lines) > 0 && !isHeader(lines[0], map[input.Format]string{CSV: ",", TSV: "\t"}[format]):
		return refuseDigests(lines, columns)
	case columns && f.opt.NoHeader && f.opt.FingerprintField == "" && f.opt.TextField == "" && !slices.ContainsFunc(lines, func(line []byte) bool { return !digestBesideID(line) }):
		return refuseDigests(lines, false)
	}
	return nil
}

// readHeader takes the header. Where it names the columns it makes the parser, and reports whether
// raw is data nevertheless.
func (f *file) readHeader(raw []byte) (isData bool, err error) {
	if f.parse != nil { // a list, whose columns are known
		f.info.Columns = bytes.Clone(raw)
		return false, nil
	}
	if f.before == nil && separatorLine([][]byte{raw}) != 0 {
		f.before = bytes.Clone(raw)
		return false, errAgain
	}
	names := f.cells(nil, raw)
	if f.unnamed {
		names = slices.Insert(names, 0, "")
	}
	t, err := newTable(names, f.cells, f.opt)
	if err != nil {
		return false, hintSeparator(err, raw, f.separator(), f.opt)
	}
	f.parse = t
	f.info.Columns = f.before
	if !f.opt.NoHeader {
		f.info.Columns = slices.Concat(f.before, raw)
	}
	return f.opt.NoHeader, nil
}

// errAgain is the error of a line before the header.
var errAgain = errors.New("the header comes next")

// separatorLine returns what separates columns if a file begins with a line that says so, as Excel
// reads and writes it: sep=;
func separatorLine(lines [][]byte) byte {
	if len(lines) == 0 {
		return 0
	}
	line := bytes.Trim(lines[0], " \r\n\"")
	if len(line) != len("sep=;") || !bytes.EqualFold(line[:4], []byte("sep=")) {
		return 0
	}
	return line[4]
}

// Info describes the file.
func (f *file) Info() input.Info { return f.info }

// Progress returns how much of the file has been read.
func (f *file) Progress() (done, size int64) { return f.in.Progress() }

// Close closes the file.
func (f *file) Close() error {
	if !f.reading {
		f.in.Release()
	}
	return f.in.Close()
}

// Records yields the records of the file in order. Lines with nothing but blanks are skipped.
func (f *file) Records(ctx context.Context) iter.Seq2[*input.Record, error] {
	return func(yield func(*input.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		held := semaphore.NewWeighted(heldBytes)
		batches := f.pipeline(ctx, held)
		for {
			b, err := receive(ctx, batches)
			if err != nil {
				yield(nil, err)
			}
			if b == nil || !f.deliver(b, yield) {
				return
			}
			b.free(held)
		}
	}
}

// deliver yields what a batch has. It reports whether there is more to read.
func (f *file) deliver(b *batch, yield func(*input.Record, error) bool) bool {
	for _, o := range b.out {
		if o.issue != nil {
			if !yield(nil, o.issue) {
				return false
			}
			continue
		}
		f.listed = f.listed || o.rec.listed
		if err := f.heed(o.rec); err != nil {
			yield(nil, &input.ReadError{File: f.info.Name, Pos: input.NoPosition, Err: err})
			return false
		}
		if !yield(&o.rec.Record, nil) {
			return false
		}
	}
	if b.issue != nil && !yield(nil, b.issue) {
		return false
	}
	if b.err != nil {
		yield(nil, b.err)
		return false
	}
	return true
}

// receive returns the next batch, parsed, nil at the end. It does not wait for a read that is under
// way when ctx ends.
func receive(ctx context.Context, batches <-chan *batch) (*batch, error) {
	select {
	case b, ok := <-batches:
		if !ok {
			return nil, context.Cause(ctx)
		}
		select {
		case <-b.parsed:
			return b, nil
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return nil, context.Cause(ctx)
}

// pipeline starts the splitter and the parsers and returns the batches in order. They end with ctx.
func (f *file) pipeline(ctx context.Context, held *semaphore.Weighted) <-chan *batch {
	f.reading = true
	workers := f.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ordered := make(chan *batch, 2*workers)
	work := make(chan *batch, 2*workers)
	s := &splitter{name: f.info.Name, after: f.opt.After, cut: lineCutter{}, comment: f.opt.Comment, held: held, live: f.live}
	switch f.info.Format {
	case CSV:
		s.cut = &rows{sep: f.separator()}
	case JSON:
		s.cut, s.bare = &objects{members: f.members}, true
	}
	if f.hasHeader {
		s.header = f.readHeader
	}
	s.send = func(b *batch) {
		for _, c := range []chan *batch{ordered, work} {
			select {
			case c <- b:
			case <-ctx.Done():
				return
			}
		}
	}
	content, release := f.content, func() {}
	if f.in != nil {
		content, release = f.reader(), f.in.Release
	}
	go func() {
		defer close(ordered)
		defer close(work)
		defer release()
		s.run(ctx, content)
	}()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for b := range work {
				f.parseBatch(b)
				close(b.parsed)
			}
		})
	}
	return ordered
}

// parseBatch parses the records of a batch.
func (f *file) parseBatch(b *batch) {
	b.recs = slices.Grow(b.recs[:0], len(b.spans))[:len(b.spans)]
	b.out = slices.Grow(b.out[:0], len(b.spans))
	words := max(f.opt.Bits/base.FingerprintBits, 1)
	recs, fps := b.recs, make([]uint64, words*len(b.spans))
	for i, sp := range b.spans {
		raw, line := b.buf[sp.from:sp.to:sp.to], sp.line
		if f.info.Format == JSON {
			value, newlines := bare(raw, f.members)
			raw, line = value, line+newlines
		}
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		rec := &recs[i]
		rec.room = fps[i*words : (i+1)*words]
		rec.Record = input.Record{File: f.info.Name, Pos: line, End: sp.end, Raw: raw, BadUTF8: !utf8.Valid(raw)}
		reason := ""
		if len(raw) > input.MaxRecord {
			reason = input.TooLarge(int64(len(raw)))
		} else {
			reason = f.parse.parse(raw, rec)
		}
		if reason != "" {
			is := &input.Issue{File: f.info.Name, Pos: line, Unit: "line", Reason: reason, Raw: raw, Size: int64(len(raw))}
			if f.info.Format == JSON || raw[len(raw)-1] == '\n' {
				is.End = sp.end
			}
			b.out = append(b.out, outcome{issue: is})
			continue
		}
		b.out = append(b.out, outcome{rec: rec})
	}
}
