package records

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
)

// Family is a set of formats that one package reads.
type Family struct {
	Formats []Description // in the order in which help lists them

	// Detect reports whether an input belongs to this family, from the Stream's Name and Head. A
	// family with a nil Detect reads the inputs that no other family detects; there is one such
	// family.
	Detect func(in *Stream, opt Options) bool

	// Fingerprints is true if records of this family may have fingerprints.
	Fingerprints bool

	// Open reads an input. The Source owns the Stream, unless Open fails. The caller wraps any
	// error that is not a *ReadError in one.
	Open func(in *Stream, opt Options) (Source, error)

	// NewCopier makes a Copier for records of these formats. It returns an error if records like
	// those of CopyOptions.Like cannot be written.
	NewCopier func(w io.Writer, o CopyOptions) (Copier, error)
}

// Description describes a format.
type Description struct {
	Name    Format
	Aliases []Format // other names of the format
	Label   string   // in messages: "JSON lines"
	Unit    string   // of a Position: "line"; UnitFile where each record is a whole file
	EndUnit string   // of Record.End and Options.After, "" if it is Unit
	Endings []string // of file names: ".jsonl"
	Whole   bool     // files are not compressed as a whole
}

var families []*Family

// Register adds a family of formats. Packages that read formats call it from their init functions;
// it panics if another format has the same name, or if two families have a nil Detect.
func Register(f Family) {
	for _, d := range f.Formats {
		for _, name := range append([]Format{d.Name}, d.Aliases...) {
			if _, d := lookup(name); d != nil {
				panic(fmt.Sprintf("input: two formats are called %q", name))
			}
		}
	}
	if f.Detect == nil && fallback() != nil {
		panic("input: two families have no Detect")
	}
	families = append(families, &f)
}

// fallback returns the family with a nil Detect, or nil if there is none.
func fallback() *Family {
	for _, f := range families {
		if f.Detect == nil {
			return f
		}
	}
	return nil
}

// lookup returns the format with this name or alias and its family, or nil.
func lookup(name Format) (*Family, *Description) {
	for _, f := range families {
		for i := range f.Formats {
			if d := &f.Formats[i]; d.Name == name || slices.Contains(d.Aliases, name) {
				return f, d
			}
		}
	}
	return nil, nil
}

// Formats returns the names of all formats, with the fallback family first.
func Formats() []string {
	var names []string
	for _, f := range families {
		var own []string
		for _, d := range f.Formats {
			own = append(own, string(d.Name))
		}
		if f.Detect == nil {
			own, names = names, own
		}
		names = append(names, own...)
	}
	return names
}

// ParseFormat returns the format with the name s, ignoring case; "auto" and "" are Auto.
func ParseFormat(s string) (Format, error) {
	name := Format(strings.ToLower(s))
	if name == Auto || name == "auto" {
		return Auto, nil
	}
	if _, d := lookup(name); d != nil {
		return d.Name, nil
	}
	return Auto, fmt.Errorf("unknown input format %q: one of %s", s, strings.Join(Formats(), ", "))
}

// UnmarshalText calls ParseFormat.
func (f *Format) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFormat(string(text))
	return err
}

// Describe returns the description of a format.
func (f Format) Describe() Description {
	if _, d := lookup(f); d != nil {
		return *d
	}
	return Description{Name: f, Label: string(f), Unit: "record"}
}

// EndUnit returns the unit of Record.End: "line".
func (f Format) EndUnit() string {
	d := f.Describe()
	return cmp.Or(d.EndUnit, d.Unit)
}

// Unit returns the unit of a format's positions: "line".
func (f Format) Unit() string { return f.Describe().Unit }

// NewCopier makes a Copier that writes records of this format to w. It returns an error if records
// like those of o.Like cannot be written.
func (f Format) NewCopier(w io.Writer, o CopyOptions) (Copier, error) {
	family, _ := lookup(f)
	o.Like = ownSource(o.Like)
	if o.Like != nil && (o.Like.Info().Encoding != UTF8 || o.Like.Info().OldLineEnds) {
		return newEncoded(w, o, family.NewCopier)
	}
	c, err := family.NewCopier(w, o)
	if err != nil {
		return nil, err
	}
	return unwrapping{c}, nil
}

// Open opens a file; "-" is standard input.
func Open(path string, opt Options) (Source, error) {
	name, src, size, err := openFile(opt.Context, path)
	if err != nil {
		return nil, err
	}
	return New(name, src, size, opt)
}

// New reads documents from src, which Source.Close closes. The name appears in messages and helps
// to recognise the format; size is the size of src in bytes, or -1 if unknown.
func New(name string, src io.ReadCloser, size int64, opt Options) (Source, error) {
	in, err := newStream(name, src, size, opt.Memory)
	if opt.RecordStart != "" && opt.Format == Auto {
		opt.Format = "txt"
	}
	if err == nil {
		var s Source
		opt.MakeID = opt.MakeID || opt.IDFrom != IDFromField
		if s, err = open(in, opt); err == nil && opt.IDFrom != IDFromField {
			return madeIDs{s, opt.IDFrom}, nil
		} else if err == nil {
			return s, nil
		}
	}
	in.Release()
	in.Close()
	if re, ok := errors.AsType[*ReadError](err); ok {
		return nil, re
	}
	return nil, &ReadError{File: name, Pos: NoPosition, Err: err}
}

// open chooses the family that reads an input, and opens it.
func open(in *Stream, opt Options) (Source, error) {
	f := detect(in, opt)
	switch {
	case f == nil:
		return nil, errors.New("its format is unknown")
	case f.Detect != nil && opt.RecordStart != "":
		return nil, fmt.Errorf("%s is for plain text, not for %s", option.Name("RecordStart"), f.Formats[0].Label)
	case f.Detect != nil && opt.Records != "":
		return nil, fmt.Errorf("%s is for JSON, not for %s", option.Name("Records"), f.Formats[0].Label)
	case !f.Fingerprints && opt.Fingerprints != base.Auto:
		return nil, fmt.Errorf("%s: it is %s, which has no fingerprints", option.Set("Fingerprints", opt.Fingerprints), f.Formats[0].Label)
	case f.Detect == nil:
		err := in.refuse()
		if err == nil {
			err = in.Decode(opt.Encoding)
		}
		if err == nil && opt.Format == Auto {
			err = in.refuseText()
		}
		if err != nil {
			return nil, err
		}
	}
	return f.Open(in, opt)
}

// detect returns the family that reads an input, or nil if there is none.
func detect(in *Stream, opt Options) *Family {
	if opt.Format != Auto {
		f, _ := lookup(opt.Format)
		return f
	}
	for _, f := range families {
		if f.Detect != nil && f.Detect(in, opt) {
			return f
		}
	}
	return fallback()
}

// Recognize describes a text as if it were the content of a file. It reports false if no format can
// read it.
func Recognize(name, content string) (Info, bool) {
	s, err := New(name, io.NopCloser(strings.NewReader(content)), int64(len(content)), Options{})
	if err != nil {
		return Info{}, false
	}
	info := s.Info()
	return info, s.Close() == nil
}

// Recognized names the format that was recognised from a file's content. It returns "" if the file's
// name or the options gave the format.
func (i Info) Recognized(opt Options) string {
	d := i.Format.Describe()
	name := unpackedName(i.Name)
	switch {
	case i.Notice != "":
		return i.Notice
	case opt.Format != Auto, opt.Delimiter != 0, opt.RecordStart != "", d.Unit == UnitFile, slices.ContainsFunc(d.Endings, func(ending string) bool { return strings.HasSuffix(name, ending) }):
		return ""
	}
	return i.Shape
}

// NewIssue returns an Issue for a record of src, with this reason.
func NewIssue(src Source, rec *Record, reason string) *Issue {
	return &Issue{
		File: rec.File, Pos: rec.Pos, Unit: src.Info().Format.Unit(), End: rec.End, Reason: reason,
		Raw: rec.Raw, Size: int64(len(rec.Raw)),
	}
}
