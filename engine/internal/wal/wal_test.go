package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

var testHeader = Header{Database: [16]byte{0xd0, 15: 0x0f}, Number: 17}

// collect replays a log and returns copies of its payloads.
func collect(fs vfs.FS, name string, opts Options) ([]string, Result, error) {
	var got []string
	res, err := Replay(fs, name, opts, func(p []byte) error {
		got = append(got, string(p))
		return nil
	})
	return got, res, err
}

func mustCreate(t testing.TB, fs vfs.FS, name string) *Writer {
	t.Helper()
	w := must.Get(Create(fs, name, testHeader))(t)
	return w
}

func mustAppend(t testing.TB, w *Writer, payload string) int64 {
	t.Helper()
	end := must.Get(w.Append([]byte(payload)))(t)
	return end
}

// fileOf makes a file with these bytes in a new memory file system.
func fileOf(t testing.TB, data []byte) vfs.FS {
	t.Helper()
	fs := vfstest.NewMem("")
	f, err := fs.Create("log")
	if err == nil {
		_, err = f.Write(data)
	}
	must.Do(t, err)
	return fs
}

func contentOf(t testing.TB, fs vfs.FS, name string) []byte {
	t.Helper()
	f := must.Get(fs.Open(name))(t)
	defer f.Close()
	size := must.Get(f.Size())(t)
	data := must.Get(io.ReadAll(io.NewSectionReader(f, 0, size)))(t)
	return data
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 10))
		fs := vfstest.NewMem("")
		w := must.Get(Create(fs, "log", testHeader))(t)
		var want []string
		size := int64(HeaderSize)
		for range r.IntN(21) {
			length := []int{r.IntN(41), r.IntN(3001), bufferLimit}[r.IntN(3)]
			payload := bytes.Repeat([]byte{byte(length)}, length)
			end, err := w.Append(payload)
			must.Do(t, err)
			want = append(want, string(payload))
			size += frameSize(int64(length))
			if end != size || w.Size() != size {
				t.Fatalf("end %d, size %d, want %d", end, w.Size(), size)
			}
			switch r.IntN(4) {
			case 0:
				err = w.Sync(end)
			case 1:
				err = w.Flush(end)
			}
			must.Do(t, err)
		}
		must.Do(t, w.Close())
		for _, last := range []bool{false, true} {
			got, res, err := collect(fs, "log", Options{Last: last, Header: &testHeader})
			wantRes := Result{Version: 1, Header: testHeader, Frames: len(want), End: size + frameHeader, Clean: true}
			if err != nil || !slices.Equal(got, want) || res != wantRes {
				t.Fatalf("last %v: %d frames, %+v, %v; want %+v", last, len(got), res, err, wantRes)
			}
		}
		if len(contentOf(t, fs, "log")) != int(size+frameHeader) {
			t.Fatal("the file has another size")
		}
	}
}

func TestOnDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "000017.wal")
	w := mustCreate(t, vfs.Disk, name)
	must.Do(t, w.Sync(mustAppend(t, w, "first")))
	mustAppend(t, w, "second") // in memory, and lost if the process dies
	got, res, err := collect(vfs.Disk, name, Options{Last: true})
	if err != nil || !slices.Equal(got, []string{"first"}) || res.Torn || res.Clean {
		t.Fatalf("%q, %+v, %v", got, res, err)
	}
	must.Do(t, w.Close())
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := w.Append(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
	got, res, err = collect(vfs.Disk, name, Options{})
	if err != nil || !slices.Equal(got, []string{"first", "second"}) || !res.Clean {
		t.Fatalf("%q, %+v, %v", got, res, err)
	}
	if _, _, err := collect(vfs.Disk, name+"x", Options{}); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestRefused(t *testing.T) {
	fs := vfstest.NewMem("")
	w := mustCreate(t, fs, "log")
	if err := w.Sync(w.Size() + 1); err == nil {
		t.Error("Sync past the end")
	}
	if _, err := w.Append(make([]byte, MaxPayload+1)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	mustAppend(t, w, "goes on")
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	other := Header{Number: 3}
	if _, _, err := collect(fs, "log", Options{Header: &other}); !errors.Is(err, base.ErrCorruption) {
		t.Errorf("a log of another database: %v", err)
	}
	stop := errors.New("stop")
	if res, err := Replay(fs, "log", Options{}, func([]byte) error { return stop }); err != stop || res.Frames != 0 {
		t.Errorf("error of fn: %v", err)
	}
	data, _ := encodeHeader(testHeader)
	data[8] = Version + 1
	data = append(data[:44], le32(checksum(data[:44]))...)
	if _, _, err := collect(fileOf(t, data), "log", Options{Last: true}); !errors.Is(err, ErrVersion) {
		t.Errorf("later version: %v", err)
	}
}

// countingFS counts syncs, and slows them down, so that many callers wait for each.
type countingFS struct {
	vfs.FS
	syncs atomic.Int64
}

type countingFile struct {
	vfs.File
	fs *countingFS
}

func (fs *countingFS) Create(name string) (vfs.File, error) {
	f, err := fs.FS.Create(name)
	return &countingFile{f, fs}, err
}

func (f *countingFile) Sync() error {
	f.fs.syncs.Add(1)
	time.Sleep(200 * time.Microsecond)
	return f.File.Sync()
}

func TestGroupCommit(t *testing.T) {
	const writers, each = 32, 40
	fs := &countingFS{FS: vfstest.NewMem("")}
	w := mustCreate(t, fs, "log")
	var wg sync.WaitGroup
	for id := range writers {
		wg.Go(func() {
			for i := range each {
				end, err := w.Append(fmt.Appendf(nil, "%d/%d", id, i))
				if err == nil {
					err = w.Sync(end)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	must.Do(t, w.Close())
	if n := fs.syncs.Load(); n > writers*each/4 {
		t.Errorf("%d syncs for %d writes", n, writers*each)
	}
	got, _, err := collect(fs, "log", Options{})
	if err != nil || len(got) != writers*each {
		t.Fatalf("%d frames, %v", len(got), err)
	}
	next := make([]int, writers) // each writer's frames must be in its order
	for _, payload := range got {
		var id, i int
		if _, err := fmt.Sscanf(payload, "%d/%d", &id, &i); err != nil || next[id] != i {
			t.Fatalf("%q after %d of this writer: %v", payload, next[id], err)
		}
		next[id]++
	}
}

// script writes frames of many sizes with syncs and flushes in between. acked is the number of
// frames known to be durable when it stopped.
func script(fs vfs.FS, payloads []string) (acked int, err error) {
	w, err := Create(fs, "log", testHeader)
	if err != nil {
		return 0, err
	}
	for i, payload := range payloads {
		end, err := w.Append([]byte(payload))
		if err == nil && i%3 == 1 {
			err = w.Flush(end)
		}
		if err == nil && i%7 == 6 {
			if err = w.Sync(end); err == nil {
				acked = i + 1
			}
		}
		if err != nil {
			w.Close()
			return acked, err
		}
	}
	if err := w.Close(); err != nil {
		return acked, err
	}
	return len(payloads), nil
}

func scriptPayloads() []string {
	var payloads []string
	for i := range 40 {
		payloads = append(payloads, fmt.Sprintf("%d:%s", i, bytes.Repeat([]byte{byte('a' + i%26)}, i*i%1700)))
	}
	return payloads
}

// TestCrashEverywhere cuts the power at every operation: synced frames must be there, the frames
// found must be a prefix of those written, the end must never be mistaken for corruption, and the
// same must hold after a crash at every operation of Cut.
func TestCrashEverywhere(t *testing.T) {
	payloads := scriptPayloads()
	whole := vfstest.NewMem("")
	if acked, err := script(whole, payloads); err != nil || acked != len(payloads) {
		t.Fatal(acked, err)
	}
	states := 0
	for op := 1; op <= whole.Ops()+1; op++ {
		fs := vfstest.NewMem("")
		fs.CrashAt(op)
		acked, _ := script(fs, payloads)
		for seed := range uint64(12) {
			states++
			after := fs.CrashClone([]float64{0, .5, .9, 1}[seed%4], seed)
			what := fmt.Sprintf("crash at %d, seed %d", op, seed)
			checkPrefix(t, what, after, payloads, acked)
			for cutOp := 1; ; cutOp++ {
				again := after.CrashClone(1, 0)
				_, res, err := collect(again, "log", Options{Last: true})
				if errors.Is(err, iofs.ErrNotExist) {
					break
				}
				again.CrashAt(cutOp)
				if _, err := Cut(again, "log", res); err == nil {
					again.CrashAt(0)
					_, cleanRes, err := collect(again, "log", Options{Header: &testHeader})
					if res.End == 0 && errors.Is(err, iofs.ErrNotExist) {
						break
					}
					if err != nil || cleanRes.Frames != res.Frames || !cleanRes.Clean {
						t.Fatalf("%s: after Cut %+v: %+v, %v", what, res, cleanRes, err)
					}
					break
				}
				checkPrefix(t, what+" and during Cut", again.CrashClone(.5, seed), payloads, acked)
			}
		}
	}
	t.Logf("%d states", states)
}

func checkPrefix(t *testing.T, what string, fs vfs.FS, payloads []string, acked int) {
	t.Helper()
	got, res, err := collect(fs, "log", Options{Last: true, Header: &testHeader})
	if errors.Is(err, iofs.ErrNotExist) && acked == 0 {
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if len(got) < acked || len(got) > len(payloads) || !slices.Equal(got, payloads[:len(got)]) {
		t.Fatalf("%s: %d frames of which %d were synced", what, len(got), acked)
	}
	if size := int64(len(contentOf(t, fs, "log"))); res.End+res.TornBytes != size || res.Torn != (res.TornBytes > 0) && res.End > 0 {
		t.Fatalf("%s: %+v in %d bytes", what, res, size)
	}
}

// TestFailuresPoison makes every operation fail, once and permanently: the error must be returned,
// also by every later call, nothing may be written after it, and acknowledged frames can be
// replayed.
func TestFailuresPoison(t *testing.T) {
	payloads := scriptPayloads()
	counter := vfstest.NewFaulty(vfstest.NewMem(""), nil)
	must.Get(script(counter, payloads))(t)
	for op := 1; op <= counter.Ops(); op++ {
		for i, inject := range []func(vfstest.Op) error{
			vfstest.FailOnce(op, syscall.EIO), vfstest.FailFrom(op, syscall.ENOSPC),
			vfstest.FailOnce(op, &vfstest.ShortWrite{N: op * 5, Err: syscall.ENOSPC}),
		} {
			want := []error{syscall.EIO, syscall.ENOSPC, syscall.ENOSPC}[i]
			mem := vfstest.NewMem("")
			acked, err := script(vfstest.NewFaulty(mem, inject), payloads)
			if !errors.Is(err, want) && !(err == nil && op == counter.Ops()) { // FailFrom does not fail the last operation, Close
				t.Fatalf("operation %d: %v", op, err)
			}
			checkPrefix(t, fmt.Sprintf("operation %d failed", op), mem, payloads, acked)
		}
	}
}

func TestPoisonIsFinal(t *testing.T) {
	for _, kind := range []vfstest.OpKind{vfstest.OpWrite, vfstest.OpSync} {
		mem := vfstest.NewMem("")
		fail := false
		w := mustCreate(t, vfstest.NewFaulty(mem, func(op vfstest.Op) error {
			if fail && op.Kind == kind {
				return syscall.EIO
			}
			return nil
		}), "log")
		synced := mustAppend(t, w, "durable")
		must.Do(t, w.Sync(synced))
		end := mustAppend(t, w, "lost")
		fail = true
		first := w.Sync(end)
		fail = false
		if !errors.Is(first, syscall.EIO) {
			t.Fatalf("%v: %v", kind, first)
		}
		ops := mem.Ops()
		_, appendErr := w.Append(nil)
		for what, err := range map[string]error{"Append": appendErr, "Sync": w.Sync(end), "Close": w.Close()} {
			if err != first {
				t.Errorf("%v: %s: %v", kind, what, err)
			}
		}
		if err := w.Sync(synced); err != nil {
			t.Errorf("%v: Sync of what is durable: %v", kind, err)
		}
		if mem.Ops() != ops {
			t.Errorf("%v: something was written after the failure", kind)
		}
	}
}
