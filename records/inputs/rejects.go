package inputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/printable"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/files"
)

// shownRejects is the number of bad records that are shown; all are counted.
const shownRejects = 10

// Rejects saves input that is not a record, byte for byte, and counts the records with a flaw.
// For files that are documents themselves, it saves the path and the reason, also of files with a
// flaw and of files that are not read: those are listed, but not rejected.
type Rejects struct {
	ctx    context.Context
	e      *Env
	to     RejectOptions
	output string // the rejects file is beside it, unless --rejects names another; "" means no file
	kind   string // unit of bad records: "line", or "record" if it varies

	Continue bool // append to a rejects file that exists
	Partial  bool // after a failure, the records read before it are in use
	Part     bool // the run is one of several workers': others have records, too

	N       int64 // input that is not a record
	BadUTF8 int64 // records with invalid UTF-8
	records int64
	flawed  int64 // records with a flaw
	files   []*rejectsFile
	listed  int64 // files that are not read or not compared
	failed  error // of their list
}

// rejectsFile is a file of input that is not a record.
type rejectsFile struct {
	path   string
	format records.Format
	n      int64
	listed int64 // lines about files that are not rejected
	w      *outfile.Writer
	to     records.Copier
}

// NewRejects returns the Rejects of a run with this output, a file, or a folder if its name ends
// in a slash. Names of files beside it omit its extension.
func (e *Env) NewRejects(ctx context.Context, to RejectOptions, output string) *Rejects {
	if st, err := os.Stat(output); err == nil && !st.Mode().IsRegular() && !st.IsDir() || outfile.IsStdout(output) {
		output = "" // write nothing beside /dev/null
	}
	return &Rejects{ctx: ctx, e: e, to: to, output: output}
}

// place returns the path of the rejects of an input, "" for none: kept.jsonl has
// kept.rejects.jsonl beside it, and so has each output in a folder.
func (r *Rejects) place(in records.Source) string {
	if r.to.File != "" || r.output == "" {
		return r.to.File
	}
	name := outfile.PlainName(r.output)
	if outfile.IsFolderName(r.output) {
		input := records.PathOf(in.Info().Name)
		name = place.Join(r.output, filepath.Base(input))
		if f := r.e.folder; f != nil && f.places[input] != "" {
			name = f.Place(input)
		}
		name = outfile.PlainName(name)
	}
	endings, ending := in.Info().Format.Describe().Endings, filepath.Ext(name)
	name = strings.TrimSuffix(name, ending)
	if !slices.Contains(endings, strings.ToLower(ending)) {
		ending = endings[0]
	}
	return name + ".rejects" + ending
}

// Add saves a part of in that is not a record. It returns an error if there are more such parts
// than --max-errors.
func (r *Rejects) Add(in records.Source, is *records.Issue) error {
	r.N++
	r.show(is.Unit, is)
	raw, done, err := is.Bytes()
	defer done()
	if raw != nil && in.Info().Format == files.Files { // a path
		raw = fmt.Appendf(nil, "%s\t%s", raw, printable.Text(is.Reason))
	}
	if err == nil && raw != nil {
		err = r.keep(in, raw, false)
	}
	if err != nil {
		return err
	}
	if most := r.to.MaxErrors; most != nil && r.N > *most {
		return fmt.Errorf("%s could not be used; %s allows no more; the last one: %w", quantity.Count(r.N, r.kind), option.Set("MaxErrors", *most), is)
	}
	return nil
}

// list adds a file that is not read or not compared to the list of files. It is not a reject.
func (r *Rejects) list(in records.Source, path []byte, reason string) {
	if r.listed++; !r.Continue || r.to.File != "" { // otherwise the lists of all runs would add up
		r.failed = cmp.Or(r.failed, r.keep(in, fmt.Appendf(nil, "%s\t%s", path, printable.Text(reason)), true))
	}
}

// Note counts a record of in. It must be called once for each record.
func (r *Rejects) Note(in records.Source, rec *records.Record) {
	if rec.BadUTF8 {
		r.BadUTF8++
	}
	if r.records++; rec.Flaw != "" {
		r.flawed++
		unit := in.Info().Format.Unit()
		r.show(unit, &records.Issue{File: rec.File, Pos: rec.Pos, Unit: unit, Reason: rec.Flaw})
		if in.Info().Format == files.Files {
			r.list(in, rec.Raw, rec.Flaw)
		}
	}
}

// TellUTF8 logs how many records have invalid UTF-8.
func (r *Rejects) TellUTF8() {
	if r.BadUTF8 > 0 {
		r.e.Say("%s had invalid UTF-8, which is not compared; %s NAME sets their encoding", quantity.Count(r.BadUTF8, "document"), option.Name("Encoding"))
	}
}

// show logs a bad record if it is one of the first.
func (r *Rejects) show(unit string, is *records.Issue) {
	if r.kind == "" {
		r.kind = unit
	} else if r.kind != unit {
		r.kind = "record"
	}
	switch n := r.N + r.flawed; {
	case n <= shownRejects:
		r.e.Say("%s", is)
	case n == shownRejects+1:
		r.e.Say("... and more %ss with parts that cannot be used", r.kind)
	}
}

// keep writes a reject, after the header of its file if the format has one. listed says that it is a
// line of the list of files.
func (r *Rejects) keep(in records.Source, raw []byte, listed bool) error {
	path, format := r.place(in), in.Info().Format
	if path == "" {
		return nil
	}
	at := slices.IndexFunc(r.files, func(f *rejectsFile) bool { return f.path == path })
	if at < 0 {
		w, err := r.e.Create(r.ctx, option.Name("Rejects"), path, Copies())
		if err == nil && r.Continue {
			err = w.Continue()
		}
		if err != nil {
			return fmt.Errorf("%w; %s names another file for rejects", err, option.Name("Rejects"))
		}
		at = len(r.files)
		to, err := format.NewCopier(w, records.CopyOptions{Follow: true, Like: in, Bare: true})
		if err != nil {
			w.Abort()
			return err
		}
		r.files = append(r.files, &rejectsFile{path: path, format: format, w: w, to: to})
	}
	f := r.files[at]
	if format != f.format && (format.Describe().Whole || f.format.Describe().Whole) {
		return fmt.Errorf("%s: it has %s and cannot have %s: read them in separate runs", path, f.format.Describe().Label, format.Describe().Label)
	}
	if listed {
		f.listed++
	} else {
		f.n++
	}
	return f.to.Copy(in, raw)
}

// Nothing returns an error if the input is not empty but no record is usable.
func (r *Rejects) Nothing() error {
	if !r.Part && r.N+r.flawed > 0 && r.records == r.flawed {
		return fmt.Errorf("no document of %s could be used", quantity.Count(r.N+r.flawed, r.kind))
	}
	return nil
}

// Close completes the files, also after a failure, since their bytes may exist nowhere else, and
// logs how much was rejected. It returns the failure, or the final error of the run: rejects are
// an error unless --max-errors has allowed them.
func (r *Rejects) Close(failure error) error {
	err := failure
	verdict, ok := errors.AsType[Verdict](failure)
	if failure == nil || ok {
		err = r.Nothing()
	}
	left := r.N
	for _, f := range r.files {
		if err != nil && r.to.File == "" && !r.Partial { // without an output, nothing is missing from one
			f.w.Abort()
			continue
		}
		left -= f.n
		err = errors.Join(err, f.to.Close(), f.w.Commit())
		if f.n > 0 {
			r.e.Say("rejected %s in %s", quantity.Number(f.n), f.path)
		}
		if f.listed > 0 {
			r.e.Say("not read or compared only for equality: %s, each with its reason in %s", quantity.Count(f.listed, "file"), f.path)
			r.listed = 0
		}
	}
	if r.listed > 0 {
		r.e.Say("not read or compared only for equality: %s; %s FILE lists each with its reason", quantity.Count(r.listed, "file"), option.Name("Rejects"))
	}
	switch {
	case left > 0 && r.to.File == "" && r.output == "":
		r.e.Say("rejected %s, which were not saved; %s FILE saves them", quantity.Number(left), option.Name("Rejects"))
	case left > 0 && err == nil: // those are too large
		r.e.Say("rejected %s, which were not saved", quantity.Number(left))
	}
	if r.flawed > 0 {
		r.e.Say("%s with an unusable id, text or fingerprint, which counts as missing", quantity.Count(r.flawed, r.kind))
	}
	switch {
	case err != nil, r.failed != nil:
		return cmp.Or(err, r.failed)
	case r.N > 0 && r.to.MaxErrors == nil:
		return ErrRejected
	case ok:
		return verdict
	}
	return nil
}
