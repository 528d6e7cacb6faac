package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
)

// Files is the format of inputs that consist of one document.
const Files records.Format = "files"

func init() {
	records.Register(records.Family{
		Formats: []records.Description{{
			Name: Files, Label: "paths of files", Unit: records.UnitFile, Endings: []string{".txt", ".list", ".lst"},
		}},
		Detect: detect,
		Open:   open,
		NewCopier: func(w io.Writer, o records.CopyOptions) (records.Copier, error) {
			return &copier{w: w, null: o.Null}, nil
		},
	})
}

// binaryBytes is the number of bytes that are searched for zero bytes, which texts do not have.
const binaryBytes = 8 << 10

// errBinary is the error for a file with zero bytes in its first binaryBytes.
var errBinary = errors.New("it has NUL bytes (0x00), so it is not text")

// source is the Source of a list of files. The position of each record is 1, and its end is its
// number in the list.
type source struct {
	tree *Tree
	opt  records.Options
	read atomic.Int64
}

// Open returns a Source for the files in the list. Options that name fields are an error, because
// the content of a file has none.
func (t *Tree) Open(opt records.Options) (records.Source, error) {
	if named := fieldOption(opt); named != "" {
		what := option.Name("Files") + " each file is one text"
		if t.images != nil {
			what = option.Name("Images") + " each file is one picture"
		}
		return nil, fmt.Errorf("with %s, so %s does not apply", what, named)
	}
	if err := CheckFields(opt.Fields, opt.HTML); err != nil {
		return nil, err
	}
	if t.images != nil {
		if bits := t.images.Bits(); opt.Bits != 0 && opt.Bits != bits {
			return nil, fmt.Errorf("%s: these picture hashes have %d bits, but those to compare them with have %d", t.name, bits, opt.Bits)
		}
		return newPictures(t, opt), nil
	}
	return &source{tree: t, opt: opt}, nil
}

// fieldOption names a set option that describes documents within a file; "" if there is none.
func fieldOption(opt records.Options) string {
	if opt.Format != records.Auto && opt.Format != Files {
		return "a format"
	}
	for _, o := range []struct {
		set   bool
		field string
	}{
		{opt.IDField != "", "IDField"}, {opt.IDFrom != "", "IDFrom"}, {opt.TextField != "", "TextField"},
		{opt.FingerprintField != "", "FingerprintField"}, {opt.SetField != "", "SetField"}, {opt.Delimiter != 0, "Delimiter"},
		{opt.NoHeader, "NoHeader"}, {opt.Comment != 0, "Comment"}, {opt.RecordStart != "", "RecordStart"}, {opt.Fingerprints != base.Auto, "Fingerprints"},
	} {
		if o.set {
			return option.Name(o.field)
		}
	}
	return ""
}

// Info describes the list.
func (s *source) Info() records.Info {
	return records.Info{Name: s.tree.name, Format: Files, Shape: "files"}
}

// Progress returns how many bytes have been read, and the size of all files.
func (s *source) Progress() (done, size int64) { return s.read.Load(), s.tree.size }

// Close does nothing: each file is closed after it has been read.
func (s *source) Close() error { return nil }

// Records yields a record for each file. A file that cannot be read is an Issue; a file that is not
// a text is counted.
func (s *source) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		s.tree.binary = nil
		for i := int64(s.opt.After); i < int64(len(s.tree.entries)); i++ {
			if err := context.Cause(ctx); err != nil {
				yield(nil, err)
				return
			}
			rec, err := s.one(ctx, s.tree.entries[i])
			switch {
			case errors.Is(err, errBinary):
				s.tree.binary = append(s.tree.binary, entry{path: s.tree.entries[i].path, kind: "binary", reason: errBinary.Error()})
				continue
			case rec != nil:
				rec.End = records.Position(i + 1)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// one reads a file. A problem with the file is a *records.Issue.
func (s *source) one(ctx context.Context, e entry) (*records.Record, error) {
	issue := &records.Issue{File: records.ShownName(e.path), Pos: 1, Unit: records.UnitFile, Reason: e.reason, Raw: []byte(e.path)}
	if e.reason != "" {
		return nil, issue
	}
	f, err := place.Open(ctx, e.path)
	if err != nil {
		issue.Reason = outfile.Cause(err).Error()
		return nil, issue
	}
	size := int64(-1)
	if info, err := f.Stat(); err == nil {
		size, e.info = info.Size(), info
	}
	opt := s.opt
	opt.Format, opt.After = Files, 0
	src, err := records.New(e.path, f, size, opt)
	if err != nil {
		if re, ok := errors.AsType[*records.ReadError](err); ok {
			err = re.Err
		}
		issue.Reason = outfile.Cause(err).Error()
		return nil, issue
	}
	defer src.Close()
	defer func() {
		done, _ := src.Progress()
		s.read.Add(done)
	}()
	for rec, err := range src.Records(ctx) {
		if re, ok := errors.AsType[*records.ReadError](err); ok && !errors.Is(err, errBinary) {
			issue.Reason = outfile.Cause(re.Err).Error()
			return nil, issue
		}
		if rec != nil {
			rec.Raw = []byte(e.path)
			if s.opt.Need <= records.NeedDoc {
				rec.Doc.Fields = e.fields(rec.Doc.Fields)
			}
		}
		return rec, err
	}
	return nil, errBinary // not reached: a document has exactly one record
}

// input is a file that is read sequentially.
type input struct {
	in  *records.Stream
	opt records.Options
}

// Progress returns how much of the file has been read.
func (i input) Progress() (done, size int64) { return i.in.Progress() }

// Close closes the file.
func (i input) Close() error {
	i.in.Release()
	return i.in.Close()
}

// document is the Source of one file that is a single document.
type document struct {
	input

	page, mail, named bool // see kindOf
}

// detect reports whether an input is a single page or mail. Its name says so, its beginning can only
// be a mail, or the name does not have the ending of another format.
func detect(in *records.Stream, _ records.Options) bool {
	page, mail, named := kindOf(in)
	head, _ := in.Head()
	return named || mail && hasHeader(trimLeft(head)) || (page || mail) && !slices.ContainsFunc(records.Formats(), func(format string) bool {
		return slices.Contains(records.Format(format).Describe().Endings, strings.ToLower(filepath.Ext(in.Name())))
	})
}

// kindOf reports whether a file is an HTML page or a mail, and whether that follows from its name.
func kindOf(in *records.Stream) (page, mail, named bool) {
	switch strings.ToLower(filepath.Ext(in.Name())) {
	case ".html", ".htm", ".xhtml":
		return true, false, true
	case ".eml":
		return false, true, true
	}
	head, _ := in.Head()
	return isPage(head), isMessage(head), false
}

// open opens a file as one document.
func open(in *records.Stream, opt records.Options) (records.Source, error) {
	d := &document{input: input{in, opt}}
	d.page, d.mail, d.named = kindOf(in)
	if named := fieldOption(opt); named != "" && opt.Format == records.Auto {
		return nil, fmt.Errorf("it is a page or a mail, one document, so %s does not apply; %s", named, records.AsText())
	}
	if err := CheckFields(opt.Fields, opt.HTML); err != nil {
		return nil, err
	}
	if d.page || d.mail {
		return d, in.Decode(records.UTF8) // only for a byte order mark; pages and mails declare their charset themselves
	}
	return d, in.Decode(opt.Encoding)
}

// Info describes the file.
func (d *document) Info() records.Info {
	info := records.Info{Name: d.in.Name(), Format: Files, Shape: "files"}
	switch {
	case d.named:
	case d.page:
		info.Notice = "an HTML page, one document"
	case d.mail:
		info.Notice = "a mail, one document"
	}
	return info
}

// Records yields the one record.
func (d *document) Records(context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		if d.opt.After == 0 {
			yield(d.record())
		}
	}
}

func (d *document) record() (*records.Record, error) {
	name := d.in.Name()
	if head, _ := d.in.Head(); bytes.IndexByte(head[:min(len(head), binaryBytes)], 0) >= 0 {
		return nil, &records.ReadError{File: name, Pos: records.NoPosition, Err: errBinary}
	}
	text, err := io.ReadAll(io.LimitReader(d.in.Reader(), records.MaxRecord+1))
	if err != nil {
		return nil, &records.ReadError{File: name, Pos: records.NoPosition, Err: err}
	}
	rec := &records.Record{ // the ID is the same on every system
		Doc: engine.Doc{ID: name}, File: name, Pos: 1, End: 1, Raw: []byte(name), BadUTF8: !utf8.Valid(text),
	}
	if len(text) > records.MaxRecord {
		size := fmt.Sprintf("more than %d bytes", records.MaxRecord)
		if _, n := d.in.Progress(); n >= 0 && !d.in.Packed() {
			size = fmt.Sprintf("%d bytes", n)
		}
		return nil, records.NewIssue(d, rec, fmt.Sprintf("too large: %s; the limit of a document is %d", size, records.MaxRecord))
	}
	guessed := records.Counts{}
	switch {
	case d.page:
		unknown := false
		if rec.Doc.Text, rec.BadUTF8, unknown = pageText(text, "text/html", d.opt); unknown {
			guessed["of a page"]++
		}
	case d.mail:
		m := readMessage(bytes.TrimLeft(text, "\r\n"), d.opt)
		rec.Doc.Text, rec.BadUTF8, rec.Doc.Fields, guessed = asBody(m.Text, d.opt.Fields), m.Bad, m.Fields(""), m.Guessed
	default:
		rec.Doc.Text = asBody(records.ValidText(string(text)), d.opt.Fields)
	}
	d.opt.Tally.Note(name, nil, guessed)
	return rec, nil
}

// noFooter is the Close of a Copier whose outputs have no footer.
type noFooter struct{}

// Close does nothing.
func (noFooter) Close() error { return nil }

// copier writes the paths of records.
type copier struct {
	noFooter
	w    io.Writer
	null bool // end each path with a zero byte, not a newline
}

// Copy writes a path.
func (c *copier) Copy(_ records.Source, raw []byte, _ ...any) error {
	end := byte('\n')
	if c.null {
		end = 0
	}
	_, err := c.w.Write(append(raw[:len(raw):len(raw)], end))
	return err
}
