package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// A journaled is a file system on a loop device that can lose power.
type journaled struct{ image, dir string }

// The ioctl request that stops ext4 immediately, and the flag that discards data in the journal
// that has not reached the device.
const (
	ext4Shutdown   = 0x8004587d // EXT4_IOC_SHUTDOWN
	ext4NoLogFlush = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
)

// newJournaled makes and mounts an ext4 of 48 MiB. It skips the test if permissions, programs or
// kernel support are missing.
func newJournaled(t *testing.T) *journaled {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a file system")
	}
	work := t.TempDir()
	j := &journaled{filepath.Join(work, "image"), filepath.Join(work, "mounted")}
	must.Do(t, os.WriteFile(j.image, nil, 0o644))
	must.Do(t, os.Truncate(j.image, 48<<20))
	must.Do(t, os.Mkdir(j.dir, 0o755))
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", j.image).CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext4: %v: %s", err, out)
	}
	if err := j.mount(); err != nil {
		t.Skip("no loop device with ext4:", err)
	}
	t.Cleanup(func() { unix.Unmount(j.dir, unix.MNT_DETACH) })
	return j
}

func (j *journaled) mount() error {
	if out, err := exec.Command("mount", "-o", "loop", j.image, j.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// cut stops the file system: data that has not reached the device is lost.
func (j *journaled) cut() error {
	f, err := os.Open(j.dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetPointerInt(int(f.Fd()), ext4Shutdown, ext4NoLogFlush)
}

// again mounts the file system after a cut, which replays its journal.
func (j *journaled) again() error {
	if err := unix.Unmount(j.dir, 0); err != nil {
		return err
	}
	return j.mount()
}

// TestPowerCut stops a real journaling file system at random instants, while writers put, delete,
// load, flush, merge and prune. It mounts it again and checks that acknowledged writes are there;
// the open that recovers continues writing until the next cut.
func TestPowerCut(t *testing.T) {
	cuts := exhaustive.Size(3, 50)
	disk := newJournaled(t)
	seed := exhaustive.Seed(t)
	r := rand.New(rand.NewPCG(seed, 4))
	m := &powerModel{acked: map[string]uint64{}, tried: map[string]uint64{}}
	writes := 0
	for cut := range cuts {
		db, err := Open(filepath.Join(disk.dir, "a", "db"), &Options{NoSketch: true, MemtableBytes: 20_000, policy: eager})
		if err != nil {
			t.Fatalf("seed %d, cut %d: %v", seed, cut, err)
		}
		if err := m.look(db); err != nil {
			t.Fatalf("seed %d, cut %d: %v", seed, cut, err)
		}
		var wg sync.WaitGroup
		for w := range 3 {
			own := rand.New(rand.NewPCG(r.Uint64(), 5))
			wg.Go(func() { m.write(db, w, own) })
		}
		own := rand.New(rand.NewPCG(r.Uint64(), 6))
		wg.Go(func() { m.maintain(db, own) })
		time.Sleep(time.Duration(r.IntN(120)) * time.Millisecond)
		m.off(true)
		if err := disk.cut(); err != nil {
			t.Skip("this ext4 cannot be stopped:", err)
		}
		wg.Wait()
		db.Close() // fails, because nothing can be written
		must.Do(t, disk.again())
		m.off(false)
		writes = int(m.next)
	}
	t.Logf("seed %d: %d cuts, %d writes, no acknowledged one lost", seed, cuts, writes)
}

// A powerModel records acknowledged writes. Every write has a number, which is the document's
// fingerprint; deletes are numbered, too.
type powerModel struct {
	mu    sync.Mutex
	next  uint64
	acked map[string]uint64 // the last acknowledged number of each ID; deletes are odd, puts even
	tried map[string]uint64 // the last number begun
	dead  bool              // set just before a cut
}

// off records whether the power is off. Answers that arrive afterwards are ignored, because nobody
// could have seen them: an fsync that began before a cut may report success.
func (m *powerModel) off(dead bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = dead
}

// begin returns the number for a write to a document.
func (m *powerModel) begin(id string, del bool) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	n := 2 * m.next
	if del {
		n++
	}
	m.tried[id] = n
	return n
}

func (m *powerModel) ack(id string, n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dead {
		m.acked[id] = n
	}
}

// write puts and deletes the writer's documents until that fails.
func (m *powerModel) write(db *DB, writer int, r *rand.Rand) {
	ctx := context.Background()
	for {
		id := fmt.Sprint(writer, "-", r.IntN(60))
		del := r.IntN(5) == 0 && m.isAcked(id)
		n := m.begin(id, del)
		var err error
		if del {
			err = db.Delete(ctx, id)
		} else {
			err = db.Put(ctx, Doc{ID: id, Fingerprints: []Fingerprint{{n}}, Text: scriptText(n)})
		}
		if err != nil {
			return
		}
		m.ack(id, n)
	}
}

// isAcked reports whether a document must be there: the last write to it was a put, and was
// acknowledged.
func (m *powerModel) isAcked(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.acked[id]
	return n != 0 && n%2 == 0 && m.tried[id] == n
}

// maintain loads some documents, flushes, merges and prunes (without effect), until one of these
// fails.
func (m *powerModel) maintain(db *DB, r *rand.Rand) {
	ctx := context.Background()
	for {
		var err error
		switch r.IntN(4) {
		case 0:
			err = db.Flush(ctx)
		case 1:
			err = db.Compact(ctx, nil)
		case 2:
			_, err = db.Prune(ctx, time.Now().Add(-time.Hour), nil)
		case 3:
			err = m.load(ctx, db, r)
		}
		if err != nil {
			return
		}
	}
}

// load loads a few documents again.
func (m *powerModel) load(ctx context.Context, db *DB, r *rand.Rand) error {
	l, err := db.NewLoader(ctx, &LoadOptions{Replace: true, Workers: 1})
	if err != nil {
		return err
	}
	loaded := map[string]uint64{}
	for range 1 + r.IntN(50) {
		id := fmt.Sprint("loaded-", r.IntN(60))
		if loaded[id] != 0 {
			continue
		}
		loaded[id] = m.begin(id, false)
		if err = l.Add(Doc{ID: id, Fingerprints: []Fingerprint{{loaded[id]}}, Text: scriptText(loaded[id])}); err != nil {
			break
		}
	}
	if _, e := l.Close(); err == nil {
		err = e
	}
	if err == nil {
		for id, n := range loaded {
			m.ack(id, n)
		}
	}
	return err
}

// look compares a database that was opened after a cut with the model, and makes the contents found
// the acknowledged state.
func (m *powerModel) look(db *DB) error {
	ctx := context.Background()
	if r, err := db.Check(ctx, nil); err != nil || len(r.Problems) > 0 {
		return fmt.Errorf("check: %+v, %w", r, err)
	}
	found := map[string]uint64{}
	for e, err := range entriesOf(ctx, db, Range{}) {
		if err != nil {
			return err
		}
		found[e.ID] = uint64(e.Fingerprint)
	}
	for id, tried := range m.tried {
		n, acked := found[id], m.acked[id]
		switch {
		case n == 0 && (tried%2 == 1 || acked%2 == 1 || acked == 0): // deleted, or never acknowledged
		case n >= acked && n <= tried:
		default:
			return fmt.Errorf("%s is %d; %d was acknowledged, %d begun", id, n, acked, tried)
		}
		delete(found, id)
		if n == 0 {
			delete(m.acked, id)
			m.tried[id] = 1
		} else {
			m.acked[id], m.tried[id] = n, n
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("documents that nobody wrote: %v", found)
	}
	return nil
}
