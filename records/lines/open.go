package lines

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

func init() {
	list := []string{".tsv", ".txt", ".fps", ".fp"}
	formats := []records.Description{
		{Name: JSONL, Aliases: []records.Format{"ndjson"}, Label: "JSON lines", Unit: "line", Endings: []string{".jsonl", ".json", ".ndjson"}},
		{Name: CSV, Label: "CSV", Unit: "line", Endings: []string{".csv"}},
		{Name: TSV, Label: "TSV", Unit: "line", Endings: []string{".tsv", ".tab"}},
		{Name: TXT, Aliases: []records.Format{"text"}, Label: "plain text", Unit: "line", Endings: []string{".txt", ".text"}},
		{Name: Fingerprints, Label: "fingerprints", Unit: "line", Endings: list},
		{Name: Hashes, Label: "fingerprints", Unit: "line", Endings: list},
		{Name: JSON, Label: "JSON", Unit: "line", EndUnit: "record", Endings: []string{".json"}},
	}
	for _, k := range kinds {
		kindOf[k.name] = k
		k.fold, k.id, k.drop = cmp.Or(k.fold, never), cmp.Or(k.id, never), cmp.Or(k.drop, never)
		formats = append(formats, records.Description{Name: k.name, Label: k.label, Unit: "line", Endings: slices.Concat(k.own, k.shared, []string{".txt"})})
	}
	records.Register(records.Family{Formats: formats, Fingerprints: true, Open: open, NewCopier: newCopier})
}

// open reads the beginning of a file and prepares the parser, unless the parser needs the header.
func open(in *records.Stream, opt records.Options) (records.Source, error) {
	f := &file{in: in, live: in.Live(), opt: opt, info: records.Info{Name: in.Name()}}
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
		f.info.Shape = l.describe(cmp.Or(base, "hexadecimal")) // a list without numbers has the shape of a hexadecimal one
		if l.header {
			f.info.Notice += ", after a header"
		}
	} else if f.info.Bits > 64 {
		f.info.Notice = strings.TrimPrefix(fmt.Sprintf("%s; its fingerprints have %d bits", f.info.Notice, f.info.Bits), "; ")
	}
	if f.info.Bits > 64 && (f.info.FingerprintsOnly || f.members) && f.base(f.opt.Fingerprints) == "hexadecimal" {
		f.info.Notice += "; checksums are not fingerprints: only equal ones would match"
	}
	if f.info.Notice == "" {
		f.info.Notice = WarnOfDigests(f.texts)
	}
	in.Describe(&f.info)
	return f, nil
}

// choose decides on the format and makes the parser, unless the parser needs a header.
func (f *file) choose() error {
	format := f.opt.Format
	switch {
	case f.opt.Records == "", format == JSON, format == JSONL:
	case format == records.Auto:
		format = JSON
	default:
		return fmt.Errorf("%s is for JSON, not for %s", option.Name("Records"), format.Describe().Label)
	}
	if f.opt.RecordStart != "" && format != TXT {
		return fmt.Errorf("%s is for plain text, not for %s", option.Name("RecordStart"), format.Describe().Label)
	}
	head, all, err := f.head()
	if err != nil {
		return err
	}
	if format == records.Auto {
		format = recognize(f.info.Name, head)
	}
	lines := slices.DeleteFunc(sampleLines(head, all), func(line []byte) bool { return isComment(line, f.opt.Comment) })
	s := &sample{}
	if format != JSONL && format != JSON && (format != records.Auto || byName(f.info.Name) != JSONL) {
		s = newSample(lines, f.opt.Fingerprints)
	}
	if f.opt.Delimiter != 0 && format != records.Auto && format != CSV {
		return fmt.Errorf("a delimiter is for csv, not for %s", format)
	}
	if sep := separatorLine(lines); sep != 0 && f.opt.Delimiter == 0 && (format == records.Auto || format == CSV) {
		f.opt.Delimiter = sep
	}
	if format == records.Auto {
		if format = formatOf(f.info.Name, lines, s, f.opt); format == TXT {
			format = recognizeText(head, lines)
		}
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
		return fmt.Errorf("comments are for csv and tsv, not for %s", format)
	}
	if format == CSV && f.opt.Comment == cmp.Or(f.opt.Delimiter, ',') {
		return fmt.Errorf("comments cannot begin with %q, which separates the columns", f.opt.Comment)
	}
	f.info.Format = format
	return f.makeParser(head, all, lines, s)
}

// makeParser makes the parser of the format, unless it needs a header, and sets the notice.
func (f *file) makeParser(head []byte, all bool, lines [][]byte, s *sample) error {
	switch format := f.info.Format; format {
	case JSONL, JSON:
		o := newObject(f.opt, f.members)
		if f.parse = o; format == JSONL && f.opt.Format == records.Auto && isBulk(lines) {
			o.bulk, f.group = true, &bulkGrouping
			f.info.Shape = "an Elasticsearch bulk file"
			f.info.Notice = f.info.Shape + ", an action and its document are a record"
		}
		if format == JSON && f.info.Shape == "" {
			f.info.Shape = jsonShape(lines)
		}
	case TXT:
		f.parse = text{}
		if f.opt.RecordStart != "" {
			var err error
			f.group, err = byPattern(f.opt.RecordStart, head)
			return err
		}
		if f.opt.Format == records.Auto {
			f.info.Notice = almostList(s)
		}
		switch {
		case f.info.Notice != "" || f.opt.Format != records.Auto:
		case len(head) == 0 && all && byName(f.info.Name) != TXT:
			f.info.Empty, f.info.Notice = true, "empty"
		case len(lines) > 1 && isHeader(lines[0], "\t"):
			f.info.Notice = plainText + "; " + option.Set("Format", TSV) + " reads columns, which the first line names"
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
	default:
		return f.useKind(kindOf[format], head)
	}
	return nil
}

// rowsAreLonger reports whether all rows at the beginning of a file have one cell more than its
// header, as in files where R writes row names. A cell that is empty in all rows does not count.
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

// suspect returns an error if a file has a format by its content or name, but is more likely
// something else.
func (f *file) suspect(format records.Format, head []byte, lines [][]byte, s *sample) error {
	switch columns := format == CSV || format == TSV; {
	case format == Fingerprints && len(s.header) == 0 && s.columns == 2 && s.column[0].large+s.column[1].large+s.column[0].letters+s.column[1].letters == 0 && s.column[0].n+s.column[1].n == s.lines:
		return refuseDigests(lines, true) // numbers that are IDs beside digests
	case format == TXT && bytes.IndexByte(head, 0) >= 0:
		return fmt.Errorf("it has NUL bytes, so it is not text; %s reads it anyway", option.Set("Format", TXT))
	case format == TXT && f.opt.Fingerprints != base.Auto: // checked elsewhere, with a specific message
	case format == TXT:
		_, all := f.in.Head()
		return cmp.Or(refuseDigests(lines, false), refuseRecords(head, all))
	case columns && f.opt.Delimiter == 0 && !namesFields(f.opt) && !f.opt.NoHeader && len(lines) > 0 && !isHeader(lines[0], map[records.Format]string{CSV: ",", TSV: "\t"}[format]):
		return refuseDigests(lines, columns)
	case columns && f.opt.NoHeader && f.opt.FingerprintField == "" && f.opt.TextField == "" && !slices.ContainsFunc(lines, func(line []byte) bool { return !digestBesideID(line) }):
		return refuseDigests(lines, false)
	}
	return nil
}

// separatorLine returns the separator of columns if a file begins with a line that declares it as
// Excel does: sep=;
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
