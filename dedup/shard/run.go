package shard

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/internal/token"
)

// The driver without an engine: workers are processes, sequential or concurrent, that share the
// folder of working files. A worker runs its share of a step's keys once all workers have run the
// step before, and writes a file of messages for each worker of the next step that gets any:
//
//	job.json                 the options
//	messages/STEP/FROM/TO    repeated: length, then key and block of messages
//	messages/STEP/FROM/sent  a 1 for each worker TO that has such a file, a 0 for the others
//
// A worker's messages appear by one rename, so a killed worker can run the step again.

const (
	jobFile  = "job.json"
	sentFile = "sent"
)

// Save writes complete options of a job into the folder of its working files.
func (o Options) Save() error {
	if err := makeDir(filepath.Join(o.Work, "messages")); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(o.Work, jobFile)); err == nil {
		return fmt.Errorf("%s already has a job: remove the folder, or name another one", o.Work)
	}
	b, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	j := Job{o: o, files: Local{}}
	j.o.Job.TempDir = o.Work
	return j.store(context.Background(), jobFile, func(w *bufio.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}

// Open returns the job stored in a folder of working files.
func Open(work string) (*Job, error) {
	b, err := os.ReadFile(filepath.Join(work, jobFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: there is no job; simdb shard plan makes one", work)
	}
	if err != nil {
		return nil, err
	}
	var o Options
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(work, jobFile), err)
	}
	o.Work = work
	return New(o, Local{})
}

// RunAll runs a worker's share of all steps. It waits for the other workers, which must run at the
// same time, or have run, until ctx ends or RunAll fails in one of them.
func (j *Job) RunAll(ctx context.Context, worker, workers int) (err error) {
	failed := func(worker int) string {
		return filepath.Join(j.o.Work, "messages", fmt.Sprintf("failed-%d-of-%d", worker, workers))
	}
	before := make([]fs.FileInfo, workers) // failures of earlier runs
	if err := os.Remove(failed(worker)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for i := range before {
		before[i], _ = os.Stat(failed(i))
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = errors.Join(err, os.WriteFile(failed(worker), nil, 0o666))
		}
	}()
	for n, step := range j.Steps() {
		if err := j.RunStep(ctx, step.Name, worker, workers); err != nil {
			return err
		}
		for i, old := range before {
			for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
				if _, err := os.Stat(j.messages(n, i, workers)); err == nil {
					break
				}
				if st, err := os.Stat(failed(i)); err == nil && (old == nil || !st.ModTime().Equal(old.ModTime())) {
					return fmt.Errorf("worker %d of %d has failed", i, workers)
				}
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-time.After(pause):
				}
			}
		}
	}
	return nil
}

// messages returns the folder of the messages that a worker sends in a step.
func (j *Job) messages(step, worker, workers int) string {
	return filepath.Join(j.o.Work, "messages", fmt.Sprintf("%02d-%s", step, j.chain()[step].name), fmt.Sprintf("%d-of-%d", worker, workers))
}

// RunStep runs a worker's share of a step, unless it is already done. Workers are numbered from
// 0; all steps must have the same number of workers.
func (j *Job) RunStep(ctx context.Context, step string, worker, workers int) error {
	steps := j.Steps()
	n := slices.IndexFunc(steps, func(s Step) bool { return s.Name == step })
	if n < 0 {
		return fmt.Errorf("a job of %s has no step %q", j.o.Command, step)
	}
	target := j.messages(n, worker, workers)
	if _, err := os.Stat(target); err == nil {
		return disk.SyncDir(filepath.Dir(target)) // a worker that was killed may not have synced it
	}
	var keys []keyed
	for from := range workers {
		if n == 0 {
			break
		}
		some, err := readKeyed(j.messages(n-1, from, workers), worker)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("step %s has not been run by worker %d of %d", steps[n-1].Name, from, workers)
		}
		if err != nil {
			return err
		}
		keys = append(keys, some...)
	}
	for shard := range j.Shards() {
		if n == 0 && j.workerOf(uint64(shard), workers) == worker {
			keys = append(keys, keyed{uint64(shard), AppendMessage(nil, nil)})
		}
	}
	if err := makeDir(filepath.Dir(target)); err != nil {
		return err
	}
	own, err := os.MkdirTemp(filepath.Dir(target), ".simdb-*.tmp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(own)
	dir := filepath.Join(own, "messages")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	if err := errors.Join(j.runKeys(ctx, steps[n], keys, dir, workers), disk.SyncDir(dir)); err != nil {
		return err
	}
	err = disk.Rename(dir, target)
	if _, missing := os.Stat(target); missing == nil {
		err = nil // another process may have run the same share meanwhile; its messages are equal
	}
	return errors.Join(err, disk.SyncDir(filepath.Dir(target)))
}

// workerOf returns the worker that owns a key: shards go to workers in turn, other keys by hash.
func (j *Job) workerOf(key uint64, workers int) int {
	if key >= uint64(j.Shards()) {
		key = token.Mix(key)
	}
	return int(key % uint64(workers))
}

// keyed is a block of messages.
type keyed struct {
	key   uint64
	block []byte
}

// readKeyed reads the messages to a worker in a folder.
func readKeyed(dir string, worker int) (all []keyed, err error) {
	to, err := os.ReadFile(filepath.Join(dir, sentFile))
	if err != nil || worker < len(to) && to[worker] == '0' {
		return nil, err
	}
	name := filepath.Join(dir, fmt.Sprint(worker))
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing", name)
	}
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n < 8 || n > uint64(len(b)-size) {
			return nil, fmt.Errorf("%s is damaged", name)
		}
		one := b[size:][:n:n]
		all, b = append(all, keyed{binary.LittleEndian.Uint64(one), one[8:]}), b[uint64(size)+n:]
	}
	return all, err
}

// runKeys runs a step for all keys of a worker, and writes the messages to files in a folder.
func (j *Job) runKeys(ctx context.Context, step Step, keys []keyed, dir string, workers int) error {
	files, writers := make([]*os.File, workers), make([]*bufio.Writer, workers)
	var mu sync.Mutex
	var failed error
	write := func(key uint64, block []byte) {
		mu.Lock()
		defer mu.Unlock()
		to := j.workerOf(key, workers)
		if writers[to] == nil {
			f, err := os.Create(filepath.Join(dir, fmt.Sprint(to)))
			failed = errors.Join(failed, err)
			files[to], writers[to] = f, bufio.NewWriterSize(f, 64<<10)
		}
		w := writers[to]
		w.Write(binary.AppendUvarint(nil, uint64(len(block))+8))
		w.Write(binary.LittleEndian.AppendUint64(nil, key))
		w.Write(block) // Flush returns the first error
	}
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for from, to := 0, 0; from < len(keys); from = to {
		for to = from; to < len(keys) && keys[to].key == keys[from].key; to++ {
		}
		own := keys[from:to]
		group.Go(func() error {
			var out Packer
			err := step.Run(ctx, own[0].key, messages(own), func(key uint64, message []byte) error {
				out.Add(key, message, write)
				return nil
			})
			out.Flush(write)
			return err
		})
	}
	err := errors.Join(group.Wait(), failed)
	sent := bytes.Repeat([]byte{'0'}, workers)
	for i, w := range writers {
		if w != nil {
			sent[i] = '1'
			err = errors.Join(err, w.Flush(), files[i].Sync(), files[i].Close())
		}
	}
	f, failed := os.Create(filepath.Join(dir, sentFile))
	if failed == nil {
		_, failed = f.Write(sent)
		failed = errors.Join(failed, f.Sync(), f.Close())
	}
	return errors.Join(err, failed)
}

func messages(all []keyed) iter.Seq2[[]byte, error] {
	return Unpack(func(yield func([]byte) bool) {
		for _, m := range all {
			if !yield(m.block) {
				return
			}
		}
	})
}
