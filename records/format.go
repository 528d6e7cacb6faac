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

	// Detect reports whether an input is of this family. It looks at the Stream's Name and Head. A
	// nil Detect takes what no other family takes; there is one such family.
	Detect func(in *Stream, opt Options) bool

	// Fingerprints says that records of this family may have fingerprints.
	Fingerprints bool

	// Open reads an input. The Stream belongs to the Source, unless there is an error. An error
	// that is no *ReadError is made one by the caller.
	Open func(in *Stream, opt Options) (Source, error)

	// NewCopier makes the Copier for an output of records of these formats. It returns an error if
	// records like those of CopyOptions.Like cannot be written.
	NewCopier func(w io.Writer, o CopyOptions) (Copier, error)
}

// Description describes a format.
type Description struct {
	Name    Format
	Aliases []Format // other names of it
	Label   string   // in messages: "JSON lines"
	Unit    string   // of a Position: "line"; UnitFile where each record is a whole file
	EndUnit string   // of Record.End and Options.After, "" if that is Unit
	Endings []string // of files that hold records of this format: ".jsonl"
	Whole   bool     // a file of it is not compressed as a whole
}

var families []*Family

// Register adds a family of formats. Packages that read formats call it from their init functions;
// it panics if a name is taken, or if two families take what no other does.
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

// fallback returns the family that takes what no other does, nil if there is none.
func fallback() *Family {
	for _, f := range families {
		if f.Detect == nil {
			return f
		}
	}
	return nil
}

// lookup returns the format of this name, with its family, or nil.
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

// Formats returns the names of all formats, first those of the family that takes what no other
// takes.
func Formats() []string {
	var names []string
	sorted := slices.Clone(families)
	slices.SortStableFunc(sorted, func(a, b *Family) int {
		switch {
		case a.Detect == nil && b.Detect != nil:
			return -1
		case a.Detect != nil && b.Detect == nil:
			return 1
		}
		return 0
	})
	for _, f := range sorted {
		for _, d := range f.Formats {
			names = append(names, string(d.Name))
		}
	}
	return names
}

// ParseFormat returns the format called s, in any case; "auto" and "" are Auto.
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

// UnmarshalText is ParseFormat.
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

// EndUnit is what the ends of records count: "line".
func (f Format) EndUnit() string {
	d := f.Describe()
	return cmp.Or(d.EndUnit, d.Unit)
}

// Unit is what the positions of a format count: "line".
func (f Format) Unit() string { return f.Describe().Unit }

// NewCopier makes the Copier for an output w of records of sources of this format. It returns an
// error if records like those of o.Like cannot be written.
func (f Format) NewCopier(w io.Writer, o CopyOptions) (Copier, error) {
	family, _ := lookup(f)
	if made, ok := o.Like.(madeIDs); ok {
		o.Like = made.Source
	}
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

// New reads documents from src, which Close of the Source closes. The name is used in messages and
// to recognise the format; size is that of src in bytes, or -1 if it is not known.
func New(name string, src io.ReadCloser, size int64, opt Options) (Source, error) {
	in, err := newStream(name, src, size, opt.Memory)
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
		return nil, errors.New("its format is not known")
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

// detect returns the family that reads an input, nil if there is none.
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

// Recognize describes a text as if it were the content of a file. It reports false if no format
// takes it.
func Recognize(name, content string) (Info, bool) {
	s, err := New(name, io.NopCloser(strings.NewReader(content)), int64(len(content)), Options{})
	if err != nil {
		return Info{}, false
	}
	info := s.Info()
	return info, s.Close() == nil
}

// TakenFor says what a file was taken for, where its content and not its name or the options say
// it; "" otherwise.
func (i Info) TakenFor(opt Options) string {
	d := i.Format.Describe()
	name := unpackedName(i.Name)
	switch {
	case i.Notice != "":
		return i.Notice
	case opt.Format != Auto, opt.Delimiter != 0, d.Unit == UnitFile, slices.ContainsFunc(d.Endings, func(ending string) bool { return strings.HasSuffix(name, ending) }):
		return ""
	}
	return i.Shape
}

// NewIssue returns the issue that reason is with a record of src.
func NewIssue(src Source, rec *Record, reason string) *Issue {
	return &Issue{
		File: rec.File, Pos: rec.Pos, Unit: src.Info().Format.Unit(), End: rec.End, Reason: reason,
		Raw: rec.Raw, Size: int64(len(rec.Raw)),
	}
}
