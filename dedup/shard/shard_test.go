package shard

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/records/inputs"
	_ "github.com/simdb/simdb/records/lines"
)

// TestMain puts temporary files into memory if there is enough: a job syncs hundreds of files,
// which takes minutes on a busy disk.
func TestMain(m *testing.M) {
	if n, ok := vfs.Free("/dev/shm"); ok && n > 1<<30 {
		if dir, err := os.MkdirTemp("/dev/shm", "simdb-shard-test"); err == nil {
			os.Setenv("TMPDIR", dir)
			defer os.RemoveAll(dir) // m.Run does not exit
		}
	}
	m.Run()
}

// opened plans a job, saves the plan and opens it, as a worker does.
func opened(t *testing.T, o Options) *Job {
	t.Helper()
	o, err := Plan(t.Context(), o, Local{})
	if err == nil {
		err = o.Save()
	}
	must.Do(t, err)
	j, err := Open(o.Work)
	must.Do(t, err)
	return j
}

// run runs a job with workers of the file driver and returns the error of Finish.
func run(t *testing.T, o Options, workers int) error {
	t.Helper()
	j := opened(t, o)
	for _, s := range j.Steps() {
		for w := range workers {
			must.Do(t, j.RunStep(t.Context(), s.Name, w, workers))
		}
	}
	_, err := j.Finish(t.Context())
	return err
}

// runAll is run with workers that run all steps at the same time.
func runAll(t *testing.T, o Options, workers int) error {
	t.Helper()
	j := opened(t, o)
	if err := errors.Join(atOnce(t.Context(), j, workers)...); err != nil {
		return err
	}
	_, err := j.Finish(t.Context())
	return err
}

// atOnce runs all workers, and returns their errors.
func atOnce(ctx context.Context, j *Job, workers int) []error {
	failed := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { failed[w] = j.RunAll(ctx, w, workers) })
	}
	all.Wait()
	return failed
}

// one runs a job on one machine.
func one(t *testing.T, o Options, output string) {
	t.Helper()
	o.Job.Output = output
	if _, err := o.Job.Write(t.Context(), &inputs.Env{}, o.Patterns); err != nil && !errors.Is(err, inputs.ErrRejected) {
		t.Fatal(err)
	}
}

// shuffled runs a job like an engine: messages arrive in any order, some twice, and if a step
// runs twice, one of its outputs counts.
func shuffled(t *testing.T, o Options) error {
	t.Helper()
	o, err := Plan(t.Context(), o, Local{})
	must.Do(t, err)
	j, err := New(o, Local{})
	must.Do(t, err)
	r := rand.New(rand.NewPCG(1, uint64(o.Groups)))
	var sent []keyed
	for shard := range j.Shards() {
		sent = append(sent, keyed{uint64(shard), AppendMessage(nil, nil)})
	}
	for _, s := range j.Steps() {
		r.Shuffle(len(sent), func(a, b int) { sent[a], sent[b] = sent[b], sent[a] })
		byKey := map[uint64][]keyed{}
		for _, m := range sent {
			byKey[m.key] = append(byKey[m.key], m)
			if r.IntN(20) == 0 {
				byKey[m.key] = append(byKey[m.key], m)
			}
		}
		sent = nil
		for key, own := range byKey {
			for again := r.IntN(2); again >= 0; again-- {
				var out []keyed
				err := s.Run(t.Context(), key, messages(own), func(key uint64, message []byte) error {
					out = append(out, keyed{key, AppendMessage(nil, message)})
					return nil
				})
				must.Do(t, err)
				if again == 0 {
					sent = append(sent, out...)
				}
			}
		}
	}
	_, err = j.Finish(t.Context())
	return err
}

// oneThread skips a test under the race detector: TestDedup starts the same goroutines.
func oneThread(t *testing.T) {
	if exhaustive.Slower > 1 {
		t.Skip("TestDedup starts the same goroutines")
	}
}

// folder is the name of an output.
func folder(t *testing.T) string { return filepath.Join(t.TempDir(), "out") + "/" }

// TestDedup compares the outputs of jobs with those of one machine.
func TestDedup(t *testing.T) {
	files := split(t, 7)
	criteria := []dedup.Job{
		{By: engine.Jaccard(0.8)}, {By: engine.Near(3)}, {By: engine.Near(6)},
		{By: engine.Near(12), Compared: inputs.Compared{Bits: 128}, NoAudit: true},
	}
	ways := []func(t *testing.T, o Options) error{
		func(t *testing.T, o Options) error { return run(t, o, 1) },
		func(t *testing.T, o Options) error { return runAll(t, o, 3) },
		shuffled,
	}
	for i := range exhaustive.Some(t, 3, len(criteria)*len(ways)) {
		job, way := criteria[i%len(criteria)], i/len(criteria)
		t.Run(fmt.Sprint(job.By, way), func(t *testing.T) {
			want := folder(t)
			o := Options{Command: "dedup", Job: job, Patterns: files, Work: t.TempDir() + "/work", Shards: 3, Groups: 5, MaxCell: 100}
			one(t, o, want)
			o.Job.Output = folder(t)
			if err := ways[way](t, o); err != nil {
				t.Error(err)
			}
			sameFolder(t, want, o.Job.Output)
		})
	}
}

// TestSeen compares jobs with Seen with one machine, which package dedup compares with brute force.
// With little memory nearly all units are suspects, most of them in chains.
func TestSeen(t *testing.T) {
	files, ref := split(t, 60)[30:36], filepath.Join(t.TempDir(), "ref.jsonl")
	must.Do(t, os.Rename(files[4], ref))
	files = slices.Delete(files, 4, 5)
	for _, name := range []string{ref, files[3]} {
		b, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, append([]byte("{\"text\": no text\n"), b...), 0o666)
		}
		must.Do(t, err)
	}
	ways := []func(t *testing.T, o Options) error{
		func(t *testing.T, o Options) error { return run(t, o, 3) }, shuffled,
	}
	for kind, name := range []string{"alone", "against", "only against", "against, without audit"} {
		t.Run(name, func(t *testing.T) {
			for i := range exhaustive.Some(t, 3, 12) {
				job := dedup.Job{Seen: 0.5, Rejects: inputs.RejectOptions{MaxErrors: new(int64(2))}}
				job.Compared.Shingle = []int{3, 5, 13}[i%3]
				job.Level = []dedup.Level{dedup.Document, dedup.Paragraph}[i/3%2]
				job.Memory = []int64{0, 1 << 10}[i/6%2]
				if kind > 0 {
					job.Against, job.OnlyAgainst, job.NoAudit = []string{ref}, kind == 2, kind == 3
				}
				want := folder(t)
				o := Options{Command: "dedup", Job: job, Patterns: files, Work: t.TempDir() + "/work", Shards: 4, Groups: 5}
				one(t, o, want)
				o.Job.Output = folder(t)
				if err := ways[i%2](t, o); err != nil {
					t.Errorf("case %d: %v", i, err)
				}
				sameFolder(t, want, o.Job.Output)
			}
		})
	}
}

// TestSeenAtThreshold has a document of which exactly half has been seen, in another shard. Its
// filter is large enough to say so.
func TestSeenAtThreshold(t *testing.T) {
	dir := t.TempDir()
	for i, text := range []string{"a b c d e f g h i j k l", "a b c d e f g m n o p q"} { // 5 of 10 n-grams
		padding := strings.Repeat(" ", 4096) // makes filters large
		line := fmt.Sprintf("{\"id\": %d, \"text\": %q}%s\n", i, text, padding)
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".jsonl")), []byte(line), 0o666))
	}
	job := dedup.Job{Seen: 0.5, Output: folder(t)}
	job.Compared.Shingle = 3
	o := Options{Command: "dedup", Job: job, Patterns: []string{dir + "/*.jsonl"}, Work: t.TempDir() + "/work"}
	must.Do(t, run(t, o, 2))
	for i, want := range []bool{true, false} {
		b, err := os.ReadFile(filepath.Join(job.Output, fmt.Sprint(i, ".jsonl")))
		if err != nil || len(b) > 0 != want {
			t.Errorf("document %d: %q, %v; kept should be %v", i, b, err, want)
		}
	}
}

// TestMissing removes a file of messages: the step that reads it fails, and names the file.
func TestMissing(t *testing.T) {
	j := opened(t, Options{Command: "dedup", Job: dedup.Job{Output: folder(t)}, Patterns: split(t, 40)[:3], Work: t.TempDir() + "/work"})
	first, second := j.Steps()[0].Name, j.Steps()[1].Name
	must.Do(t, errors.Join(j.RunStep(t.Context(), first, 0, 2), j.RunStep(t.Context(), first, 1, 2)))
	lost := filepath.Join(j.messages(0, 1, 2), "0")
	must.Do(t, os.Remove(lost))
	if err := j.RunStep(t.Context(), second, 0, 2); err == nil || !strings.Contains(err.Error(), lost) {
		t.Errorf("%v, want that %s is missing", err, lost)
	}
}

// TestRejects has lines that are not records: they are in files beside the outputs, and in the
// audit, and Finish returns an error unless MaxErrors allows them. The inputs are in partitions.
func TestRejects(t *testing.T) {
	files := split(t, 9)[:3]
	for i, name := range files {
		dir := filepath.Join(filepath.Dir(name), fmt.Sprint("part=", i))
		files[i] = filepath.Join(dir, "0.jsonl")
		must.Do(t, errors.Join(os.Mkdir(dir, 0o777), os.Rename(name, files[i])))
	}
	b := must.Get(os.ReadFile(files[1]))(t)
	must.Do(t, os.WriteFile(files[1], append([]byte("{\"id\": 1, \"text\"\n"), b...), 0o666))
	bad := filepath.Join(t.TempDir(), "bad.jsonl") // a shard without any record
	must.Do(t, os.WriteFile(bad, []byte("{\"id\": 2\n"), 0o666))
	files = append(files, bad)
	want := folder(t)
	plan := func(most *int64) Options {
		job := dedup.Job{Output: folder(t), Rejects: inputs.RejectOptions{MaxErrors: most}}
		return Options{Command: "dedup", Job: job, Patterns: files, Work: t.TempDir() + "/work"}
	}
	one(t, plan(nil), want)
	for most, rejected := range map[*int64]error{nil: inputs.ErrRejected, new(int64(2)): nil} {
		o := plan(most)
		if err := run(t, o, 2); err != rejected {
			t.Errorf("%v, want %v", err, rejected)
		}
		sameFolder(t, want, o.Job.Output)
	}
	o := must.Get(Plan(t.Context(), plan(new(int64)), Local{}))(t)
	j := must.Get(New(o, Local{}))(t)
	if err := j.Steps()[0].Run(t.Context(), 1, messages(nil), nil); err == nil || !strings.Contains(err.Error(), "MaxErrors: 0") {
		t.Errorf("MaxErrors: 0: %v", err)
	}
	must.Do(t, o.Save())
	for range 2 { // failures of an earlier run do not count
		failed := atOnce(t.Context(), j, 3)
		told := slices.IndexFunc(failed, func(err error) bool { return err != nil && strings.Contains(err.Error(), "MaxErrors: 0") })
		if told < 0 {
			t.Fatalf("no worker has found the rejects: %v", failed)
		}
		for w, err := range failed {
			if err == nil || !strings.Contains(err.Error(), "MaxErrors: 0") && !strings.Contains(err.Error(), "has failed") {
				t.Errorf("worker %d: %v", w, err)
			}
		}
	}
	if _, err := j.Finish(t.Context()); err == nil {
		t.Error("a job that has not ended has outputs")
	}
}

// TestKilled kills workers in every step. Running the step again gives the same result.
func TestKilled(t *testing.T) {
	oneThread(t)
	want, got := folder(t), folder(t)
	o := Options{Command: "dedup", Job: dedup.Job{Output: got}, Patterns: split(t, 12)[:4], Work: t.TempDir() + "/work"}
	one(t, o, want)
	j := opened(t, o)
	sums := map[string]uint64{}
	for n, s := range j.Steps() {
		for w := range 2 {
			if n == 1 && w == 1 { // two processes run the same share: the slower one finds it done
				beside := beside{Context: t.Context(), run: sync.OnceFunc(func() {
					if err := j.RunStep(t.Context(), s.Name, w, 2); err != nil {
						t.Error(err)
					}
				})}
				if err := j.RunStep(beside, s.Name, w, 2); err != nil {
					t.Errorf("step %s of worker %d, which another process has run meanwhile: %v", s.Name, w, err)
				}
			}
			killed, kill := context.WithCancel(t.Context())
			j.files = dyingFiles{j.files, kill}
			if err := j.RunStep(killed, s.Name, w, 2); err == nil && killed.Err() != nil {
				t.Logf("step %s had written all", s.Name)
			}
			j.files = Local{}
			if n > 0 && w == 0 {
				if err := j.RunStep(t.Context(), j.Steps()[n].Name, 0, 3); err == nil {
					t.Error("another number of workers runs a step")
				}
			}
			must.Do(t, j.RunStep(t.Context(), s.Name, w, 2))
		}
		for name, sum := range digests(t, j.o.Work) {
			if before, ok := sums[name]; ok && before != sum && !strings.HasPrefix(name, "messages") {
				t.Errorf("step %s has changed %s", s.Name, name)
			}
			sums[name] = sum
		}
	}
	killed, kill := context.WithCancel(t.Context())
	j.files = dyingFiles{j.files, kill}
	if _, err := j.Finish(killed); err == nil {
		t.Error("a worker that was killed has published all")
	}
	j.files = Local{}
	for range 2 { // published outputs stay
		must.Get(j.Finish(t.Context()))(t)
		sameFolder(t, want, got)
	}
}

// A beside is a context that calls run when it is first used.
type beside struct {
	context.Context
	run func()
}

// Done implements context.Context.
func (b beside) Done() <-chan struct{} {
	b.run()
	return b.Context.Done()
}

// TestCut truncates a working file at the boundary of two documents.
func TestCut(t *testing.T) {
	j := opened(t, Options{Command: "dedup", Job: dedup.Job{Output: folder(t)}, Patterns: split(t, 6)[:2], Work: t.TempDir() + "/work"})
	for _, step := range []string{"fingerprint", "count"} {
		must.Do(t, j.RunStep(t.Context(), step, 0, 1))
	}
	name := filepath.Join(j.o.Work, "sets/00001")
	b := must.Get(os.ReadFile(name))(t)
	end := 0
	for rest := b; ; {
		n, size := binary.Uvarint(rest)
		if rest = rest[size+int(n):]; len(rest) == 0 {
			break
		}
		end = len(b) - len(rest)
	}
	must.Do(t, os.WriteFile(name, b[:end], 0o666))
	if err := j.RunStep(t.Context(), "route", 0, 1); err == nil || !strings.Contains(err.Error(), "as many documents") {
		t.Errorf("%v", err)
	}
}

// TestDurable checks that all files of a step survive a power cut once it has run, whether or not
// temporary files are on another file system. Otherwise a step could count as done without its
// outputs, and Finish could publish outputs of an earlier run.
func TestDurable(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		work := t.TempDir() + "/new/work"
		d := &strictDisk{FS: vfs.Disk, durable: map[string]bool{}}
		if elsewhere {
			d.own = work
		}
		disk = d
		t.Cleanup(func() { disk = vfs.Disk })
		check := func(after, dir string) {
			t.Helper()
			for _, name := range filesBelow(t, dir) {
				for ; name != "."; name = filepath.Dir(name) {
					if path := filepath.Join(dir, name); !d.durable[path] {
						t.Errorf("after %s a power cut may lose %s (temporary files elsewhere: %v)", after, name, elsewhere)
					}
				}
			}
		}
		out := t.TempDir() + "/a/b/"
		o, err := Plan(t.Context(), Options{Command: "dedup", Job: dedup.Job{Output: out}, Patterns: split(t, 6)[:2], Work: work}, Local{})
		if err == nil {
			err = o.Save()
		}
		must.Do(t, err)
		check("plan", filepath.Dir(filepath.Dir(work)))
		j, err := Open(work)
		must.Do(t, err)
		for _, s := range j.Steps() {
			for w := range 2 {
				must.Do(t, j.RunStep(t.Context(), s.Name, w, 2))
				check(s.Name, work)
			}
		}
		must.Get(j.Finish(t.Context()))(t)
		check("finish", filepath.Join(out, "../.."))
	}
}

// A strictDisk knows which names survive a power cut: those in a folder at its last sync.
type strictDisk struct {
	vfs.FS
	own     string // if not empty, files outside it are on another file system
	mu      sync.Mutex
	durable map[string]bool
}

func (d *strictDisk) Rename(from, to string) error {
	if !strings.HasPrefix(from, d.own) {
		return syscall.EXDEV
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.durable, filepath.Clean(to))
	for name := range d.durable {
		if below, ok := strings.CutPrefix(name, from+"/"); ok {
			d.durable[filepath.Join(to, below)] = true
		}
	}
	return d.FS.Rename(from, to)
}

func (d *strictDisk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	names, err := d.List(dir)
	for _, name := range names {
		d.durable[filepath.Join(dir, name)] = true
	}
	return errors.Join(err, d.FS.SyncDir(dir))
}

// dyingFiles kills the worker once it has published its first file.
type dyingFiles struct {
	Files
	kill func()
}

func (f dyingFiles) Put(ctx context.Context, path, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.kill()
	return f.Files.Put(ctx, path, name)
}

// digests returns the digests of all files in a folder.
func digests(t *testing.T, dir string) map[string]uint64 {
	t.Helper()
	all := map[string]uint64{}
	for _, name := range filesBelow(t, dir) {
		b := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		all[name] = xxh3.Hash(b)
	}
	return all
}

// filesBelow returns the names, relative to dir, of the files in dir and in folders below it.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	must.Do(t, err)
	return names
}

// sameFolder checks that two folders have the same files.
func sameFolder(t *testing.T, want, got string) {
	t.Helper()
	names := func(dir string) (names []string) {
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				names = append(names, name)
			}
			return err
		})
		must.Do(t, err)
		return names
	}
	if a, b := fmt.Sprint(names(want)), fmt.Sprint(names(got)); a != b {
		t.Fatalf("files %s, want %s", b, a)
	}
	for _, name := range names(want) {
		a, _ := os.ReadFile(filepath.Join(want, name))
		b, _ := os.ReadFile(filepath.Join(got, name))
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs: %d bytes, want %d; %s", name, len(b), len(a), firstDifference(b, a))
		}
	}
}

func firstDifference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("line %d: %.400s, want %.400s", i+1, x[i], y[i])
		}
	}
	return "one has more lines"
}

// split writes the licences of the example into n files, and returns their names.
func split(t *testing.T, n int) (names []string) {
	t.Helper()
	dir := t.TempDir()
	lines := bytes.SplitAfter(corpora.Read(t, "../../examples/licenses.jsonl.gz"), []byte("\n"))
	for i := range n {
		part := filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i))
		must.Do(t, os.WriteFile(part, bytes.Join(lines[i*len(lines)/n:(i+1)*len(lines)/n], nil), 0o666))
		names = append(names, part)
	}
	return names
}

// TestBuildNeedsLoad checks the error if no program has set Load.
func TestBuildNeedsLoad(t *testing.T) {
	if _, err := New(Options{Command: "build"}, Local{}); err == nil || !strings.Contains(err.Error(), "Load") {
		t.Error(err)
	}
}
