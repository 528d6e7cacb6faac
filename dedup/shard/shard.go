// Package shard runs jobs of package dedup on many machines, and builds tables. A Job is a chain
// of Steps. For each key, a Step receives all messages that the previous step has sent to the
// key, in any order, possibly with duplicates, and sends messages to keys of the next step. An
// engine only has to group messages by key:
//
//	for each step:
//	    group the messages by key
//	    for each key, anywhere: Run
//
// Run is the driver without an engine: processes share a folder. Package dedup/internal/stages
// explains why the result equals that of one machine. Package dedup reads the inputs, and
// package corpus joins.
//
//	shard.go  jobs and steps
//	plan.go   the steps of each job
//	read.go   steps that read inputs
//	join.go   steps that find near-duplicates
//	seen.go   steps that find what has been seen
//	write.go  steps that write outputs
//	files.go  working files and messages
//	run.go    the driver of processes that share a folder
//
// # Working files
//
// Besides messages, workers share a folder of working files. For each shard of the inputs these
// hold the sets of shingles and the fingerprints, so that texts are read only twice, as on one
// machine. Each file is published whole and depends only on the inputs, so a step may run again.
package shard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/dedup/internal/stages"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records/inputs"
)

// A Send sends a message to a key of the next step. The caller may reuse the message's memory.
type Send func(key uint64, message []byte) error

// A Step is one step of a job. Run receives all messages of a key. The messages it sends depend
// only on them, so it may run again. It may run for many keys concurrently.
type Step struct {
	Name string
	Run  func(ctx context.Context, key uint64, in iter.Seq2[[]byte, error], send Send) error
}

// Options define a job: plain data that is equal for all workers.
type Options struct {
	Command  string            // dedup, pairs, clusters or build
	Job      dedup.Job         // for build only Output and Rejects
	Load     []string          // of build, passed to Load
	Patterns []string          // of file names
	Work     string            // a folder for working files that all workers can reach
	Inputs   []string          // set by Plan: the names of files, in the order of preference
	Places   map[string]string // set by Plan: the paths of their outputs
	Shards   int               // number of parts of the inputs; 0 means one for each file
	Groups   int               // number of groups in which documents are compared; 0 means one for every 16,384, and at least 8
	Time     time.Time         // set by Plan for build: the time of documents without one
	MaxCell  int               // the largest number of documents that must be in one group; 0 means 65,536
}

// Files gives access to inputs, outputs and working files. Names use slashes.
type Files interface {
	// Glob returns the names that match a pattern, sorted.
	Glob(ctx context.Context, pattern string) ([]string, error)
	// Fetch returns the path of a local file with the content of the named file; both names have
	// the same last element. The caller calls release when it no longer needs the file. If there
	// is no such file, the error is fs.ErrNotExist.
	Fetch(ctx context.Context, name string) (path string, release func() error, err error)
	// Put publishes a local file under a name, atomically, and replaces an existing file. It may
	// move the file.
	Put(ctx context.Context, path, name string) error
}

// A Job is a whole run. Its steps are safe for concurrent use.
type Job struct {
	o     Options
	files Files
	plan  stages.Plan // not for build
	ruled bool        // a rule decides which of the documents that are similar match
}

// Plan completes the options of a new job: it expands patterns, and checks the flags.
func Plan(ctx context.Context, o Options, files Files) (Options, error) {
	j, err := New(o, files)
	if err != nil {
		return o, err
	}
	if what, err := engine.Identifier()(j.o.Job.Output); err == nil && what != "" {
		return o, fmt.Errorf("%s is %s", option.Set("Output", j.o.Job.Output), what)
	}
	var names []string
	seen := map[string]bool{}
	for _, pattern := range o.Patterns {
		found, err := files.Glob(ctx, pattern)
		if err != nil {
			return o, err
		}
		if len(found) == 0 {
			return o, fmt.Errorf("%s: there is no such file", pattern)
		}
		for _, name := range found {
			if !seen[name] {
				names = append(names, name)
			}
			seen[name] = true
		}
	}
	outputs := map[string]string{}
	o.Places = inputs.Places(names)
	for _, name := range names {
		place := filepath.ToSlash(o.Places[name])
		if before, ok := outputs[place]; ok {
			return o, fmt.Errorf("%s and %s would have the same output: give each input another name", before, name)
		}
		outputs[place] = name
		if err := j.claim(ctx, name, place); err != nil {
			return o, err
		}
	}
	if err := j.checkSeen(ctx, names); err != nil {
		return o, err
	}
	o.Time = time.Now().UTC().Truncate(time.Second)
	if o.Inputs = names; o.Shards <= 0 || o.Shards > len(names) {
		o.Shards = len(names)
	}
	return o, nil
}

// claim returns an error if the outputs would replace an input.
func (j *Job) claim(ctx context.Context, input, name string) error {
	if name == auditName && j.o.Command == "dedup" && !j.o.Job.NoAudit {
		return fmt.Errorf("%s has the name of the audit in %s", input, j.o.Job.Output)
	}
	if output := j.o.Job.Output + name; place.IsRemote(output) || place.IsRemote(input) {
		if output == input {
			return fmt.Errorf("%s would replace the input %s", option.Set("Output", j.o.Job.Output), input)
		}
		return nil
	}
	old, release, err := j.files.Fetch(ctx, j.o.Job.Output+name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	in, done, err := j.files.Fetch(ctx, input)
	if err != nil {
		return errors.Join(err, release())
	}
	a, err := os.Stat(old)
	b, failed := os.Stat(in)
	if err == nil && failed == nil && os.SameFile(a, b) {
		err = fmt.Errorf("%s would replace the input %s", option.Set("Output", j.o.Job.Output), input)
	}
	return errors.Join(err, failed, release(), done())
}

// CheckCommand returns an error if there is no such command.
func CheckCommand(name string) error {
	if !slices.Contains(Commands(), name) {
		return fmt.Errorf("unknown command %q: use one of %s", name, strings.Join(Commands(), ", "))
	}
	return nil
}

// New returns a job. Its options must come from Plan.
func New(o Options, files Files) (*Job, error) {
	j := &Job{o: o, files: files}
	err := CheckCommand(o.Command)
	switch {
	case err != nil:
	case o.Command == "build" && Load == nil:
		err = errors.New("build needs Load, which makes a database of files")
	case o.Command != "build":
		j.plan, j.ruled = stages.Plan{By: j.o.Job.Criterion(), MaxCell: o.MaxCell, Memory: o.Job.Memory}, j.o.Job.Ruled()
		err = o.Job.CheckWorkers()
	}
	return j, err
}

// Shards returns the number of shards of what is read: of the inputs, and one more for the files of
// Against. The first step receives one empty message for each key below it.
func (j *Job) Shards() int { return j.o.Shards + min(len(j.o.Job.Against), 1) }

// Steps returns the steps of the job. In each step, key 0 sends an empty message to key 0 of the
// next step, so that this key always runs.
func (j *Job) Steps() []Step {
	chain := j.chain()
	steps := make([]Step, len(chain))
	for i, s := range chain {
		steps[i] = Step{s.name, func(ctx context.Context, key uint64, in iter.Seq2[[]byte, error], send Send) error {
			if err := s.run(j, ctx, key, in, send); err != nil {
				return fmt.Errorf("step %s of %d: %w", s.name, key, err)
			}
			if key == 0 && i+1 < len(chain) {
				return send(0, nil)
			}
			return nil
		}}
	}
	return steps
}

func (j *Job) shardFiles(shard uint64) []string {
	n, s := uint64(len(j.o.Inputs)), uint64(j.o.Shards)
	return j.o.Inputs[shard*n/s : (shard+1)*n/s]
}

// The number of a document is its shard << shardShift | its number in the shard.
const shardShift = 32

func shardOf(doc uint64) uint64 { return doc >> shardShift }

// Finish publishes the outputs of a job whose last step has run, and summarizes the job. The
// error is inputs.ErrRejected if there are rejects that the job does not allow.
func (j *Job) Finish(ctx context.Context) (said string, err error) {
	var t dedup.Tally
	err = j.read(ctx, "done", func(r reader) error { return json.NewDecoder(r).Decode(&t) })
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the last step of the job has not run; nothing was written")
	}
	if err != nil {
		return "", err
	}
	for _, name := range t.Outputs {
		if err := j.publishOne(ctx, name); err != nil {
			return "", err
		}
	}
	if t.Rejected > 0 && j.o.Job.Rejects.MaxErrors == nil {
		err = inputs.ErrRejected
	}
	return j.summary(t), err
}

// publishOne moves an output to its place, unless a Finish that was killed has already done so.
func (j *Job) publishOne(ctx context.Context, name string) error {
	path, release, err := j.files.Fetch(ctx, j.workName("out/"+name))
	if errors.Is(err, fs.ErrNotExist) {
		_, release, err := j.files.Fetch(ctx, j.o.Job.Output+name)
		if err != nil {
			return err
		}
		return release()
	}
	if err != nil {
		return err
	}
	return errors.Join(j.files.Put(ctx, path, j.o.Job.Output+name), release())
}

// summary describes what the job has done.
func (j *Job) summary(t dedup.Tally) string {
	s := fmt.Sprintf("read %d documents in %d files", t.Documents, len(j.o.Inputs))
	if j.o.Command == "dedup" {
		s += fmt.Sprintf(", dropped %d, kept %d", t.Dropped, t.Kept)
	}
	if t.Rejected > 0 {
		s += fmt.Sprintf(", rejected %d", t.Rejected)
	}
	return s + "; the outputs are in " + j.o.Job.Output
}
