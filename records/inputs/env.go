// Package inputs opens and reads the inputs of a job: files of documents, folders whose files are
// documents, standard input, a database, or documents in memory.
//
//	env.go       how a job interacts with the process around it
//	sources.go   the inputs that arguments name
//	reading.go   reading inputs, with progress
//	database.go  databases as inputs
//	rejects.go   input that is not a record
//	kinds.go     the types of outputs for copies of records
//	folder.go    an output folder with a copy of each input
package inputs

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/tempdir"
)

// Outputs opens outputs, and refuses those that would replace a file that is read.
type Outputs = outfile.Guard

// Output is a file that gets its name when it is complete.
type Output = outfile.Writer

// OutputKind is the kind of content of an output, which decides how its file may be called.
type OutputKind = outfile.Kind

// Env connects a job with the process that runs it; use it for one job at a time. The zero Env
// logs and reports nothing. No output may replace a file that the job reads.
type Env struct {
	Log         *slog.Logger          // receives messages for the user; nil discards them
	Progress    func(engine.Progress) // receives the progress of the job; called often, maybe concurrently; or nil
	Outputs     *Outputs              // opens outputs; nil creates one
	Tables      map[string]Table      // documents in memory, by the arguments that name them
	BusyTimeout time.Duration         // how long to wait for a database that another process is writing

	// MakeTemp creates a folder for temporary files in parent ("" is the system's) and removes it
	// when the process ends. If it is nil, jobs remove their folders when they end.
	MakeTemp func(parent string) (string, error)

	// Places has the paths of outputs in an output folder, by input, for a run on some inputs of a
	// job; nil stands for Places of its inputs.
	Places map[string]string

	folder     *OutFolder     // or nil
	recognized map[string]int // how many inputs tellTaken has reported, by format
}

// Say logs a message.
func (e *Env) Say(format string, args ...any) {
	if e.Log != nil {
		e.Log.Info(fmt.Sprintf(format, args...))
	}
}

// Report reports the progress of the job.
func (e *Env) Report(p engine.Progress) {
	if e.Progress != nil {
		e.Progress(p)
	}
}

func (e *Env) guard() *Outputs {
	if e.Outputs == nil {
		e.Outputs = &outfile.Guard{Identify: engine.Identifier()}
	}
	return e.Outputs
}

// Uses registers a file or database that is read, so that no output may replace it, whether the
// output was claimed before or is claimed later.
func (e *Env) Uses(path, what string) error {
	g := e.guard()
	info, err := os.Stat(path)
	if place.IsRemote(path) || err == nil && info.Mode().IsRegular() {
		if err := g.CheckInput(path, info); err != nil {
			return err
		}
	}
	g.Uses(path, what)
	return nil
}

// Claim checks that an output may be written, and reserves its path.
func (e *Env) Claim(what, path string, kind OutputKind) error {
	return e.guard().Claim(what, path, kind)
}

// Create opens an output; messages call it what.
func (e *Env) Create(ctx context.Context, what, path string, kind OutputKind) (*Output, error) {
	return e.guard().Create(ctx, what, path, kind)
}

// TempDir creates a folder for temporary files in parent ("" is the system's). The job must call
// remove at its end.
func (e *Env) TempDir(parent string) (dir string, remove func(), err error) {
	if e.MakeTemp == nil {
		return tempdir.New(parent)
	}
	dir, err = e.MakeTemp(parent)
	return dir, func() {}, err
}

// A Verdict is an error that is a job's answer, such as "nothing was found", and not a failure.
type Verdict interface {
	error
	Verdict()
}

// ErrRejected is the error of a job that is complete except for input that was not a record, if
// RejectOptions do not allow such input.
var ErrRejected error = rejected{}

type rejected struct{}

func (rejected) Error() string { return "some input was rejected" }
func (rejected) Verdict()      {}

// RejectOptions say how to treat input that is not a record.
type RejectOptions struct {
	File      string // receives it byte for byte; "" is a file beside the output
	MaxErrors *int64 // how many such records may occur before the job stops; nil: any number, but the job ends with ErrRejected
}
