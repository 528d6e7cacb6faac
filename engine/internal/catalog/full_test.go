package catalog

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestFull makes the disk full before a transaction, after which the catalog must continue, and
// after its last write, when the state is unknown and the catalog must not continue.
func TestFull(t *testing.T) {
	for _, kind := range []vfstest.OpKind{vfstest.OpCommit, vfstest.OpCommitted} {
		full := false
		fs := vfstest.NewFaulty(vfstest.NewMem(t.TempDir()), func(op vfstest.Op) error {
			if full && op.Kind == kind {
				return syscall.ENOSPC
			}
			return nil
		})
		must.Do(t, Create(fs, "cat", State{NextFile: 1, FirstWAL: 1}))
		c, _, err := Open(fs, "cat")
		must.Do(t, err)
		defer c.Close()
		next := func(n uint64) error { return c.Apply(Edit{NextFile: &n}) }
		must.Do(t, next(2))
		full = true
		if err := next(3); !errors.Is(err, syscall.ENOSPC) || vfs.IsNoSpace(err) != (kind == vfstest.OpCommit) {
			t.Fatalf("%v: %v", kind, err)
		}
		full = false
		err = next(4)
		if (err == nil) != (kind == vfstest.OpCommit) {
			t.Fatalf("%v: then %v", kind, err)
		}
		if s, _, err := Read(fs, "cat"); err != nil || kind == vfstest.OpCommit && s.NextFile != 4 {
			t.Fatalf("%v: %+v, %v", kind, s, err)
		}
	}
}

// TestFullFile makes writing to the catalog's file fail as on a full disk, inside bbolt: the
// transaction must not happen, and the catalog continues when there is space.
func TestFullFile(t *testing.T) {
	small := vfstest.SmallDisk(t, 3)
	must.Do(t, Create(vfs.Disk, small+"/cat", State{NextFile: 1, FirstWAL: 1, Options: map[string]string{}}))
	c, _, err := Open(vfs.Disk, small+"/cat")
	must.Do(t, err)
	defer c.Close()
	marks := func(n int) map[string]int64 {
		m := map[string]int64{}
		for i := range 100 {
			m[string(make([]byte, 900))+string(rune('a'+n))+string(rune('a'+i))] = int64(n)
		}
		return m
	}
	ballast := small + "/ballast"
	for n := range 5 {
		f, err := os.Create(ballast)
		must.Do(t, err)
		for block := make([]byte, 4096); err == nil; {
			_, err = f.Write(block)
		}
		f.Close()
		if err := c.Apply(Edit{SetMarks: marks(n)}); !vfs.IsNoSpace(err) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("transaction %d: %v", n, err)
		}
		must.Do(t, os.Remove(ballast))
		if err := c.Apply(Edit{SetMarks: marks(n)}); err != nil {
			t.Fatalf("transaction %d, with room: %v", n, err)
		}
		if s, _, err := Read(vfs.Disk, small+"/cat"); err != nil || len(s.Marks) != 100*(n+1) {
			t.Fatalf("transaction %d: %d marks, %v", n, len(s.Marks), err)
		}
	}
}
