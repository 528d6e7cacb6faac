package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
)

// shownRejects is how many bad records are shown; all are counted.
const shownRejects = 10

// Rejects puts aside what is no record, byte for byte, and counts the records that have a flaw.
type Rejects struct {
	a      *App
	flags  RejectFlags
	output string // beside which the file is, unless --rejects names it; "" is nowhere
	kind   string // of bad records: "line", or "record" where they differ

	Continue bool  // what the file has already stays before what is written
	Partial  bool  // after a failure, what has been read before it is in use
	N        int64 // what is no record
	records  int64
	flawed   int64 // of them

	w      *outfile.Writer // nil before the first one, and where they are not kept
	path   string
	format input.Format
	to     input.Copier
}

// NewRejects returns the Rejects of a run with this output, which is a file, or a folder if its
// name ends in a slash. The ending of a file is not in the name of what is beside it.
func (a *App) NewRejects(f RejectFlags, output string) *Rejects {
	if st, err := os.Stat(output); err == nil && !st.Mode().IsRegular() && !st.IsDir() || outfile.IsStdout(output) {
		output = "" // nothing is to be written beside /dev/null
	}
	return &Rejects{a: a, flags: f, output: output}
}

// place is where what is rejected of an input goes, "" for nowhere: kept.jsonl has
// kept.rejects.jsonl beside it.
func (r *Rejects) place(format input.Format) string {
	if r.flags.Rejects != "" || r.output == "" {
		return r.flags.Rejects
	}
	endings := format.Describe().Endings
	if IsFolderName(r.output) {
		return filepath.Join(r.output, "rejects"+endings[0])
	}
	name := outfile.PlainName(r.output)
	ending := filepath.Ext(name)
	name = strings.TrimSuffix(name, ending)
	if !slices.Contains(endings, strings.ToLower(ending)) {
		ending = endings[0]
	}
	return name + ".rejects" + ending
}

// Add puts aside what is no record of in. It returns an error if there is more of that than
// --max-errors.
func (r *Rejects) Add(in input.Source, is *input.Issue) error {
	r.N++
	r.show(is.Unit, is)
	if is.Size <= int64(len(is.Raw)) {
		if err := r.keep(in, is.Raw); err != nil {
			return err
		}
	}
	if most := r.flags.MaxErrors; most != nil && r.N > int64(*most) {
		return fmt.Errorf("%s could not be used, --max-errors %d allows no more; the last: %w", quantity.Count(r.N, r.kind), *most, is)
	}
	return nil
}

// Note counts a record of in. Each record is noted once.
func (r *Rejects) Note(in input.Source, rec *input.Record) {
	if r.records++; rec.Flaw != "" {
		r.flawed++
		unit := in.Info().Format.Unit()
		r.show(unit, &input.Issue{File: rec.File, Pos: rec.Pos, Unit: unit, Reason: rec.Flaw})
	}
}

// show shows a bad record, if it is one of the first.
func (r *Rejects) show(unit string, is *input.Issue) {
	if r.kind == "" {
		r.kind = unit
	} else if r.kind != unit {
		r.kind = "record"
	}
	r.a.mu.Lock()
	m := r.a.shown
	r.a.mu.Unlock()
	switch n := r.N + r.flawed; {
	case n <= shownRejects:
		r.a.TalkTo(m, "%s", is)
	case n == shownRejects+1:
		r.a.TalkTo(m, "... and more %ss of which something cannot be used", r.kind)
	}
}

// keep writes what is no record, after the header of its file in formats that have one.
func (r *Rejects) keep(in input.Source, raw []byte) (err error) {
	format := in.Info().Format
	if r.w == nil {
		if r.path = r.place(format); r.path == "" {
			return nil
		}
		if r.w, err = r.a.Create("--rejects", r.path, copies()); err == nil && r.Continue {
			err = r.w.Continue()
		}
		if err != nil {
			return fmt.Errorf("%w; --rejects names the file for what cannot be read", err)
		}
		r.format = format
		r.to = format.NewCopier(r.w, input.CopyOptions{Follow: true, Like: in, Bare: true})
	}
	if format != r.format && (format.Describe().Whole || r.format.Describe().Whole) {
		return fmt.Errorf("%s: it has %s and cannot have %s: read them in runs of their own", r.path, r.format.Describe().Label, format.Describe().Label)
	}
	return r.to.Copy(in, raw)
}

// Nothing returns an error if there is something to read, and none of it can be used.
func (r *Rejects) Nothing() error {
	if r.N+r.flawed > 0 && r.records == r.flawed {
		return fmt.Errorf("no document could be used of %s", quantity.Count(r.N+r.flawed, r.kind))
	}
	return nil
}

// Close completes the file, also after a failure, as its bytes may be nowhere else, and says what
// was put aside. It returns the failure, or what the run is to end with: something rejected is an
// error unless --max-errors has allowed it.
func (r *Rejects) Close(failure error) error {
	err := failure
	status, ok := errors.AsType[Status](failure)
	if failure == nil || ok {
		err = r.Nothing()
	}
	switch n := quantity.Number(r.N); {
	case r.N == 0:
	case r.w == nil:
		r.a.Say("rejected %s; --rejects FILE keeps them", n)
	case err != nil && r.flags.Rejects == "" && !r.Partial:
		r.w.Abort() // there is no output that lacks something
	default:
		err = errors.Join(err, r.to.Close(), r.w.Commit())
		r.a.Say("rejected %s in %s", n, r.path)
	}
	if r.flawed > 0 {
		r.a.Say("%s without an id, text or fingerprint that can be used, which counts as missing", quantity.Count(r.flawed, r.kind))
	}
	switch {
	case err != nil:
		return err
	case r.N > 0 && r.flags.MaxErrors == nil:
		return Status(ExitError)
	case ok:
		return status
	}
	return nil
}
