// Package distributed runs jobs of package shard, which are chains of steps, on the engines that
// Apache Beam reaches. It knows of steps, keys and messages only: what they are about is in simdb.
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

// Chain is a job as a chain of steps.
type Chain interface {
	// Steps are the steps in turn; the last one sends nothing.
	Steps() []shard.Step
	// Shards is how many keys the first step has: 0, 1, 2 and so on, with an empty message each.
	Shards() int
}

// Open makes the chain of a job from options, in the process that submits it and in all workers,
// which are processes of the same program.
var Open = func(options []byte) (Chain, error) {
	var o Options
	if err := json.Unmarshal(options, &o); err != nil {
		return nil, err
	}
	return shard.New(o.Options, o.Files)
}

// Options are those of a job and where its files are.
type Options struct {
	shard.Options
	Files Files
}

// mark is what the error of a step begins with.
const mark = "simdb: "

func init() {
	register.Function1x2(start)
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&stepFn{})
	register.Iter1[[]byte]()
	register.Emitter2[int64, []byte]()
}

// Run makes a pipeline of the chain that options describe, and runs it with a runner of Beam: for
// each step its messages are grouped by key. It returns when the last step has ended.
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

// cause returns what a worker said, of an error of a runner: around it are the plan and the traces
// of all that was under way.
func cause(err error) error {
	if _, said, ok := strings.Cut(err.Error(), mark); ok {
		return errors.New(said)
	}
	said, _, _ := strings.Cut(err.Error(), "\n\tat ") // the trace of a Java program
	return fmt.Errorf("%s\n(no step has failed: if a worker has ended, its log may say why)", said)
}

// ended returns an error unless a job has ended by itself: that it was cancelled is none for Beam.
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

// start returns the block of a key of the first step, of one empty message.
func start(key int64) (int64, []byte) { return key, shard.AppendMessage(nil, nil) }

// stepFn is what a step does with the messages of a key. Its exported fields go to the workers.
type stepFn struct {
	Options []byte
	Step    int

	step shard.Step
	last bool
	out  shard.Packer
}

// Setup is called in a worker before all else.
func (f *stepFn) Setup() error {
	chain, err := Open(f.Options)
	if err != nil {
		return fmt.Errorf("%s%w", mark, err)
	}
	steps := chain.Steps()
	f.step, f.last = steps[f.Step], f.Step == len(steps)-1
	return nil
}

// ProcessElement runs the step for a key. A key is an int64 because that has a coder in all of
// Beam's languages.
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

// FinishBundle sends what is held back: a bundle of keys is done as a whole, or runs again.
func (f *stepFn) FinishBundle(_ context.Context, emit func(int64, []byte)) error {
	f.out.Flush(signed(emit))
	return nil
}

// signed is emit with keys as steps have them.
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
