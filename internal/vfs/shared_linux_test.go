package vfs

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// setType sets a field whose type depends on the processor.
func setType[T int32 | int64 | uint32](field *T, value int64) { *field = T(value) }

// TestShareNetwork opens shared memory on network file systems, which is refused by name, and on the
// file system of the test, where two openers have the same memory.
func TestShareNetwork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared")
	defer func() { fstatfs = unix.Fstatfs }()
	for magic, name := range map[int64]string{unix.NFS_SUPER_MAGIC: "NFS", unix.SMB2_SUPER_MAGIC: "SMB", unix.CEPH_SUPER_MAGIC: "Ceph"} {
		fstatfs = func(_ int, st *unix.Statfs_t) error {
			setType(&st.Type, magic)
			return nil
		}
		_, err := Disk.(Sharer).OpenShared(path)
		if !errors.Is(err, ErrNotShared) || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	fstatfs = unix.Fstatfs
	open := func() SharedMemory {
		m, err := Disk.(Sharer).OpenShared(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	a, b := open(), open()
	a.Words()[5].Store(7)
	if got := b.Words()[5].Load(); got != 7 {
		t.Errorf("the other opener reads %d", got)
	}
	for i, want := range []bool{true, false} {
		if alone, err := []SharedMemory{a, b}[i].Join(); alone != want || err != nil {
			t.Errorf("opener %d is alone: %t, %v", i, alone, err)
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if alone, err := b.Join(); !alone || err != nil {
		t.Errorf("after the other has closed: %t, %v", alone, err)
	}
}
