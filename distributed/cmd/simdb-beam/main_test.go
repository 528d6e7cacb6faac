package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"

	"github.com/simdb/simdb/cmd/simdb/flags"
	"github.com/simdb/simdb/dedup/shard"
	"github.com/simdb/simdb/distributed"
	"github.com/simdb/simdb/records/inputs"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if step, marker, ok := strings.Cut(os.Getenv("SIMDB_BEAM_KILL"), ":"); ok {
		open := distributed.Open
		distributed.Open = func(options []byte) (distributed.Chain, error) {
			chain, err := open(options)
			return dying{chain, step, marker}, err
		}
	}
	beam.Init() // does not return in a worker
	os.Exit(withProgram(m.Run))
}

// program is the path of simdb, for comparisons.
var program string

func withProgram(run func() int) int {
	dir, err := os.MkdirTemp("", "simdb-beam-test-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "simdb")
	build := exec.Command("go", "build", "-o", program, "./cmd/simdb")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	return run()
}

// dying is a chain that ends the process once in a step, before its messages are delivered; a
// marker file records that it has done so. It is a worker of scripts/engine-test.sh.
type dying struct {
	distributed.Chain
	step, marker string
}

func (d dying) Steps() []shard.Step {
	steps := d.Chain.Steps()
	for i, s := range steps {
		if s.Name != d.step {
			continue
		}
		steps[i].Run = func(ctx context.Context, key uint64, in iter.Seq2[[]byte, error], send shard.Send) error {
			err := s.Run(ctx, key, in, send)
			if f, failed := os.OpenFile(d.marker, os.O_CREATE|os.O_EXCL, 0o600); failed == nil {
				_ = f.Close()
				os.Exit(137)
			}
			return err
		}
	}
	return steps
}

// fixture is a folder of inputs.
type fixture struct {
	dir    string
	inputs []string
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	f := fixture{dir: t.TempDir()}
	licenses, err := os.Open("../../../examples/licenses.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer licenses.Close()
	z, err := gzip.NewReader(licenses)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	const n = 5
	for i := range n {
		part := bytes.Join(lines[i*len(lines)/n:(i+1)*len(lines)/n], nil)
		if i == 3 {
			part = append(part, "{\"id\": \"broken\", \n"...)
		}
		name := filepath.Join(f.dir, fmt.Sprintf("part-%d.jsonl", i))
		if err := os.WriteFile(name, part, 0o666); err != nil {
			t.Fatal(err)
		}
		f.inputs = append(f.inputs, name)
	}
	return f
}

// one runs simdb and returns its exit status, and the files in its output folder.
func (f fixture) one(t *testing.T, args ...string) (status int, files map[string]string) {
	t.Helper()
	dir := t.TempDir() + "/out/"
	args = slices.Concat([]string{"dedup", "-q", "-o", dir}, args, f.inputs)
	err := exec.Command(program, args...).Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return status, folder(t, dir)
}

func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(dir + "*")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(b)
	}
	return files
}

// many runs the program with Prism.
func many(t *testing.T, args ...string) (int, error) {
	t.Helper()
	for _, name := range []string{"shards", "groups", "log", "runner", "endpoint", "parallelism"} {
		if err := flag.Set(name, flag.Lookup(name).DefValue); err != nil {
			t.Fatal(err)
		}
	}
	*work = t.TempDir()
	return run(t.Context(), args)
}

// same compares the files of two folders.
func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs: %d bytes, want %d", name, len(got[name]), len(want[name]))
		}
	}
}

// TestDedup compares the outputs of a job with those of simdb dedup, byte for byte: kept files,
// rejects and audit.
func TestDedup(t *testing.T) {
	f := newFixture(t)
	for _, flags := range []string{"--jaccard 0.8", "--near 3", "--near 6", "--max-errors 1 --shards 2 --groups 3"} {
		t.Run(flags, func(t *testing.T) {
			flags := strings.Fields(flags)
			status, want := f.one(t, slices.DeleteFunc(slices.Clone(flags), func(s string) bool {
				return s == "--shards" || s == "2" || s == "--groups" || s == "3" && flags[0] != "--near"
			})...)
			dir := t.TempDir() + "/out/"
			got, err := many(t, slices.Concat([]string{"dedup", f.dir + "/part-*.jsonl", "-o", dir}, flags)...)
			if err != nil || got != status {
				t.Errorf("status %d, %v, want %d", got, err, status)
			}
			if len(want) < len(f.inputs)+1 {
				t.Errorf("%d files of simdb dedup", len(want))
			}
			same(t, folder(t, dir), want)
			if left, _ := os.ReadDir(filepath.Dir(*work)); len(left) > 0 {
				t.Errorf("working files are left: %v", left)
			}
		})
	}
}

// TestCommands compares the outputs of jobs on Prism with those of the same plan without an
// engine.
func TestCommands(t *testing.T) {
	f := newFixture(t)
	for _, command := range []string{"pairs --near 6", "clusters --jaccard 0.8", "build"} {
		t.Run(command, func(t *testing.T) {
			var outs [2]map[string]string
			for i := range outs {
				out := t.TempDir() + "/out/"
				o, err := flags.Shard(append(strings.Fields(command), f.dir+"/part-*.jsonl", "-o", out))
				if err == nil {
					o.Work, o.Shards = t.TempDir(), 2
					o, err = shard.Plan(t.Context(), o, shard.Local{})
				}
				if err != nil {
					t.Fatal(err)
				}
				o.Time = time.Unix(1e9, 0)
				job, err := shard.New(o, shard.Local{})
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					for _, step := range job.Steps() {
						if err := job.RunStep(t.Context(), step.Name, 0, 1); err != nil {
							t.Fatal(err)
						}
					}
				} else {
					options, err := json.Marshal(distributed.Options{Options: o})
					if err != nil {
						t.Fatal(err)
					}
					if err := distributed.Run(t.Context(), "prism", options); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := job.Finish(t.Context()); !errors.Is(err, inputs.ErrRejected) {
					t.Errorf("%v, want %v: a line is broken", err, inputs.ErrRejected)
				}
				outs[i] = folder(t, out)
			}
			if len(outs[0]) < 3 {
				t.Errorf("%d files", len(outs[0]))
			}
			same(t, outs[1], outs[0])
		})
	}
}

// TestStore has inputs, outputs and working files in an object store.
func TestStore(t *testing.T) {
	f := newFixture(t)
	for _, name := range f.inputs {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		memfs.Write("memfs://in/"+filepath.Base(name), b)
	}
	_, want := f.one(t)
	status, err := many(t, "dedup", "memfs://in/part-*.jsonl", "-o", "memfs://out/", "--work", "memfs://work/a")
	if err != nil || status != 2 {
		t.Fatalf("status %d, %v", status, err)
	}
	system := memfs.New(t.Context())
	names, err := system.List(t.Context(), "memfs://out/*")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range names {
		b, err := filesystem.Read(t.Context(), system, name)
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimPrefix(name, "memfs://out/")] = strings.ReplaceAll(string(b), "memfs://in/", f.dir+"/")
	}
	same(t, got, want)
}

// TestFailures has jobs that fail with the right cause, and write nothing.
func TestFailures(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ args, want string }{
		{"dedup PART -o OUT --max-errors 0", "--max-errors 0 allows no more"},
		{"dedup missing-*.jsonl -o OUT", "missing-*.jsonl"},
		{"dedup PART -o OUT --near", "--near"},
		{"dedup PART -o OUT --parallelism many", "--parallelism many"},
		{"dedup PART -o OUT --log loud", "--log loud"},
		{"dedup PART -o OUT --work", "--work: a value is missing"},
		{"dedup PART -o OUT --async", "--async"},
		{"search PART -o OUT", "search"},
		{"dedup s4://bucket/part -o OUT", "s4"},
		{"dedup PART -o OUT --runner universal", "endpoint"},
		{"dedup PART -o OUT --runner direct", "--runner direct"},
	} {
		t.Run(c.args, func(t *testing.T) {
			out := t.TempDir() + "/out/"
			args := strings.Fields(strings.NewReplacer("PART", f.dir+"/part-*.jsonl", "OUT", out).Replace(c.args))
			_, err := many(t, args...)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "DataSource") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if files := folder(t, out); len(files) > 0 {
				t.Errorf("%d files are written", len(files))
			}
		})
	}
}

// TestInterrupted cancels the context of a job.
func TestInterrupted(t *testing.T) {
	f := newFixture(t)
	out := t.TempDir() + "/out/"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	*work = t.TempDir()
	if _, err := run(ctx, []string{"dedup", f.dir + "/part-*.jsonl", "-o", out}); err == nil {
		t.Error("no error")
	}
	if files := folder(t, out); len(files) > 0 {
		t.Errorf("%d files are written", len(files))
	}
}
