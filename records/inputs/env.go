// Package inputs opens and reads what a job is about: files of documents, folders whose files are
// documents, standard input, a database, or documents in memory.
//
//	env.go       what a job needs of the process that it runs in
//	sources.go   what arguments name
//	reading.go   passes over them, with progress
//	database.go  databases as inputs
//	rejects.go   input that is no record
//	kinds.go     what copies of records are, for the guard of outputs
//	folder.go    a folder with a copy of each input
package inputs

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/tempdir"
)

// Env is what a job needs of the process that it runs in; one is for one job at a time. The zero Env
// says nothing. No output replaces what the job reads.
type Env struct {
	Log         *slog.Logger          // what a user should know; nil for nobody
	Progress    func(engine.Progress) // takes how far the job is; called often, also at once; or nil
	Outputs     *outfile.Guard        // opens what is written; nil makes one
	Tables      map[string]Table      // documents in memory, by the names that stand for them as arguments
	BusyTimeout time.Duration         // how long to wait for a database that another process writes

	// MakeTemp makes a folder for temporary files in another one, "" for that of the system, and
	// removes it when the process ends. If it is nil, jobs remove theirs when they end.
	MakeTemp func(parent string) (string, error)

	taken map[string]int // files by what tellTaken said of them
}

// Say logs a message.
func (e *Env) Say(format string, args ...any) {
	if e.Log != nil {
		e.Log.Info(fmt.Sprintf(format, args...))
	}
}

// Report notes how far the job is.
func (e *Env) Report(p engine.Progress) {
	if e.Progress != nil {
		e.Progress(p)
	}
}

func (e *Env) guard() *outfile.Guard {
	if e.Outputs == nil {
		e.Outputs = &outfile.Guard{Identify: new(engine.Identifier).Identify}
	}
	return e.Outputs
}

// Uses tells of a file or database that is read, which no output may replace, whether its place has
// been claimed already or is later.
func (e *Env) Uses(path, what string) error {
	g := e.guard()
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if err := g.CheckInput(path, info); err != nil {
			return err
		}
	}
	g.Uses(path, what)
	return nil
}

// Claim checks that an output may be written, and keeps other outputs from it.
func (e *Env) Claim(what, path string, kind outfile.Kind) error {
	return e.guard().Claim(what, path, kind)
}

// Create begins to write an output; what names it in messages.
func (e *Env) Create(ctx context.Context, what, path string, kind outfile.Kind) (*outfile.Writer, error) {
	return e.guard().Create(ctx, what, path, kind)
}

// TempDir makes a folder for temporary files in another one, "" for that of the system. The job
// calls remove at its end.
func (e *Env) TempDir(parent string) (dir string, remove func(), err error) {
	if e.MakeTemp == nil {
		return tempdir.New(parent)
	}
	dir, err = e.MakeTemp(parent)
	return dir, func() {}, err
}

// A Verdict is an error that is the answer of a job, such as "nothing was found", and no failure.
type Verdict interface {
	error
	Verdict()
}

// ErrRejected is the error of a job that is done, but that some of its input was no record, which
// RejectOptions do not allow.
var ErrRejected error = rejected{}

type rejected struct{}

func (rejected) Error() string { return "some input was rejected" }
func (rejected) Verdict()      {}

// RejectOptions say what is done with input that is no record.
type RejectOptions struct {
	File      string // where it goes, byte for byte; "" is beside the output
	MaxErrors *int64 // how much is allowed before the job stops; nil: any amount, but the job ends with ErrRejected
}
