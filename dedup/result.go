package dedup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	_ "github.com/simdb/simdb/records/lines" // these formats are always available
)

// A Source is the input of a Job.
type Source struct {
	args  []string
	table *inputs.Table
}

// Files are files of documents, in any format whose package is imported: JSON lines, CSV, TSV,
// plain text and lists of fingerprints always are; importing records/parquet adds Parquet. A name
// may be a pattern, "-" is standard input, and a single name may be a database's. Job.Where says
// whether files are documents themselves.
func Files(names ...string) Source { return Source{args: names} }

// Strings are texts whose IDs are their positions, from 0. The sequence is read twice.
func Strings(texts iter.Seq[string]) Source {
	return Docs(func(yield func(engine.Doc, error) bool) {
		n := 0
		for text := range texts {
			if !yield(engine.Doc{ID: strconv.Itoa(n), Text: text}, nil) {
				return
			}
			n++
		}
	})
}

// Docs are documents whose texts are compared (engine.JoinFields makes a text of fields). The
// sequence is read twice. An error ends the job.
func Docs(docs iter.Seq2[engine.Doc, error]) Source {
	return Source{args: []string{memoryName}, table: &inputs.Table{Open: func(records.Options) (records.Source, error) {
		return memory{docs}, nil
	}}}
}

// memoryName is the name of documents in memory in messages.
const memoryName = "<documents>"

// memory is an input of documents in memory.
type memory struct{ docs iter.Seq2[engine.Doc, error] }

// Info implements records.Source.
func (memory) Info() records.Info { return records.Info{Name: memoryName, Shape: "documents"} }

// Progress implements records.Source.
func (memory) Progress() (done, size int64) { return 0, -1 }

// Close implements records.Source.
func (memory) Close() error { return nil }

// Records implements records.Source.
func (m memory) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		rec := records.Record{File: memoryName}
		for doc, err := range m.docs {
			rec.Doc = doc
			rec.Pos++
			if err == nil {
				err = context.Cause(ctx)
			}
			if !yield(&rec, err) || err != nil {
				return
			}
		}
	}
}

// A Result holds a Job's decisions about documents. Its methods are not safe for concurrent use.
// Close frees it.
type Result struct {
	Report Report
	d      *job
	table  bool
	undo   []func() error
}

// Run decides which documents of a source stay, and writes nothing; Result.Copy does. Options of
// outputs have no effect, and Level is an error, since only Write supports it. Memory bounds the
// run as it does for Write; the Result uses about 10 bytes for each document.
func (c Job) Run(ctx context.Context, src Source) (_ *Result, err error) {
	if c.level() != units.Document {
		return nil, &OptionError{Option: "Level", Other: "Run", Why: "Write writes the changed documents"}
	}
	c.DryRun, c.Output, c.Audit, c.Clusters = true, "", "", ""
	env := &inputs.Env{Log: c.Log, Progress: c.Progress}
	if src.table != nil {
		env.Tables = map[string]inputs.Table{memoryName: *src.table}
	}
	r := &Result{table: src.table != nil}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	d, err := c.open(ctx, env, src.args)
	if r.d = d; d != nil {
		r.undo = append(r.undo, func() (err error) { d.close(&err); return err })
	}
	if err != nil {
		return nil, err
	}
	dir, remove, err := d.reread()
	if err != nil {
		return nil, err
	}
	r.undo = append(r.undo, func() error { remove(); return nil })
	if err := d.checkAgainst(); err != nil {
		return nil, err
	}
	d.rejects = env.NewRejects(ctx, c.Rejects, "")
	if err := d.work(dir); err != nil {
		return nil, d.rejects.Close(err)
	}
	env.TellSkipped(d.Sources, d.rejects)
	d.tellUnused()
	r.Report = *d.report()
	if err := d.rejects.Close(nil); !errors.Is(err, inputs.ErrRejected) { // Report.Rejected reports it
		return r, err
	}
	return r, nil
}

// Kept yields the documents that stay, as their positions in the source, from 0.
func (r *Result) Kept() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := range r.d.read {
			if at := r.d.known + n; r.d.out.kept(at) && !r.d.gone(at) && !yield(int(n)) {
				return
			}
		}
	}
}

// errStopped ends a pass whose reader needs no more.
var errStopped = errors.New("stopped")

// Dropped yields the dropped documents in the order of the source, which it reads again: each
// with its keeper, their similarity, and the rule that decided. An error is yielded last. With
// Near, rows have scores only if Job.Figures is set.
func (r *Result) Dropped(ctx context.Context) iter.Seq2[*AuditRow, error] {
	return func(yield func(*AuditRow, error) bool) {
		d := r.d
		d.ctx = ctx
		d.c.Audited = func(row *AuditRow) error {
			if !yield(row, nil) {
				return errStopped
			}
			return nil
		}
		err := d.tellAudit()
		if d.c.Audited = nil; err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// Copy writes the records that stay, byte for byte, plus Job.Columns, in the order of the source,
// which it reads again.
func (r *Result) Copy(ctx context.Context, w io.Writer) error {
	if r.table {
		return fmt.Errorf("documents in memory have no records to copy; use Kept instead: %w", engine.ErrInvalid)
	}
	d := r.d
	d.ctx, d.copyTo, d.kept, d.formats = ctx, w, 0, nil
	if err := d.probe(); err != nil {
		return err
	}
	return d.write()
}

// Close releases the result and closes the databases of the job.
func (r *Result) Close() (err error) {
	for len(r.undo) > 0 {
		last := len(r.undo) - 1
		err = errors.Join(err, r.undo[last]())
		r.undo = r.undo[:last]
	}
	return err
}

// reread prepares the inputs for several passes, and creates a folder for temporary files; remove
// deletes it.
func (d *job) reread() (dir string, remove func(), err error) {
	if dir, remove, err = d.env.TempDir(d.c.TempDir); err != nil {
		return "", nil, err
	}
	if err := d.env.Reread(d.ctx, d.Sources, dir); err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}
