package wal

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

func chainName(number uint64) string { return fmt.Sprintf("%06d.wal", number) }

// chain writes frames to three logs, of which each is started before the one before it has ended.
// The second is prepared beforehand. acked has the frames that Sync or, with flush, Flush returned
// for. A prepared fourth log stays without frames.
func chain(fs vfs.FS, flush bool) (acked []string, err error) {
	var before *Writer
	for n := range uint64(3) {
		w := New(fs, chainName(n), Header{Number: n}, before)
		if n == 1 {
			if err := w.Prepare(); err != nil {
				return acked, err
			}
		}
		for i := range 4 {
			frame := fmt.Sprintf("frame %d of log %d", i, n)
			end, err := w.Append([]byte(frame))
			if err != nil {
				return acked, err
			}
			if i != 1 && n < 2 {
				continue // becomes durable with the end of the log
			}
			if flush {
				err = w.Flush(end)
			} else {
				err = w.Sync(end)
			}
			if err != nil {
				return acked, err
			}
			acked = append(acked, frame)
		}
		before = w
	}
	spare := New(fs, chainName(3), Header{Number: 3}, before)
	if err := spare.Prepare(); err != nil {
		return acked, err
	}
	return acked, before.Close()
}

// chained replays the logs as a database does, and returns their frames.
func chained(fs vfs.FS) (frames []string, err error) {
	var logs []uint64
	for n := range uint64(4) {
		if _, err := fs.Stat(chainName(n)); err == nil {
			logs = append(logs, n)
		}
	}
	logs, err = Framed(fs, chainName, logs)
	if err != nil {
		return nil, err
	}
	for i, n := range logs {
		if n != uint64(i) {
			return frames, fmt.Errorf("log %d is missing", i)
		}
		got, _, err := collect(fs, chainName(n), Options{Last: i == len(logs)-1, Header: &Header{Number: n}})
		if err != nil {
			return frames, err
		}
		frames = append(frames, got...)
	}
	return frames, nil
}

func allFrames() (all []string) {
	for n := range 3 {
		for i := range 4 {
			all = append(all, fmt.Sprintf("frame %d of log %d", i, n))
		}
	}
	return all
}

// TestChainCrash cuts the power at every operation of chain: a log with frames must be the last one,
// or have an end, and a prefix of the frames must be left, with all acknowledged ones. Frames that
// were only flushed must be left if nothing is lost.
func TestChainCrash(t *testing.T) {
	for _, flush := range []bool{false, true} {
		whole := vfstest.NewMem("")
		must.Get(chain(whole, flush))(t)
		if got, err := chained(whole); err != nil || !slices.Equal(got, allFrames()) {
			t.Fatalf("%q, %v", got, err)
		}
		for op := 1; op <= whole.Ops()+1; op++ {
			fs := vfstest.NewMem("")
			fs.CrashAt(op)
			acked, _ := chain(fs, flush)
			for seed := range uint64(12) {
				share := []float64{0, .5, .9, 1}[seed%4]
				got, err := chained(fs.CrashClone(share, seed))
				least := 0
				if len(acked) > 0 && (!flush || share == 1) {
					least = slices.Index(allFrames(), acked[len(acked)-1]) + 1
				}
				if err != nil || len(got) < least || !slices.Equal(got, allFrames()[:len(got)]) {
					t.Fatalf("flush %v, crash at %d, seed %d: %d frames, want %d: %v", flush, op, seed, len(got), least, err)
				}
			}
		}
	}
}

// TestChainWaits checks the files of two logs before and after the second is synced by several
// goroutines: the first must have ended.
func TestChainWaits(t *testing.T) {
	fs := vfstest.NewMem("")
	one := New(fs, chainName(0), Header{}, nil)
	mustAppend(t, one, "first")
	two := New(fs, chainName(1), Header{Number: 1}, one)
	if fs.Ops() != 0 {
		t.Errorf("%d operations before the first Sync", fs.Ops())
	}
	must.Do(t, two.Prepare())
	var all sync.WaitGroup
	for i := range 8 {
		end := mustAppend(t, two, fmt.Sprint(i))
		all.Go(func() {
			if err := two.Sync(end); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if err := one.End(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, res, err := collect(fs, chainName(0), Options{})
	if err != nil || !res.Clean || !slices.Equal(got, []string{"first"}) {
		t.Errorf("%q, %+v, %v", got, res, err)
	}
	must.Do(t, two.Close())
	spare := New(fs, chainName(2), Header{Number: 2}, two)
	must.Do(t, errors.Join(spare.Prepare(), spare.Discard()))
	if _, err := fs.Stat(chainName(2)); err == nil {
		t.Error("a discarded log is there")
	}
}

// TestChainFull fills the disk when a log is to end: the next log must not get frames, nothing is
// lost, and both continue when there is space. If the first fails or is closed without space, the
// second fails, too.
func TestChainFull(t *testing.T) {
	for _, closed := range []bool{false, true} {
		fs := vfstest.NewMem("")
		one := mustCreate(t, fs, chainName(0))
		two := New(fs, chainName(1), Header{Number: 1}, one)
		must.Do(t, two.Prepare())
		mustAppend(t, one, "first")
		end := mustAppend(t, two, "second")
		fs.SetLimit(fs.Used())
		if err := two.Sync(end); !vfs.IsNoSpace(err) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if _, err := two.Append([]byte("third")); !vfs.IsNoSpace(err) {
			t.Errorf("appended without space: %v", err)
		}
		if info, err := fs.Stat(chainName(1)); err != nil || info.Size != HeaderSize {
			t.Errorf("%+v, %v", info, err)
		}
		if closed {
			one.Close()
		}
		fs.SetLimit(0)
		err := two.Close()
		if closed {
			if info, statErr := fs.Stat(chainName(1)); err == nil || statErr != nil || info.Size != HeaderSize {
				t.Errorf("after a log without end: %+v, %v", info, err)
			}
			continue
		}
		for n, want := range []string{"first", "second"} {
			got, res, e := collect(fs, chainName(uint64(n)), Options{})
			if e != nil || err != nil || !res.Clean || !slices.Equal(got, []string{want}) {
				t.Errorf("log %d: %q, %+v, %v, %v", n, got, res, e, err)
			}
		}
	}
}
