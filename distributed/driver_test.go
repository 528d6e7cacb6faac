package distributed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/simdb/simdb/dedup/shard"
)

func TestMain(m *testing.M) {
	Open = func(options []byte) (Chain, error) {
		var t toy
		return t, json.Unmarshal(options, &t)
	}
	flag.Parse()
	beam.Init() // does not return in a worker
	os.Exit(m.Run())
}

// toy counts numbers: each shard sends Each messages, whose sums are collected at one key.
type toy struct {
	N, Each, Keys, Length int
	Out                   string
	Fail                  string // error of the second step
	Cancel                bool   // the second step cancels the job
	Once                  string // file: if it does not exist, the second step creates it and ends its process
}

// length returns the length of a message in addition to its number.
func (t toy) length(i int) int { return i * 7919 % (t.Length + 1) }

func (t toy) Shards() int { return t.N }

func (t toy) Steps() []shard.Step {
	return []shard.Step{
		{Name: "numbers", Run: func(_ context.Context, key uint64, in iter.Seq2[[]byte, error], send shard.Send) error {
			n := 0
			for m, err := range in {
				if err != nil || len(m) > 0 {
					return fmt.Errorf("a first message: %q, %v", m, err)
				}
				n++
			}
			if n != 1 {
				return fmt.Errorf("%d first messages", n)
			}
			for i := range t.Each {
				m := binary.LittleEndian.AppendUint64(nil, key*uint64(t.Each)+uint64(i))
				m = append(m, make([]byte, t.length(i))...)
				// Keys of all 64 bits.
				if err := send(uint64(i%t.Keys)*0x9e3779b97f4a7c15, m); err != nil {
					return err
				}
			}
			return nil
		}},
		{Name: "sums", Run: func(ctx context.Context, key uint64, in iter.Seq2[[]byte, error], send shard.Send) error {
			var n, sum, bytes uint64
			for m, err := range in {
				if err != nil {
					return err
				}
				n, sum, bytes = n+1, sum+binary.LittleEndian.Uint64(m), bytes+uint64(len(m))
			}
			if t.Once != "" {
				if f, err := os.OpenFile(t.Once, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
					_ = f.Close()
					os.Exit(137)
				}
			}
			if t.Cancel {
				if err := cancelAll(ctx); err != nil {
					return err
				}
			}
			if t.Fail != "" {
				return fmt.Errorf("as asked: %s", t.Fail)
			}
			return send(0, fmt.Appendf(nil, "%d %d %d", n, sum, bytes))
		}},
		{Name: "sum", Run: func(_ context.Context, key uint64, in iter.Seq2[[]byte, error], send shard.Send) error {
			var n, sum, length uint64
			keys := 0
			for m, err := range in {
				if err != nil {
					return err
				}
				var a, b, c uint64
				if _, err := fmt.Fscan(bytes.NewReader(m), &a, &b, &c); err != nil {
					return err
				}
				n, sum, length, keys = n+a, sum+b, length+c, keys+1
			}
			return os.WriteFile(t.Out, fmt.Appendf(nil, "%d %d %d %d", keys, n, sum, length), 0o600)
		}},
	}
}

func (t toy) run(ctx context.Context) error {
	options, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return Run(ctx, cmp.Or(*runners.Runner, "prism"), options)
}

// TestSums compares the sums of a chain with the expected ones: no message is lost or duplicated.
func TestSums(t *testing.T) {
	for _, c := range []toy{
		{N: 1, Each: 1, Keys: 1},
		{N: 3, Each: 60000, Keys: 1, Length: 40}, // many blocks of a key
		{N: 2, Each: 30000, Keys: 29999, Length: 5},
		{N: 2, Each: 50, Keys: 3, Length: 300000}, // messages longer than a block
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			c.Out = filepath.Join(t.TempDir(), "sum")
			if err := c.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			n := c.N * c.Each
			length := 0
			for i := range c.Each {
				length += c.N * (8 + c.length(i))
			}
			want := fmt.Sprintf("%d %d %d %d", c.Keys, n, n*(n-1)/2, length)
			if got, err := os.ReadFile(c.Out); err != nil || string(got) != want {
				t.Errorf("%s, %v, want %s", got, err, want)
			}
		})
	}
}

// TestFail makes the second step fail: the job fails, too, with the cause, and the last step does
// not run.
func TestFail(t *testing.T) {
	c := toy{N: 2, Each: 10, Keys: 3, Fail: "bad line 17", Out: filepath.Join(t.TempDir(), "sum")}
	err := c.run(t.Context())
	if err == nil || err.Error() != "as asked: bad line 17" {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(c.Out); err == nil {
		t.Error("the last step ran")
	}
}

// TestCancelled cancels the job while it runs, which must not count as success.
func TestCancelled(t *testing.T) {
	c := toy{N: 2, Each: 10, Keys: 3, Cancel: true, Out: filepath.Join(t.TempDir(), "sum")}
	err := c.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "CANCEL") {
		t.Errorf("%v", err)
	}
}

// cancelAll cancels all jobs of the runner, and waits until they have ended.
func cancelAll(ctx context.Context) error {
	conn, err := grpcx.Dial(ctx, *jobopts.Endpoint, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	client := jobmanagement_v1.NewJobServiceClient(conn)
	jobs, err := client.GetJobs(ctx, &jobmanagement_v1.GetJobsRequest{})
	if err != nil {
		return err
	}
	for _, job := range jobs.GetJobInfo() {
		if job.GetState() != jobmanagement_v1.JobState_RUNNING {
			continue
		}
		if _, err := client.Cancel(ctx, &jobmanagement_v1.CancelJobRequest{JobId: job.GetJobId()}); err != nil {
			return err
		}
	}
	time.Sleep(time.Second)
	return nil
}

var killed = flag.String("killed", "", "what follows when a worker dies: retry or fail")

// TestKilled ends a worker within a step. It needs an engine whose workers are other processes.
func TestKilled(t *testing.T) {
	if *killed == "" {
		t.Skip("for scripts/engine-test.sh")
	}
	dir := t.TempDir()
	c := toy{N: 3, Each: 60000, Keys: 17, Out: filepath.Join(dir, "sum"), Once: filepath.Join(dir, "once")}
	err := c.run(t.Context())
	t.Log(err)
	got, _ := os.ReadFile(c.Out)
	if _, err := os.Stat(c.Once); err != nil {
		t.Error("no worker was ended")
	}
	if *killed == "retry" && (err != nil || string(got) != "17 180000 16199910000 1440000") || *killed != "retry" && (err == nil || got != nil) {
		t.Errorf("%q, %v", got, err)
	}
}
