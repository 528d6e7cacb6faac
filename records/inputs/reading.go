package inputs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/files"
)

// Reading says how to read inputs, and what to do with their records.
type Reading struct {
	Stage   string // for progress
	Options records.Options

	// Begin is called before the records of input i. It may be nil.
	Begin func(i int, in records.Source) error

	// Record receives a record. It may return an *records.Issue, which is then treated like a
	// record that cannot be used, or records.ErrStop.
	Record func(in records.Source, rec *records.Record) error

	// Issue receives input that is not a record. If it is nil, Rejects receives it and also notes
	// the records. If both are nil, issues are skipped, because another pass handles them.
	Issue   func(in records.Source, is *records.Issue) error
	Rejects *Rejects

	// Damaged receives the error of an input that cannot be read completely; the pass continues
	// with the next input. If it is nil, the error ends the pass.
	Damaged func(err error)
}

// reportBytes is the number of bytes of records between two progress reports.
const reportBytes = 4 << 10

// EachInput reads all inputs.
func (e *Env) EachInput(ctx context.Context, s *Sources, r Reading) error {
	for i := range s.Names {
		if err := e.ReadInput(ctx, s, i, r); err != nil {
			return err
		}
	}
	return nil
}

// ReadInput opens and reads input i.
func (e *Env) ReadInput(ctx context.Context, s *Sources, i int, r Reading) error {
	in, err := s.Open(i, r.Options)
	if err != nil {
		return err
	}
	defer in.Close()
	if r.Begin != nil {
		if err := r.Begin(i, in); err != nil {
			return err
		}
	}
	return e.ReadSource(ctx, s, in, r)
}

// ReadSource reads an open input. At the first record it tells the user which format it has
// detected.
func (e *Env) ReadSource(ctx context.Context, s *Sources, in records.Source, r Reading) error {
	begun, unreported, count := false, 0, int64(r.Options.After)
	taken := func(size int) {
		count++
		if all := s.Tree.Pictures(); all > 0 { // each is slow
			e.Report(engine.Progress{Stage: r.Stage, Done: count, Total: all, Unit: "files"})
			return
		}
		if s.Stored != nil {
			done, size := in.Progress()
			e.Report(engine.Progress{Stage: r.Stage, Done: done, Total: size, Unit: "documents"})
			return
		}
		if unreported += size + 1; unreported >= reportBytes {
			unreported = 0
			n, _ := in.Progress()
			e.Report(engine.Progress{Stage: r.Stage, Done: s.before + n, Total: s.Total, Unit: "bytes"})
		}
	}
	tell := func() {
		if !begun {
			begun = true
			e.tellTaken(s, in, r)
		}
	}
	issue := r.Issue
	if issue == nil && r.Rejects != nil {
		issue = r.Rejects.Add
	}
	html := r.Options.HTML == "text" && !files.HasPages(in.Info().Format)
	err := records.Each(ctx, in, func(rec *records.Record) error {
		tell()
		if html && rec.Doc.Text != "" {
			rec.Doc.Text = visible(rec.Doc.Text, r.Options.PageFields)
		}
		if r.Options.Weighted {
			if err := features.Pairs([]byte(rec.Doc.Text), func([]byte, float64) {}); err != nil {
				rec.Flaw, rec.Doc.Text = err.Error(), ""
			}
		}
		if err := r.Record(in, rec); err != nil {
			return err
		}
		if r.Rejects != nil {
			r.Rejects.Note(in, rec)
		}
		taken(len(rec.Raw))
		return nil
	}, func(is *records.Issue) error {
		tell()
		taken(len(is.Raw))
		if issue == nil {
			return nil
		}
		return issue(in, is)
	})
	tell()
	n, _ := in.Progress()
	s.before += n
	re, ok := errors.AsType[*records.ReadError](err)
	switch {
	case ok && ctx.Err() != nil:
		return context.Cause(ctx)
	case ok && r.Damaged != nil:
		r.Damaged(re)
		return nil
	}
	return err
}

// visible returns the visible text of HTML, of each field if there are several. pageFields are those
// of the page that text is; nil if text is none or has none.
func visible(text string, pageFields []string) string {
	if pageFields != nil {
		return files.PageText([]byte(text), pageFields)
	}
	const separator = string(rune(features.Separator))
	parts := strings.Split(text, separator)
	for i, part := range parts {
		parts[i] = files.PageText([]byte(part), nil)
	}
	return strings.Join(parts, separator)
}

// CheckHTML returns an error if no text of the inputs can be HTML although the options say so.
func (s *Sources) CheckHTML(opt records.Options) error {
	if opt.HTML == "text" && (s.Stored != nil || opt.SetField != "" || s.Tree.Pictures() > 0) {
		return fmt.Errorf("%s: sets, pictures and the texts of a database are compared as they are", option.Set("HTML", "text"))
	}
	return nil
}

// Open opens input i under the name that the user gave.
func (s *Sources) Open(i int, opt records.Options) (records.Source, error) {
	if i == 0 {
		s.before = 0
	}
	opt.Tally, opt.Context = s.tally, s.ctx
	if err := s.CheckHTML(opt); err != nil {
		return nil, err
	}
	path, name := s.Files[i], s.Names[i]
	switch {
	case s.Tree != nil:
		return s.Tree.Open(opt)
	case s.Stored != nil:
		return s.Stored.open(opt)
	case s.Table != nil:
		return s.Table.Open(opt)
	case path == name:
		return records.Open(path, opt)
	case name == "-":
		name = "stdin"
	}
	src, err := place.Open(s.ctx, path)
	if err != nil {
		return nil, err
	}
	st, err := src.Stat()
	if err != nil {
		src.Close()
		return nil, err
	}
	return records.New(name, src, st.Size(), opt)
}

// Probe describes input i after it has read the beginning: the header, up to the first record. An
// error of check counts as an error of the input.
func (e *Env) Probe(ctx context.Context, s *Sources, i int, r Reading, check func(in records.Source) error) (info records.Info, err error) {
	if s.Tree != nil {
		r.Options.Need = records.NeedID // do not decode a picture
	}
	in, err := s.Open(i, r.Options)
	if err != nil {
		return info, err
	}
	defer in.Close()
	r.Record = func(records.Source, *records.Record) error { return records.ErrStop }
	r.Issue = func(records.Source, *records.Issue) error { return records.ErrStop }
	err = e.ReadSource(ctx, s, in, r)
	if re, ok := errors.AsType[*records.ReadError](err); err != nil && !(ok && re.Pos > 1) {
		return info, err
	}
	return in.Info(), check(in)
}

// ProbeAll describes n inputs by probe, and returns their formats. like and first are the
// description and number of the first input that is not empty. With one, all records go to one
// output, so the inputs must have the same format and shape.
func ProbeAll(n int, one bool, probe func(i int) (records.Info, error)) (like records.Info, first int, formats []records.Format, err error) {
	for i := range n {
		info, err := probe(i)
		if err == nil && i > 0 && one {
			err = OneOutput(like, info)
		}
		if err != nil {
			return like, first, nil, err
		}
		if i == 0 || like.Empty {
			like, first = info, i
		}
		if like.Columns == nil { // the columns of the first input that has columns
			like.Columns = info.Columns
		}
		formats = append(formats, info.Format)
	}
	return like, first, formats, nil
}

// CheckIDs returns an error if the ids of this input and of an earlier one are the positions of
// their records, where an id must denote one document.
func (s *Sources) CheckIDs(in records.Source) error {
	info := in.Info()
	if !info.PositionIDs {
		return nil
	}
	if s.numbered != "" && s.numbered != info.Name {
		return fmt.Errorf("%s and %s have no ids except the numbers of their %ss, so the second would replace the first: %s makes other ids",
			s.numbered, info.Name, info.Format.Unit(), option.Set("IDFrom", records.IDFromLine))
	}
	s.numbered = info.Name
	return nil
}

// tellTaken tells the user, once per input, which format was detected from its content. If many
// files have the same format, it names only the first few.
func (e *Env) tellTaken(s *Sources, in records.Source, r Reading) {
	const named = 3
	info := in.Info()
	if s.told[info.Name] || s.Stored != nil {
		return
	}
	if s.told == nil {
		s.told = map[string]bool{}
	}
	s.told[info.Name] = true
	taken := info.Recognized(r.Options)
	if taken == "" {
		return
	}
	if e.recognized == nil {
		e.recognized = map[string]int{}
	}
	e.recognized[taken]++
	switch n := e.recognized[taken]; {
	case n <= named:
		e.Say("%s: %s", info.Name, taken)
	case n == named+1:
		e.Say("%s and perhaps further files: %s", info.Name, taken)
	}
}

// TellSkipped logs which parts of the inputs were skipped, and which charsets were unknown. It adds
// the files that were left out to r.
func (e *Env) TellSkipped(s *Sources, r *Rejects) {
	skipped, guessed := s.tally.All()
	if s.Tree != nil {
		left, counts := s.Tree.Left()
		skipped.Add(counts)
		if in, err := s.Tree.Open(records.Options{}); err == nil {
			for _, is := range left {
				r.list(in, is.Raw, is.Reason)
			}
		}
	}
	if len(skipped) > 0 {
		e.Say("not read: %s", skipped)
	}
	if len(guessed) > 0 {
		e.Say("unknown charsets: %s; these texts were read as UTF-8; %s NAME sets their encoding", guessed, option.Name("Encoding"))
	}
	if s.Tree != nil && s.Tree.Skipped() != "" {
		e.Say("%s: %s", s.Tree.Name(), s.Tree.Skipped())
	}
}

// TellIdle tells which foldings have changed no text of the inputs.
func (e *Env) TellIdle(s *Sources, foldings []string) {
	if len(foldings) > 0 {
		in := map[bool]string{true: s.Names[0], false: fmt.Sprintf("%d inputs", len(s.Names))}[len(s.Names) == 1]
		e.Say("%s changes nothing in %s", option.Set("Fold", strings.Join(foldings, ",")), in)
	}
}
