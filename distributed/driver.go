// Package distributed runs jobs of package shard, which are chains of steps, on the engines that
// Apache Beam supports. It only handles steps, keys and messages; simdb defines their meaning.
package distributed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/simdb/simdb/dedup/shard"
)

// Chain is a chain of steps that make up a job.
type Chain interface {
	// Steps returns the steps in order; the last one sends no messages.
	Steps() []shard.Step
	// Shards returns the number of keys of the first step: 0, 1, 2 and so on, with one empty
	// message each.
	Shards() int
}

// Open creates the chain of a job from options, in the process that submits the job and in all
// workers, which are processes of the same program.
var Open = func(options []byte) (Chain, error) {
	var o Options
	if err := json.Unmarshal(options, &o); err != nil {
		return nil, err
	}
	return shard.New(o.Options, o.Files)
}

// Options are the options of a job with the location of its files.
type Options struct {
	shard.Options
	Files Files
}

// mark is the prefix of a step's errors.
const mark = "simdb: "

func init() {
	register.Function1x2(start)
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&stepFn{})
	register.Iter1[[]byte]()
	register.Emitter2[int64, []byte]()
}

// Run builds a pipeline of the chain that options describe, and runs it with a runner of Beam:
// each step groups its messages by key. It returns when the last step has ended.
func Run(ctx context.Context, runner string, options []byte) error {
	chain, err := Open(options)
	if err != nil {
		return err
	}
	keys := make([]int64, chain.Shards())
	for i := range keys {
		keys[i] = int64(i)
	}
	pipeline, scope := beam.NewPipelineWithRoot()
	blocks := beam.ParDo(scope, start, beam.CreateList(scope, keys))
	for i, step := range chain.Steps() {
		scope := scope.Scope(step.Name)
		blocks = beam.ParDo(scope, &stepFn{Options: options, Step: i}, beam.GroupByKey(scope, blocks))
	}
	result, err := beam.Run(ctx, runner, pipeline)
	if err != nil {
		return cause(err)
	}
	return ended(ctx, result.JobID())
}

// cause extracts a worker's error from an error of a runner, which also contains the plan and the
// stack traces of everything in progress.
func cause(err error) error {
	if _, said, ok := strings.Cut(err.Error(), mark); ok {
		return errors.New(said)
	}
	said, _, _ := strings.Cut(err.Error(), "\n\tat ") // the trace of a Java program
	return fmt.Errorf("%s\n(no step has failed: if a worker has ended, its log may say why)", said)
}

// ended returns an error unless a job has ended by itself: for Beam, a cancelled job is not an
// error.
func ended(ctx context.Context, job string) error {
	conn, err := grpcx.Dial(ctx, *jobopts.Endpoint, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	request := &jobmanagement_v1.GetJobStateRequest{JobId: job}
	event, err := jobmanagement_v1.NewJobServiceClient(conn).GetState(ctx, request)
	if err != nil {
		return fmt.Errorf("state of job %s: %w", job, err)
	}
	if state := event.GetState(); state != jobmanagement_v1.JobState_DONE {
		return fmt.Errorf("job %s: %v", job, state)
	}
	return nil
}

// start returns the block of a key of the first step, with one empty message.
func start(key int64) (int64, []byte) { return key, shard.AppendMessage(nil, nil) }

// stepFn runs a step on the messages of a key. Its exported fields are sent to the workers.
type stepFn struct {
	Options []byte
	Step    int

	step shard.Step
	last bool
	out  shard.Packer
}

// Setup is called first in a worker.
func (f *stepFn) Setup() error {
	chain, err := Open(f.Options)
	if err != nil {
		return fmt.Errorf("%s%w", mark, err)
	}
	steps := chain.Steps()
	f.step, f.last = steps[f.Step], f.Step == len(steps)-1
	return nil
}

// ProcessElement runs the step for a key. Keys are int64, which has a coder in all of Beam's
// languages.
func (f *stepFn) ProcessElement(
	ctx context.Context, key int64, blocks func(*[]byte) bool, emit func(int64, []byte),
) error {
	err := f.step.Run(ctx, uint64(key), shard.Unpack(values(blocks)), func(to uint64, message []byte) error {
		if f.last {
			return errors.New("the last step sends a message")
		}
		f.out.Add(to, message, signed(emit))
		return nil
	})
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", mark, err)
}

// FinishBundle sends the buffered messages: a bundle of keys is either completed or runs again.
func (f *stepFn) FinishBundle(_ context.Context, emit func(int64, []byte)) error {
	f.out.Flush(signed(emit))
	return nil
}

// signed converts emit to the key type of steps.
func signed(emit func(int64, []byte)) func(uint64, []byte) {
	return func(key uint64, block []byte) { emit(int64(key), block) }
}

// values yields the blocks of a key.
func values(next func(*[]byte) bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for block := []byte(nil); next(&block) && yield(block); {
		}
	}
}
