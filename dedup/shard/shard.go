// Package shard runs jobs of package dedup on many machines, and builds tables. A Job is a chain of
// Steps. A Step is given all messages that the step before has sent to a key, in any order, some
// perhaps twice, and sends messages to keys of the next step. All that an engine has to do is to
// group messages by key:
//
//	for each step:
//	    group the messages by key
//	    for each key, anywhere: Run
//
// Run is the driver without an engine, in which processes share a folder. Package
// dedup/internal/stages says why the outcome is that of one machine; its passes over the inputs
// are those of package dedup, and the joins those of package corpus.
//
//	shard.go  jobs, and what a step is
//	plan.go   which steps a job has
//	read.go   steps that read inputs
//	join.go   steps that find what is alike
//	write.go  steps that write outputs
//	files.go  working files and messages
//	run.go    the driver of processes that share a folder
//
// # Working files
//
// Beside the messages, workers share a folder of working files: of each shard of the inputs the
// sets of shingles and the fingerprints, so that texts are read twice only, as on one machine. Each
// file is published whole, and depends on the inputs alone, so that a step may run again.
package shard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"time"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/dedup/internal/stages"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records/inputs"
)

// A Send sends a message to what has a key in the next step. The message may change afterwards.
type Send func(key uint64, message []byte) error

// A Step is one step of a job. Run is given all messages of a key. What it sends depends on them
// alone, so that it may run again. It may run for many keys at once.
type Step struct {
	Name string
	Run  func(ctx context.Context, key uint64, in iter.Seq2[[]byte, error], send Send) error
}

// Options are what a job is made from: plain data, the same for all workers.
type Options struct {
	Command  string    // dedup, pairs, clusters or build
	Job      dedup.Job // of build only Output and Rejects
	Load     []string  // flags of build, which Load knows
	Patterns []string  // of the names of files
	Work     string    // a folder for working files, which all workers reach
	Inputs   []string  // by Plan: the names of files, in the order of preference
	Shards   int       // in which inputs are read; 0 means one for each file
	Groups   int       // in which documents meet; 0 means one for every 16,384, and 8 at least
	Time     time.Time // by Plan: when documents without a time were stored, of build
	MaxCell  int       // the largest number of documents that must be in one group; 0 means 65,536
}

// Files are where inputs, outputs and working files are. Names have slashes.
type Files interface {
	// Glob returns the names that match a pattern, in order.
	Glob(ctx context.Context, pattern string) ([]string, error)
	// Fetch returns the path of a local file with the content of the named one; the last part of
	// the path is that of the name. release is called when it is not needed any more. Without such
	// a file it is fs.ErrNotExist.
	Fetch(ctx context.Context, name string) (path string, release func() error, err error)
	// Put publishes a local file under a name, whole or not at all, in place of what is there. It
	// may move the file.
	Put(ctx context.Context, path, name string) error
}

// A Job is a whole run. Any number of goroutines may run its steps.
type Job struct {
	o     Options
	files Files
	plan  stages.Plan // not of build
}

// Plan completes the options of a new job: it expands patterns, and checks the flags.
func Plan(ctx context.Context, o Options, files Files) (Options, error) {
	j, err := New(o, files)
	if err != nil {
		return o, err
	}
	if what, err := engine.Identify(j.o.Job.Output); err == nil && what != "" {
		return o, fmt.Errorf("%s is %s", option.Set("Output", j.o.Job.Output), what)
	}
	var names []string
	seen := map[string]string{}
	for _, pattern := range o.Patterns {
		found, err := files.Glob(ctx, pattern)
		if err != nil {
			return o, err
		}
		if len(found) == 0 {
			return o, fmt.Errorf("%s: there is no such file", pattern)
		}
		for _, name := range found {
			switch before, ok := seen[path.Base(name)]; {
			case ok && before == name:
				continue
			case ok:
				return o, fmt.Errorf("%s and %s would have one output: each input needs a name of its own", before, name)
			}
			seen[path.Base(name)] = name
			if err := j.claim(ctx, name); err != nil {
				return o, err
			}
			names = append(names, name)
		}
	}
	o.Time = time.Now().UTC().Truncate(time.Second)
	if o.Inputs = names; o.Shards <= 0 || o.Shards > len(names) {
		o.Shards = len(names)
	}
	return o, nil
}

// claim returns an error if the outputs would replace an input.
func (j *Job) claim(ctx context.Context, input string) error {
	name := path.Base(input)
	if name == auditName && j.o.Command == "dedup" && !j.o.Job.NoAudit {
		return fmt.Errorf("%s has the name of the audit in %s", input, j.o.Job.Output)
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
	if _, ok := chains[name]; !ok {
		return fmt.Errorf("unknown command %q: %s are known", name, strings.Join(Commands(), ", "))
	}
	return nil
}

// New returns a job. Its options come from Plan.
func New(o Options, files Files) (*Job, error) {
	j := &Job{o: o, files: files}
	err := CheckCommand(o.Command)
	switch {
	case err != nil:
	case o.Command == "build" && Load == nil:
		err = errors.New("build needs Load, which makes a database of files")
	case o.Command != "build":
		j.plan = stages.Plan{By: j.o.Job.Criterion(), MaxCell: o.MaxCell, Memory: o.Job.Memory}
		err = o.Job.CheckWorkers()
	}
	return j, err
}

// Shards returns how many shards the inputs have. The first step gets one empty message for each of
// the keys below.
func (j *Job) Shards() int { return j.o.Shards }

// Steps returns the steps of the job. Key 0 of each step sends an empty message to key 0 of the
// next, so that there is one.
func (j *Job) Steps() []Step {
	chain := chains[j.o.Command]
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

// Documents are numbered by shard, and in it.
const shardShift = 32

func shardOf(doc uint64) uint64 { return doc >> shardShift }

// Finish publishes the outputs of a job whose last step has run, and says what was done. The error
// is inputs.ErrRejected if something was rejected that the job does not allow.
func (j *Job) Finish(ctx context.Context) (said string, err error) {
	var t dedup.Tally
	err = j.read(ctx, "done", func(r reader) error { return json.NewDecoder(r).Decode(&t) })
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the last step of the job has not run; nothing is written")
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

// publishOne moves an output to its place, unless a Finish that was killed has done so.
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

// summary says what was done.
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
